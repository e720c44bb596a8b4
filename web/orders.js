// Orders and sets of units at a token: how the map's columns are sorted, a unit's rank, which units a set names, and in which
// order the error curves drop them. Pure functions on the arrays of a trace; the words are those of definitions.js.

import { CROSSING, classOf, LEAKING } from './definitions.js';

/**
 * The parts of a trace that units are ordered by; contribution and up are null while the layer is still landing.
 * @typedef {{ gate: Float32Array, act: Float32Array, up: Float32Array | null, hidden: Float32Array | null,
 *   contribution: Float32Array | null, dFf: number, shape: import('./definitions.js').ActShape }} Traced
 */

/** @typedef {'mean' | 'c' | 'a' | 'g' | 'index'} SortKey */
/** @type {readonly SortKey[]} */
export const SORT_KEYS = ['mean', 'g', 'a', 'c', 'index'];

/**
 * Units in the order in which the map shows them: by g averaged over the tokens (most negative first), or for one token
 * by g, by contribution or |a| (largest first); or by number.
 * @param {Traced} trace
 * @param {number} token
 * @param {SortKey} key
 * @param {number} [first] the first token that an average counts
 */
export function unitOrder({ gate, act, contribution, dFf }, token, key, first = 0) {
  const order = Uint32Array.from({ length: dFf }, (_, j) => j);
  const row = token * dFf;
  if (key === 'c' && contribution !== null) {
    return order.sort((i, j) => contribution[row + j] - contribution[row + i] || i - j);
  }
  if (key === 'mean') {
    const mean = meanGates(gate, dFf, first);
    return order.sort((i, j) => mean[i] - mean[j] || i - j);
  }
  if (key === 'g') return order.sort((i, j) => gate[row + i] - gate[row + j] || i - j);
  if (key === 'a') {
    return order.sort((i, j) => Math.abs(act[row + j]) - Math.abs(act[row + i]) || i - j);
  }
  return order;
}

/**
 * Each unit's g, summed over the tokens.
 * @param {Float32Array} gate  [tokens, dFf]
 * @param {number} dFf
 * @param {number} first
 */
function meanGates(gate, dFf, first) {
  const sums = new Float64Array(dFf);
  for (let i = first * dFf; i < gate.length; i++) sums[i % dFf] += gate[i];
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
/** `least` closes all units but this many with the largest contribution. */
export const KEPT_BY_LEAST = 512;

/**
 * The units of a token that belong to a set. `closed` is the S of the error E(S) that the sentence states.
 * @param {Traced} trace
 * @param {number} token
 * @param {UnitSet} set
 * @param {number} tau
 * @returns {number[]}
 */
export function unitsOf(trace, token, set, tau) {
  const { gate, act, dFf, shape } = trace;
  if (set === 'least') return [...unitOrder(trace, token, 'c').subarray(KEPT_BY_LEAST)];
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
