// Runtime: one compiled and instantiated module, and the operations that need no weights.
// Any number of runtimes may exist; each has its own memory. Those who name none share the default one.

import { activationOf } from './activations.js';
import { finite, integer, outputOf, realsOfLength, rowsOf, tagOf } from './arrays.js';
import { makeDisposable } from './disposable.js';
import { GatedMLPError } from './errors.js';
import { compile, instantiate } from './load.js';
import { canShareMemory, newSharedMemory, Team } from './team.js';
import { Wasm } from './wasm.js';

/** @typedef {import('./arrays.js').RealArray} RealArray */
/** @typedef {import('./arrays.js').RealInput} RealInput */
/** @typedef {import('./load.js').WasmSource} WasmSource */

/**
 * @typedef {object} RuntimeOptions
 * @property {WasmSource} [wasm] the module, where the one beside this file is not to be used
 * @property {'auto' | Variant} [variant] which build, where `wasm` is not given; 'auto' takes the best this engine
 *   validates. Results of 'simd128' are the same bits on every machine, those of 'relaxed' are not
 * @property {number} [threads] how many threads to use: itself and workers on one shared memory of at most 1 GiB. Where
 *   the page is not cross-origin isolated, or workers or the module for them cannot be had, `runtime.threads` is 1 and
 *   nothing fails. A thread that fails later ends the runtime with ERR_DISPOSED, and the forwardAsync that waits for it on a
 *   page; a forward that waits for it has no way to learn of it. Default 1
 * @property {WebAssembly.Memory} [memory] a shared memory to work in, which then belongs to the runtime: for another maximum
 * @property {AbortSignal} [signal]
 */

/** @typedef {'simd128' | 'relaxed'} Variant */

/** @type {readonly Variant[]} */
const VARIANTS = ['simd128', 'relaxed'];

/** @type {WeakMap<Runtime, Wasm>} */
const instances = new WeakMap();

/**
 * The instance behind a runtime, for the other files of the binding.
 * @param {Runtime} runtime
 * @returns {Wasm}
 */
export function wasmOf(runtime) {
  const wasm = instances.get(runtime);
  if (!wasm) {
    throw new GatedMLPError(
      'ERR_UNSUPPORTED',
      'runtime: not a Runtime of this copy of gated-mlp; make one with Runtime.create()',
    );
  }
  wasm.check();
  return wasm;
}

/** @type {Promise<Runtime> | undefined} */
let shared;

/** The runtime used by everyone who passes none; made at first use, made again if that failed or it was disposed of. */
export async function defaultRuntime() {
  const current = shared;
  if (current) {
    const runtime = await current;
    if (!instances.get(runtime)?.disposed) return runtime;
    if (shared === current) shared = undefined;
  }
  if (!shared) {
    const made = Runtime.create();
    shared = made;
    made.catch(() => {
      if (shared === made) shared = undefined;
    });
  }
  return shared;
}

export class Runtime {
  /**
   * Compiles and instantiates the module. Rejects with ERR_WASM_LOAD, or with signal.reason.
   * @param {RuntimeOptions} [options]
   * @returns {Promise<Runtime>}
   */
  static async create({ wasm, variant = 'auto', threads = 1, memory, signal } = {}) {
    if (variant !== 'auto' && !VARIANTS.includes(variant)) {
      throw new GatedMLPError(
        'ERR_UNSUPPORTED',
        `variant is '${variant}'; known: 'auto', ${VARIANTS.map((v) => `'${v}'`).join(', ')}`,
        { variant },
      );
    }
    integer(threads, 'threads', 1, MAX_THREADS);
    if (memory !== undefined && !isShared(memory)) {
      throw new GatedMLPError(
        'ERR_UNSUPPORTED',
        'memory: only a shared WebAssembly.Memory can be brought, { initial, maximum, shared: true }',
      );
    }
    const given = wasm === undefined ? undefined : await compile(wasm, signal);
    const canShare = given === undefined || importsMemory(given);
    if (memory !== undefined && !canShare) {
      throw new GatedMLPError('ERR_WASM_LOAD', 'memory: this module has a memory of its own');
    }
    if (canShare && (memory !== undefined || (threads > 1 && canShareMemory()))) {
      const runtime = await createShared({ wasm: given, variant, threads, memory, signal });
      if (runtime) return runtime;
    }
    const module = given ?? (await compile(await moduleOf(variant, PLAIN, signal), signal));
    const works = importsMemory(module) ? newSharedMemory() : undefined;
    return new Runtime(new Wasm(await instantiate(module, works), works));
  }

