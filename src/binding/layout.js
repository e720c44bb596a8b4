// Layouts of what passes through wasm memory in one block, and what fills them: a trace, and the gradients of every parameter.
// The structs they fill are gated_mlp_record, gated_mlp_hold and gated_mlp_gradients of src/core/gated_mlp.h.

import { realsOfLength } from './arrays.js';
import { LINEARS } from './weights.js';

/** @typedef {import('./arrays.js').RealArray} RealArray */
/** @typedef {import('./wasm.js').Wasm} Wasm */

/** @param {number[]} shape */
export const elements = (shape) => shape.reduce((a, b) => a * b, 1);

/**
 * Where a trace lies in memory: addresses of its tensors, and the options its forward had.
 * @typedef {object} TraceLayout
 * @property {number} record the four pointers of a gated_mlp_record; here the block begins
 * @property {number} holds
 * @property {number} holdCount
 * @property {number} activation its code; -1: the MLP's own
 * @property {number} gate
 * @property {number} act
 * @property {number} up
 * @property {number} hidden
 * @property {number} x
 * @property {number} output
 */

/**
 * Memory for a trace: x, the record's four tensors, the output, the record's pointers and the holds.
 * @param {Wasm} wasm
 * @param {{ d: number, dFf: number }} mlp
 * @param {number} tokens
 * @param {{ unit: number, token: number, value: number }[]} holds
 * @param {string} [act] default: the MLP's own
 * @returns {TraceLayout}
 */
export function layTrace(wasm, { d, dFf }, tokens, holds, act = '') {
  const width = wasm.realBytes;
  const holdBytes = 8 + width;
  const [narrow, wide] = [tokens * d * width, tokens * dFf * width];
  const bytes = 16 + holds.length * holdBytes + 2 * narrow + 4 * wide;
  const address = wasm.alloc(bytes, `a trace of ${tokens} tokens`);
  const reals = address + 16 + holds.length * holdBytes;
  const layout = {
    record: address,
    holds: address + 16,
    holdCount: holds.length,
    activation: wasm.activations.get(act) ?? -1,
    gate: reals,
    act: reals + wide,
    up: reals + 2 * wide,
    hidden: reals + 3 * wide,
    x: reals + 4 * wide,
    output: reals + 4 * wide + narrow,
  };
  const { view } = wasm;
  [layout.gate, layout.act, layout.up, layout.hidden].forEach((at, i) => {
    view.setUint32(address + 4 * i, at, true);
  });
  holds.forEach(({ unit, token, value }, i) => {
    const at = layout.holds + i * holdBytes;
    view.setInt32(at, unit, true);
    view.setInt32(at + 4, token, true);
    if (width === 8) view.setFloat64(at + 8, value, true);
    else view.setFloat32(at + 8, value, true);
  });
  return layout;
}

/**
 * A forward of the first `units` units whose tensors stay in a trace's block.
 * @param {Wasm} wasm
 * @param {number} mlp its address
 * @param {TraceLayout} layout
 * @param {import('./arrays.js').RealInput} x
 * @param {number} tokens
 * @param {number} units
 */
export function fillTrace(wasm, mlp, layout, x, tokens, units) {
  const { output, activation, holds, holdCount, record } = layout;
  wasm.putReals(x, layout.x);
  const options = [0, units, 1, 0, activation, holds, holdCount];
  wasm.call('mlp_forward', output, layout.x, mlp, tokens, ...options, record);
}

/** A gated_mlp_gradients is eight pointers, then a flag; in whole vectors. */
const [OVERWRITE_AT, GRADIENTS_BYTES] = [32, 48];

/**
 * Memory for all gradients, to be overwritten, behind a gated_mlp_gradients.
 * @param {Wasm} wasm
 * @param {Map<string, number[]>} shapes of the parameters
 * @param {number} n elements of x
 * @param {Record<string, RealArray>} [out] where `read` puts them; default new arrays
 */
export function layGradients(wasm, shapes, n, out) {
  const all = new Map([['x', [n]], ...shapes]);
  const fields = ['x', ...LINEARS.flatMap((linear) => [`${linear}.weight`, `${linear}.bias`])];
  let bytes = GRADIENTS_BYTES;
  /** @type {[name: string, offset: number, size: number, field: number][]} */
  const places = [];
  fields.forEach((name, field) => {
    const shape = all.get(name);
    if (!shape) return;
    const size = elements(shape);
    if (out) realsOfLength(out[name], `out['${name}']`, wasm, size);
    places.push([name, bytes, size, field]);
    bytes += size * wasm.realBytes;
  });
  const address = wasm.alloc(bytes, 'the gradients of every parameter');
  const { view } = wasm;
  wasm.u8(address, GRADIENTS_BYTES).fill(0);
  view.setUint32(address + OVERWRITE_AT, 1, true);
  for (const [, offset, , field] of places) {
    view.setUint32(address + 4 * field, address + offset, true);
  }
  return {
    address,
    read: () =>
      Object.fromEntries(
        places.map(([name, offset, size]) => [
          name,
          out
            ? wasm.takeReals(out[name], address + offset)
            : wasm.copyReals(address + offset, size),
        ]),
      ),
  };
}
