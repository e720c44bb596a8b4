// The three charts under the stage: what dropping gates costs by four scores, the distribution of g at the selected token
// over the activation's curve, and the classes in every layer that has been read. SVG by hand, with the figures in them.

import { classBands, pathOf, scale } from './act-curve.js';
import { CLASS_NAMES, countClasses, LEAKING, OPEN } from './definitions.js';
import { byId, el, svg } from './dom.js';
import { percent } from './format.js';
import { SHIPPED } from './models.js';
import { SCORES } from './orders.js';
import { text } from './text.js';

/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./scene.js').Numbers} Numbers */
/** @typedef {import('./protocol.js').ErrorCurves} ErrorCurves */

const words = text.charts;
const [WIDTH, HEIGHT] = [380, 210];
const PLOT = { left: 38, right: 372, top: 10, bottom: 178 };
/** The error that the curves are read at. */
const READ_AT = 0.2;
const HIGHEST_ERROR = 1;
const BINS = 56;
const BIN_RANGE = [-8, 6];

export class Charts {
  #errors = byId('chart-errors');
  #histogram = byId('chart-histogram');
  #overview = byId('chart-overview');
  #onLayer;
  /** @type {Scene | null} */
  #scene = null;
  /** @type {ErrorCurves | null} */
  #curves = null;
  /** Layers that have been read, on the prompt they were last read on. @type {Map<number, Numbers>} */
  #read = new Map();

  /** @param {{ onLayer: (layer: number) => void }} actions */
  constructor({ onLayer }) {
    this.#onLayer = onLayer;
  }

  /**
   * @param {Scene} scene
   * @param {ErrorCurves | null} curves
   */
  update(scene, curves) {
    const before = this.#scene;
    const { numbers, state } = scene;
    const moved =
      before === null ||
      before.numbers !== numbers ||
      before.state.token !== state.token ||
      before.state.tau !== state.tau ||
      before.state.first !== state.first;
    this.#scene = scene;
    if (curves !== null && curves !== this.#curves) {
      this.#errors.replaceChildren(errorChart(curves));
      byId('errors-reading').textContent = words.reading(
        SCORES.map((score) => `${words.scores[score]} ${percent(droppable(curves, score))}`).join(
          ', ',
        ),
      );
    }
    this.#curves = curves;
    if (!moved) return;
    this.#histogram.replaceChildren(histogram(scene));
    const { negative, counts } = scene.counts[state.token];
    byId('histogram-reading').textContent = words.histogramReading(negative, counts[LEAKING]);
    if (scene.isWhole && scene.isShipped) this.#read.set(Number(numbers.layer), numbers);
    this.#overview.replaceChildren(...SHIPPED.layers.map((layer) => this.#layerRow(layer, state)));
  }

  /**
   * @param {number} layer
   * @param {import('./state.js').State} state
   */
  #layerRow(layer, { layer: current, tau, first }) {
    const name = el('button', {
      type: 'button',
      'aria-current': layer === current ? 'true' : null,
    });
    name.textContent = words.layer(layer);
    name.addEventListener('click', () => this.#onLayer(layer));
    const numbers = this.#read.get(layer);
    const row = el('div', { class: 'layer-row' }, name);
    if (numbers === undefined) {
      row.append(el('span', { class: 'unread' }, words.unread));
      return row;
    }
    const shares = classShares(numbers, tau, first ? 0 : 1);
    const parts = shares.map((share, i) => {
      const part = el('i', { class: `band-${CLASS_NAMES[i]}` });
      part.style.flexGrow = String(share);
      return part;
    });
    const figures = words.shares(
      percent(shares[0] + shares[1]),
      percent(shares[LEAKING]),
      percent(shares[OPEN]),
    );
    row.append(
      el('span', { class: 'stack', 'aria-hidden': 'true' }, ...parts),
      el('span', {}, figures),
    );
    return row;
  }
}

/**
 * Mean shares of the four classes over the tokens.
 * @param {Numbers} numbers
 * @param {number} tau
 * @param {number} first the first token that counts
 */
function classShares({ gate, activated, tokens, dFf, shape }, tau, first) {
  const sums = [0, 0, 0, 0];
  for (let token = first; token < tokens; token++) {
    countClasses(gate, activated, token, dFf, tau, shape).counts.forEach((count, i) => {
      sums[i] += count / (dFf * (tokens - first));
    });
  }
  return sums;
}

/**
 * The share of units that can be dropped by a score before the error passes READ_AT; between two points, linearly.
 * @param {ErrorCurves} curves
 * @param {import('./orders.js').Score} score
 */
