// The bench of the lesson with two units on one output (d = 1, d_ff = 2): their down weights can be set, either gate can be
// closed by hand, and a row of bars shows what each unit adds and what is left of it. All figures are the worker's.

import { scale } from './act-curve.js';
import { el, svg } from './dom.js';
import { number } from './format.js';
import { NumberField } from './lesson-field.js';
import { failureIn, Latest } from './lesson-latest.js';
import { RestingLine } from './lesson-live.js';
import { runOfPair } from './lesson-stops.js';
import { lessonText } from './lesson-text.js';

/** @typedef {import('./lesson-stops.js').Pair} Pair */
/** @typedef {import('./lesson-bench.js').TinyTrace} TinyTrace */
/** What a unit adds to y, and what it would add with both gates as they are. @typedef {{ trace: TinyTrace, adds: number[] }} PairResult */

const words = lessonText.pair;
const [WIDTH, HEIGHT] = [460, 118];
const PLOT = { left: 82, right: 450, top: 6, row: 34, bar: 20 };

export class PairBench {
  #client;
  /** @type {Pair} */
  #pair = { down: [1, 1], closed: [false, false] };
  #veiled = true;
  #fields;
  #switches;
  #table = el('table', { class: 'pair-table' });
  #chart = el('div', { class: 'pair-chart' });
  #note = el('p', { class: 'class-line' });
  #line = new RestingLine();
  /** @type {Latest<Pair, PairResult>} */
  #latest;
  node;

  /** @param {import('./protocol.js').WorkerClient} client */
  constructor(client) {
    this.#client = client;
    this.#latest = new Latest(
      (pair) => this.#run(pair),
      (result, { closed }) => this.#show(result, closed),
      failureIn(this.#note),
    );
    this.#fields = [0, 1].map(
      (unit) =>
        new NumberField({
          id: `lesson-down-${unit + 1}`,
          name: words.down(unit + 1),
          onInput: (value) => {
            const [first, second] = this.#pair.down;
            this.#move({ down: unit === 0 ? [value, second] : [first, value] });
          },
        }),
    );
    this.#switches = [0, 1].map((unit) => {
      const button = el(
        'button',
        { type: 'button', 'aria-pressed': 'false' },
        words.close(unit + 1),
      );
      button.addEventListener('click', () =>
        this.#move({ closed: this.#pair.closed.map((is, i) => (i === unit ? !is : is)) }),
      );
      return button;
    });
    this.node = el(
      'div',
      { class: 'pair-bench' },
      el('h3', {}, words.label),
      el('div', { class: 'fields' }, ...this.#fields.map(({ node }) => node)),
      el('div', { class: 'switches' }, ...this.#switches),
      el('div', { class: 'scroll' }, this.#table),
      this.#chart,
      this.#note,
      this.#line.node,
    );
  }

  /**
   * @param {Pair} pair
   * @param {boolean} veiled
   */
  set(pair, veiled) {
    this.#pair = pair;
    this.#veiled = veiled;
    this.#fields.forEach((field, unit) => {
      field.set(pair.down[unit]);
    });
    this.#latest.forget();
    this.#latest.want(pair);
  }

  /** @param {Partial<Pair>} patch */
  #move(patch) {
    this.#pair = { ...this.#pair, ...patch };
    this.#veiled = false;
    this.#latest.want(this.#pair);
  }

  /**
   * What one unit adds is the output with the other one's gate closed.
   * @param {Pair} pair
   */
  async #run(pair) {
    const { closed } = pair;
    const { both, first, second } = await this.#client.request('lessonRuns', {
      runs: {
        both: runOfPair(pair),
        first: runOfPair({ ...pair, closed: [closed[0], true] }),
        second: runOfPair({ ...pair, closed: [true, closed[1]] }),
      },
    });
    return { trace: both, adds: [first.output[0], second.output[0]] };
  }

  /**
   * @param {PairResult} result
   * @param {boolean[]} closed with which it was computed
   */
  #show({ trace, adds }, closed) {
    this.#switches.forEach((button, unit) => {
      button.setAttribute('aria-pressed', String(closed[unit]));
    });
    const y = trace.output[0];
    const told = this.#veiled ? lessonText.unknown : number(y);
    this.#table.replaceChildren(...tableOf(trace, adds, told));
    this.#chart.replaceChildren(chartOf(adds, this.#veiled ? null : y));
    this.#note.textContent = this.#veiled ? lessonText.veiled : '';
    this.#line.say(this.#veiled ? '' : words.spoken(told));
  }
}

/**
 * @param {TinyTrace} trace
 * @param {number[]} adds
 * @param {string} y
 */
function tableOf({ gate, act, up, hidden }, adds, y) {
  const head = words.columns.map((name) => el('th', { scope: 'col' }, name));
  const rows = adds.map((added, i) => {
    const figures = [gate[i], act[i], up[i], hidden[i], added, Math.abs(added)];
    return el(
      'tr',
      {},
      el('th', { scope: 'row' }, words.unit(i + 1)),
      ...figures.map((figure) => el('td', {}, number(figure))),
    );
  });
  const sum = el(
    'tr',
    { class: 'sum' },
    el('th', { scope: 'row', colspan: 5 }, words.sum),
    el('td', { class: 'result', id: 'pair-output' }, y),
    el('td'),
  );
  return [el('thead', {}, el('tr', {}, el('td'), ...head)), el('tbody', {}, ...rows, sum)];
}

/**
 * The first unit's bar starts at 0, the second's where the first ends; the third is the output.
 * @param {number[]} adds
 * @param {number | null} y null: not told yet
 */
function chartOf(adds, y) {
  const ends = [0, adds[0], adds[0] + adds[1]];
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const x = scale(low, high > low ? high : low + 1, PLOT.left, PLOT.right);
  const bars = [
    { name: words.unit(1), from: 0, to: adds[0], kind: 'band-open' },
    { name: words.unit(2), from: adds[0], to: adds[0] + adds[1], kind: 'band-open' },
    ...(y === null ? [] : [{ name: words.sum, from: 0, to: y, kind: 'is-output' }]),
  ];
  const n = { first: number(adds[0]), second: number(adds[1]) };
  const label = words.chartLabel({ ...n, y: y === null ? lessonText.unknown : number(y) });
  return svg(
    'svg',
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': label },
    svg('path', { class: 'zero', d: `M${x(0)} ${PLOT.top}V${HEIGHT - 6}` }),
    ...bars.flatMap(({ name, from, to, kind }, row) => {
      const top = PLOT.top + row * PLOT.row;
      const [left, right] = [x(Math.min(from, to)), x(Math.max(from, to))];
      return [
        svg('text', { x: PLOT.left - 8, y: top + 15, 'text-anchor': 'end' }, name),
        svg('rect', {
          class: `bar-outline ${kind}`,
          x: left,
          width: right - left,
          y: top,
          height: PLOT.bar,
        }),
      ];
    }),
  );
}
