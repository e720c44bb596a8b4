// The same finding as tables: the 25 units that contribute most at the selected token, and the counts of every token. Filled
// only while they are open, since few people read both.

import { byId, el } from './dom.js';
import { number } from './format.js';
import { unitOrder } from './orders.js';
import { text } from './text.js';

const ROWS = 25;

/** @typedef {import('./scene.js').Scene} Scene */

export class Tables {
  #units = /** @type {HTMLDetailsElement} */ (byId('units-details'));
  #tokens = /** @type {HTMLDetailsElement} */ (byId('tokens-details'));
  #onPin;
  /** @type {Scene | null} */
  #scene = null;

  /** @param {{ onPin: (unit: number) => void }} actions */
  constructor({ onPin }) {
    this.#onPin = onPin;
    for (const details of [this.#units, this.#tokens]) {
      details.addEventListener('toggle', () => this.#fill());
    }
  }

  /** @param {Scene} scene */
  update(scene) {
    const before = this.#scene;
    this.#scene = scene;
    const same = before?.numbers === scene.numbers && before.state === scene.state;
    if (!same) this.#fill();
  }

  #fill() {
    const scene = this.#scene;
    if (scene === null || !scene.isWhole) return;
    if (this.#units.open) byId('units-table').replaceChildren(...this.#unitRows(scene));
    if (this.#tokens.open) byId('tokens-table').replaceChildren(...tokenRows(scene));
  }

  /** @param {Scene} scene */
  #unitRows(scene) {
    const { token } = scene.state;
    const { contribution, dFf } = scene.numbers;
    const order = unitOrder(scene.traced, token, 'c').subarray(0, ROWS);
    return Array.from(order, (unit, rank) => {
      const { className, gate, act, up, hidden } = scene.describe({ token, unit });
      const pin = el('button', { type: 'button', class: 'link' }, String(unit));
      pin.addEventListener('click', () => this.#onPin(unit));
      const c = contribution === null ? '' : number(contribution[token * dFf + unit]);
      const cells = [String(rank + 1), pin, className, gate, act, up, hidden, c];
      return el('tr', {}, ...cells.map((cell) => el('td', {}, cell)));
    });
  }
}

/** @param {Scene} scene */
function tokenRows({ counts, numbers }) {
  return counts.map(({ counts: byClass, negative }, token) => {
    const name = el('th', { scope: 'row' }, text.tokenName(token, numbers.pieces[token]));
    const cells = [...byClass, negative].map((count) => el('td', {}, String(count)));
    return el('tr', {}, name, ...cells);
  });
}
