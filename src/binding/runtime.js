// Runtime: one compiled and instantiated module, and the operations that need no weights.
// Any number of runtimes may exist; each has its own memory. Those who name none share the default one.

import { finite, integer, tagOf } from './arrays.js';
import { moduleOf, VARIANTS } from './builds.js';
import { makeDisposable } from './disposable.js';
import { actAndMul, actAndMulBackward, actMul, actMulBackward } from './elementwise.js';
import { GatedMLPError, shapeError } from './errors.js';
import { compile, instantiate } from './load.js';
import { canShareMemory, newSharedMemory, Team } from './team.js';
import { Wasm } from './wasm.js';

/** @typedef {import('./arrays.js').RealArray} RealArray */
/** @typedef {import('./arrays.js').RealInput} RealInput */
/** @typedef {import('./builds.js').Variant} Variant */
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
    const module = given ?? (await compile(await moduleOf(variant, false, signal), signal));
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
    const wasm = wasmOf(this);
    wasm.isExposed = true;
    return wasm.exports.memory;
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
      throw shapeError(`ffnDimMultiplier is ${ffnDimMultiplier}; it must be positive`);
    }
    const width = wasmOf(this).exports.ffn_dim(d, multipleOf, given ? 1 : 0, ffnDimMultiplier ?? 0);
    if (width < 0) {
      throw shapeError(
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
    return actMul(wasmOf(this), 'silu', gate, up, out);
  }

  /** As siluMul, with GELU's tanh form. @param {RealInput} gate @param {RealInput} up @param {RealInput} [out] */
  geluTanhMul(gate, up, out) {
    return actMul(wasmOf(this), 'gelu_tanh', gate, up, out);
  }

  /**
   * Gradients of sum(siluMul(gate, up) * gradOutput).
   * @param {RealInput} gate
   * @param {RealInput} up
   * @param {RealInput} gradOutput
   * @returns {{ gate: RealArray, up: RealArray }}
   */
  siluMulBackward(gate, up, gradOutput) {
    return actMulBackward(wasmOf(this), 'silu', gate, up, gradOutput);
  }

  /** As siluMulBackward. @param {RealInput} gate @param {RealInput} up @param {RealInput} gradOutput */
  geluTanhMulBackward(gate, up, gradOutput) {
    return actMulBackward(wasmOf(this), 'gelu_tanh', gate, up, gradOutput);
  }

  /**
   * vLLM's SiluAndMul: silu(first half) * second half of each row.
   * @param {RealInput} gateUp [..., 2 dFf], gate first
   * @param {number} dFf
   * @param {RealInput} [out] [..., dFf]
   * @returns {RealArray} out
   */
  siluAndMul(gateUp, dFf, out) {
    return actAndMul(wasmOf(this), 'silu', gateUp, dFf, out);
  }

  /** As siluAndMul, with GELU's tanh form. @param {RealInput} gateUp @param {number} dFf @param {RealInput} [out] */
  geluTanhAndMul(gateUp, dFf, out) {
    return actAndMul(wasmOf(this), 'gelu_tanh', gateUp, dFf, out);
  }

  /**
   * Gradient of sum(siluAndMul(gateUp) * gradOutput), in gateUp's shape.
   * @param {RealInput} gateUp [..., 2 dFf]
   * @param {number} dFf
   * @param {RealInput} gradOutput [..., dFf]
   * @returns {RealArray}
   */
  siluAndMulBackward(gateUp, dFf, gradOutput) {
    return actAndMulBackward(wasmOf(this), 'silu', gateUp, dFf, gradOutput);
  }

  /** As siluAndMulBackward. @param {RealInput} gateUp @param {number} dFf @param {RealInput} gradOutput */
  geluTanhAndMulBackward(gateUp, dFf, gradOutput) {
    return actAndMulBackward(wasmOf(this), 'gelu_tanh', gateUp, dFf, gradOutput);
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

/** More than any machine's share of one MLP is worth. */
const MAX_THREADS = 64;

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
  const asked = async () => compile(wasm ?? (await moduleOf(variant, true, signal)), signal);
  const module = await asked().catch((error) => {
    if (memory) throw error;
  });
  if (!module) return null;
  const works = memory ?? newSharedMemory();
  const inner = new Wasm(await instantiate(module, works), works);
  inner.isExposed = Boolean(memory);
  if (threads > 1) inner.team = await Team.start(inner, module, works, threads, signal);
  return inner.team || memory ? new Runtime(inner) : null;
}
