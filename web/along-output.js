// pi_j = h_j (d_j . y) / ||y||^2 of every unit at every token: how much of the output a unit carries along it, signed; over the
// units of a token it adds up to 1. The dot products are the wasm module's: y times W_down, a band of units at a time, so
// that a large layer needs no second copy of its weights. Lives in the worker; shown-layer.js asks for it.

import { Linear } from '../src/binding/index.js';

/** Units of one band. */
const BAND = 1024;

/**
 * @param {import('../src/binding/index.js').Runtime} runtime
 * @param {import('./weight-rows.js').WeightRows} rows
 * @param {Float32Array} y  [tokens, d]
 * @param {Float32Array} hidden  [tokens, dFf]
 * @param {number} d
 * @returns {Promise<Float32Array>} [tokens, dFf]
 */
export async function alongOutput(runtime, rows, y, hidden, d) {
  const tokens = y.length / d;
  const dFf = hidden.length / tokens;
  const squares = Float64Array.from({ length: tokens }, (_, token) => {
    let square = 0;
    for (let i = token * d; i < (token + 1) * d; i++) square += y[i] * y[i];
    return square;
  });
  const along = new Float32Array(hidden.length);
  for (let from = 0; from < dFf; from += BAND) {
    const count = Math.min(BAND, dFf - from);
    const dots = await dotsWith(runtime, rows.columns(from, count), y, d);
    dots.forEach((dot, k) => {
      const token = Math.floor(k / count);
      const at = token * dFf + from + (k % count);
      // A token without any output has no direction to lie along.
      along[at] = squares[token] === 0 ? 0 : (hidden[at] * dot) / squares[token];
    });
  }
  return along;
}

/**
 * d_j . y of some units at every token.
 * @param {import('../src/binding/index.js').Runtime} runtime
 * @param {Float32Array} columns  [units, d]
 * @param {Float32Array} y  [tokens, d]
 * @param {number} d
 */
async function dotsWith(runtime, columns, y, d) {
  const linear = await Linear.create(d, columns.length / d, { runtime });
  try {
    linear.loadStateDict({ weight: { data: columns } });
    return linear.forward(y);
  } finally {
    linear.dispose();
  }
}
