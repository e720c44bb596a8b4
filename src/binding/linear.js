// Linear: nn.Linear on the MLP's own kernels, y = x weight^T + bias, for runners that have other matrices to multiply.

import { integer, outputOf, rowsOf } from './arrays.js';
import { makeDisposable } from './disposable.js';
import { disposedError } from './errors.js';
import { heldCode, nativeDtype } from './held-dtype.js';
import { defaultRuntime, wasmOf } from './runtime.js';
import { entriesOf, readStateDict } from './state-dict.js';
import { packParts } from './weights.js';

/** @typedef {import('./arrays.js').RealArray} RealArray */
/** @typedef {import('./arrays.js').RealInput} RealInput */
/** @typedef {import('./held-dtype.js').HeldDtype} HeldDtype */
/** @typedef {import('./runtime.js').Runtime} Runtime */

export class Linear {
  #wasm;
  #address;
  #disposed = false;

  /**
   * A linear map whose parameters are zeros until loadStateDict fills them.
   * @param {number} inFeatures
   * @param {number} outFeatures
   * @param {object} [options]
   * @param {boolean} [options.bias]
   * @param {HeldDtype} [options.dtype] how the weight is held; default what the runtime computes in
   * @param {Runtime} [options.runtime]
   * @returns {Promise<Linear>}
   */
  static async create(inFeatures, outFeatures, { bias = false, dtype, runtime } = {}) {
    integer(inFeatures, 'inFeatures');
    integer(outFeatures, 'outFeatures');
    const home = runtime ?? (await defaultRuntime());
    const held = dtype ?? nativeDtype(wasmOf(home));
    return new Linear(home, inFeatures, outFeatures, Boolean(bias), held);
  }

  /**
   * @internal use create
   * @param {Runtime} runtime
   * @param {number} inFeatures
   * @param {number} outFeatures
   * @param {boolean} bias
   * @param {HeldDtype} dtype
   */
  constructor(runtime, inFeatures, outFeatures, bias, dtype) {
    const wasm = wasmOf(runtime);
    const code = heldCode(wasm, dtype);
    const sizes = [outFeatures, inFeatures, code, bias ? 1 : 0];
    this.#address = wasm.make(
      wasm.exports.linear_bytes(...sizes),
      `a Linear of ${inFeatures} to ${outFeatures} in ${dtype}`,
      this,
      () => wasm.exports.linear_create(...sizes),
    );
    this.#wasm = wasm;
    this.inFeatures = inFeatures;
    this.outFeatures = outFeatures;
    this.bias = bias;
    /** How the weight is held. */
    this.dtype = dtype;
    makeDisposable(this);
  }

  /**
   * @param {RealInput} x [..., inFeatures], flat and row-major
   * @param {object} [options]
   * @param {RealInput} [options.out] [..., outFeatures]: where to write
   * @returns {RealArray} [..., outFeatures]: `out`, or a new array
   */
  forward(x, { out } = {}) {
    const wasm = this.#alive();
    const tokens = rowsOf(x, 'x', wasm, this.inFeatures, 'inFeatures');
    const n = integer(tokens * this.outFeatures, 'elements of the output', 0);
    const y = outputOf(out, wasm, n);
    const width = wasm.realBytes;
    const xAt = wasm.io((x.length + n) * width);
    const yAt = xAt + x.length * width;
    wasm.putReals(x, xAt);
    wasm.done(wasm.exports.linear_run(yAt, xAt, this.#address, tokens), 'forward');
    return wasm.takeReals(y, yAt);
  }

  /**
   * Replaces weight [outFeatures, inFeatures] and bias [outFeatures]. All of it is checked first.
   * @param {Map<string, import('./state-dict.js').StateEntry> | Record<string, import('./state-dict.js').StateEntry>} state
   * @param {object} [options]
   * @param {boolean} [options.strict] false: leave out missing names and pass over unexpected ones
   * @returns {{ missing: string[], unexpected: string[] }}
   */
  loadStateDict(state, { strict = true } = {}) {
    const wasm = this.#alive();
    const shapes = new Map([['weight', [this.outFeatures, this.inFeatures]]]);
    if (this.bias) shapes.set('bias', [this.outFeatures]);
    const entries = entriesOf(state);
    const read = readStateDict(entries, shapes, strict, wasm.dtypes);
    const parts = read.parts.map((part) => ({ ...part, parameter: `linear.${part.parameter}` }));
    packParts(wasm, { linear: this.#address }, parts, read.bytes);
    return { missing: read.missing, unexpected: read.unexpected };
  }

  /** Gives the memory back. Calling it again is no error; any other call afterwards throws ERR_DISPOSED. */
  dispose() {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#wasm.free(this.#address, this);
  }

  /** The instance, unless it or this is no more. */
  #alive() {
    if (this.#disposed) throw disposedError('this Linear');
    this.#wasm.check();
    return this.#wasm;
  }
}
