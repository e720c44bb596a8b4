// The gate that is looked into, as it is held: its class in words, its point on the activation's curve, and the product as a
// row of numbers. A gate that is closed by hand, or whose g is set by hand, is shown as it is then, beside the model's own.
// What the short names mean stands under the row, for those who have no pointer to rest on them.

import { ActCurveChart } from './act-curve.js';
import { actAt } from './analysis.js';
import { CLASS_NAMES, CROSSING, classOf } from './definitions.js';
import { el } from './dom.js';
import { number } from './format.js';
import { text } from './text.js';

/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./scene.js').Cell} Cell */
/** A gate as it is held. `by`: what holds it; null: nothing, and it is the model's own. @typedef {{ gate: number, act: number, by: 'shut' | 'what-if' | null }} Held */

const words = text.inspector;

export class HeldGate {
  #class = el('p', { class: 'class-line' });
  #curveHost = el('div');
  #curve = new ActCurveChart(this.#curveHost);
  #product = el('dl', { class: 'product' });
  /** What stands in the page, in its order. */
  nodes = [this.#class, this.#curveHost, this.#product, meanings()];

  /**
   * @param {Scene} scene
   * @param {Cell} cell
   * @param {boolean} isPinned
   */
  update(scene, cell, isPinned) {
    const held = heldAt(scene, cell, isPinned);
    this.#updateGate(scene, cell, held);
    this.#updateProduct(scene, cell, held);
  }

  /**
   * @param {Scene} scene
   * @param {Cell} cell
   * @param {Held} held
   */
  #updateGate(scene, cell, { gate, act, by }) {
    const { numbers, state } = scene;
    const { up, dFf, curve, shape, act: name } = numbers;
    const i = cell.token * dFf + cell.unit;
    const own = { gate: numbers.gate[i], act: numbers.activated[i] };
    const ownClass = scene.classAt(cell);
    const u = up === null ? '\u2026' : number(up[i]);
    const gateClass = by === null ? ownClass : classOf(gate, act, state.tau, shape);
    const sentence =
      by === 'shut'
        ? text.closedByHand(text.classes[ownClass], number(own.act))
        : text.classSentences[gateClass](number(act), u);
    const said = by === 'what-if' ? text.heldByHand(number(gate), sentence) : sentence;
    const className = CLASS_NAMES[by === 'shut' ? CROSSING : gateClass];
    const chip = el('span', { class: `swatch band-${className}`, 'aria-hidden': 'true' });
    this.#class.replaceChildren(chip, said);
    const label = words.curveLabel({ name, g: number(gate), a: number(act), sentence: said });
    const aside = by === null ? null : own;
    this.#curve.update({ curve, shape, tau: state.tau, gate, act, own: aside, label });
  }

  /**
   * @param {Scene} scene
   * @param {Cell} cell
   * @param {Held} held
   */
  #updateProduct({ numbers }, { token, unit }, { gate, act, by }) {
    const { up, hidden, contribution, columnNorms, dFf } = numbers;
    const i = token * dFf + unit;
    const meaning = text.meanings.product;
    /** Name, meaning, sign before it, value as it is held, the model's own. @type {[string, string, string, number, number][]} */
    const cells = [
      ['g', meaning.g, '', gate, numbers.gate[i]],
      ['a = act(g)', meaning.a, '\u2192', act, numbers.activated[i]],
    ];
    if (up !== null && hidden !== null && contribution !== null && columnNorms !== null) {
      const h = by === null ? hidden[i] : act * up[i];
      const c = by === null ? contribution[i] : Math.abs(h) * columnNorms[unit];
      cells.push(
        ['u', meaning.u, '\u00d7', up[i], up[i]],
        ['h = a\u2009u', meaning.h, '=', h, hidden[i]],
        ['\u2016d\u2016', meaning.d, '\u00d7', columnNorms[unit], columnNorms[unit]],
        ['c = |h|\u2009\u2016d\u2016', meaning.c, '=', c, contribution[i]],
      );
    }
    this.#product.replaceChildren(
      ...cells.map(([name, what, sign, value, own]) =>
        el(
          'div',
          { 'data-sign': sign, title: what },
          el('dt', {}, name),
          el('dd', {}, number(value === 0 ? 0 : value)),
          ...(value === own ? [] : [el('dd', { class: 'own' }, text.ownValue(number(own)))]),
        ),
      ),
    );
  }
}

/**
 * @param {Scene} scene
 * @param {Cell} cell
 * @param {boolean} isPinned
 * @returns {Held}
 */
function heldAt({ numbers, state, shut }, { token, unit }, isPinned) {
  const { gate, activated, dFf, curve } = numbers;
  const own = gate[token * dFf + unit];
  if (token === state.token && shut.has(unit)) return { gate: own, act: 0, by: 'shut' };
  const { whatIf } = state;
  if (isPinned && whatIf !== null)
    return { gate: whatIf, act: actAt(curve, whatIf), by: 'what-if' };
  return { gate: own, act: activated[token * dFf + unit], by: null };
}

function meanings() {
  const { product, rank, pi, signs } = text.meanings;
  const classes = text.classes.map((name, i) => `${name}: ${text.meanings.classes[i]}`);
  const all = [...Object.values(product), `rank: ${rank}`, pi, signs, ...classes];
  return el(
    'details',
    { class: 'meanings', id: 'meanings' },
    el('summary', {}, words.meanings),
    el('ul', {}, ...all.map((meaning) => el('li', {}, meaning))),
  );
}
