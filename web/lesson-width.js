// The bench of the lesson that asks how wide a gated MLP is: the width that llama_ffn_dim gives, step by step, and the
// matrices of it drawn to scale beside those of a plain MLP. The widths are the module's; weights are counted here.

import { el, svg } from './dom.js';
import { whole } from './format.js';
import { Latest } from './lesson-latest.js';
import { costOf, MODEL_WIDTHS, weightCounts } from './lesson-stops.js';
import { lessonText } from './lesson-text.js';

/** @typedef {import('./lesson-stops.js').WidthQuestion} WidthQuestion */
/** @typedef {{ twoThirds: number, multiplied: number, dFf: number }} Widths */

const words = lessonText.width;
const [WIDTH, GAP, LABEL] = [520, 8, 66];
/** Height of a matrix in the drawing: d, to scale, next to 4d. */
const MOST_HEIGHT = 44;
const ROW_GAP = 32;
const MOST_D = 2 ** 24;

export class WidthBench {
  #client;
  #veiled = true;
  #d = input('lesson-d', { min: 1, max: MOST_D, step: 1, required: true });
  #multipleOf = input('lesson-multiple', { min: 1, max: MOST_D, step: 1, required: true });
  #multiplier = input('lesson-multiplier', { min: 0, step: 'any' });
  #presets;
  #rows = el('dl', { class: 'widths' });
  #drawing = el('div', { class: 'matrices' });
  #note = el('p', { class: 'class-line', role: 'status' });
  /** @type {Latest<WidthQuestion, Widths>} */
  #latest;
  node;

  /** @param {import('./protocol.js').WorkerClient} client */
  constructor(client) {
    this.#client = client;
    this.#latest = new Latest(
      (question) => this.#client.request('lessonWidth', question),
      (widths, question) => this.#show(question, widths),
      (error) => this.#complain(words.tooWide(String(error))),
    );
    const fields = [
      { name: words.d, box: this.#d },
      { name: words.multipleOf, box: this.#multipleOf },
      { name: words.multiplier, box: this.#multiplier },
    ];
    for (const { box } of fields) box.addEventListener('input', () => this.#move());
    this.#presets = MODEL_WIDTHS.map((question, i) => {
      const button = el('button', { type: 'button' }, words.models[i]);
      button.addEventListener('click', () => this.set(question, false));
      return button;
    });
    this.node = el(
      'div',
      { class: 'width-bench' },
      el('h3', {}, words.label),
      el(
        'div',
        { class: 'switches', role: 'group', 'aria-label': words.presets },
        ...this.#presets,
      ),
      el(
        'div',
        { class: 'fields' },
        ...fields.map(({ name, box }) =>
          el('div', { class: 'number-field' }, el('label', { for: box.id }, name), box),
        ),
      ),
      this.#rows,
      this.#drawing,
      this.#note,
    );
  }

  /**
   * @param {WidthQuestion} question
   * @param {boolean} veiled
   */
  set(question, veiled) {
    this.#veiled = veiled;
    this.#d.value = String(question.d);
    this.#multipleOf.value = String(question.multipleOf);
    this.#multiplier.value = question.multiplier === null ? '' : String(question.multiplier);
    this.#latest.forget();
    this.#latest.want(question);
  }

  #move() {
    const question = {
      d: Number(this.#d.value),
      multipleOf: Number(this.#multipleOf.value),
      multiplier: this.#multiplier.value === '' ? null : Number(this.#multiplier.value),
    };
    this.#veiled = false;
    if (isAsked(question) && this.#multiplier.validity.valid) this.#latest.want(question);
    else this.#complain(words.bad);
  }

  /** @param {string} complaint */
  #complain(complaint) {
    this.#latest.forget();
    this.#note.textContent = complaint;
    this.#rows.replaceChildren();
    this.#drawing.replaceChildren();
  }

  /**
   * @param {WidthQuestion} question
   * @param {Widths} widths
   */
  #show(question, { twoThirds, multiplied, dFf }) {
    const { gated, plain } = weightCounts(question.d, dFf);
    const told = (/** @type {string} */ figure) => (this.#veiled ? lessonText.unknown : figure);
    const { rows } = words;
    const lines = [
      ['', rows.twoThirds, told(whole(twoThirds))],
      ...(question.multiplier === null ? [] : [['', rows.multiplied, told(whole(multiplied))]]),
      ['is-width', rows.dFf, told(whole(dFf))],
      ['', rows.plain, whole(plain)],
      ['', rows.gated, told(whole(gated))],
      ['', rows.ratio, told(costOf(gated / plain))],
    ];
    this.#rows.replaceChildren(
      ...lines.map(([kind, name, figure]) =>
        el('div', { class: kind }, el('dt', {}, name), el('dd', {}, figure)),
      ),
    );
    this.#presets.forEach((button, i) => {
      const model = MODEL_WIDTHS[i];
      const same =
        model.d === question.d &&
        model.multipleOf === question.multipleOf &&
        model.multiplier === question.multiplier;
      button.setAttribute('aria-pressed', String(same));
    });
    this.#drawing.replaceChildren(drawingOf(question.d, this.#veiled ? null : dFf));
    this.#note.textContent = this.#veiled ? lessonText.veiled : '';
  }
}

/** @param {WidthQuestion} question */
function isAsked({ d, multipleOf, multiplier }) {
  const isCount = (/** @type {number} */ n) => Number.isInteger(n) && n >= 1 && n <= MOST_D;
  return isCount(d) && isCount(multipleOf) && (multiplier === null || multiplier > 0);
}

/**
 * @param {string} id
 * @param {import('./dom.js').Attributes} attributes
 */
const input = (id, attributes) => el('input', { type: 'number', id, ...attributes });

/**
 * Rectangles of equal height d; their widths are 4d, or d_ff.
 * @param {number} d
 * @param {number | null} dFf null: not told yet
 */
function drawingOf(d, dFf) {
  const { plain, gated } = words.matrices;
  const rows = [
    { ...plain, width: 4 * d, kind: 'is-plain' },
    ...(dFf === null ? [] : [{ ...gated, width: dFf, kind: 'is-gated' }]),
  ];
  const room = WIDTH - LABEL - 2 * GAP;
  const longest = Math.max(...rows.map(({ parts, width }) => parts.length * width));
  const unit = Math.min(room / longest, MOST_HEIGHT / d);
  const height = Math.max(2, d * unit);
  const step = height + ROW_GAP;
  return svg(
    'svg',
    { viewBox: `0 0 ${WIDTH} ${2 * step}`, role: 'img', 'aria-label': words.chartLabel },
    ...rows.flatMap(({ name, parts, width, kind }, row) => {
      const top = row * step;
      const rowName = svg('text', { x: 0, y: top + height / 2 + 4 }, name);
      const matrices = parts.flatMap((part, i) => {
        const left = LABEL + i * (width * unit + GAP);
        return [
          svg('rect', { class: `matrix ${kind}`, x: left, y: top, width: width * unit, height }),
          svg('text', { x: left + 1, y: top + height + 4, 'dominant-baseline': 'hanging' }, part),
        ];
      });
      return [rowName, ...matrices];
    }),
  );
}
