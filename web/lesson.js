// The lesson: eight steps on one unit by hand, each with a question to guess at before the bench beside it shows what
// happens. Keeps the guesses of this visit; which step is on view is the page's state (lesson=N in the hash).

import { el } from './dom.js';
import { PairBench } from './lesson-pair.js';
import { ProductBench } from './lesson-product.js';
import { STOPS } from './lesson-stops.js';
import { lessonText as words } from './lesson-text.js';
import { UnitBench } from './lesson-unit.js';
import { WidthBench } from './lesson-width.js';
import { text } from './text.js';

/** @typedef {import('./protocol.js').WorkerClient} WorkerClient */
/** What the learner chose: an answer, or null for none. @typedef {{ choice: number | null }} Guess */
/**
 * A bench: `set` puts a setting on it; veiled, its results stay hidden until something is moved.
 * @typedef {{ node: HTMLElement, set: (setting: any, veiled: boolean) => void }} Bench
 */

export class Lesson {
  #client;
  #actions;
  #heading = el('h3', { tabindex: -1, class: 'step-title' });
  #place = el('p', { class: 'step-place' });
  #words = el('div', { class: 'step-words' });
  #question = el('p', { class: 'question', id: 'lesson-question' });
  #answers = el('ul', { class: 'answers', 'aria-labelledby': 'lesson-question' });
  #justShow = el('button', { type: 'button', class: 'link just-show' }, words.justShow);
  #verdict = el('p', { class: 'verdict', tabindex: -1 });
  #reveal = el('div', { class: 'step-words reveal' });
  #back = el('button', { type: 'button', id: 'lesson-back' }, words.back);
  #next = el('button', { type: 'button', id: 'lesson-next', class: 'primary' });
  #reset = el('button', { type: 'button', class: 'link reset' }, words.reset);
  #benchHost = el('section', { class: 'bench', 'aria-label': words.benchLabel });
  /** @type {HTMLButtonElement[]} */
  #tabs;
  /** @type {Map<string, Bench>} */
  #benches = new Map();
  /** @type {Map<number, Guess>} */
  #guesses = new Map();
  /** @type {Map<number, Promise<Record<string, string>>>} */
  #figures = new Map();
  #step = 0;
  #takesFocus = false;

  /**
   * @param {HTMLElement} host
   * @param {WorkerClient} client
   * @param {{ onStep: (step: number) => void, onLeave: () => void }} actions
   */
  constructor(host, client, actions) {
    this.#client = client;
    this.#actions = actions;
    this.#tabs = words.steps.map(({ title }, i) => {
      const name = words.stepName(i + 1, title);
      const tab = el('button', { type: 'button', 'aria-label': name, title: name }, String(i + 1));
      tab.addEventListener('click', () => this.#go(i + 1));
      return tab;
    });
    const leave = el('button', { type: 'button', id: 'lesson-leave' }, text.lessonLeave);
    leave.addEventListener('click', actions.onLeave);
    this.#reset.addEventListener('click', () => this.#showBench(this.#guesses.has(this.#step)));
    this.#justShow.addEventListener('click', () => this.#guess(null));
    this.#back.addEventListener('click', () => this.#go(this.#step - 1));
    this.#next.addEventListener('click', () => this.#go(this.#step + 1));
    host.addEventListener('keydown', ({ key }) => {
      if (key === 'Escape') actions.onLeave();
    });
    host.replaceChildren(
      this.#header(leave),
      el('div', { class: 'lesson-body' }, this.#text(), this.#benchHost),
    );
  }

  /** The next step to be shown takes the focus: someone has come here by hand, not by a link. */
  takeFocus() {
    this.#takesFocus = true;
  }

