// The legend that is also a count: one wide bar of the selected token's gates in four parts with names and numbers, and the
// threshold slider (logarithmic, with marks) with its number box.

import { CLASS_NAMES, MARKED_SHARES, MARKED_TAUS, MAX_TAU, MIN_TAU } from './definitions.js';
import { byId, choose, el } from './dom.js';
import { number, percent } from './format.js';
import { text } from './text.js';

/** The slider's positions; its value is the logarithm of the threshold. */
const SLIDER_STEPS = 600;

/** @typedef {import('./scene.js').Scene} Scene */

export class ClassBar {
  #parts = CLASS_NAMES.map((name) => ({
    name,
    bar: el('i', { class: `part band-${name}` }),
    count: el('b'),
    button: el('button', { type: 'button', class: 'legend', 'data-class': name }),
  }));
  #negative = el('b');
  #note = byId('class-note');
  #slider = /** @type {HTMLInputElement} */ (byId('tau-slider'));
  #marks = /** @type {HTMLSelectElement} */ (byId('tau-mark'));
  #ticks = byId('tau-marks');
  /** What the marks were made of. */
  #filled = '';
  /** @type {number[]} */
  #marked = [];
  #box = /** @type {HTMLInputElement} */ (byId('tau'));

  /**
   * @param {{ onTau: (tau: number) => void, onOnly: (only: import('./filters.js').Filter | null) => void }} actions
   */
  constructor({ onTau, onOnly }) {
    byId('class-bar').append(...this.#parts.map(({ bar }) => bar));
    this.#parts.forEach(({ name, button, count }, i) => {
      const swatch = el('span', { class: `swatch band-${name}`, 'aria-hidden': 'true' });
      button.append(swatch, count, ` ${text.classes[i]}`);
      button.title = `${text.meanings.classes[i]} ${text.only(text.classes[i])}`;
      button.addEventListener('click', () =>
        onOnly(button.getAttribute('aria-pressed') === 'true' ? null : name),
      );
    });
    const negative = el('li', { 'data-class': 'negative' }, this.#negative, ` ${text.negative}`);
    byId('class-counts').append(...this.#parts.map(({ button }) => el('li', {}, button)), negative);
    this.#slider.max = String(SLIDER_STEPS);
    this.#slider.addEventListener('input', () => onTau(tauAt(Number(this.#slider.value))));
    this.#box.addEventListener('change', () => {
      const tau = Number(this.#box.value);
      if (tau >= MIN_TAU && tau <= MAX_TAU) onTau(tau);
      else this.#box.value = number(tauAt(Number(this.#slider.value)));
    });
    this.#marks.addEventListener('change', () => {
      if (this.#marks.value !== '') onTau(Number(this.#marks.value));
    });
  }

  /** @param {{ tau: number, name: string }[]} marks */
  #fillMarks(marks) {
    const key = JSON.stringify(marks);
    if (key === this.#filled) return;
    this.#filled = key;
    this.#marked = marks.map(({ tau }) => tau);
    this.#marks.replaceChildren(
      el('option', { value: '' }, text.tauMarks.byHand),
      ...marks.map(({ tau, name }) => el('option', { value: tau }, name)),
    );
    this.#ticks.replaceChildren(
      ...marks.map(({ tau, name }) => el('option', { value: positionOf(tau), label: name })),
    );
  }

  /** @param {Scene} scene */
  update({ counts, state, numbers, firstCounted }) {
    this.#fillMarks(marksFor(numbers, firstCounted));
    const isMark = this.#marked.includes(state.tau);
    choose(this.#marks, isMark ? String(state.tau) : '');
    this.#note.textContent = classNote(numbers, state.tau);
    const { counts: here, negative } = counts[state.token];
    this.#negative.textContent = String(negative);
    this.#parts.forEach(({ name, bar, count, button }, i) => {
      button.setAttribute('aria-pressed', String(state.only === name));
      bar.style.flexGrow = String(here[i]);
      count.textContent = String(here[i]);
    });
    const position = positionOf(state.tau);
    if (tauAt(Number(this.#slider.value)) !== state.tau) this.#slider.value = String(position);
    this.#slider.setAttribute('aria-valuetext', String(state.tau));
    // What is being typed is not written over.
    if (document.activeElement !== this.#box) this.#box.value = String(state.tau);
  }
}

/**
 * Thresholds with a name, in the page's two digits.
 * @param {import('./scene.js').Numbers} numbers
 * @param {number} firstCounted
 * @returns {{ tau: number, name: string }[]}
 */
function marksFor({ shape, quantiles }, firstCounted) {
  const words = text.tauMarks;
  const marks = MARKED_TAUS.map((tau) => ({ tau, name: words.plain(String(tau)) }));
  if (shape.depth > 0 && shape.depth < MAX_TAU) {
    marks.push({ tau: Number(shape.depth.toPrecision(3)), name: words.dip(number(shape.depth)) });
  }
  const own = firstCounted === 0 ? quantiles?.all : quantiles?.rest;
  own?.forEach((value, i) => {
    const tau = Number(value.toPrecision(3));
    if (tau <= MAX_TAU)
      marks.push({ tau, name: words.share(number(value), percent(MARKED_SHARES[i])) });
  });
  return marks;
}

/**
 * What has to be said where the three classes are not what they usually are.
 * @param {import('./scene.js').Numbers} numbers
 * @param {number} tau
 */
function classNote({ shape, act }, tau) {
  const notes = text.classNotes;
  if (shape.depth === Infinity) return notes.unbounded;
  if (shape.depth > 0) return tau >= shape.depth ? notes.pastDip(number(shape.depth)) : '';
  return act === 'sigmoid' ? notes.sigmoid : notes.relu;
}

/** @param {number} position */
function tauAt(position) {
  const tau = MIN_TAU * (MAX_TAU / MIN_TAU) ** (position / SLIDER_STEPS);
  return Number(tau.toPrecision(2));
}

/** @param {number} tau */
function positionOf(tau) {
  return Math.round((SLIDER_STEPS * Math.log(tau / MIN_TAU)) / Math.log(MAX_TAU / MIN_TAU));
}
