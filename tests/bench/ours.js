// gated-mlp itself through its public forward(x, { out }), copies included: every dtype in which it holds weights, and
// every variant that this engine runs. Also the same arithmetic as plain JavaScript loops.

import { GatedMLP, GatedMLPError, Runtime } from '../../src/binding/index.js';
import { writeSafetensors } from '../../src/binding/state-dict.js';
import { wallNow } from './clock.js';
import { plainForward } from './plain.js';
import { readyMemory } from './ready-memory.js';

/** @typedef {import('./contestant.js').Contestant} Contestant */
/** @typedef {import('./problem.js').Weights} Weights */

export const DTYPES = /** @type {const} */ (['float32', 'float16', 'bfloat16', 'q8_0', 'q4_1']);

/** What a build says of something it does not have. */
const ABSENT = ['ERR_UNSUPPORTED', 'ERR_DTYPE', 'ERR_WASM_LOAD'];

/**
 * @param {'simd128' | 'relaxed'} variant
 * @param {number} threads
 * @param {(missing: string) => void} report told of what this build does not have
 * @returns {Promise<Contestant[]>}
 */
export async function ourContestants(variant, threads, report) {
  const runtime = await unlessUnsupported(Runtime.create({ variant, threads }), () =>
    report(`the ${variant} variant`),
  );
  if (!runtime) return [];
  if (runtime.threads !== threads) {
    report(`${threads} threads (${variant})`);
    return [];
  }
  const contestants = [];
  for (const dtype of DTYPES) {
    const held = GatedMLP.create(32, 32, { dtype: /** @type {any} */ (dtype), runtime });
    const probe = await unlessUnsupported(held, () => report(`${dtype} weights (${variant})`));
    if (!probe) continue;
    probe.dispose();
    contestants.push(ourContestant(runtime, variant, dtype));
  }
  return contestants;
}

/** @type {WeakMap<Weights, Map<string, Uint8Array>>} */
const files = new WeakMap();

/**
 * The weights as a checkpoint, which is what a user sets the library up from; the same for all, so that nobody's set-up meets
 * what is left of making it.
 * @param {Weights} weights
 * @param {'F32' | 'BF16'} dtype
 */
function checkpointOf(weights, dtype) {
  const made = files.get(weights) ?? new Map();
  files.set(weights, made);
  if (!made.has(dtype)) made.set(dtype, writeSafetensors(stateDict(weights, dtype)));
  return made.get(dtype);
}

/**
 * @param {Runtime} runtime
 * @param {'simd128' | 'relaxed'} variant
 * @param {typeof DTYPES[number]} dtype
 * @returns {Contestant}
 */
function ourContestant(runtime, variant, dtype) {
  const { threads } = runtime;
  // A page's main thread must not wait for others.
  const mustAwait = threads > 1 && 'document' in globalThis;
  return {
    name: `gated-mlp ${dtype} ${variant}${threads > 1 ? ` ${threads}t` : ''}`,
    weights: dtype,
    variant,
    threads,
    ours: true,
    async load(weights) {
      const { d } = weights;
      const file = checkpointOf(weights, dtype === 'bfloat16' ? 'BF16' : 'F32');
      await readyMemory(weights);
      const start = wallNow();
      const mlp = await GatedMLP.fromPretrained(file, {
        act: 'silu',
        dtype: /** @type {any} */ (dtype),
        runtime,
      });
      return {
        setupMs: wallNow() - start,
        async at(tokens) {
          const out = new Float32Array(tokens * d);
          return {
            run: (x) =>
              /** @type {Float32Array | Promise<Float32Array>} */ (
                mustAwait ? mlp.forwardAsync(x, { out }) : mlp.forward(x, { out })
              ),
            dispose() {},
          };
        },
        dispose: () => mlp.dispose(),
      };
    },
  };
}

/** @type {Contestant} */
export const plainLoops = {
  name: 'plain JS loops',
  weights: 'plain',
  async load({ d, dFf, gate, up, down }) {
    const named = { 'gate_proj.weight': gate, 'up_proj.weight': up, 'down_proj.weight': down };
    return {
      async at(tokens) {
        const out = new Float32Array(tokens * d);
        return {
          run(x) {
            plainForward(out, x, named, d, dFf);
            return out;
          },
          dispose() {},
        };
      },
      dispose() {},
    };
  },
};

/**
 * As a checkpoint would hold them.
 * @param {Weights} weights which bfloat16 represents exactly
 * @param {'F32' | 'BF16'} [dtype]
 */
export function stateDict({ d, dFf, gate, up, down }, dtype = 'F32') {
  /** @param {Float32Array} values @param {number[]} shape */
  const entry = (values, shape) => {
    const held = dtype === 'F32' ? values : upperHalves(values);
    return { dtype, shape, data: new Uint8Array(held.buffer) };
  };
  return new Map([
    ['gate_proj.weight', entry(gate, [dFf, d])],
    ['up_proj.weight', entry(up, [dFf, d])],
    ['down_proj.weight', entry(down, [d, dFf])],
  ]);
}

/** @param {Float32Array} values */
function upperHalves(values) {
  return Uint16Array.from(new Uint32Array(values.buffer), (word) => word >>> 16);
}

/**
 * What the promise gives, or undefined where the build says that it cannot.
 * @template T
 * @param {Promise<T>} promise
 * @param {() => void} otherwise
 * @returns {Promise<T | undefined>}
 */
async function unlessUnsupported(promise, otherwise) {
  try {
    return await promise;
  } catch (error) {
    const code = error instanceof GatedMLPError ? error.code : '';
    if (!ABSENT.includes(code)) throw error;
    otherwise();
    return undefined;
  }
}
