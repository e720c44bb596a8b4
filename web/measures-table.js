// "The layer in numbers": the measures of the selected token beside the layer's, as a table. It holds the checkbox that takes
// the first token in; what that changes elsewhere is the state's business.

import { byId, el } from './dom.js';
import { number, percent } from './format.js';
import { meanOf, measuresOf, median } from './layer-measures.js';
import { text } from './text.js';

/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./protocol.js').LayerErrors} LayerErrors */

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
   * @param {LayerErrors | null} errors
   */
  update(scene, errors) {
    const { state, numbers } = scene;
    this.#first.checked = state.first;
    this.#first.disabled = numbers.tokens === 1;
    const key = [numbers, state.tau, state.token, state.first, errors];
    if (!scene.isWhole || key.every((part, i) => part === this.#drawn[i])) return;
    this.#drawn = key;
    const [here, layer] = [measuresAt(scene, state.token, errors), measuresOfLayer(scene, errors)];
    this.#body.replaceChildren(
      ...ROWS.map((name) => {
        const cells = [here, layer].map((values) => el('td', {}, figure(name, values[name])));
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
 * @param {Scene} scene
 * @param {number} token
 * @param {LayerErrors | null} errors
 */
function measuresAt({ traced, numbers, state }, token, errors) {
  const norms = /** @type {Float32Array} */ (numbers.columnNorms);
  return {
    ...measuresOf(traced, norms, token, state.tau),
    errorClosed: errors?.closed[token] ?? null,
    errorNegative: errors?.negative[token] ?? null,
  };
}

/**
 * Means over the tokens; of the errors the medians, which one token's spike does not move.
 * @param {Scene} scene
 * @param {LayerErrors | null} errors
 */
function measuresOfLayer(scene, errors) {
  const { numbers, traced, state, firstCounted } = scene;
  const norms = /** @type {Float32Array} */ (numbers.columnNorms);
  const tokens = Array.from({ length: numbers.tokens - firstCounted }, (_, i) => i + firstCounted);
  const middle = (/** @type {Float32Array | undefined} */ values) =>
    values === undefined ? null : median(values.subarray(firstCounted));
  return {
    ...meanOf(tokens.map((token) => measuresOf(traced, norms, token, state.tau))),
    errorClosed: middle(errors?.closed),
    errorNegative: middle(errors?.negative),
  };
}
