// GatePreview: the gates of a layer whose gate_proj is still landing, for a page that shows them as they come.

import { rowsOf } from './arrays.js';
import { fillTrace, layTrace } from './layout.js';

/** @typedef {import('./arrays.js').RealArray} RealArray */
/** @typedef {import('./arrays.js').RealInput} RealInput */

/** The gates of a gate_proj that is still landing: the first `rows` units are there, nothing is verified yet. */
export class GatePreview {
  #gates;

  /** @internal @param {number} rows @param {(x: RealInput) => { gate: RealArray, act: RealArray }} gates */
  constructor(rows, gates) {
    /** Units whose rows have landed. */
    this.rows = rows;
    this.#gates = gates;
  }

  /**
   * gate and act of the landed units; 0 for the others. Only during the callback it was handed to.
   * @param {RealInput} x [tokens, d]
   * @returns {{ gate: RealArray, act: RealArray }} [tokens, dFf], copies
   */
  trace(x) {
    return this.#gates(x);
  }
}

/**
 * What a preview shows.
 * @param {import('./wasm.js').Wasm} wasm
 * @param {number} address of the MLP
 * @param {{ d: number, dFf: number }} mlp
 * @param {RealInput} x [tokens, d]
 * @param {number} rows that have landed
 */
export function gatesOf(wasm, address, mlp, x, rows) {
  const tokens = rowsOf(x, 'x', wasm, mlp.d, 'd');
  const layout = layTrace(wasm, mlp, tokens, []);
  try {
    const wide = tokens * mlp.dFf;
    wasm.realsAt(layout.gate, 2 * wide).fill(0);
    fillTrace(wasm, address, layout, x, tokens, rows);
    return {
      gate: wasm.copyReals(layout.gate, wide),
      act: wasm.copyReals(layout.act, wide),
    };
  } finally {
    wasm.free(layout.record);
  }
}
