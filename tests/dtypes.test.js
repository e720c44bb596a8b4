// Every golden but of sparse gates in every dtype, both variants, and 1 and 2 threads: forward, slices and gradients. float32 is held to
// Hugging Face's float64 values, the 16-bit types to float64 loops over the weights as they were rounded, and the block-quantised
// types to their error bounds, which are printed.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { GatedMLP, Runtime } from '../src/binding/index.js';
import { assertClose, definedCases, readSafetensors, values } from './helpers/goldens.js';
import { referenceBackward, referenceForward } from './helpers/reference.js';

/** @typedef {import('./helpers/goldens.js').GoldenCase} GoldenCase */

// Node 20 has relaxed SIMD behind a flag; later ones know no such flag and have it.
if (process.versions.node.startsWith('20.')) {
  setFlagsFromString('--experimental-wasm-relaxed-simd');
}

const EXACT = /** @type {const} */ (['float32', 'float16', 'bfloat16']);
/** Largest error over the rms of the answer from the weights given. */
const BOUNDS = /** @type {const} */ ({ q8_0: 0.05, q4_1: 0.9 });
const QUANTISED = /** @type {(keyof typeof BOUNDS)[]} */ (Object.keys(BOUNDS));
/** Magnitudes past what float16 holds, and 10^4 to 10^18 apart where quantised inputs share a block. */
const HUGE = ['llama_huge_values', 'gemma_huge_values'];
/** Where eps outweighs hidden^2 the norm is none and the output goes with three weights, whose errors add up. */
const CUBIC = ['bitnet_quiet'];
/** As the reference names them. @type {Record<string, string>} */
const ACTS = { gelu_new: 'gelu_tanh', gelu_pytorch_tanh: 'gelu_tanh', linear: 'none' };
/** Multiply-adds of a call that surely wakes a second thread, and weights of a matrix from which one is made up. */
const SHARED = 6_000_000;
const SMALLEST_SHARED = 500;

/** A runtime, or null where this engine or this build has no such variant. @param {'simd128' | 'relaxed'} variant @param {number} threads */
async function runtimeOf(variant, threads) {
  try {
    return await Runtime.create({ variant, threads });
  } catch (error) {
    const { code } = /** @type {import('../src/binding/index.js').GatedMLPError} */ (error);
    assert.equal(variant, 'relaxed');
    assert.ok(['ERR_UNSUPPORTED', 'ERR_WASM_LOAD'].includes(code), String(error));
    return null;
  }
}

/** @type {{ name: string, runtime: Runtime | null }[]} */
const runtimes = [];
for (const variant of /** @type {const} */ (['simd128', 'relaxed'])) {
  for (const threads of [1, 2]) {
    runtimes.push({
      name: `${variant}, threads: ${threads}`,
      runtime: await runtimeOf(variant, threads),
    });
  }
}
const goldens = definedCases().map((golden) => ({
  golden,
  tensors: readSafetensors(`goldens/mlp/${golden.case}.safetensors`),
}));
after(() => {
  for (const { runtime } of runtimes) runtime?.dispose();
});

/** @param {typeof goldens[number]} from @param {typeof EXACT[number] | keyof typeof BOUNDS} dtype @param {Runtime} runtime */
async function load({ golden, tensors }, dtype, runtime) {
  const { act, d, f, bias = false, parameters, norm_eps: normEps } = golden;
  const options = { act, bias, dtype, runtime, variant: { normEps } };
  const mlp = await GatedMLP.create(d, f, options);
  mlp.loadStateDict(
    Object.fromEntries(parameters.map((name) => [name, { data: values(tensors, name) }])),
  );
  const x = /** @type {Float32Array} */ (values(tensors, 'x'));
  return { mlp, x, gy: /** @type {Float32Array} */ (values(tensors, 'gy')) };
}

/**
 * What is to come out: stored values, or those of the weights as they are held.
 * @param {typeof goldens[number]} from @param {GatedMLP} mlp @param {string} dtype
 */
