// "Is skipping worth it?" beside the error curves: on demand the worker times the layer's forward with all units and with those
// that a rule keeps, and this panel says what it measured. Nothing is timed unasked; what was measured is gone as soon as the
// layer, the token or the kept units are others. The measuring is forward-timing.js.

import { byId, el } from './dom.js';
import { droppable } from './error-chart.js';
import { number, percent, scientific, whole } from './format.js';
import { errorInWords } from './load-errors.js';
import { dropOrder, SCORES, unitsOf } from './orders.js';
import { text } from './text.js';

/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./protocol.js').ErrorCurves} ErrorCurves */
/** @typedef {import('./protocol.js').TimingMessage} TimingMessage */
/** Which units are skipped: the least by a score, the closed ones, or those held shut. @typedef {import('./orders.js').Score | 'closed' | 'shut'} Rule */

const words = text.timing;
/** @type {readonly Rule[]} */
const RULES = [...[...SCORES].reverse(), 'closed', 'shut'];

export class TimingPanel {
  #rule = /** @type {HTMLSelectElement} */ (byId('timing-rule'));
  #button = /** @type {HTMLButtonElement} */ (byId('timing-start'));
  #result = byId('timing-result');
  #ask;
  /** @type {Scene | null} */
  #scene = null;
  /** @type {ErrorCurves | null} */
  #curves = null;
  /** What the result, or the question under way, is about. @type {unknown[]} */
  #about = [];
  /** It was asked for before the curves that say what to skip are here. */
  #isDue = false;

  /** @param {(question: { token: number, dropped: number[] }) => Promise<TimingMessage | null>} ask */
  constructor(ask) {
    this.#ask = ask;
    this.#rule.append(...RULES.map((rule) => el('option', { value: rule }, words.rules[rule])));
    this.#rule.addEventListener('change', () => this.#refresh());
    this.#button.addEventListener('click', () => this.#start());
    this.#rest();
  }

  /**
   * @param {Scene} scene
   * @param {ErrorCurves | null} curves of the selected token; null: on their way
   */
  update(scene, curves) {
    this.#scene = scene;
    this.#curves = curves;
    this.#refresh();
    if (this.#isDue) this.#start();
  }

  /** What was measured of something else is not shown any more. */
  #refresh() {
    const now = this.#subject();
    if (now.every((part, i) => part === this.#about[i])) return;
    this.#about = now;
    this.#say();
    this.#rest();
  }

  /** Whatever decides which units are timed, and of what. */
  #subject() {
    if (this.#scene === null) return [];
    const { numbers, state } = this.#scene;
    const { token, tau, set, kept, closed } = state;
    const rule = /** @type {Rule} */ (this.#rule.value);
    const held = rule === 'shut' ? [set, kept, closed.join()] : [null, null, ''];
    return [numbers, token, rule, ...held, rule === 'closed' || held[0] !== null ? tau : 0];
  }

  async #start() {
    const dropped = this.#dropped();
    this.#isDue = dropped === null;
    if (this.#scene === null || dropped === null || this.#isBusy) return;
    const units = this.#scene.numbers.dFf;
    const reason = this.#whyNot(dropped.length, units);
    if (reason !== null) {
      this.#say(reason);
      return;
    }
    const about = this.#about;
    this.#button.textContent = words.running;
    this.#button.setAttribute('aria-busy', 'true');
    const said = await this.#ask({ token: this.#scene.state.token, dropped }).then(
      (timing) => (timing === null ? [words.cancelled] : sentences(timing)),
      (error) => [words.failed(errorInWords(error))],
    );
    if (about !== this.#about) return;
    this.#say(...said);
    this.#rest();
  }

  get #isBusy() {
    return this.#button.hasAttribute('aria-busy');
  }

  #rest() {
    this.#isDue = false;
    this.#button.textContent = words.start;
    this.#button.removeAttribute('aria-busy');
  }

  /** The units that the rule skips at the token; null while that cannot be known. @returns {number[] | null} */
  #dropped() {
    const scene = this.#scene;
    if (scene === null || !scene.isWhole) return null;
    const { token, tau } = scene.state;
    const rule = /** @type {Rule} */ (this.#rule.value);
    if (rule === 'shut') return [...scene.shut];
    if (rule === 'closed') return unitsOf(scene.traced, token, 'closed', tau);
    if (this.#curves === null) return null;
    const count = Math.floor(droppable(this.#curves, rule) * scene.numbers.dFf);
    return [...dropOrder(scene.traced, token, rule).subarray(0, count)];
  }

  /**
   * @param {number} dropped
   * @param {number} units
   */
  #whyNot(dropped, units) {
    if ((this.#scene?.numbers.variant?.sparsity ?? 0) > 0) return words.dependent;
    if (dropped === 0) return words.nothingSkipped;
    return dropped === units ? words.nothingLeft : null;
  }

  /** @param {...string} paragraphs */
  #say(...paragraphs) {
    const [first = '', ...rest] = paragraphs;
    this.#result.replaceChildren(
      ...(first === '' ? [] : [el('p', { class: 'timed' }, first)]),
      ...rest.map((paragraph) => el('p', {}, paragraph)),
    );
  }
}

/** @param {TimingMessage} timing */
function sentences(timing) {
  const { token, text: all, units, kept, tokens, step, build, threads, dtype } = timing;
  const pair = (/** @type {import('./forward-timing.js').Timed} */ times) =>
    /** @type {const} */ ([number(times.all), number(times.kept), percent(times.kept / times.all)]);
  return [
    words.token(pair(token), whole(units), whole(kept), percent(kept / units)),
    ...(tokens > 1 ? [words.text(pair(all), tokens)] : []),
    words.how({
      build,
      threads,
      dtype,
      repetitions: [token, ...(tokens > 1 ? [all] : [])].map((times) => times.repetitions),
      step: number(step, 1),
      precision: percent(Math.max(token.precision, all.precision)),
    }),
    words.what(percent(timing.moved), scientific(timing.difference, 1)),
  ];
}
