// The bench of the lesson that sets one gated unit with weights of 1 against a plain ReLU layer: both outputs over x as a
// chart, read off at one x. The layer is a gated MLP too, with an up that is always 1, so that both are the module's work.

import { scale } from './act-curve.js';
import { el, svg } from './dom.js';
import { number } from './format.js';
import { NumberField } from './lesson-field.js';
import { failureIn, Latest } from './lesson-latest.js';
import { RestingLine } from './lesson-live.js';
import { kneesOf, reluLayer, SQUARE } from './lesson-stops.js';
import { lessonText } from './lesson-text.js';

/** @typedef {import('./lesson-stops.js').Comparison} Comparison */
/**
 * Outputs over the grid with the x that is read off at its end; `knees` lie on the unit's curve.
 * @typedef {{ x: number[], gated: Float32Array, plain: Float32Array, knees: { x: number[], y: Float32Array } }} Outputs
 */

const words = lessonText.product;
const [WIDTH, HEIGHT] = [520, 290];
const PLOT = { left: 44, right: 506, top: 12, bottom: 260 };
const [FROM, TO] = [-4, 10];
const GRID = Array.from({ length: (TO - FROM) * 8 + 1 }, (_, i) => FROM + i / 8);
const HIGHEST = 100;
const MOST_UNITS = 12;
const X_TICKS = [-4, -2, 0, 2, 4, 6, 8, 10];
const Y_TICKS = [0, 25, 50, 75, 100];

export class ProductBench {
  #client;
  /** @type {Comparison} */
  #comparison = { units: 1, x: 0 };
  #veiled = true;
  #units;
  #x;
  #chart = el('div', { class: 'product-chart' });
  #readings = el('dl', { class: 'readings' });
  #note = el('p', { class: 'class-line' });
  #line = new RestingLine();
  /** @type {Latest<Comparison, Outputs>} */
  #latest;
  node;

  /** @param {import('./protocol.js').WorkerClient} client */
  constructor(client) {
    this.#client = client;
    this.#latest = new Latest(
      (comparison) => this.#run(comparison),
      (outputs, { units }) => this.#show(outputs, units),
      failureIn(this.#note),
    );
    this.#units = new NumberField({
      id: 'lesson-relu-units',
      name: words.units,
      from: 1,
      to: MOST_UNITS,
      step: 1,
      onInput: (units) => this.#move({ units: Math.round(units) }),
    });
    this.#x = new NumberField({
      id: 'lesson-at',
      name: words.x,
      from: FROM,
      to: TO,
      onInput: (x) => this.#move({ x }),
    });
    this.node = el(
      'div',
      { class: 'product-bench' },
      el('h3', {}, words.label),
      el('div', { class: 'fields' }, this.#units.node, this.#x.node),
      this.#chart,
      this.#readings,
      this.#note,
      this.#line.node,
    );
  }

  /**
   * @param {Comparison} comparison
   * @param {boolean} veiled
   */
  set(comparison, veiled) {
    this.#comparison = comparison;
    this.#veiled = veiled;
    this.#units.set(comparison.units);
    this.#x.set(comparison.x);
    this.#latest.forget();
    this.#latest.want(comparison);
  }

  /** @param {Partial<Comparison>} patch */
  #move(patch) {
    this.#comparison = { ...this.#comparison, ...patch };
    this.#veiled = false;
    this.#latest.want(this.#comparison);
  }

  /** @param {Comparison} comparison @returns {Promise<Outputs>} */
  async #run({ units, x: readAt }) {
    const x = [...GRID, readAt];
    const kneesX = kneesOf(units);
    const { gated, knees } = await this.#client.request('lessonRuns', {
      runs: { gated: { ...SQUARE, x }, knees: { ...SQUARE, x: kneesX } },
    });
    const { plain } = await this.#client.request('lessonRuns', {
      runs: { plain: reluLayer(kneesX, knees.output, x) },
    });
    return { x, gated: gated.output, plain: plain.output, knees: { x: kneesX, y: knees.output } };
  }

  /**
   * @param {Outputs} outputs
   * @param {number} units of the ReLU layer that they are of, which may no longer be the one asked for
   */
  #show(outputs, units) {
    const at = outputs.x.length - 1;
    const [gated, plain] = [outputs.gated[at], outputs.plain[at]];
    const veiled = this.#veiled;
    const figures = { x: number(outputs.x[at], 2), gated: number(gated), plain: number(plain) };
    this.#chart.replaceChildren(chartOf(outputs, veiled, figures));
    const rows = [
      ['gated', words.gated, figures.gated],
      ['plain', words.plain(units), figures.plain],
      ['apart', words.difference, number(gated - plain)],
    ];
    this.#readings.hidden = veiled;
    this.#readings.replaceChildren(
      ...rows.map(([kind, name, figure]) =>
        el('div', { class: `reading-${kind}` }, el('dt', {}, el('i'), name), el('dd', {}, figure)),
      ),
    );
    this.#note.textContent = veiled ? lessonText.veiled : '';
    this.#line.say(veiled ? '' : words.spoken(figures));
  }
}

