// What the weights of one unit do with an input, and how they lie to each other: the largest terms of the sums that make g
// and u, and the class of the unit by its cosines. Pure functions; the sums themselves are the module's.

/** A term of a sum: input or output dimension, and its value. @typedef {{ dimension: number, value: number }} Term */
/** @typedef {'strengthening' | 'weakening' | 'conditional strengthening' | 'conditional weakening' | 'proportional change' | 'orthogonal'} IoClass */

/** In the order of the map: from what adds to what it reads, over what leaves it, to what takes from it. @type {readonly IoClass[]} */
export const IO_CLASSES = [
  'strengthening',
  'conditional strengthening',
  'proportional change',
  'orthogonal',
  'conditional weakening',
  'weakening',
];

/** Two directions with |cos| from here up count as aligned, below it as orthogonal. Printed where the class is. */
export const ALIGNED = 0.5;

/**
 * The terms weights[k] * values[k] of largest magnitude, and the sum of all.
 * @param {Float32Array} weights
 * @param {(dimension: number) => number} valueAt
 * @param {number} count
 * @returns {{ terms: Term[], sum: number }}
 */
export function largestTerms(weights, valueAt, count) {
  const terms = Array.from(weights, (weight, dimension) => ({
    dimension,
    value: weight * valueAt(dimension),
  }));
  const sum = terms.reduce((total, { value }) => total + value, 0);
  terms.sort((p, q) => Math.abs(q.value) - Math.abs(p.value) || p.dimension - q.dimension);
  return { terms: terms.slice(0, count), sum };
}

/**
 * What the unit does to the direction that it reads, by the cosines of its gate row, up row and column: the classes, names
 * and cut-off of Gerstner and Schuetze (arXiv 2505.17936, and the later "Weakening neurons"). Turning the signs of the up row
 * and the column together changes nothing, so the sign that counts is that of cos(Wu_j, d_j).
 * @param {{ gateDown: number, upDown: number }} cosines
 * @returns {IoClass}
 */
export function ioClassOf({ gateDown, upDown }) {
  const gate = Math.abs(gateDown) >= ALIGNED;
  if (Math.abs(upDown) >= ALIGNED) {
    const kind = upDown > 0 ? 'strengthening' : 'weakening';
    return gate ? kind : `conditional ${kind}`;
  }
  return gate ? 'proportional change' : 'orthogonal';
}
