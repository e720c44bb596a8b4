// The parameters of an MLP where they lie in wasm memory: drawn there, and read from there. How they get there from files and
// state dicts is weights.js's matter; gated-mlp.js calls both.

import { newArray } from './arrays.js';
import { elements } from './layout.js';
import { LINEARS } from './weights.js';

/** @typedef {import('./wasm.js').Wasm} Wasm */

/**
 * @param {Wasm} wasm
 * @param {number} mlp its address
 * @returns {import('./weights.js').Linears}
 */
export const linearsOf = (wasm, mlp) =>
  Object.fromEntries(LINEARS.map((name, i) => [name, wasm.exports.mlp_linear(mlp, i) >>> 0]));

/**
 * Draws all of them, as nn.Linear does by default.
 * @param {Wasm} wasm
 * @param {number} mlp its address
 * @param {import('./pcg32.js').PCG32} rng is advanced
 */
export function initialize(wasm, mlp, rng) {
  const state = wasm.alloc(16, 'the generator');
  try {
    rng.advance(([word, increment]) => {
      wasm.view.setBigUint64(state, word, true);
      wasm.view.setBigUint64(state + 8, increment, true);
      wasm.call('mlp_init', mlp, state);
      return wasm.view.getBigUint64(state, true);
    });
  } finally {
    wasm.free(state);
  }
}

/**
 * A copy of one. Throws ERR_OUT_OF_MEMORY.
 * @param {Wasm} wasm
 * @param {number} mlp its address
 * @param {string} name
 * @param {number[]} shape
 * @param {string} dtype of the copy
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function readParameter(wasm, mlp, name, shape, dtype) {
  const { code, bits } = /** @type {{ code: number, bits: number }} */ (wasm.dtypes.get(dtype));
  const [linear, kind] = name.split('.');
  const address = linearsOf(wasm, mlp)[linear];
  const bytes = (elements(shape) * bits) / 8;
  const what = `a copy of ${name}`;
  const copy = newArray(Uint8Array, bytes, what);
  const block = wasm.alloc(bytes, what);
  try {
    if (kind === 'bias') wasm.call('linear_get_bias', block, code, address);
    else wasm.call('linear_get', block, code, address, 0, shape[0]);
    copy.set(wasm.u8(block, bytes));
    return copy;
  } finally {
    wasm.free(block);
  }
}
