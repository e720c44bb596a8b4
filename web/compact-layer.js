// A gated MLP of only some of another's units: their rows of gate and up and their columns of down, side by side, as a program
// that skips the other units would hold them. For forward-timing.js; knows nothing of the page.

import { GatedMLP } from '../src/binding/index.js';

/** @typedef {Uint16Array | Uint32Array} Elements  weights as they are held: moved, never read */

/**
 * @param {GatedMLP} mlp whose weights are F32, F16 or BF16; not one with a sparse gate or a norm, whose units depend on each other
 * @param {ArrayLike<number>} units at least one
 * @param {import('../src/binding/index.js').Runtime} runtime
 * @param {string} [act] another activation on the same weights
 * @returns {Promise<GatedMLP>} with the same dtype, biases and variant; whoever asked disposes of it
 */
export async function compactLayer(mlp, units, runtime, act = mlp.act) {
  const { d, bias, dtype } = mlp;
  const variant = mlp.variant ?? undefined;
  const compact = await GatedMLP.create(d, units.length, { act, bias, dtype, variant, runtime });
  try {
    const state = [...mlp.stateDict()].map(([name, { dtype: stored, shape, data }]) => {
      const { buffer } = keptOf(name, elementsOf(data, shape), shape, units);
      return /** @type {const} */ ([name, { dtype: stored, data: new Uint8Array(buffer) }]);
    });
    compact.loadStateDict(new Map(state));
  } catch (error) {
    compact.dispose();
    throw error;
  }
  return compact;
}

/**
 * The module's copy has a buffer of its own.
 * @param {Uint8Array} data
 * @param {number[]} shape
 * @returns {Elements}
 */
function elementsOf({ buffer, byteLength }, shape) {
  const count = shape.reduce((product, size) => product * size, 1);
  return byteLength === 2 * count ? new Uint16Array(buffer) : new Uint32Array(buffer);
}

/**
 * What of a parameter belongs to the units: rows, or columns of down. The bias of down belongs to none and stays.
 * @param {string} name
 * @param {Elements} all
 * @param {number[]} shape
 * @param {ArrayLike<number>} units
 */
function keptOf(name, all, [rows, columns = 1], units) {
  if (name === 'down_proj.bias') return all;
  const make = (/** @type {number} */ length) =>
    all instanceof Uint16Array ? new Uint16Array(length) : new Uint32Array(length);
  const count = units.length;
  if (name !== 'down_proj.weight') {
    const kept = make(count * columns);
    for (let k = 0; k < count; k++) {
      kept.set(all.subarray(units[k] * columns, (units[k] + 1) * columns), k * columns);
    }
    return kept;
  }
  const kept = make(rows * count);
  for (let row = 0; row < rows; row++) {
    for (let k = 0; k < count; k++) kept[row * count + k] = all[row * columns + units[k]];
  }
  return kept;
}
