// GateTrace: one forward pass with everything that happened inside, for those who look.
// Made by GatedMLP.trace. The values stay in wasm memory, where backward can use them without recomputing; each
// property copies its tensor out at first access.

import { makeDisposable } from './disposable.js';
import { disposedError } from './errors.js';

/** @typedef {import('./arrays.js').RealArray} RealArray */
/** @typedef {import('./layout.js').TraceLayout} TraceLayout */
/** @typedef {import('./wasm.js').Wasm} Wasm */

/** The layout of a live trace, for backward. @type {(trace: GateTrace) => TraceLayout} */
export let layoutOf;

export class GateTrace {
  /** @type {Partial<Record<'gate' | 'act' | 'up' | 'hidden' | 'output', RealArray>>} */
  #copies = {};
  #wasm;
  /** @type {TraceLayout | null} */
  #layout;

  static {
    layoutOf = (trace) => trace.#alive();
  }

  /**
   * @internal use GatedMLP.trace
   * @param {import('./gated-mlp.js').GatedMLP} mlp
   * @param {Wasm} wasm
   * @param {TraceLayout} layout of the memory that the trace owns
   * @param {number} tokens
   * @param {string} act
   */
  constructor(mlp, wasm, layout, tokens, act) {
    this.#wasm = wasm;
    this.#layout = layout;
    wasm.giveTo(layout.record, this);
    /** The MLP it was made by. */
    this.mlp = mlp;
    /** Number of tokens. */
    this.tokens = tokens;
    /** The activation it was computed with. @type {string} */
    this.activation = act;
    makeDisposable(this);
  }

  /** gate_proj(x). [tokens, dFf], a copy */
  get gate() {
    return this.#copy('gate', this.mlp.dFf);
  }

  /** act(gate), held values included; of a variant after its limit and cut. [tokens, dFf], a copy */
  get act() {
    return this.#copy('act', this.mlp.dFf);
  }

  /** up_proj(x); of a variant after its limit and shift. [tokens, dFf], a copy */
  get up() {
    return this.#copy('up', this.mlp.dFf);
  }

  /** act * up: what down_proj sees, or the norm of a variant that has one. [tokens, dFf], a copy */
  get hidden() {
    return this.#copy('hidden', this.mlp.dFf);
  }

  /** down_proj(hidden), as forward gives it. [tokens, d], a copy */
  get output() {
    return this.#copy('output', this.mlp.d);
  }

  /** Gives its memory back. Tensors that were read before stay readable; others throw ERR_DISPOSED. */
  dispose() {
    if (this.#layout) this.#wasm.free(this.#layout.record, this);
    this.#layout = null;
  }

  /** @param {'gate' | 'act' | 'up' | 'hidden' | 'output'} tensor @param {number} width */
  #copy(tensor, width) {
    this.#copies[tensor] ??= this.#wasm.copyReals(this.#alive()[tensor], this.tokens * width);
    return this.#copies[tensor];
  }

  #alive() {
    if (!this.#layout) throw disposedError('the trace');
    this.#wasm.check();
    return this.#layout;
  }
}
