// Two pinned gates side by side: the numbers of the one under the finger, and of the one that was kept to compare with.

import { el } from './dom.js';
import { number, percent } from './format.js';
import { text } from './text.js';

/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./scene.js').Cell} Cell */

const words = text.compare;
const ROWS = /** @type {const} */ (['class', 'g', 'a', 'u', 'h', 'd', 'c', 'rank', 'share']);

export class CompareTable {
  #node = el('section', { class: 'compare', id: 'compare', 'aria-label': words.title });
  #drawn = '';

  get node() {
    return this.#node;
  }

  /**
   * @param {Scene} scene
   * @param {Cell} cell what is looked into
   */
  update(scene, cell) {
    const { versus } = scene.state;
    const same = versus?.token === cell.token && versus.unit === cell.unit;
    const visible = versus !== null && !same && scene.isWhole && inside(scene, versus);
    this.#node.hidden = !visible;
    if (!visible) return;
    const [here, there] = [cell, versus].map((one) => columnOf(scene, one));
    const key = JSON.stringify([here, there]);
    if (key === this.#drawn) return;
    this.#drawn = key;
    const head = [here, there].map(({ name }) => el('th', { scope: 'col' }, name));
    const rows = ROWS.map((row) =>
      el(
        'tr',
        { 'data-row': row },
        el('th', { scope: 'row' }, words.rows[row]),
        ...[here, there].map((column) => el('td', {}, column[row])),
      ),
    );
    this.#node.replaceChildren(
      el(
        'table',
        {},
        el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, words.title), ...head)),
        el('tbody', {}, ...rows),
      ),
    );
  }
}

/**
 * @param {Scene} scene
 * @param {Cell} cell
 */
const inside = ({ numbers }, { token, unit }) => token < numbers.tokens && unit < numbers.dFf;

/**
 * @param {Scene} scene
 * @param {Cell} cell
 */
function columnOf(scene, cell) {
  const { columnNorms, contribution, dFf } = scene.numbers;
  const [norms, sizes] = [columnNorms, contribution].map((a) => /** @type {Float32Array} */ (a));
  const { unit, token, piece, className, gate, act, up, hidden, rank } = scene.describe(cell);
  const row = sizes.subarray(token * dFf, (token + 1) * dFf);
  const sum = row.reduce((total, c) => total + c, 0);
  return {
    name: words.name(unit, token, piece),
    class: className,
    g: gate,
    a: act,
    u: up,
    h: hidden,
    d: number(norms[unit]),
    c: number(row[unit]),
    rank: String(rank),
    share: percent(row[unit] / sum),
  };
}
