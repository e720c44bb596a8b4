// Terms of a sum as bars to both sides of 0, each with its dimension and its figure. Drawn anew from plain numbers.

import { svg } from './dom.js';
import { number } from './format.js';

const WIDTH = 174;
const ROW = 14;
const LABEL = 26;
const FIGURE = 40;

/** @typedef {import('./unit-weights.js').Term} Term */

/**
 * @param {Term[]} terms
 * @param {string} label what a screen reader hears before the terms
 */
export function signedBars(terms, label) {
  const largest = Math.max(Number.MIN_VALUE, ...terms.map(({ value }) => Math.abs(value)));
  const half = (WIDTH - LABEL - FIGURE) / 2;
  const zero = LABEL + half;
  const rows = terms.map(({ dimension, value }, place) => {
    const middle = (place + 0.5) * ROW;
    const width = (Math.abs(value) / largest) * half;
    return svg(
      'g',
      {},
      svg('text', { x: LABEL - 5, y: middle + 4, 'text-anchor': 'end' }, String(dimension)),
      svg('rect', {
        class: `bar-outline ${value < 0 ? 'is-negative' : 'is-positive'}`,
        x: value < 0 ? zero - width : zero,
        y: middle - 4,
        width,
        height: 8,
      }),
      svg('text', { x: WIDTH, y: middle + 4, 'text-anchor': 'end' }, number(value)),
    );
  });
  const figures = terms.map(({ dimension, value }) => `${dimension}: ${number(value)}`).join(', ');
  return svg(
    'svg',
    {
      class: 'signed-bars',
      viewBox: `0 0 ${WIDTH} ${terms.length * ROW}`,
      role: 'img',
      'aria-label': `${label}: ${figures}`,
    },
    svg('path', { class: 'zero', d: `M${zero} 0V${terms.length * ROW}` }),
    ...rows,
  );
}
