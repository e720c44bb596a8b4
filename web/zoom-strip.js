// On a narrow screen: the gates around the pinned one, in the order of the map, as buttons that a finger can hit; the squares of
// the tile are smaller than a finger. One tab stop; the arrow keys walk along the map and take the pin with them.

import { SHUT } from './definitions.js';
import { el } from './dom.js';
import { isNarrow } from './narrow.js';
import { text } from './text.js';

const CELLS = 9;

/** @typedef {import('./scene.js').Scene} Scene */

export class ZoomStrip {
  #host;
  #actions;
  /** @type {Scene | null} */
  #scene = null;
  #cells = Array.from({ length: CELLS }, () =>
    el('button', { type: 'button', class: 'zoom-cell' }),
  );
  /** The units on the buttons. @type {number[]} */
  #units = [];

  /**
   * @param {HTMLElement} host
   * @param {{ onPin: (unit: number) => void, onWalk: (unit: number) => void }} actions
   */
  constructor(host, actions) {
    this.#host = host;
    this.#actions = actions;
    host.append(...this.#cells);
    this.#cells.forEach((cell, k) => {
      cell.addEventListener('click', () => actions.onPin(this.#units[k]));
    });
    host.addEventListener('keydown', (event) => this.#onKey(event));
  }

  /**
   * @param {Scene} scene
   * @param {{ css: string[], indexOf: (token: number, unit: number) => number }} colouring
   */
  update(scene, { css, indexOf }) {
    this.#scene = scene;
    if (!isNarrow()) return;
    const { state, order, numbers } = scene;
    const centre = this.#centreOf(scene);
    const first = Math.min(scene.columnOf[centre] - (CELLS >> 1), order.length - CELLS);
    this.#units = [...order.subarray(Math.max(0, first), Math.max(0, first) + CELLS)];
    const hadFocus = this.#host.contains(document.activeElement);
    this.#cells.forEach((cell, k) => {
      const unit = this.#units[k];
      cell.hidden = unit === undefined || unit >= numbers.arrived;
      if (cell.hidden) return;
      const place = { token: state.token, unit };
      cell.setAttribute('aria-label', text.cellName(scene.describe(place)));
      cell.setAttribute('aria-pressed', String(unit === state.unit));
      cell.tabIndex = unit === centre ? 0 : -1;
      cell.style.backgroundColor = css[indexOf(state.token, unit)];
      cell.classList.toggle('is-dotted', state.by === 'class' && scene.classAt(place) === SHUT);
      if (hadFocus && unit === centre) cell.focus();
    });
  }

  /** @param {Scene} scene */
  #centreOf({ state, order }) {
    return state.unit ?? order[0];
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const scene = this.#scene;
    const step = { ArrowLeft: -1, ArrowRight: 1 }[/** @type {'ArrowLeft'} */ (event.key)];
    if (step === undefined || scene === null) return;
    event.preventDefault();
    const to = scene.columnOf[this.#centreOf(scene)] + step;
    if (to >= 0 && to < scene.order.length) this.#actions.onWalk(scene.order[to]);
  }
}