  /** @param {number} step from 1 */
  show(step) {
    if (step !== this.#step) {
      this.#step = step;
      // Until this step's figures have come, no words of another's may stand under its heading.
      for (const part of [this.#words, this.#question, this.#reveal]) part.replaceChildren();
      this.#draw();
    }
    if (this.#takesFocus) this.#heading.focus();
    this.#takesFocus = false;
  }

  /** @param {HTMLElement} leave */
  #header(leave) {
    const tabs = el('ol', { class: 'steps' }, ...this.#tabs.map((tab) => el('li', {}, tab)));
    return el(
      'header',
      { class: 'lesson-top' },
      el('h2', { id: 'lesson-title' }, words.heading),
      el('nav', { 'aria-label': words.stepsLabel }, tabs),
      leave,
    );
  }

  #text() {
    return el(
      'section',
      { class: 'step', 'aria-label': words.heading },
      this.#place,
      this.#heading,
      this.#words,
      this.#question,
      this.#answers,
      this.#justShow,
      this.#verdict,
      this.#reveal,
      el('div', { class: 'step-end' }, this.#back, this.#next),
    );
  }

  /** @param {number} step */
  #go(step) {
    if (step > STOPS.length) {
      this.#actions.onLeave();
      return;
    }
    this.#takesFocus = true;
    this.#actions.onStep(step);
  }

  /** @param {number | null} choice */
  #guess(choice) {
    this.#guesses.set(this.#step, { choice });
    this.#draw();
    this.#verdict.focus();
  }

  async #draw() {
    const step = this.#step;
    const guess = this.#guesses.get(step) ?? null;
    const { title, answers } = words.steps[step - 1];
    this.#tabs.forEach((tab, i) => {
      tab.setAttribute('aria-current', i + 1 === step ? 'step' : 'false');
      tab.classList.toggle('is-done', this.#guesses.has(i + 1));
    });
    this.#place.textContent = words.place(step, STOPS.length);
    this.#heading.textContent = title;
    this.#back.disabled = step === 1;
    this.#next.textContent = step === STOPS.length ? words.end : words.next;
    this.#next.classList.toggle('primary', guess !== null);
    this.#answers.replaceChildren(
      ...answers.map((answer, i) => el('li', {}, this.#answer(answer, i, guess))),
    );
    this.#justShow.hidden = guess !== null;
    this.#verdict.hidden = this.#reveal.hidden = guess === null;
    this.#verdict.textContent = guess === null ? '' : verdictOn(guess, STOPS[step - 1].right);
    this.#showBench(guess !== null);
    await this.#fill(step);
  }

  /**
   * What the module has to compute first.
   * @param {number} step
   */
  async #fill(step) {
    const { words: about, question, reveal } = words.steps[step - 1];
    try {
      const figures = await this.#figuresOf(step);
      if (step !== this.#step) return;
      this.#words.replaceChildren(...paragraphs(about(figures)));
      this.#question.textContent = unbroken(question(figures));
      this.#reveal.replaceChildren(...paragraphs(reveal(figures)));
    } catch (error) {
      this.#figures.delete(step);
      this.#words.replaceChildren(el('p', {}, words.failed(String(error))));
    }
  }

  /**
   * @param {string} answer
   * @param {number} index
   * @param {Guess | null} guess
   */
  #answer(answer, index, guess) {
    if (guess === null) {
      const button = el('button', { type: 'button', class: 'answer' }, answer);
      button.addEventListener('click', () => this.#guess(index));
      return button;
    }
    const isSo = index === STOPS[this.#step - 1].right;
    const marks = [
      ...(isSo ? [el('b', { class: 'answer-mark' }, words.isSo)] : []),
      ...(index === guess.choice ? [el('span', { class: 'answer-mark' }, words.guessed)] : []),
    ];
    return el('p', { class: isSo ? 'answer is-so' : 'answer' }, answer, ...marks);
  }

  /** @param {boolean} answered */
  #showBench(answered) {
    const { bench: kind, before, after } = STOPS[this.#step - 1];
    const bench = this.#benches.get(kind) ?? this.#makeBench(kind);
    this.#benches.set(kind, bench);
    if (bench.node.parentNode !== this.#benchHost) {
      this.#benchHost.replaceChildren(this.#reset, bench.node);
    }
    bench.set(answered ? after : before, !answered);
  }

  /** @param {'unit' | 'pair' | 'product' | 'width'} kind @returns {Bench} */
  #makeBench(kind) {
    if (kind === 'unit') return new UnitBench(this.#client);
    if (kind === 'pair') return new PairBench(this.#client);
    if (kind === 'product') return new ProductBench(this.#client);
    return new WidthBench(this.#client);
  }

  /** @param {number} step */
  #figuresOf(step) {
    const known = this.#figures.get(step) ?? this.#compute(STOPS[step - 1]);
    this.#figures.set(step, known);
    return known;
  }

  /** @param {import('./lesson-stops.js').Facts} facts */
  async #compute({ runs, width, figures }) {
    const traces = await this.#client.request('lessonRuns', { runs });
    const dFf = width === undefined ? 0 : (await this.#client.request('lessonWidth', width)).dFf;
    return figures(traces, dFf);
  }
}

/**
 * @param {Guess} guess
 * @param {number} right
 */
function verdictOn({ choice }, right) {
  if (choice === null) return words.shown;
  return choice === right ? words.hit : words.miss;
}

/** @param {string[]} all */
const paragraphs = (all) => all.map((one) => el('p', {}, unbroken(one)));

/** An equation stays on one line. @param {string} words */
const unbroken = (words) => words.replace(/ ([=\u00d7]) /g, '\u00a0$1\u00a0');
