// GatePreview: the gates of a layer whose gate_proj is still landing, for a page that shows them as they come.

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
