// Layouts of what passes through wasm memory in one block, and what fills them: a trace, and the gradients of every parameter.
// The structs they fill are gated_mlp_record, gated_mlp_hold and gated_mlp_gradients of src/core/gated_mlp.h.

import { LINEARS } from './weights.js';

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

/**
 * Memory for all gradients, to be overwritten, behind a gated_mlp_gradients: eight pointers and a flag, 36 bytes.
 * @param {Wasm} wasm
 * @param {Map<string, number[]>} shapes of the parameters
 * @param {number} n elements of x
 */
export function layGradients(wasm, shapes, n) {
  const width = wasm.realBytes;
  const sizes = new Map([['x', n]]);
  for (const linear of LINEARS) {
    for (const parameter of [`${linear}.weight`, `${linear}.bias`]) {
      sizes.set(parameter, elements(shapes.get(parameter) ?? [0]));
    }
  }
  const total = [...sizes.values()].reduce((a, b) => a + b, 0);
  const address = wasm.alloc(48 + total * width, 'the gradients of every parameter');
  wasm.u8(address, 48).fill(0);
  wasm.view.setInt32(address + 32, 1, true);
  /** @type {Map<string, [at: number, size: number]>} */
  const places = new Map();
  let at = address + 48;
  [...sizes].forEach(([name, size], i) => {
    if (size > 0) wasm.view.setUint32(address + 4 * i, at, true);
    if (size > 0 || name === 'x') places.set(name, [at, size]);
    at += size * width;
  });
  return {
    address,
    read: () =>
      Object.fromEntries(
        [...places].map(([name, [start, size]]) => [name, wasm.copyReals(start, size)]),
      ),
  };
}
