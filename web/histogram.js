// "Where the gates are": the selected token's units by g, coloured by class, over the activation's curve. SVG by hand. The
// frame and the curve are drawn once for an activation; a moved threshold changes the attributes of four paths, a class each.

import { classBands, pathOf, scale } from './act-curve.js';
import { HEIGHT, PLOT, WIDTH } from './chart-frame.js';
import { CLASS_NAMES, LEAKING, OPEN } from './definitions.js';
import { byId, svg } from './dom.js';
import { text } from './text.js';

/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./protocol.js').ActCurve} ActCurve */

const words = text.charts;
const BINS = 56;
const [FROM, TO] = [-8, 6];
const BIN_WIDTH = (TO - FROM) / BINS;
const TICKS = [-8, -6, -4, -2, 0, 2, 4, 6];
/** The curve's own scale: what it dips to below 0 has to be seen. */
const LOWEST_ACT = -0.5;
/** Between two bars, in the units of the SVG. */
const BAR_GAP = 0.5;

const x = scale(FROM, TO, PLOT.left, PLOT.right);

export class GateHistogram {
  #bars = CLASS_NAMES.map((name) => svg('path', { class: `bar-outline band-${name}` }));
  #curve = svg('path', { class: 'curve faint' });
  #most = svg('text', { x: PLOT.left - 5, y: PLOT.top + 8, 'text-anchor': 'end' });
  #axis = svg('text', { x: PLOT.right, y: HEIGHT - 2, 'text-anchor': 'end' });
  #host = byId('chart-histogram');
  #svg = svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img' });
  #reading = byId('histogram-reading');
  #counts = new Array(BINS).fill(0);
  /** What the counts are of, and what the bars are coloured by. @type {unknown[]} */
  #counted = [];
  /** @type {unknown[]} */
  #coloured = [];

  constructor() {
    this.#svg.append(
      ...this.#bars,
      this.#curve,
      svg('path', { class: 'zero', d: `M${PLOT.left} ${PLOT.bottom}H${PLOT.right}` }),
      ...TICKS.map((g) =>
        svg(
          'text',
          { x: x(g), y: PLOT.bottom + 15, 'text-anchor': 'middle' },
          String(g).replace('-', '\u2212'),
        ),
      ),
      this.#most,
      this.#axis,
    );
  }

  /** @param {Scene} scene */
  update(scene) {
    const { numbers, state } = scene;
    const counted = [numbers, state.token];
    const coloured = [...counted, state.tau];
    if (coloured.every((part, i) => part === this.#coloured[i])) return;
    if (!counted.every((part, i) => part === this.#counted[i])) this.#count(scene);
    this.#counted = counted;
    this.#coloured = coloured;
    this.#colour(scene);
    const { negative, counts } = scene.counts[state.token];
    this.#reading.textContent = words.histogramReading(negative, counts[LEAKING]);
  }

  /** @param {Scene} scene */
  #count({ numbers, state }) {
    const { gate, dFf, arrived, curve } = numbers;
    this.#counts.fill(0);
    let beyond = 0;
    for (let i = state.token * dFf; i < state.token * dFf + arrived; i++) {
      const bin = Math.floor((gate[i] - FROM) / BIN_WIDTH);
      if (bin >= 0 && bin < BINS) this.#counts[bin]++;
      else beyond++;
    }
    const act = scale(LOWEST_ACT, TO, PLOT.bottom, PLOT.top);
    this.#curve.setAttribute('d', `M${pathOf(curve, insideOf(curve), x, act)}`);
    this.#most.textContent = String(Math.max(...this.#counts));
    this.#axis.textContent = words.gateAxis(beyond);
    this.#svg.setAttribute('aria-label', words.histogramLabel(beyond));
    // Before there is anything to say of it, it is not there.
    if (!this.#svg.isConnected) this.#host.append(this.#svg);
  }

  /** @param {Scene} scene */
  #colour({ numbers, state }) {
    const { curve, shape } = numbers;
    const bands = classBands(curve, insideOf(curve), state.tau, shape);
    const y = scale(0, Math.max(...this.#counts, 1), PLOT.bottom, PLOT.top);
    const paths = CLASS_NAMES.map(() => '');
    this.#counts.forEach((count, bin) => {
      if (count === 0) return;
      const left = FROM + bin * BIN_WIDTH;
      const band = bands.find(({ to }) => left + BIN_WIDTH / 2 <= to);
      const width = (PLOT.right - PLOT.left) / BINS - BAR_GAP;
      const [near, top] = [x(left).toFixed(1), y(count).toFixed(1)];
      paths[band?.gateClass ?? OPEN] +=
        `M${near} ${PLOT.bottom}V${top}h${width.toFixed(1)}V${PLOT.bottom}Z`;
    });
    this.#bars.forEach((bar, i) => {
      bar.setAttribute('d', paths[i]);
    });
  }
}

/** The samples that the chart shows. @param {ActCurve} curve */
function insideOf({ g }) {
  const beyond = g.findIndex((value) => value > TO);
  return { first: g.findIndex((value) => value >= FROM), last: beyond - 1 };
}
