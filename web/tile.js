// The selected token unfolded: every one of its gates as a square, in the order of the map, row by row. Canvas, for the
// pointer and the eye; the grid over the big map serves the keyboard for both. A shut gate has a dot, so that it is told
// from a crossing one without colour; a gate closed by hand is crossed out.

import { shutByHand } from './analysis.js';
import { colouringOf } from './colouring.js';
import { SHUT } from './definitions.js';
import { el } from './dom.js';

/** Side of a square in CSS pixels; large layers have smaller ones, so that the tile keeps its height. */
const CELL = 8;
const SMALLEST_CELL = 2;
const MAX_HEIGHT = 260;

/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./scene.js').Cell} Cell */
/** @typedef {import('./colours.js').Palette} Palette */

export class Tile {
  #host;
  #canvas = el('canvas', { class: 'tile-canvas', 'aria-hidden': 'true' });
  #pinned = el('div', { class: 'mark mark-cell', 'aria-hidden': 'true' });
  #versus = el('div', { class: 'mark mark-cell is-versus', 'aria-hidden': 'true' });
  #hovered = el('div', { class: 'mark mark-cell is-hover', 'aria-hidden': 'true' });
  /** @type {Scene | null} */
  #scene = null;
  /** @type {Palette | null} */
  #palette = null;
  #columns = 1;
  #cell = CELL;
  #width = 0;

  /**
   * @param {HTMLElement} host
   * @param {{ onHover: (cell: Cell | null) => void, onPin: (cell: Cell, isSecond: boolean) => void }} actions
   */
  constructor(host, { onHover, onPin }) {
    this.#host = host;
    host.append(this.#canvas, this.#hovered, this.#versus, this.#pinned);
    host.addEventListener('pointermove', (event) => onHover(this.#cellAt(event)));
    host.addEventListener('pointerleave', () => onHover(null));
    host.addEventListener('click', (event) => {
      const cell = this.#cellAt(event);
      if (cell !== null) onPin(cell, event.shiftKey);
    });
    new ResizeObserver(() => this.#repaintIfResized()).observe(host);
  }

  /**
   * @param {Scene} scene
   * @param {Palette} palette
   */
  update(scene, palette) {
    const before = this.#scene;
    const stale =
      before === null ||
      before.numbers !== scene.numbers ||
      before.state !== scene.state ||
      before.gradients !== scene.gradients ||
      this.#palette !== palette;
    this.#scene = scene;
    this.#palette = palette;
    if (stale) this.#paint();
    this.#placeMarks();
  }

  #repaintIfResized() {
    if (this.#scene === null || this.#host.clientWidth === this.#width) return;
    this.#paint();
    this.#placeMarks();
  }

  /**
   * As many columns as fill the width, with as few squares as possible missing in the last row.
   * @param {number} dFf
   */
  #layOut(dFf) {
    this.#width = this.#host.clientWidth;
    this.#cell = CELL;
    while (this.#cell > SMALLEST_CELL && this.#rows(dFf) * this.#cell > MAX_HEIGHT) this.#cell--;
    this.#columns = Math.ceil(dFf / this.#rows(dFf));
  }

  /** @param {number} dFf */
  #rows(dFf) {
    return Math.ceil(dFf / Math.floor(this.#width / this.#cell));
  }

  #paint() {
    const scene = this.#scene;
    const palette = this.#palette;
    if (scene === null || palette === null || this.#host.clientWidth === 0) return;
    const { dFf } = scene.numbers;
    this.#layOut(dFf);
    const density = window.devicePixelRatio || 1;
    const width = this.#width;
    const height = Math.ceil(dFf / this.#columns) * this.#cell;
    this.#canvas.width = Math.round(width * density);
    this.#canvas.height = Math.round(height * density);
    this.#canvas.style.width = `${width}px`;
    this.#canvas.style.height = `${height}px`;
    const context = /** @type {CanvasRenderingContext2D} */ (this.#canvas.getContext('2d'));
    context.scale(density, density);
    context.fillStyle = palette.gapCss;
    context.fillRect(0, 0, width, height);
    this.#paintCells(context, scene, palette);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {Scene} scene
   * @param {Palette} palette
   */
  #paintCells(context, scene, palette) {
    const { token } = scene.state;
    const gap = this.#cell >= 5 ? 1 : 0;
    const size = this.#cell - gap;
    const colouring = colouringOf(scene, palette);
    scene.order.forEach((unit, k) => {
      const { x, y, width } = this.#placeOf(k);
      const gateClass = scene.classAt({ token, unit });
      const colour = colouring.indexOf(token, unit);
      context.fillStyle = colouring.css[colour];
      context.fillRect(x, y, width - gap, size);
      if (gateClass === SHUT && colour === SHUT && size >= 4) {
        context.fillStyle = palette.mark;
        context.fillRect(x + (width - gap) / 2 - 1, y + size / 2 - 1, 2, 2);
      }
    });
    for (const unit of shutByHand(scene)) {
      const { x, y, width } = this.#placeOf(scene.columnOf[unit]);
      context.fillStyle = palette.css[SHUT];
      context.fillRect(x, y, width - gap, size);
      crossOut(context, palette.mark, x, y, size);
    }
  }

  /**
   * Whole pixels, so that columns share out the width without a blur.
   * @param {number} k place in the order
   */
  #placeOf(k) {
    const column = k % this.#columns;
    const x = Math.round((column * this.#width) / this.#columns);
    const next = Math.round(((column + 1) * this.#width) / this.#columns);
    return { x, y: Math.floor(k / this.#columns) * this.#cell, width: next - x };
  }

  #placeMarks() {
    const scene = this.#scene;
    if (scene === null) return;
    const { state, hover, columnOf } = scene;
    const place = (/** @type {HTMLElement} */ mark, /** @type {number | null} */ unit) => {
      mark.hidden = unit === null || unit >= columnOf.length;
      if (mark.hidden || unit === null) return;
      const { x, y, width } = this.#placeOf(columnOf[unit]);
      mark.style.transform = `translate(${x}px, ${y}px)`;
      mark.style.width = `${width}px`;
      mark.style.height = `${this.#cell}px`;
    };
    place(this.#pinned, state.unit);
    place(this.#hovered, hover?.unit ?? null);
    place(this.#versus, state.versus?.token === state.token ? state.versus.unit : null);
  }

  /** @param {MouseEvent} event */
  #cellAt(event) {
    const scene = this.#scene;
    if (scene === null) return null;
    const box = this.#canvas.getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left) / this.#width) * this.#columns);
    const row = Math.floor((event.clientY - box.top) / this.#cell);
    const k = row * this.#columns + column;
    if (column < 0 || column >= this.#columns || row < 0 || k >= scene.order.length) return null;
    return { token: scene.state.token, unit: scene.order[k] };
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {string} colour
 * @param {number} x
 * @param {number} y
 * @param {number} size
 */
function crossOut(context, colour, x, y, size) {
  if (size < 4) return;
  const [near, far] = [1.5, size - 1.5];
  context.strokeStyle = colour;
  context.beginPath();
  context.moveTo(x + near, y + near);
  context.lineTo(x + far, y + far);
  context.moveTo(x + far, y + near);
  context.lineTo(x + near, y + far);
  context.stroke();
}