  /**
   * @internal use Runtime.create
   * @param {Wasm} wasm
   */
  constructor(wasm) {
    instances.set(this, wasm);
    /** Which build runs here. @type {Variant} */
    this.variant = wasm.exports.relaxed_simd() ? 'relaxed' : 'simd128';
    /** Threads in use; 1 where more were asked for but the engine or the page does not allow them. @type {number} */
    this.threads = wasm.team?.threads ?? 1;
    makeDisposable(this);
  }

  /** The module's linear memory. It grows; it never shrinks: drop the runtime to return it. */
  get memory() {
    return wasmOf(this).exports.memory;
  }

  /** Bytes of that memory now in use by weights, traces and buffers. */
  get bytesUsed() {
    return instances.get(this)?.bytesUsed ?? 0;
  }

  /** Ends the runtime and everything made with it: later calls on those throw ERR_DISPOSED. */
  dispose() {
    instances.get(this)?.dispose();
  }

  /**
   * Meta's rule for a Llama's hidden width: `h = int(2/3 * 4d)`, then `int(multiplier * h)` if a multiplier is given,
   * then up to a multiple of `multipleOf`. Source: FeedForward in meta-llama/llama3, llama/model.py.
   * @param {number} d
   * @param {number} [multipleOf]
   * @param {number | null} [ffnDimMultiplier]
   * @returns {number}
   */
  llamaFfnDim(d, multipleOf = 256, ffnDimMultiplier = null) {
    integer(d, 'd');
    integer(multipleOf, 'multipleOf');
    const given = ffnDimMultiplier !== null;
    if (given && !(finite(ffnDimMultiplier, 'ffnDimMultiplier') > 0)) {
      throw new GatedMLPError(
        'ERR_SHAPE',
        `ffnDimMultiplier is ${ffnDimMultiplier}; it must be positive`,
      );
    }
    const width = wasmOf(this).exports.ffn_dim(d, multipleOf, given ? 1 : 0, ffnDimMultiplier ?? 0);
    if (width < 0) {
      throw new GatedMLPError(
        'ERR_SHAPE',
        `llamaFfnDim(${d}, ${multipleOf}, ${ffnDimMultiplier}) is not between 1 and ${2 ** 31 - 1}`,
      );
    }
    return width;
  }

  /**
   * silu(gate) * up, element by element.
   * @param {RealInput} gate
   * @param {RealInput} up as many elements
   * @param {RealInput} [out] where to write; may be gate or up. Default: a new array
   * @returns {RealArray} out
   */
  siluMul(gate, up, out) {
    return this.#mul('silu', gate, up, out);
  }

  /** As siluMul, with GELU's tanh form. @param {RealInput} gate @param {RealInput} up @param {RealInput} [out] */
  geluTanhMul(gate, up, out) {
    return this.#mul('gelu_tanh', gate, up, out);
  }

  /**
   * Gradients of sum(siluMul(gate, up) * gradOutput).
   * @param {RealInput} gate
   * @param {RealInput} up
   * @param {RealInput} gradOutput
   * @returns {{ gate: RealArray, up: RealArray }}
   */
  siluMulBackward(gate, up, gradOutput) {
    return this.#mulBackward('silu', gate, up, gradOutput);
  }

  /** As siluMulBackward. @param {RealInput} gate @param {RealInput} up @param {RealInput} gradOutput */
  geluTanhMulBackward(gate, up, gradOutput) {
    return this.#mulBackward('gelu_tanh', gate, up, gradOutput);
  }

  /**
   * vLLM's SiluAndMul: silu(first half) * second half of each row.
   * @param {RealInput} gateUp [..., 2 dFf], gate first
   * @param {number} dFf
   * @param {RealInput} [out] [..., dFf]
   * @returns {RealArray} out
   */
  siluAndMul(gateUp, dFf, out) {
    return this.#andMul('silu', gateUp, dFf, out);
  }

