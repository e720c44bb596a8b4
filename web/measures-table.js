// "The layer in numbers": the measures of the selected token beside the layer's, as a table. It holds the checkbox that takes
// the first token in; what that changes elsewhere is the state's business.

import { byId, el } from './dom.js';
import { number, percent } from './format.js';
import { meanOf, median } from './layer-measures.js';
import { text } from './text.js';

/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./protocol.js').TokenMeasures} TokenMeasures */

const words = text.measures;
const ROWS = /** @type {const} */ ([
  'closed',
  'leaking',
  'open',
  'delivered',
  'held',
  'leaked',
  'errorClosed',
  'errorNegative',
  'spread',
  'half',
]);
const COUNTS = new Set(['spread', 'half']);

export class MeasuresTable {
  #body = byId('measures-table');
  #first = /** @type {HTMLInputElement} */ (byId('include-first'));
  /** @type {unknown[]} */
  #drawn = [];

  /** @param {{ onFirst: (first: boolean) => void }} actions */
  constructor({ onFirst }) {
    this.#first.addEventListener('change', () => onFirst(this.#first.checked));
  }

  /**
   * @param {Scene} scene
   * @param {TokenMeasures[] | null} measures of every token
   * @param {number} measuredAt the threshold that they are of: they follow a slider once it rests
   */
  update(scene, measures, measuredAt) {
    const { state, numbers, firstCounted } = scene;
    this.#first.checked = state.first;
    this.#first.disabled = numbers.tokens === 1;
    const isLate = measures !== null && measuredAt !== state.tau;
    this.#body.setAttribute('aria-busy', String(isLate));
    const key = [numbers, state.token, firstCounted, measures];
    if (!scene.isWhole || key.every((part, i) => part === this.#drawn[i])) return;
    this.#drawn = key;
    const here = measures?.[state.token] ?? null;
    const layer = measures === null ? null : ofLayer(measures.slice(firstCounted));
    this.#body.replaceChildren(
      ...ROWS.map((name) => {
        const cells = [here, layer].map((of) => el('td', {}, figure(name, of?.[name] ?? null)));
        const head = el(
          'th',
          { scope: 'row' },
          el('b', {}, words.names[name]),
          words.meanings[name],
        );
        return el('tr', { 'data-measure': name }, head, ...cells);
      }),
    );
  }
}

/**
 * @param {string} name
 * @param {number | null} value
 */
function figure(name, value) {
  if (value === null) return '\u2026';
  return COUNTS.has(name) ? number(value) : percent(value);
}

/**
 * Means over the tokens; of the errors the medians, which one token's spike does not move.
 * @param {TokenMeasures[]} tokens
 * @returns {TokenMeasures}
 */
function ofLayer(tokens) {
  return {
    ...meanOf(tokens),
    errorClosed: median(tokens.map(({ errorClosed }) => errorClosed)),
    errorNegative: median(tokens.map(({ errorNegative }) => errorNegative)),
  };
}
