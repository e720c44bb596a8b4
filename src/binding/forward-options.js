// What a caller asks of GatedMLP's forward and trace, checked and put as the core takes it.

import { finite, integer, outputOf, rowsOf } from './arrays.js';
import { shapeError } from './errors.js';

/** @typedef {import('./arrays.js').RealInput} RealInput */
/** @typedef {import('./wasm.js').Wasm} Wasm */

/**
 * @typedef {object} ForwardOptions
 * @property {RealInput} [out] [..., d]: where to write, as long as x. May be x itself
 * @property {[number, number]} [units] a slice of the hidden width; the outputs of slices that cover it add up to the whole
 * @property {number} [scale] multiplies y. Default 1
 * @property {boolean} [accumulate] add scale * y to what `out` holds instead of overwriting it
 */

/**
 * A gate held by hand: act(gate) of one unit, at one token or at all of them, is `value` whatever the gate says.
 * @typedef {{ unit: number, token?: number, value: number }} Hold
 */

/**
 * @param {Wasm} wasm
 * @param {{ d: number, dFf: number }} mlp
 * @param {RealInput} x
 * @param {ForwardOptions} [options]
 */
export function forwardCall(
  wasm,
  { d, dFf },
  x,
  { out, units, scale = 1, accumulate = false } = {},
) {
  const tokens = rowsOf(x, 'x', wasm, d, 'd');
  const { begin, end } = sliceOf(units, dFf);
  finite(scale, 'scale');
  if (accumulate && !out) {
    throw shapeError('accumulate: needs out, to which it adds');
  }
  const y = outputOf(out, wasm, x.length);
  return {
    y,
    tokens,
    begin,
    end,
    scale,
    accumulate: accumulate ? 1 : 0,
    bytes: x.length * wasm.realBytes,
    /** Multiply-adds. */
    products: 3 * x.length * (end - begin),
  };
}

/**
 * The units that are asked for: [begin, end), all where `units` is undefined.
 * @param {unknown} units
 * @param {number} dFf
 */
export function sliceOf(units, dFf) {
  if (units === undefined) return { begin: 0, end: dFf };
  if (!Array.isArray(units) || units.length !== 2) {
    throw shapeError(
      `units is ${String(units)}; it must be [first, end] with 0 <= first <= end <= ${dFf}`,
    );
  }
  const end = integer(units[1], 'units[1]', 0, dFf);
  return { begin: integer(units[0], 'units[0]', 0, end), end };
}

/**
 * Of a hold for all tokens `token` is -1.
 * @param {Iterable<Hold>} holds
 * @param {number} dFf
 * @param {number} tokens
 */
export const checkedHolds = (holds, dFf, tokens) =>
  [...holds].map((hold, i) => {
    const { unit, token, value } = hold ?? {};
    const name = `hold[${i}]`;
    return {
      unit: integer(unit, `${name}.unit`, 0, dFf - 1),
      token: token === undefined ? -1 : integer(token, `${name}.token`, 0, tokens - 1),
      value: finite(value, `${name}.value`),
    };
  });
