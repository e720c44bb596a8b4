// One number to set: a name, a slider to get a feeling for it, and a box for the exact value. The box takes any number; the
// slider stretches to hold it. Used by every bench of the lesson.

import { el } from './dom.js';
import { exact } from './format.js';
import { lessonText } from './lesson-text.js';

/** @typedef {{ id: string, name: string, symbol?: Node | string, reach?: number, from?: number, to?: number, step?: number,
 *   onInput: (value: number) => void }} FieldOptions */

const DEFAULT_REACH = 12;
const DEFAULT_STEP = 0.1;

export class NumberField {
  #from;
  #to;
  #fixed;
  #value = 0;
  #slider;
  #box;
  node;

  /** @param {FieldOptions} options `from` and `to`: fixed ends; else the slider reaches to both sides of 0 */
  constructor({
    id,
    name,
    symbol = '',
    reach = DEFAULT_REACH,
    from,
    to,
    step = DEFAULT_STEP,
    onInput,
  }) {
    this.#from = from ?? -reach;
    this.#to = to ?? reach;
    this.#fixed = from !== undefined;
    this.#slider = el('input', { type: 'range', id: `${id}-slider`, step });
    this.#box = el('input', {
      type: 'number',
      id,
      step: this.#fixed ? step : 'any',
      'aria-label': lessonText.exactly(name),
    });
    this.#slider.addEventListener('input', () => {
      this.#value = Number(this.#slider.value);
      this.#box.value = this.#slider.value;
      this.#slider.setAttribute('aria-valuetext', exact(this.#value));
      onInput(this.#value);
    });
    this.#box.addEventListener('input', () => {
      const value = this.#valid(this.#box.value);
      if (value === null) return;
      this.#stretch(value);
      onInput(value);
    });
    this.#box.addEventListener('change', () => {
      if (this.#valid(this.#box.value) === null) this.#box.value = String(this.#value);
    });
    const label = el('label', { for: `${id}-slider` }, `${name} `, symbol);
    this.node = el('div', { class: 'number-field' }, label, this.#slider, this.#box);
  }

  /** @param {number} value */
  set(value) {
    this.#stretch(value);
    // What is being typed is not written over.
    if (document.activeElement !== this.#box) this.#box.value = String(value);
  }

  /** @param {string} text */
  #valid(text) {
    const value = text.trim() === '' ? Number.NaN : Number(text);
    if (!Number.isFinite(Math.fround(value))) return null;
    if (this.#fixed && !(value >= this.#from && value <= this.#to)) return null;
    return value;
  }

  /** @param {number} value */
  #stretch(value) {
    this.#value = value;
    const beyond = this.#fixed ? 0 : Math.ceil(Math.abs(value));
    this.#slider.min = String(Math.min(this.#from, -beyond));
    this.#slider.max = String(Math.max(this.#to, beyond));
    this.#slider.value = String(value);
    this.#slider.setAttribute('aria-valuetext', exact(value));
  }
}
