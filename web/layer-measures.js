// Measures of one token's gates, and their means over the tokens of a layer. Pure functions on the arrays of a trace; the
// words are those of definitions.js. The errors E(S) are not here: the worker computes outputs anew for them.

import { CLASS_NAMES, CROSSING, classOf, LEAKING } from './definitions.js';

/** @typedef {import('./orders.js').Traced} Traced */
/**
 * Shares lie between 0 and 1. `closed`, `leaking`, `open`: of the units. `delivered`, `leaked`: of sum c, through closed
 * gates and through leaking ones. `held`: of sum |u| ||d||, what up offers behind closed gates. `spread`: (sum c)^2 / sum
 * c^2, in units. `half`: the fewest units that hold half of sum c.
 * @typedef {{ closed: number, leaking: number, open: number, delivered: number, held: number, leaked: number,
 *   spread: number, half: number }} Measures
 */

/**
 * @param {Traced} traced
 * @param {Float32Array} norms  ||d_j||
 * @param {number} token
 * @param {number} tau
 * @returns {Measures}
 */
export function measuresOf({ gate, act, up, contribution, dFf, shape }, norms, token, tau) {
  const row = token * dFf;
  const counts = CLASS_NAMES.map(() => 0);
  let [sum, squares, closedSum, leakingSum, offered, heldBack] = [0, 0, 0, 0, 0, 0];
  for (let j = 0; j < dFf; j++) {
    const c = contribution === null ? 0 : contribution[row + j];
    const offer = up === null ? 0 : Math.abs(up[row + j]) * norms[j];
    const gateClass = classOf(gate[row + j], act[row + j], tau, shape);
    counts[gateClass]++;
    sum += c;
    squares += c * c;
    offered += offer;
    if (gateClass <= CROSSING) {
      closedSum += c;
      heldBack += offer;
    } else if (gateClass === LEAKING) leakingSum += c;
  }
  const [shut, crossing, leaking, open] = counts.map((count) => count / dFf);
  return {
    closed: shut + crossing,
    leaking,
    open,
    delivered: closedSum / sum,
    held: heldBack / offered,
    leaked: leakingSum / sum,
    spread: (sum * sum) / squares,
    half: contribution === null ? 0 : unitsForHalf(contribution, token, dFf, sum),
  };
}

/** Counts of unitsForHalf by token: no threshold changes them, and sorting is dear. @type {WeakMap<Float32Array, number[]>} */
const halves = new WeakMap();

/**
 * @param {Float32Array} contribution  [tokens, dFf]
 * @param {number} token
 * @param {number} dFf
 * @param {number} sum over the token's units
 */
function unitsForHalf(contribution, token, dFf, sum) {
  const known = halves.get(contribution) ?? [];
  halves.set(contribution, known);
  if (known[token] === undefined) {
    const sorted = contribution.slice(token * dFf, (token + 1) * dFf).sort();
    let [count, reached] = [0, 0];
    while (reached < sum / 2 && count < sorted.length) reached += sorted[sorted.length - ++count];
    known[token] = count;
  }
  return known[token];
}

/**
 * @template {Measures} M
 * @param {M[]} tokens
 * @returns {M}
 */
export function meanOf(tokens) {
  const keys = /** @type {(keyof Measures)[]} */ (Object.keys(tokens[0]));
  const mean = (/** @type {keyof Measures} */ key) =>
    tokens.reduce((total, measures) => total + measures[key], 0) / tokens.length;
  return /** @type {M} */ (Object.fromEntries(keys.map((key) => [key, mean(key)])));
}

/** @param {ArrayLike<number>} values */
export function median(values) {
  return quantile(Float64Array.from(values).sort(), 0.5);
}

/**
 * Between two values, linearly.
 * @param {Float64Array | Float32Array} sorted ascending
 * @param {number} share between 0 and 1
 */
export function quantile(sorted, share) {
  const at = share * (sorted.length - 1);
  const low = Math.floor(at);
  return sorted[low] + (at - low) * (sorted[Math.ceil(at)] - sorted[low]);
}
