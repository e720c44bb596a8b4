// One unit over all tokens: its act as bars, the four sign cases of gate and up, and whether its class is always the same. It
// follows the pointer from cell to cell, so it changes attributes and text and makes nothing anew.

import { CLASS_NAMES, signCases } from './definitions.js';
import { el, setAttributes, svg } from './dom.js';
import { text } from './text.js';
import { habitOf } from './unit-record.js';

/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./scene.js').Cell} Cell */

const words = text.inspector;
const [WIDTH, HEIGHT] = [360, 44];
/** Above and below the bars, for the frame around the token that is looked at. */
const EDGE = 2;
/** What the bars' scale reaches at least, as roots of act: an open gate of 1, and a little more than SiLU's dip. */
const [LEAST_UP, LEAST_DOWN] = [1, -0.55];
const LEAST_BAR = 1;
const GAP = 1.5;

/** A square-root scale, so that a leak is visible beside a wide open gate. @param {number} value */
const root = (value) => Math.sign(value) * Math.sqrt(Math.abs(value));

export class OverTokens {
  #here = svg('rect', { class: 'here', y: -EDGE, height: HEIGHT + 2 * EDGE });
  #zero = svg('path', { class: 'zero' });
  /** The bars of each class are one path. */
  #bars = CLASS_NAMES.map((name) => svg('path', { class: `bar-outline band-${name}` }));
  #svg = svg('svg', {
    class: 'unit-tokens',
    viewBox: `0 ${-EDGE} ${WIDTH} ${HEIGHT + 2 * EDGE}`,
    role: 'img',
  });
  #signs = el('span', { class: 'signs', title: text.meanings.signs });
  #habit = el('p', { class: 'habit', id: 'habit' });
  #figure = el('figure', { class: 'over-tokens' });

  constructor() {
    this.#svg.append(this.#here, this.#zero, ...this.#bars);
    const caption = el('figcaption', {}, words.tokensCaption, this.#signs);
    this.#figure.append(caption, this.#svg, this.#habit);
  }

  get node() {
    return this.#figure;
  }

  /**
   * @param {Scene} scene
   * @param {Cell} cell
   */
  update(scene, { token, unit }) {
    const { tokens, gate, up, dFf } = scene.numbers;
    this.#draw(scene, unit, token);
    const habit = habitOf(scene, unit);
    const signs = up === null ? null : signCases(gate, up, tokens, dFf, unit);
    const same = signs === null ? '' : signs['++'] + signs['--'];
    this.#svg.setAttribute('aria-label', words.tokensLabel({ ...habit, unit, same }));
    this.#signs.textContent = signs === null ? '' : words.signs(signs);
    this.#habit.textContent = words.habit(habit);
  }

  /**
   * One bar a token, upwards for an open gate and downwards for a negative one.
   * @param {Scene} scene
   * @param {number} unit
   * @param {number} selected the token that is looked at
   */
  #draw({ numbers, classes }, unit, selected) {
    const { activated, dFf, tokens } = numbers;
    const roots = Float32Array.from({ length: tokens }, (_, t) => root(activated[t * dFf + unit]));
    const highest = roots.reduce((p, q) => Math.max(p, q), LEAST_UP);
    const lowest = roots.reduce((p, q) => Math.min(p, q), LEAST_DOWN);
    const zero = (highest / (highest - lowest)) * HEIGHT;
    const step = WIDTH / tokens;
    const paths = CLASS_NAMES.map(() => '');
    roots.forEach((value, t) => {
      const size = Math.max(LEAST_BAR, (Math.abs(value) / (highest - lowest)) * HEIGHT);
      const end = value < 0 ? zero + size : zero - size;
      const left = (t * step + GAP / 2).toFixed(2);
      paths[classes.at(t * dFf + unit)] +=
        `M${left} ${zero.toFixed(2)}V${end.toFixed(2)}h${(step - GAP).toFixed(2)}V${zero.toFixed(2)}Z`;
    });
    this.#bars.forEach((bar, i) => {
      bar.setAttribute('d', paths[i]);
    });
    setAttributes(this.#here, { x: selected * step - 0.5, width: step + 1 });
    this.#zero.setAttribute('d', `M0 ${zero}H${WIDTH}`);
  }
}