  /** As siluAndMul, with GELU's tanh form. @param {RealInput} gateUp @param {number} dFf @param {RealInput} [out] */
  geluTanhAndMul(gateUp, dFf, out) {
    return this.#andMul('gelu_tanh', gateUp, dFf, out);
  }

  /**
   * Gradient of sum(siluAndMul(gateUp) * gradOutput), in gateUp's shape.
   * @param {RealInput} gateUp [..., 2 dFf]
   * @param {number} dFf
   * @param {RealInput} gradOutput [..., dFf]
   * @returns {RealArray}
   */
  siluAndMulBackward(gateUp, dFf, gradOutput) {
    return this.#andMulBackward('silu', gateUp, dFf, gradOutput);
  }

  /** As siluAndMulBackward. @param {RealInput} gateUp @param {number} dFf @param {RealInput} gradOutput */
  geluTanhAndMulBackward(gateUp, dFf, gradOutput) {
    return this.#andMulBackward('gelu_tanh', gateUp, dFf, gradOutput);
  }

  /** @param {string} act @param {RealInput} gate @param {RealInput} up @param {RealInput} [out] */
  #mul(act, gate, up, out) {
    const wasm = wasmOf(this);
    const n = rowsOf(gate, 'gate', wasm, 1, '1');
    realsOfLength(up, 'up', wasm, n);
    const result = outputOf(out, wasm, n);
    const [g, u] = place(wasm, [gate, up], 0);
    wasm.done(wasm.exports.act_mul_run(g, g, u, code(wasm, act), n), 'act_mul');
    result.set(wasm.realsAt(g, n));
    return result;
  }

  /** @param {string} act @param {RealInput} gate @param {RealInput} up @param {RealInput} gradOutput */
  #mulBackward(act, gate, up, gradOutput) {
    const wasm = wasmOf(this);
    const n = rowsOf(gate, 'gate', wasm, 1, '1');
    realsOfLength(up, 'up', wasm, n);
    realsOfLength(gradOutput, 'gradOutput', wasm, n);
    const [g, u, dOut, dGate] = place(wasm, [gate, up, gradOutput], 2 * n);
    wasm.realsAt(dGate, 2 * n).fill(0);
    const dUp = dGate + n * wasm.realBytes;
    wasm.done(
      wasm.exports.act_mul_backward_run(dGate, dUp, dOut, g, u, code(wasm, act), n),
      'act_mul_backward',
    );
    return { gate: wasm.realsAt(dGate, n).slice(), up: wasm.realsAt(dUp, n).slice() };
  }

  /** @param {string} act @param {RealInput} gateUp @param {number} dFf @param {RealInput} [out] */
  #andMul(act, gateUp, dFf, out) {
    const wasm = wasmOf(this);
    const rows = rowsOf(gateUp, 'gateUp', wasm, 2 * integer(dFf, 'dFf', 1, 2 ** 30 - 1), '2 dFf');
    const n = rows * dFf;
    const result = outputOf(out, wasm, n);
    const [input, output] = place(wasm, [gateUp], n);
    wasm.done(
      wasm.exports.act_and_mul_run(output, input, code(wasm, act), rows, dFf),
      'act_and_mul',
    );
    result.set(wasm.realsAt(output, n));
    return result;
  }

  /** @param {string} act @param {RealInput} gateUp @param {number} dFf @param {RealInput} gradOutput */
  #andMulBackward(act, gateUp, dFf, gradOutput) {
    const wasm = wasmOf(this);
    const rows = rowsOf(gateUp, 'gateUp', wasm, 2 * integer(dFf, 'dFf', 1, 2 ** 30 - 1), '2 dFf');
    realsOfLength(gradOutput, 'gradOutput', wasm, rows * dFf);
    const [input, dOut, dInput] = place(wasm, [gateUp, gradOutput], gateUp.length);
    wasm.realsAt(dInput, gateUp.length).fill(0);
    wasm.done(
      wasm.exports.act_and_mul_backward_run(dInput, dOut, input, code(wasm, act), rows, dFf),
      'act_and_mul_backward',
    );
    return wasm.realsAt(dInput, gateUp.length).slice();
  }
}

/**
 * llamaFfnDim of the default runtime.
 * @param {number} d
 * @param {number} [multipleOf]
 * @param {number | null} [ffnDimMultiplier]
 * @returns {Promise<number>}
 */
