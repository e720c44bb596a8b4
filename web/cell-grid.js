// The map for keyboard and screen reader: one tab stop, an ARIA grid of tokens x units of which only the cells around the
// active one exist. It also takes the pointer for the big map. It moves and names cells; what a pin or a closed gate
// does is the caller's business.

import { el } from './dom.js';
import { text } from './text.js';

const PAGE_UNITS = 64;
const NEAR_ROWS = 1;
const NEAR_COLUMNS = 2;

/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./scene.js').Cell} Cell */
/**
 * @typedef {object} GridActions
 * @property {(x: number, y: number) => Cell | null} cellAt  shares of width and height to a cell
 * @property {(cell: Cell | null) => void} onHover
 * @property {(cell: Cell, isSecond: boolean) => void} onPin
 * @property {() => void} onUnpin
 * @property {(cell: Cell) => void} onToggleClosed
 */

export class CellGrid {
  #grid = el('div', { class: 'cell-grid', role: 'grid', tabindex: 0 });
  #actions;
  /** @type {Scene | null} */
  #scene = null;
  /** Where the keyboard is. @type {Cell} */
  #active = { token: 0, unit: 0 };
  /** What the cells around it were made of. @type {unknown[]} */
  #near = [];

  /**
   * @param {HTMLElement} host
   * @param {GridActions} actions
   */
  constructor(host, actions) {
    this.#actions = actions;
    host.append(this.#grid);
    this.#grid.addEventListener('keydown', (event) => this.#onKey(event));
    this.#grid.addEventListener('focus', () => this.#onFocus());
    this.#grid.addEventListener('blur', () => actions.onHover(null));
    this.#grid.addEventListener('pointermove', (event) => actions.onHover(this.#under(event)));
    this.#grid.addEventListener('pointerleave', () => actions.onHover(null));
    this.#grid.addEventListener('click', (event) => {
      const cell = this.#under(event);
      if (cell === null) return;
      this.#active = cell;
      actions.onPin(cell, event.shiftKey);
    });
  }

  /** @param {Scene} scene */
  update(scene) {
    const first = this.#scene === null;
    this.#scene = scene;
    const { tokens, dFf } = scene.numbers;
    this.#grid.setAttribute('aria-rowcount', String(tokens));
    this.#grid.setAttribute('aria-colcount', String(dFf));
    this.#grid.setAttribute('aria-label', text.mapLabel(tokens, dFf));
    if (first || !this.#hasFocus()) this.#active = this.#home(scene);
    this.#active.token = Math.min(this.#active.token, tokens - 1);
    this.#active.unit = Math.min(this.#active.unit, scene.numbers.arrived - 1);
    const { token, unit } = this.#active;
    const key = [scene.numbers, scene.order, scene.classes, scene.state, token, unit];
    if (key.every((part, i) => part === this.#near[i])) return;
    this.#near = key;
    this.#renderNear();
  }

  #hasFocus() {
    const root = /** @type {Document | ShadowRoot} */ (this.#grid.getRootNode());
    return root.activeElement === this.#grid;
  }

  /** @param {Scene} scene */
  #home({ state, order }) {
    return { token: state.token, unit: state.unit ?? order[0] };
  }

  /** @param {MouseEvent} event */
  #under(event) {
    const box = this.#grid.getBoundingClientRect();
    return this.#actions.cellAt(
      (event.clientX - box.left) / box.width,
      (event.clientY - box.top) / box.height,
    );
  }

  #onFocus() {
    if (this.#grid.matches(':focus-visible')) this.#actions.onHover({ ...this.#active });
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const scene = this.#scene;
    if (scene === null || event.altKey || event.metaKey) return;
    const to = this.#target(event, scene);
    if (to !== null) {
      this.#active = to;
      this.#actions.onHover({ ...to });
    } else if (event.key === 'Enter') this.#actions.onPin({ ...this.#active }, event.shiftKey);
    else if (event.key === 'Escape') this.#actions.onUnpin();
    else if (event.key === ' ') this.#actions.onToggleClosed({ ...this.#active });
    else return;
    event.preventDefault();
  }

  /**
   * Where a key leads from the active cell; null where it is not a key that moves.
   * @param {KeyboardEvent} event
   * @param {Scene} scene
   * @returns {Cell | null}
   */
  #target({ key, ctrlKey, shiftKey }, scene) {
    const { token } = this.#active;
    const column = scene.columnOf[this.#active.unit];
    const [lastToken, lastColumn] = [scene.numbers.tokens - 1, scene.order.length - 1];
    const cell = (/** @type {number} */ t, /** @type {number} */ c) => ({
      token: Math.max(0, Math.min(lastToken, t)),
      unit: scene.order[Math.max(0, Math.min(lastColumn, c))],
    });
    switch (key) {
      case 'ArrowLeft':
        return cell(token, column - 1);
      case 'ArrowRight':
        return cell(token, column + 1);
      case 'ArrowUp':
        return cell(token - 1, column);
      case 'ArrowDown':
        return cell(token + 1, column);
      case 'PageUp':
        return cell(token, column - PAGE_UNITS);
      case 'PageDown':
        return cell(token, column + PAGE_UNITS);
      case 'Home':
        return cell(ctrlKey ? 0 : token, 0);
      case 'End':
        return cell(ctrlKey ? lastToken : token, lastColumn);
      case 'n':
      case 'N':
        return this.#nextOfClass(scene, shiftKey ? -1 : 1);
      default:
        return null;
    }
  }

  /**
   * @param {Scene} scene
   * @param {1 | -1} step
   */
  #nextOfClass(scene, step) {
    const wanted = scene.classAt(this.#active);
    const count = scene.order.length;
    for (let k = 1; k <= count; k++) {
      const column = (scene.columnOf[this.#active.unit] + step * k + count) % count;
      const cell = { token: this.#active.token, unit: scene.order[column] };
      if (scene.classAt(cell) === wanted) return cell;
    }
    return { ...this.#active };
  }

  #renderNear() {
    const scene = /** @type {Scene} */ (this.#scene);
    const { tokens } = scene.numbers;
    const centre = scene.columnOf[this.#active.unit];
    const rows = [];
    for (let t = this.#active.token - NEAR_ROWS; t <= this.#active.token + NEAR_ROWS; t++) {
      if (t < 0 || t >= tokens) continue;
      const row = el('div', { role: 'row', 'aria-rowindex': t + 1 });
      for (let c = centre - NEAR_COLUMNS; c <= centre + NEAR_COLUMNS; c++) {
        if (c < 0 || c >= scene.order.length) continue;
        row.append(this.#cellElement(scene, { token: t, unit: scene.order[c] }, c));
      }
      rows.push(row);
    }
    this.#grid.replaceChildren(...rows);
    this.#grid.setAttribute('aria-activedescendant', cellId(this.#active));
  }

  /**
   * @param {Scene} scene
   * @param {Cell} cell
   * @param {number} column
   */
  #cellElement(scene, cell, column) {
    const { token, unit } = scene.state;
    const attributes = {
      role: 'gridcell',
      id: cellId(cell),
      'aria-colindex': column + 1,
      'aria-selected': cell.token === token && cell.unit === unit ? 'true' : 'false',
    };
    return el('span', attributes, text.cellName(scene.describe(cell)));
  }
}

/** @param {Cell} cell */
const cellId = ({ token, unit }) => `cell-${token}-${unit}`;
