// The gradient view: choose a direction of the output, see which gates let its gradient through to their up rows and to their
// gate rows, and what the closed ones stop. Numbers are the worker's (gradient.js); this file adds them up by class.

import { CLASS_NAMES, CROSSING, SHUT } from './definitions.js';
import { byId, el } from './dom.js';
import { number, percent } from './format.js';
import { text } from './text.js';

/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./gradient-field.js').Gradients} Gradients */

const words = text.gradient;
const KINDS = /** @type {const} */ (['y', 'c', 't']);
const STAGES = /** @type {const} */ (['arriving', 'up', 'gate']);
const TOP_UNITS = 6;

export class GradientPanel {
  #kind = /** @type {HTMLSelectElement} */ (byId('gradient-kind'));
  #place = /** @type {HTMLInputElement} */ (byId('gradient-place'));
  #placeLabel = byId('gradient-place-label');
  #figure = byId('gradient');
  #body = byId('gradient-body');
  #words = byId('gradient-words');
  #onDirection;
  /** @type {unknown[]} */
  #drawn = [];

  /**
   * @param {{ onDirection: (direction: string) => void, onWatched: () => void }} actions
   */
  constructor({ onDirection, onWatched }) {
    this.#onDirection = onDirection;
    this.#kind.append(...KINDS.map((kind) => el('option', { value: kind }, words.kinds[kind])));
    this.#kind.addEventListener('change', () => this.#choose(this.#kind.value, 0));
    this.#place.addEventListener('change', () => {
      if (/^\d+$/.test(this.#place.value))
        this.#choose(this.#kind.value, Number(this.#place.value));
    });
    new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) onWatched();
    }).observe(this.#figure);
  }

  /**
   * @param {string} kind
   * @param {number} place
   */
  #choose(kind, place) {
    const last = Number(this.#place.max);
    this.#onDirection(kind === 'y' ? 'y' : `${kind}${Math.min(place, last)}`);
  }

  /** @param {Scene} scene */
  update(scene) {
    const { state, numbers, gradients } = scene;
    const kind = /** @type {'y' | 'c' | 't'} */ (state.direction[0]);
    this.#kind.value = kind;
    this.#placeLabel.hidden = kind === 'y';
    this.#place.max = String(kind === 'c' ? numbers.d - 1 : numbers.tokens - 1);
    if (document.activeElement !== this.#place) this.#place.value = state.direction.slice(1);
    const key = [gradients, state.token, state.tau];
    if (key.every((part, i) => part === this.#drawn[i])) return;
    this.#drawn = key;
    const isHere = gradients?.here[state.token] === true;
    this.#figure.classList.toggle('is-waiting', !isHere);
    if (gradients === null || !isHere) {
      this.#body.replaceChildren();
      this.#words.textContent = words.waiting;
      return;
    }
    const sums = sumsByClass(scene, gradients);
    this.#body.replaceChildren(...STAGES.map((stage) => stageRow(stage, sums[stage])));
    this.#words.replaceChildren(...sentences(scene, gradients, sums));
  }
}

/**
 * Sums of magnitudes at the selected token, for each class.
 * @param {Scene} scene
 * @param {Gradients} gradients
 */
function sumsByClass({ numbers, state, classes }, gradients) {
  const { dFf } = numbers;
  const zeros = () => CLASS_NAMES.map(() => 0);
  const sums = { arriving: zeros(), up: zeros(), gate: zeros() };
  for (let i = state.token * dFf; i < (state.token + 1) * dFf; i++) {
    const gateClass = classes.at(i);
    for (const stage of STAGES) sums[stage][gateClass] += Math.abs(gradients[stage][i]);
  }
  return sums;
}

/** @param {number[]} parts */
const total = (parts) => parts.reduce((sum, part) => sum + part, 0);

/**
 * @param {'arriving' | 'up' | 'gate'} stage
 * @param {number[]} sums
 */
function stageRow(stage, sums) {
  const bars = sums.map((sum, gateClass) => {
    const bar = el('i', { class: `band-${CLASS_NAMES[gateClass]}` });
    bar.style.flexGrow = String(sum / (total(sums) || 1));
    return bar;
  });
  const shares = sums.map((sum) => percent(sum / (total(sums) || 1)));
  return el(
    'div',
    { class: 'stage-row', 'data-stage': stage },
    el('span', { class: 'stage-name' }, words.stages[stage]),
    el('span', { class: 'stack', 'aria-hidden': 'true' }, ...bars),
    el('span', { class: 'stage-shares' }, words.shares(shares)),
  );
}

/**
 * @param {Scene} scene
 * @param {Gradients} gradients
 * @param {ReturnType<typeof sumsByClass>} sums
 */
function sentences({ numbers, state }, gradients, sums) {
  const closed = (/** @type {number[]} */ parts) => parts[SHUT] + parts[CROSSING];
  const share = (/** @type {number} */ part, /** @type {number} */ whole) =>
    percent(whole === 0 ? 0 : part / whole);
  const { dFf } = numbers;
  const row = gradients.up.subarray(state.token * dFf, (state.token + 1) * dFf);
  const order = Array.from(row, (_, unit) => unit).sort(
    (p, q) => Math.abs(row[q]) - Math.abs(row[p]),
  );
  const top = order.slice(0, TOP_UNITS).map((unit) => `${unit} (${number(row[unit])})`);
  return [
    el(
      'p',
      {},
      words.stopped({
        arriving: share(closed(sums.arriving), total(sums.arriving)),
        passed: share(closed(sums.up), closed(sums.arriving)),
        reached: share(closed(sums.up), total(sums.up)),
        crossing: share(sums.gate[CROSSING], total(sums.gate)),
        shut: share(sums.gate[SHUT], total(sums.gate)),
      }),
    ),
    el('p', { class: 'reading' }, words.top(top.join(', '))),
  ];
}