export async function llamaFfnDim(d, multipleOf, ffnDimMultiplier) {
  return (await defaultRuntime()).llamaFfnDim(d, multipleOf, ffnDimMultiplier);
}

/** A module of one function that uses f32x4.relaxed_madd: what an engine without relaxed SIMD refuses. */
const RELAXED_PROBE = Uint8Array.of(
  ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x01, 0x60, 0x03, 0x7b, 0x7b],
  ...[0x7b, 0x01, 0x7b, 0x03, 0x02, 0x01, 0x00, 0x0a, 0x0d, 0x01, 0x0b, 0x00, 0x20, 0x00, 0x20],
  ...[0x01, 0x20, 0x02, 0xfd, 0x85, 0x02, 0x0b],
);

/** More than any machine's share of one MLP is worth. */
const MAX_THREADS = 64;

/**
 * Where the package's own modules are, a literal each so that bundlers find them.
 * @typedef {{ simd128: () => URL, relaxed: () => URL }} Places
 * @type {Places}
 */
const PLAIN = {
  simd128: () => new URL('./gated-mlp.wasm', import.meta.url),
  relaxed: () => new URL('./gated-mlp-relaxed.wasm', import.meta.url),
};
/** @type {Places} */
const SHARED = {
  simd128: () => new URL('./gated-mlp-threads.wasm', import.meta.url),
  relaxed: () => new URL('./gated-mlp-relaxed-threads.wasm', import.meta.url),
};

/**
 * The package's own module for a variant. 'auto' does without the relaxed one where the engine or the file is missing.
 * @param {'auto' | Variant} variant
 * @param {Places} places
 * @param {AbortSignal} [signal]
 * @returns {Promise<WasmSource>}
 */
async function moduleOf(variant, places, signal) {
  if (variant === 'simd128') return places.simd128();
  const validates = WebAssembly.validate(RELAXED_PROBE);
  if (variant === 'auto' && !validates) return places.simd128();
  if (!validates) {
    throw new GatedMLPError(
      'ERR_UNSUPPORTED',
      "variant is 'relaxed', but this engine has no relaxed SIMD; 'auto' takes what it has",
      { variant },
    );
  }
  try {
    return await compile(places.relaxed(), signal);
  } catch (error) {
    if (variant === 'auto' && error instanceof GatedMLPError) return places.simd128();
    throw error;
  }
}

/** Whether a module works on a memory from outside, as the builds for threads do. @param {WebAssembly.Module} module */
const importsMemory = (module) =>
  WebAssembly.Module.imports(module).some(({ kind }) => kind === 'memory');

/** @param {WebAssembly.Memory} memory */
const isShared = (memory) => tagOf(memory.buffer) === 'SharedArrayBuffer';

/**
 * A runtime on shared memory, or null where its module or workers cannot be had and no memory was brought.
 * @param {RuntimeOptions & { variant: 'auto' | Variant, threads: number }} options
 */
async function createShared({ wasm, variant, threads, memory, signal }) {
  const asked = async () => compile(wasm ?? (await moduleOf(variant, SHARED, signal)), signal);
  const module = await asked().catch((error) => {
    if (memory) throw error;
  });
  if (!module) return null;
  const works = memory ?? newSharedMemory();
  const inner = new Wasm(await instantiate(module, works), works);
  if (threads > 1) inner.team = await Team.start(inner, module, works, threads, signal);
  return inner.team || memory ? new Runtime(inner) : null;
}

/** @param {Wasm} wasm @param {string} act */
function code(wasm, act) {
  return /** @type {number} */ (wasm.activations.get(activationOf(act)));
}

/**
 * Copies arrays one after the other into the passing block, with room for `extra` reals behind them.
 * Returns the address of each, and of the room.
 * @param {Wasm} wasm
 * @param {RealInput[]} arrays
 * @param {number} extra
 */
function place(wasm, arrays, extra) {
  const width = wasm.realBytes;
  let at = wasm.io((arrays.reduce((sum, a) => sum + a.length, 0) + extra) * width);
  return [...arrays, null].map((array) => {
    const here = at;
    if (array) {
      wasm.putReals(array, here);
      at += array.length * width;
    }
    return here;
  });
}
