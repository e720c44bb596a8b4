// "Layer by layer": a button a shipped layer, and for those that have been read the mean shares of the classes over the tokens.
// The rows stay; a moved threshold changes their figures and the widths of their parts.

import { CellClasses } from './cell-classes.js';
import { CLASS_NAMES, LEAKING, OPEN } from './definitions.js';
import { byId, el } from './dom.js';
import { percent } from './format.js';
import { SHIPPED } from './models.js';
import { text } from './text.js';

/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./scene.js').Numbers} Numbers */

const words = text.charts;

export class LayerOverview {
  #rows;
  /** Layers that have been read, on the prompt they were last read on. @type {Map<number, Numbers>} */
  #read = new Map();
  /** @type {unknown[]} */
  #drawn = [];

  /** @param {{ onLayer: (layer: number) => void }} actions */
  constructor({ onLayer }) {
    this.#rows = SHIPPED.layers.map((layer) => {
      const name = el('button', { type: 'button' }, words.layer(layer));
      name.addEventListener('click', () => onLayer(layer));
      const parts = CLASS_NAMES.map((className) => el('i', { class: `band-${className}` }));
      const stack = el('span', { class: 'stack', 'aria-hidden': 'true', hidden: true }, ...parts);
      const figures = el('span', { class: 'unread' }, words.unread);
      const row = el('div', { class: 'layer-row' }, name, stack, figures);
      return { layer, row, name, stack, parts, figures };
    });
    byId('chart-overview').append(...this.#rows.map(({ row }) => row));
  }

  /** @param {Scene} scene */
  update(scene) {
    const { numbers, state } = scene;
    const key = [numbers, state.tau, state.first, state.layer];
    if (key.every((part, i) => part === this.#drawn[i])) return;
    this.#drawn = key;
    if (scene.isWhole && scene.isShipped) this.#read.set(Number(numbers.layer), numbers);
    for (const { layer, name, ...row } of this.#rows) {
      name.toggleAttribute('aria-current', false);
      if (layer === state.layer) name.setAttribute('aria-current', 'true');
      const read = this.#read.get(layer);
      if (read !== undefined) showShares(row, classShares(read, state.tau, state.first ? 0 : 1));
    }
  }
}

/**
 * @param {{ stack: HTMLElement, parts: HTMLElement[], figures: HTMLElement }} row
 * @param {number[]} shares of the classes
 */
function showShares({ stack, parts, figures }, shares) {
  stack.hidden = false;
  shares.forEach((share, i) => {
    parts[i].style.flexGrow = String(share);
  });
  figures.classList.remove('unread');
  figures.textContent = words.shares(
    percent(shares[0] + shares[1]),
    percent(shares[LEAKING]),
    percent(shares[OPEN]),
  );
}

/**
 * Mean shares of the four classes over the tokens.
 * @param {Numbers} numbers
 * @param {number} tau
 * @param {number} first the first token that counts
 */
function classShares(numbers, tau, first) {
  const { tokens, dFf } = numbers;
  const classes = new CellClasses(numbers, tau);
  const sums = [0, 0, 0, 0];
  for (let token = first; token < tokens; token++) {
    classes.count(token).counts.forEach((count, i) => {
      sums[i] += count / (dFf * (tokens - first));
    });
  }
  return sums;
}
