// The pinned unit taken apart: which input dimensions make its g and its u, which output channels it writes to, how its three
// weight vectors lie to each other. It shows what the worker answered.

import { el } from './dom.js';
import { number } from './format.js';
import { signedBars } from './signed-bars.js';
import { text } from './text.js';
import { ALIGNED, ioClassOf } from './unit-weights.js';

/** @typedef {import('./protocol.js').UnitMessage} UnitMessage */

const words = text.parts;

export class UnitParts {
  #details = el('details', { id: 'unit-parts' });
  #body = el('div', { class: 'parts' });
  /** @type {UnitMessage | null} */
  #shown = null;

  constructor() {
    this.#details.append(el('summary', {}, words.summary), this.#body);
  }

  get node() {
    return this.#details;
  }

  /** @param {UnitMessage | null} parts null: nothing is pinned, or not answered yet */
  update(parts) {
    this.#details.hidden = parts === null;
    if (parts === null || parts === this.#shown) return;
    this.#shown = parts;
    const { gate, up, outputs, d, cosines } = parts;
    this.#body.replaceChildren(
      sumFigure('gate', gate, d),
      sumFigure('up', up, d),
      el(
        'figure',
        { 'data-part-of': 'outputs' },
        el('figcaption', {}, words.outputs),
        signedBars(outputs, words.outputs),
      ),
      cosineList(cosines),
    );
  }
}

/**
 * @param {'gate' | 'up'} which
 * @param {import('./protocol.js').Sum} sum
 * @param {number} d
 */
function sumFigure(which, { terms, sum, bias }, d) {
  const shown = terms.reduce((total, { value }) => total + value, 0);
  return el(
    'figure',
    { 'data-part-of': which },
    el('figcaption', {}, words[which]),
    signedBars(terms, words[which]),
    el('p', { class: 'sum' }, words.sum(terms.length, number(shown), d, number(sum + bias), which)),
    bias === 0 ? '' : el('p', { class: 'sum' }, words.bias(number(bias))),
  );
}

/** @param {UnitMessage['cosines']} cosines */
function cosineList(cosines) {
  const { gateDown, upDown, gateUp } = cosines;
  const figures = Object.entries({ gateDown, upDown, gateUp }).map(([name, value]) =>
    el(
      'div',
      { 'data-cosine': name },
      el('dt', {}, words.cosines[/** @type {'gateDown'} */ (name)]),
      el('dd', {}, number(value, 2)),
    ),
  );
  const name = ioClassOf(cosines);
  return el(
    'figure',
    { 'data-part-of': 'cosines' },
    el('figcaption', {}, words.angles),
    el('dl', { class: 'cosines' }, ...figures),
    el('p', { class: 'sum' }, el('b', {}, words.ioClass[name]), words.ioMeaning[name]),
    el('p', { class: 'sum' }, words.cutOff(String(ALIGNED))),
  );
}