function droppable({ dropped, errors }, score) {
  const values = errors[score];
  const past = values.findIndex((error) => error > READ_AT);
  if (past <= 0) return past === 0 ? 0 : 1;
  const part = (READ_AT - values[past - 1]) / (values[past] - values[past - 1]);
  const count = dropped[past - 1] + part * (dropped[past] - dropped[past - 1]);
  return count / dropped[dropped.length - 1];
}

/** @param {ErrorCurves} curves */
function errorChart(curves) {
  const { dropped, errors } = curves;
  const x = scale(0, dropped[dropped.length - 1], PLOT.left, PLOT.right);
  const y = scale(0, HIGHEST_ERROR, PLOT.bottom, PLOT.top);
  const lines = SCORES.map((score) => {
    const points = dropped.map(
      (count, i) => `${x(count)} ${y(Math.min(HIGHEST_ERROR, errors[score][i]))}`,
    );
    return svg('path', { class: `score score-${score}`, d: `M${points.join('L')}` });
  });
  const readings = SCORES.map((score) => {
    const at = PLOT.left + droppable(curves, score) * (PLOT.right - PLOT.left);
    return svg('circle', { class: `score-dot score-${score}`, cx: at, cy: y(READ_AT), r: 3.5 });
  });
  const all = [0, 0.2, 0.4, 0.6, 0.8, 1];
  return svg(
    'svg',
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': words.errorsLabel },
    ...all.flatMap((share) => [
      svg('path', { class: 'grid', d: `M${PLOT.left} ${y(share)}H${PLOT.right}` }),
      svg(
        'text',
        { x: PLOT.left - 5, y: y(share) + 4, 'text-anchor': 'end' },
        `${share * 100}\u202f%`,
      ),
      svg(
        'text',
        {
          x: PLOT.left + share * (PLOT.right - PLOT.left),
          y: PLOT.bottom + 15,
          'text-anchor': 'middle',
        },
        `${Math.round(share * 100)}`,
      ),
    ]),
    svg('path', { class: 'read-at', d: `M${PLOT.left} ${y(READ_AT)}H${PLOT.right}` }),
    svg('text', { x: PLOT.right, y: HEIGHT - 2, 'text-anchor': 'end' }, words.droppedAxis),
    ...lines,
    ...readings,
  );
}

/** @param {Scene} scene */
function histogram({ numbers, state }) {
  const { gate, dFf, arrived, curve, shape } = numbers;
  const [from, to] = BIN_RANGE;
  const counts = new Array(BINS).fill(0);
  let beyond = 0;
  for (let i = state.token * dFf; i < state.token * dFf + arrived; i++) {
    const bin = Math.floor(((gate[i] - from) / (to - from)) * BINS);
    if (bin < 0 || bin >= BINS) beyond++;
    else counts[bin]++;
  }
  const x = scale(from, to, PLOT.left, PLOT.right);
  const y = scale(0, Math.max(...counts, 1), PLOT.bottom, PLOT.top);
  const inside = {
    first: curve.g.findIndex((g) => g >= from),
    last: curve.g.findIndex((g) => g > to) - 1,
  };
  const bands = classBands(curve, inside, state.tau, shape);
  const bars = counts.map((count, bin) => {
    const left = from + (bin * (to - from)) / BINS;
    const band = bands.find(({ to: end }) => left + (to - from) / BINS / 2 <= end);
    return svg('rect', {
      class: `bar-outline band-${CLASS_NAMES[band?.gateClass ?? OPEN]}`,
      x: x(left),
      width: (PLOT.right - PLOT.left) / BINS - 0.5,
      y: y(count),
      height: PLOT.bottom - y(count),
    });
  });
  const act = scale(-0.5, to, PLOT.bottom, PLOT.top);
  const ticks = [-8, -6, -4, -2, 0, 2, 4, 6];
  return svg(
    'svg',
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': words.histogramLabel(beyond) },
    ...bars,
    svg('path', { class: 'curve faint', d: `M${pathOf(curve, inside, x, act)}` }),
    svg('path', { class: 'zero', d: `M${PLOT.left} ${PLOT.bottom}H${PLOT.right}` }),
    ...ticks.map((g) =>
      svg(
        'text',
        { x: x(g), y: PLOT.bottom + 15, 'text-anchor': 'middle' },
        String(g).replace('-', '\u2212'),
      ),
    ),
    svg(
      'text',
      { x: PLOT.left - 5, y: PLOT.top + 8, 'text-anchor': 'end' },
      String(Math.max(...counts)),
    ),
    svg('text', { x: PLOT.right, y: HEIGHT - 2, 'text-anchor': 'end' }, words.gateAxis(beyond)),
  );
}