function expectedOf({ golden, tensors }, mlp, dtype) {
  const names = ['x', ...golden.parameters];
  if (dtype === 'float32') {
    const gradients = names.map((name) => [name, values(tensors, `f64/${name}.grad`)]);
    return { y: values(tensors, 'f64/y'), gradients: Object.fromEntries(gradients) };
  }
  const parameters = Object.fromEntries(
    [...mlp.namedParameters()].map(([name, { data }]) => [name, data]),
  );
  const { d, f: dFf, norm_eps: normEps } = golden;
  const held = { d, dFf, act: ACTS[golden.act] ?? golden.act, parameters, normEps };
  const x = values(tensors, 'x');
  return {
    y: referenceForward(held, x).y,
    gradients: referenceBackward(held, x, values(tensors, 'gy')),
  };
}

/**
 * Forward of x; where there are threads and the layer is not tiny, of x so often that they share the work.
 * @param {GatedMLP} mlp @param {Float32Array} x @param {Runtime} runtime
 */
function forward(mlp, x, runtime) {
  if (runtime.threads === 1 || mlp.d * mlp.dFf < SMALLEST_SHARED) return mlp.forward(x);
  const times = Math.ceil(SHARED / (3 * mlp.dFf * x.length));
  const many = new Float32Array(times * x.length);
  for (let i = 0; i < times; i++) many.set(x, i * x.length);
  const all = mlp.forward(many);
  const y = all.slice(0, x.length);
  const first = Buffer.from(y.buffer);
  for (let at = 0; at < all.length; at += x.length) {
    const again = Buffer.from(all.buffer, all.byteOffset + 4 * at, first.length);
    assert.ok(first.equals(again), 'a token has the same result wherever it is');
  }
  return y;
}

for (const { name, runtime } of runtimes) {
  const skip = runtime ? false : 'this engine or this build has no relaxed SIMD';
  for (const dtype of EXACT) {
    test(`${dtype}, ${name}: every golden's output, gradients and slices`, { skip }, async () => {
      assert.ok(runtime);
      for (const from of goldens) {
        const { golden } = from;
        if (dtype === 'float16' && HUGE.includes(golden.case)) continue;
        const { mlp, x, gy } = await load(from, dtype, runtime);
        const expected = expectedOf(from, mlp, dtype);
        assertClose(forward(mlp, x, runtime), expected.y, `${golden.case}: y`);
        const gradients = mlp.backward(x, gy);
        assert.deepEqual(Object.keys(gradients), Object.keys(expected.gradients));
        for (const [parameter, gradient] of Object.entries(expected.gradients)) {
          assertClose(gradients[parameter], gradient, `${golden.case}: ${parameter}.grad`);
        }
        const middle = golden.f >> 1;
        const out = mlp.forward(x, { units: [0, middle] });
        mlp.forward(x, { units: [middle, golden.f], out, accumulate: true });
        assertClose(out, expected.y, `${golden.case}: two slices`);
        mlp.dispose();
      }
    });
  }

  for (const dtype of QUANTISED) {
    test(`${dtype}, ${name}: every golden's output keeps its error bound`, { skip }, async (t) => {
      assert.ok(runtime);
      let worst = 0;
      for (const from of goldens) {
        if ([...HUGE, ...CUBIC].includes(from.golden.case)) continue;
        const { mlp, x } = await load(from, dtype, runtime);
        const y = forward(mlp, x, runtime);
        const error = errorOf(y, values(from.tensors, 'f64/y'));
        assert.ok(error <= BOUNDS[dtype], `${from.golden.case}: ${error}`);
        worst = Math.max(worst, error);
        mlp.dispose();
      }
      t.diagnostic(`largest error over the rms of the answer: ${worst.toPrecision(3)}`);
    });
  }
}

/**
 * Largest difference over the rms of what is expected, of finite values; what is not finite must not be in either.
 * @param {ArrayLike<number>} actual @param {ArrayLike<number>} expected
 */
function errorOf(actual, expected) {
  assert.equal(actual.length, expected.length);
  const finite = Array.from(expected, (value, i) => ({ value, got: actual[i] })).filter(
    ({ value, got }) => {
      assert.equal(Number.isNaN(got), Number.isNaN(value));
      return !Number.isNaN(value);
    },
  );
  const most = finite.reduce((max, { value, got }) => Math.max(max, Math.abs(got - value)), 0);
  const squares = finite.reduce((sum, { value }) => sum + value * value, 0);
  return most < 1e-37 ? 0 : most / Math.sqrt(squares / finite.length);
}
