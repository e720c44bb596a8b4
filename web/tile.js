// The selected token unfolded: every one of its gates as a square, in the order of the map, row by row. Canvas, for the
// pointer and the eye; the grid over the big map serves the keyboard for both. A shut gate has a dot, so that it is told
// from a crossing one without colour; a gate closed by hand is crossed out.

import { SHUT } from './definitions.js';
import { el } from './dom.js';

/** Side of a square in CSS pixels; large layers have smaller ones, so that the tile keeps its height. */
const CELL = 8;
const SMALLEST_CELL = 2;
const MAX_HEIGHT = 260;
/** So much of the columns may be given up for full rows. */
const EVEN_FROM = 0.9;

/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./scene.js').Cell} Cell */
/** @typedef {import('./colouring.js').Colouring} Colouring */
/** Runs of places in the order, as pairs: the first place, and the one behind the last. @typedef {number[]} Runs */

export class Tile {
  #host;
  #canvas = el('canvas', { class: 'tile-canvas', 'aria-hidden': 'true' });
  #pinned = el('div', { class: 'mark mark-cell', 'aria-hidden': 'true' });
  #versus = el('div', { class: 'mark mark-cell is-versus', 'aria-hidden': 'true' });
  #hovered = el('div', { class: 'mark mark-cell is-hover', 'aria-hidden': 'true' });
  /** @type {Scene | null} */
  #scene = null;
  /** @type {Colouring | null} */
  #colouring = null;
  #columns = 1;
  /** Of the columns, and the right end: whole pixels, so that columns share out the width without a blur. */
  #lefts = new Uint32Array(2);
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
   * @param {Colouring} colouring another one where the colours of cells have changed
   */
  update(scene, colouring) {
    const before = this.#scene;
    const stale =
      before === null ||
      before.order !== scene.order ||
      before.state !== scene.state ||
      this.#colouring !== colouring;
    this.#scene = scene;
    this.#colouring = colouring;
    // Nothing tells a page that is not seen how wide it is.
    if (this.#width === 0 && document.hidden) this.#width = this.#host.clientWidth;
    if (stale) this.#paint();
    this.#placeMarks();
  }

  #repaintIfResized() {
    const width = this.#host.clientWidth;
    if (width === this.#width) return;
    this.#width = width;
    this.#paint();
    this.#placeMarks();
  }

  /**
   * As many columns as fill the width, with as few squares as possible missing in the last row.
   * @param {number} dFf
   */
  #layOut(dFf) {
    this.#cell = CELL;
    while (this.#cell > SMALLEST_CELL && this.#rows(dFf) * this.#cell > MAX_HEIGHT) this.#cell--;
    this.#columns = Math.ceil(dFf / this.#rows(dFf));
    this.#columns = evenColumns(dFf, this.#columns);
    this.#lefts = Uint32Array.from({ length: this.#columns + 1 }, (_, column) =>
      Math.round((column * this.#width) / this.#columns),
    );
  }

  /** @param {number} dFf */
  #rows(dFf) {
    return Math.ceil(dFf / Math.floor(this.#width / this.#cell));
  }

  #paint() {
    const scene = this.#scene;
    const colouring = this.#colouring;
    // Nobody asks for the width here: a question about the layout is dear while other views are changing it.
    if (scene === null || colouring === null || this.#width === 0) return;
    const { dFf } = scene.numbers;
    this.#layOut(dFf);
    const density = window.devicePixelRatio || 1;
    const width = this.#width;
    const height = Math.ceil(dFf / this.#columns) * this.#cell;
    const sizes = [Math.round(width * density), Math.round(height * density)];
    if (this.#canvas.width !== sizes[0] || this.#canvas.height !== sizes[1]) {
      [this.#canvas.width, this.#canvas.height] = sizes;
      this.#canvas.style.width = `${width}px`;
      this.#canvas.style.height = `${height}px`;
    }
    const context = /** @type {CanvasRenderingContext2D} */ (this.#canvas.getContext('2d'));
    context.setTransform(density, 0, 0, density, 0, 0);
    context.fillStyle = colouring.palette.gapCss;
    context.fillRect(0, 0, width, height);
    this.#paintCells(context, scene, colouring);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {Scene} scene
   * @param {Colouring} colouring
   */
  #paintCells(context, scene, { css, indexOf, palette }) {
    const { token } = scene.state;
    const gap = this.#cell >= 5 ? 1 : 0;
    const size = this.#cell - gap;
    const runs = this.#runsOf(scene.order, (unit) => indexOf(token, unit), css.length, gap === 0);
    runs.forEach((ofColour, colour) => {
      context.fillStyle = css[colour];
      for (let run = 0; run < ofColour.length; run += 2) {
        const [from, to] = [ofColour[run], ofColour[run + 1]];
        const column = from % this.#columns;
        const x = this.#lefts[column];
        const y = Math.floor(from / this.#columns) * this.#cell;
        context.fillRect(x, y, this.#lefts[column + to - from] - x - gap, size);
      }
    });
    if (scene.state.by === 'class' && size >= 4)
      this.#dot(context, palette.mark, runs[SHUT], size, gap);
    for (const unit of scene.shut) {
      const { x, y, width } = this.#placeOf(scene.columnOf[unit]);
      context.fillStyle = palette.css[SHUT];
      context.fillRect(x, y, width - gap, size);
      crossOut(context, palette.mark, x, y, size);
    }
  }

  /**
   * Places by colour, for setting a colour costs more than a square. Neighbours of one colour in a row make one run where no
   * gap is between squares.
   * @param {Uint32Array} order
   * @param {(unit: number) => number} colourOf
   * @param {number} colours
   * @param {boolean} joins
   */
  #runsOf(order, colourOf, colours, joins) {
    /** @type {Runs[]} */
    const runs = Array.from({ length: colours }, () => []);
    let inColour = -1;
    for (let k = 0; k < order.length; k++) {
      const colour = colourOf(order[k]);
      const ofColour = runs[colour];
      if (joins && colour === inColour && k % this.#columns !== 0) ofColour[ofColour.length - 1]++;
      else ofColour.push(k, k + 1);
      inColour = colour;
    }
    return runs;
  }

  /**
   * Tells shut gates from crossing ones.
   * @param {CanvasRenderingContext2D} context
   * @param {string} colour
   * @param {Runs} runs
   * @param {number} size
   * @param {number} gap
   */
  #dot(context, colour, runs, size, gap) {
    context.fillStyle = colour;
    for (let run = 0; run < runs.length; run += 2) {
      for (let k = runs[run]; k < runs[run + 1]; k++) {
        const { x, y, width } = this.#placeOf(k);
        context.fillRect(x + (width - gap) / 2 - 1, y + size / 2 - 1, 2, 2);
      }
    }
  }

  /** @param {number} k place in the order */
  #placeOf(k) {
    const column = k % this.#columns;
    const x = this.#lefts[column];
    const y = Math.floor(k / this.#columns) * this.#cell;
    return { x, y, width: this.#lefts[column + 1] - x };
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
 * A few columns fewer, where the units then fill every row: 48 x 32 on a phone.
 * @param {number} dFf
 * @param {number} columns
 */
function evenColumns(dFf, columns) {
  for (let fewer = columns; fewer > EVEN_FROM * columns; fewer--)
    if (dFf % fewer === 0) return fewer;
  return columns;
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
