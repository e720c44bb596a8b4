// act(gate) * up and its gradients, element by element: what Runtime offers of it, for any activation.

import { activationOf } from './activations.js';
import { integer, outputOf, realsOfLength, rowsOf } from './arrays.js';

/** @typedef {import('./arrays.js').RealInput} RealInput */
/** @typedef {import('./wasm.js').Wasm} Wasm */

/** @param {Wasm} wasm @param {string} act @param {RealInput} gate @param {RealInput} up @param {RealInput} [out] */
export function actMul(wasm, act, gate, up, out) {
  const n = rowsOf(gate, 'gate', wasm, 1, '1');
  realsOfLength(up, 'up', wasm, n);
  const result = outputOf(out, wasm, n);
  const [g, u] = place(wasm, [gate, up], 0);
  wasm.call('act_mul_run', g, g, u, code(wasm, act), n);
  return wasm.takeReals(result, g);
}

/** @param {Wasm} wasm @param {string} act @param {RealInput} gate @param {RealInput} up @param {RealInput} gradOutput */
export function actMulBackward(wasm, act, gate, up, gradOutput) {
  const n = rowsOf(gate, 'gate', wasm, 1, '1');
  realsOfLength(up, 'up', wasm, n);
  realsOfLength(gradOutput, 'gradOutput', wasm, n);
  const [g, u, dOut, dGate] = place(wasm, [gate, up, gradOutput], 2 * n);
  wasm.realsAt(dGate, 2 * n).fill(0);
  const dUp = dGate + n * wasm.realBytes;
  wasm.call('act_mul_backward_run', dGate, dUp, dOut, g, u, code(wasm, act), n);
  return { gate: wasm.copyReals(dGate, n), up: wasm.copyReals(dUp, n) };
}

/** @param {Wasm} wasm @param {string} act @param {RealInput} gateUp @param {number} dFf @param {RealInput} [out] */
export function actAndMul(wasm, act, gateUp, dFf, out) {
  const rows = rowsOfPairs(gateUp, wasm, dFf);
  const n = rows * dFf;
  const result = outputOf(out, wasm, n);
  const [input, output] = place(wasm, [gateUp], n);
  wasm.call('act_and_mul_run', output, input, code(wasm, act), rows, dFf);
  return wasm.takeReals(result, output);
}

/** @param {Wasm} wasm @param {string} act @param {RealInput} gateUp @param {number} dFf @param {RealInput} gradOutput */
export function actAndMulBackward(wasm, act, gateUp, dFf, gradOutput) {
  const rows = rowsOfPairs(gateUp, wasm, dFf);
  realsOfLength(gradOutput, 'gradOutput', wasm, rows * dFf);
  const [input, dOut, dInput] = place(wasm, [gateUp, gradOutput], gateUp.length);
  wasm.realsAt(dInput, gateUp.length).fill(0);
  wasm.call('act_and_mul_backward_run', dInput, dOut, input, code(wasm, act), rows, dFf);
  return wasm.copyReals(dInput, gateUp.length);
}

/** @param {RealInput} gateUp @param {Wasm} wasm @param {number} dFf */
const rowsOfPairs = (gateUp, wasm, dFf) =>
  rowsOf(gateUp, 'gateUp', wasm, 2 * integer(dFf, 'dFf', 1, 2 ** 30 - 1), '2 dFf');

/** @param {Wasm} wasm @param {string} act */
function code(wasm, act) {
  return /** @type {number} */ (wasm.activations.get(activationOf(act)));
}

/**
 * Copies arrays one after the other into the passing block, with room for `extra` reals behind them.
 * Returns the address of each, and of the room.
 * @param {Wasm} wasm
 * @param {RealInput[]} arrays
 * @param {number} extra
 */
function place(wasm, arrays, extra) {
  const width = wasm.realBytes;
  let at = wasm.io((arrays.reduce((sum, a) => sum + a.length, 0) + extra) * width);
  return [...arrays, null].map((array) => {
    const here = at;
    if (array) {
      wasm.putReals(array, here);
      at += array.length * width;
    }
    return here;
  });
}