/**
 * @param {Outputs} outputs
 * @param {boolean} veiled only the gated unit, and only up to where it was read off
 * @param {Record<string, string>} figures
 */
function chartOf({ x: all, gated, plain, knees }, veiled, figures) {
  const x = scale(FROM, TO, PLOT.left, PLOT.right);
  const y = scale(0, HIGHEST, PLOT.bottom, PLOT.top);
  const readAt = all[all.length - 1];
  const until = veiled ? readAt : TO;
  const line = (/** @type {Float32Array} */ values) =>
    `M${GRID.flatMap((value, i) =>
      value <= until ? [`${x(value).toFixed(1)} ${y(values[i]).toFixed(1)}`] : [],
    ).join('L')}`;
  const point = (/** @type {string} */ kind, /** @type {Float32Array} */ values) =>
    svg('circle', { class: kind, cx: x(readAt), cy: y(values[values.length - 1]), r: 5 });
  const plainParts = veiled
    ? []
    : [
        svg('path', { class: 'plain-line', d: line(plain) }),
        ...knees.x.map((value, i) =>
          svg('circle', { class: 'knee', cx: x(value), cy: y(knees.y[i]), r: 2.6 }),
        ),
        svg('path', {
          class: 'drop',
          d: `M${x(readAt)} ${y(gated[gated.length - 1])}V${y(plain[plain.length - 1])}`,
        }),
        point('plain-dot', plain),
      ];
  const label = veiled
    ? words.veiledLabel
    : words.chartLabel({ ...figures, from: number(FROM, 1), to: String(TO) });
  return svg(
    'svg',
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': label },
    ...axes(x, y),
    ...plainParts,
    svg('path', { class: 'curve', d: line(gated) }),
    point('dot', gated),
  );
}

/**
 * @param {import('./act-curve.js').Scale} x
 * @param {import('./act-curve.js').Scale} y
 */
function axes(x, y) {
  return [
    ...Y_TICKS.flatMap((value) => [
      svg('path', {
        class: value === 0 ? 'zero' : 'grid',
        d: `M${PLOT.left} ${y(value)}H${PLOT.right}`,
      }),
      svg('text', { x: PLOT.left - 6, y: y(value) + 4, 'text-anchor': 'end' }, String(value)),
    ]),
    ...X_TICKS.map((value) =>
      svg(
        'text',
        { x: x(value), y: PLOT.bottom + 20, 'text-anchor': 'middle' },
        String(value).replace('-', '\u2212'),
      ),
    ),
    svg('text', { class: 'axis-name', x: PLOT.left + 6, y: PLOT.top + 10 }, 'y'),
    svg(
      'text',
      { class: 'axis-name', x: PLOT.right, y: PLOT.bottom - 6, 'text-anchor': 'end' },
      'x',
    ),
  ];
}
