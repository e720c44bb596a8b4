// The map of all tokens: one row a token, one column a unit, coloured by class. Canvas only; the keyboard and the
// screen reader's grid lie over it (cell-grid.js). The backing store has one pixel a unit, so a screen that is narrower
// averages neighbours and a denser one shows each unit.

import { ASK } from './cell-classes.js';
import { el } from './dom.js';

/** Height of the whole map in CSS pixels, as far as whole pixels a row allow. */
const TARGET_HEIGHT = 190;
const MIN_ROW = 3;
const MAX_ROW = 8;
/** Beyond this many units neighbours share a column of pixels, and the strongest class is shown. */
const MAX_COLUMNS = 4096;

/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./colouring.js').Colouring} Colouring */
/**
 * The unit of every column, and its code, which lie here in the order of the map's pixels: [tokens, columns].
 * @typedef {{ order: Uint32Array, numbers: Scene['numbers'], units: Uint32Array, codes: Uint16Array }} Columns
 */

export class Heatmap {
  #canvas = el('canvas', { class: 'map-canvas', 'aria-hidden': 'true' });
  #row = el('div', { class: 'mark mark-row', 'aria-hidden': 'true' });
  #hoverRow = el('div', { class: 'mark mark-row is-hover', 'aria-hidden': 'true' });
  #column = el('div', { class: 'mark mark-column', 'aria-hidden': 'true' });
  #versusColumn = el('div', { class: 'mark mark-column is-versus', 'aria-hidden': 'true' });
  #hoverColumn = el('div', { class: 'mark mark-column is-hover', 'aria-hidden': 'true' });
  /** @type {Scene | null} */
  #scene = null;
  /** What is painted. @type {Colouring | null} */
  #colouring = null;
  /** The canvas's pixels; between rows they keep the colour of a gap. @type {ImageData | null} */
  #image = null;
  #rowHeight = MIN_ROW;
  /** Of the host; watched, for to ask is dear while other views are changing the page. */
  #width = 0;
  /** What is in the columns of each token. @type {Columns | null} */
  #columns = null;

  /** @param {HTMLElement} host a positioned box */
  constructor(host) {
    host.append(
      this.#canvas,
      this.#hoverRow,
      this.#row,
      this.#versusColumn,
      this.#hoverColumn,
      this.#column,
    );
    new ResizeObserver(() => {
      this.#width = host.clientWidth;
      this.#noteStretch();
    }).observe(host);
  }

  /**
   * @param {Scene} scene
   * @param {Colouring} colouring another one where the colours of cells have changed
   */
  update(scene, colouring) {
    const stale = this.#scene?.order !== scene.order || this.#colouring !== colouring;
    this.#scene = scene;
    if (stale) this.#paint(scene, colouring);
    this.#colouring = colouring;
    this.#placeMarks(scene);
  }

  /**
   * The cell under a point given as shares of the map's width and height.
   * @param {number} x
   * @param {number} y
   */
  cellAt(x, y) {
    if (this.#scene === null) return null;
    const { order, numbers } = this.#scene;
    const column = Math.floor(x * numbers.dFf);
    const token = Math.min(numbers.tokens - 1, Math.floor(y * numbers.tokens));
    if (column < 0 || column >= order.length || token < 0) return null;
    return { token, unit: order[column] };
  }

  /**
   * @param {Scene} scene
   * @param {Colouring} colouring
   */
  #paint(scene, { pixels: colours, indexOf, byCode, palette }) {
    const { tokens, dFf } = scene.numbers;
    const columns = Math.min(dFf, MAX_COLUMNS);
    const rowHeight = Math.max(MIN_ROW, Math.min(MAX_ROW, Math.floor(TARGET_HEIGHT / tokens)));
    const isOld = rowHeight === this.#rowHeight && palette === this.#colouring?.palette;
    this.#rowHeight = rowHeight;
    const before = this.#image;
    const image = this.#imageOf(columns, this.#rowHeight * tokens);
    const pixels = new Uint32Array(image.data.buffer);
    const { units, codes } = this.#columnsOf(scene, columns);
    const filled = Math.ceil(scene.order.length / (dFf / columns));
    if (!isOld || image !== before || filled < columns) pixels.fill(palette.gap);
    for (let token = 0; token < tokens; token++) {
      const top = token * this.#rowHeight * columns;
      const row = token * columns;
      for (let column = 0; column < filled; column++) {
        const known = byCode === null ? ASK : byCode[codes[row + column]];
        const colour = known === ASK ? indexOf(token, units[row + column]) : known;
        pixels[top + column] = colours[colour];
      }
      for (let line = 1; line < this.#rowHeight - 1; line++) {
        pixels.copyWithin(top + line * columns, top, top + columns);
      }
    }
    this.#canvas.getContext('2d')?.putImageData(image, 0, 0);
  }

