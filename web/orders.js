// Orders and sets of units at a token: how the map's columns are sorted, a unit's rank, which units a set names, and in which
// order the error curves drop them. Pure functions on the arrays of a trace; the words are those of definitions.js.

import { CROSSING, classOf, LEAKING } from './definitions.js';
import { IO_CLASSES, ioClassOf } from './unit-weights.js';

/**
 * The parts of a trace that units are ordered by; contribution and up are null while the layer is still landing.
 * @typedef {{ gate: Float32Array, act: Float32Array, up: Float32Array | null, hidden: Float32Array | null,
 *   contribution: Float32Array | null, dFf: number, shape: import('./definitions.js').ActShape }} Traced
 */

/** @typedef {'mean' | 'size' | 'changes' | 'class' | 'c' | 'a' | 'g' | 'cosine' | 'index'} SortKey */
/** @type {readonly SortKey[]} */
export const SORT_KEYS = ['mean', 'size', 'changes', 'class', 'g', 'a', 'c', 'cosine', 'index'];

/**
 * Units in the order in which the map shows them. Over the tokens: by mean g (most negative first), by mean |a| or by changes of
 * class (most first). For one token: grouped by class, by g, by contribution or |a| (largest first). Or by number.
 * @param {Traced} trace
 * @param {number} token
 * @param {SortKey} key
 * @param {number} [first] the first token that counts where all do
 * @param {number} [tau] for the orders that go by class
 */
export function unitOrder(trace, token, key, first = 0, tau = 0) {
  const { gate, act, contribution, dFf, shape } = trace;
  const order = Uint32Array.from({ length: dFf }, (_, j) => j);
  const row = token * dFf;
  if (key === 'c' && contribution !== null) {
    return order.sort((i, j) => contribution[row + j] - contribution[row + i] || i - j);
  }
  if (key === 'mean') {
    const mean = sumsOver(gate, dFf, first);
    return order.sort((i, j) => mean[i] - mean[j] || i - j);
  }
  if (key === 'size') {
    const mean = sumsOver(act.map(Math.abs), dFf, first);
    return order.sort((i, j) => mean[j] - mean[i] || i - j);
  }
  if (key === 'changes') {
    const changes = classChanges(trace, first, tau);
    return order.sort((i, j) => changes[j] - changes[i] || i - j);
  }
  if (key === 'class') {
    const classes = order.map((j) => classOf(gate[row + j], act[row + j], tau, shape));
    return order.sort((i, j) => classes[i] - classes[j] || gate[row + i] - gate[row + j] || i - j);
  }
  if (key === 'g') return order.sort((i, j) => gate[row + i] - gate[row + j] || i - j);
  if (key === 'a') {
    return order.sort((i, j) => Math.abs(act[row + j]) - Math.abs(act[row + i]) || i - j);
  }
  return order;
}

/**
 * Units grouped by what their weights do to what they read, in the order of IO_CLASSES; within a group by cos(up row, column),
 * largest first.
 * @param {import('./protocol.js').Cosines} cosines
 */
export function cosineOrder(cosines) {
  const { upDown } = cosines;
  const groups = ioGroups(cosines);
  const order = Uint32Array.from(upDown, (_, j) => j);
  return order.sort((i, j) => groups[i] - groups[j] || upDown[j] - upDown[i] || i - j);
}

/** The place in IO_CLASSES of every unit. @param {import('./protocol.js').Cosines} cosines */
export function ioGroups({ gateDown, upDown }) {
  return Uint8Array.from(upDown, (cos, j) =>
    IO_CLASSES.indexOf(ioClassOf({ gateDown: gateDown[j], upDown: cos })),
  );
}

/**
 * How often each unit changes its class from one token to the next.
 * @param {Traced} trace
 * @param {number} first
 * @param {number} tau
 */
function classChanges({ gate, act, dFf, shape }, first, tau) {
  const changes = new Uint32Array(dFf);
  for (let i = (first + 1) * dFf; i < gate.length; i++) {
    const before = classOf(gate[i - dFf], act[i - dFf], tau, shape);
    if (classOf(gate[i], act[i], tau, shape) !== before) changes[i % dFf]++;
  }
  return changes;
}

/**
 * Each unit's value, summed over the tokens.
 * @param {Float32Array} values  [tokens, dFf]
 * @param {number} dFf
 * @param {number} first
 */
function sumsOver(values, dFf, first) {
  const sums = new Float64Array(dFf);
  for (let i = first * dFf; i < values.length; i++) sums[i % dFf] += values[i];
  return sums;
}

/**
 * Rank of a unit by contribution at a token, 1 for the largest.
 * @param {Float32Array} contribution
 * @param {number} token
 * @param {number} width
 * @param {number} unit
 */
export function rankOf(contribution, token, width, unit) {
  const own = contribution[token * width + unit];
  let rank = 1;
  for (let i = token * width; i < (token + 1) * width; i++) if (contribution[i] > own) rank++;
  return rank;
}

/** Sets of gates that can be closed with one press. @typedef {'closed' | 'leaking' | 'negative' | 'least'} UnitSet */
/** @type {readonly UnitSet[]} */
export const UNIT_SETS = ['closed', 'leaking', 'negative', 'least'];
/** `least` closes all units but this many with the largest contribution, where no other number is given. */
export const KEPT_BY_LEAST = 512;

/**
 * The units of a token that belong to a set. `closed` is the S of the error E(S) that the sentence states.
 * @param {Traced} trace
 * @param {number} token
 * @param {UnitSet} set
 * @param {number} tau
 * @param {number | null} [kept] how many `least` leaves open
 * @returns {number[]}
 */
export function unitsOf(trace, token, set, tau, kept = null) {
  const { gate, act, dFf, shape } = trace;
  if (set === 'least') return [...unitOrder(trace, token, 'c').subarray(kept ?? KEPT_BY_LEAST)];
  const units = [];
  for (let unit = 0; unit < dFf; unit++) {
    const i = token * dFf + unit;
    const gateClass = classOf(gate[i], act[i], tau, shape);
    const belongs = {
      closed: gateClass <= CROSSING,
      leaking: gateClass === LEAKING,
      negative: gate[i] < 0,
    };
    if (belongs[set]) units.push(unit);
  }
  return units;
}

/** What an error curve drops first: the least |a| (CATS), |u|, |h| (TEAL) or c. @typedef {'a' | 'u' | 'h' | 'c'} Score */
/** @type {readonly Score[]} */
export const SCORES = ['a', 'u', 'h', 'c'];

/**
 * Units of a token by a score, least first.
 * @param {Traced} trace
 * @param {number} token
 * @param {Score} score
 */
export function dropOrder({ act, up, hidden, contribution, dFf }, token, score) {
  const values = { a: act, u: up, h: hidden, c: contribution }[score];
  const order = Uint32Array.from({ length: dFf }, (_, j) => j);
  if (values === null) return order;
  const row = token * dFf;
  return order.sort((i, j) => Math.abs(values[row + i]) - Math.abs(values[row + j]) || i - j);
}
