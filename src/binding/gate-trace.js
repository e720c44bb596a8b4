// GateTrace: one forward pass with everything that happened inside, for those who look.
// Made by GatedMLP.trace. The values stay in wasm memory, where backward can use them without recomputing; each
// property copies its tensor out at first access.

import { makeDisposable } from './disposable.js';
import { GatedMLPError } from './errors.js';
import { wasmOf } from './runtime.js';

/** @typedef {import('./arrays.js').RealArray} RealArray */

/**
 * Where a trace lies in memory: addresses of its tensors, and the options its forward had.
 * @typedef {object} TraceLayout
 * @property {number} x
 * @property {number} gate
 * @property {number} act
 * @property {number} up
 * @property {number} hidden
 * @property {number} output
 * @property {number} record the four pointers of a gated_mlp_record
 * @property {number} holds
 * @property {number} holdCount
 * @property {number} activation
 */

/** @type {WeakMap<GateTrace, { runtime: import('./runtime.js').Runtime, block: number, layout: TraceLayout }>} */
const internals = new WeakMap();

/**
 * The layout of a live trace, for backward.
 * @param {GateTrace} trace
 */
export function layoutOf(trace) {
  const inner = internals.get(trace);
  if (!inner) throw new GatedMLPError('ERR_DISPOSED', 'the trace has been disposed');
  wasmOf(inner.runtime);
  return inner.layout;
}

export class GateTrace {
  /** @type {Partial<Record<'gate' | 'act' | 'up' | 'hidden' | 'output', RealArray>>} */
  #copies = {};

  /**
   * @internal use GatedMLP.trace
   * @param {import('./gated-mlp.js').GatedMLP} mlp
   * @param {import('./runtime.js').Runtime} runtime
   * @param {number} block the memory the trace owns
   * @param {TraceLayout} layout
   * @param {number} tokens
   * @param {string} act
   */
  constructor(mlp, runtime, block, layout, tokens, act) {
    internals.set(this, { runtime, block, layout });
    wasmOf(runtime).giveTo(block, this);
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
    const inner = internals.get(this);
    internals.delete(this);
    if (inner) freeIfAlive(inner.runtime, inner.block, this);
  }

  /** @param {'gate' | 'act' | 'up' | 'hidden' | 'output'} tensor @param {number} width */
  #copy(tensor, width) {
    this.#copies[tensor] ??= this.#read(layoutOf(this)[tensor], this.tokens * width);
    return this.#copies[tensor];
  }

  /** @param {number} address @param {number} n */
  #read(address, n) {
    const inner = /** @type {{ runtime: import('./runtime.js').Runtime }} */ (internals.get(this));
    return wasmOf(inner.runtime).realsAt(address, n).slice();
  }
}

/**
 * Frees a block unless its runtime has ended, which has freed it already.
 * @param {import('./runtime.js').Runtime} runtime
 * @param {number} block
 * @param {object} owner
 */
export function freeIfAlive(runtime, block, owner) {
  try {
    wasmOf(runtime).free(block, owner);
  } catch (error) {
    if (!(error instanceof GatedMLPError && error.code === 'ERR_DISPOSED')) throw error;
  }
}