  /**
   * @param {number} width
   * @param {number} height
   */
  #imageOf(width, height) {
    if (this.#image?.width !== width || this.#image.height !== height) {
      this.#canvas.width = width;
      this.#canvas.height = height;
      this.#canvas.style.height = `${height}px`;
      this.#image = new ImageData(width, height);
      this.#noteStretch();
    }
    return this.#image;
  }

  /** Few units are drawn wider than a pixel each: sharp, for there is nothing between two units. */
  #noteStretch() {
    this.#canvas.classList.toggle('is-stretched', this.#canvas.width < this.#width);
  }

  /**
   * Only a new order or new numbers change it.
   * @param {Scene} scene
   * @param {number} columns
   * @returns {Columns}
   */
  #columnsOf(scene, columns) {
    const { order, numbers } = scene;
    if (this.#columns?.order === order && this.#columns.numbers === numbers) return this.#columns;
    const units = strongestUnits(scene, columns);
    const codes = new Uint16Array(units.length);
    for (let place = 0; place < units.length; place++) {
      const token = Math.floor(place / columns);
      codes[place] = numbers.codes[token * numbers.dFf + units[place]];
    }
    this.#columns = { order, numbers, units, codes };
    return this.#columns;
  }

  /** @param {Scene} scene */
  #placeMarks({ state, hover, columnOf, numbers }) {
    const rowTop = (/** @type {number} */ token) => `${token * this.#rowHeight - 1}px`;
    const place = (/** @type {HTMLElement} */ mark, /** @type {number | null} */ unit) => {
      mark.hidden = unit === null || unit >= columnOf.length;
      if (unit !== null) mark.style.left = `${(columnOf[unit] / numbers.dFf) * 100}%`;
    };
    for (const mark of [this.#row, this.#hoverRow]) mark.style.height = `${this.#rowHeight + 1}px`;
    this.#row.style.top = rowTop(state.token);
    this.#hoverRow.hidden = hover === null;
    if (hover !== null) this.#hoverRow.style.top = rowTop(hover.token);
    place(this.#column, state.unit);
    place(this.#hoverColumn, hover?.unit ?? null);
    place(this.#versusColumn, state.versus?.unit ?? null);
  }
}

/**
 * Of the units that share a column of pixels the one with the largest |a|, for every token.
 * @param {Scene} scene
 * @param {number} columns
 * @returns {Uint32Array} [tokens, columns]
 */
function strongestUnits({ numbers, order }, columns) {
  const { activated, dFf, tokens } = numbers;
  const strongest = new Uint32Array(tokens * columns);
  const perColumn = dFf / columns;
  for (let token = 0; token < tokens; token++) {
    const row = token * dFf;
    for (let column = 0; column < columns; column++) {
      const first = Math.ceil(column * perColumn);
      const end = Math.min(order.length, Math.ceil((column + 1) * perColumn));
      let best = order[first];
      for (let k = first + 1; k < end; k++) {
        if (Math.abs(activated[row + order[k]]) > Math.abs(activated[row + best])) best = order[k];
      }
      strongest[token * columns + column] = best;
    }
  }
  return strongest;
}
