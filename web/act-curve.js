// The activation's curve with the bands of the four classes and the operating point (g, a) of one gate. SVG; the curve is
// the wasm module's own samples (act-curve-samples.js), the bands are found on it by definitions.js.

import { CLASS_NAMES, classOf } from './definitions.js';
import { setAttributes, svg } from './dom.js';

const WIDTH = 360;
const HEIGHT = 126;
const MARGIN = { left: 30, right: 10, top: 12, bottom: 27 };
const BAND_HEIGHT = 7;
/** Windows on g, from close to far: the first that holds the point is used, so that the dip stays visible. */
const WINDOWS = [
  [-6, 3],
  [-8, 7],
  [-8, 14],
  [-12, 4],
  [-16, 32],
  [-32, 8],
  [-16, 64],
  [-64, 64],
];
/** A point keeps this share of the window free to its right. */
const HEADROOM = 0.05;
const TICK_STEPS = [0.5, 1, 2, 5, 10, 20, 50];
const TICKS_WANTED = 7;

/** @typedef {import('./protocol.js').ActCurve} ActCurve */
/** @typedef {import('./protocol.js').ActShape} ActShape */
/**
 * A gate on the curve. `own`: the model's point, where it is held at another by hand.
 * @typedef {{ curve: ActCurve, shape: ActShape, tau: number, gate: number, act: number,
 *   own: { gate: number, act: number } | null, label: string }} CurveView
 */

export class ActCurveChart {
  #bands = svg('g');
  #axes = svg('g', { class: 'axis' });
  #areas = svg('g');
  #tau = svg('rect', { class: 'tau-band' });
  #path = svg('path', { class: 'curve' });
  #drop = svg('path', { class: 'drop' });
  #dot = svg('circle', { class: 'dot', r: 5 });
  /** Where the model itself has a gate that is held by hand. */
  #own = svg('circle', { class: 'own-dot', r: 5 });
  #svg = svg('svg', { class: 'act-curve', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img' });
  #drawn = '';

  /** @param {HTMLElement} host */
  constructor(host) {
    this.#svg.append(
      this.#areas,
      this.#tau,
      this.#bands,
      this.#axes,
      this.#path,
      this.#drop,
      this.#own,
      this.#dot,
    );
    host.append(this.#svg);
  }

  /** @param {CurveView} view */
  update(view) {
    const { gate: ownGate, act: ownAct } = view.own ?? view;
    const [from, to] = windowFor(Math.min(view.gate, ownGate), Math.max(view.gate, ownGate));
    const { g, a } = view.curve;
    const inside = indicesWithin(g, from, to);
    const acts = [view.act, ownAct];
    const top = a
      .slice(inside.first, inside.last + 1)
      .reduce((p, q) => Math.max(p, q), Math.max(...acts));
    const low = Math.min(-0.12 * top, -view.shape.depth * 1.25 || 0, ...acts);
    const x = scale(from, to, MARGIN.left, WIDTH - MARGIN.right);
    const y = scale(
      Number.isFinite(low) ? low : a[inside.first],
      top,
      HEIGHT - MARGIN.bottom,
      MARGIN.top,
    );
    const key = [from, to, top, low, view.tau, view.curve.a[0], view.shape.shutBelow].join();
    if (key !== this.#drawn) this.#drawFrame(view, inside, x, y);
    this.#drawn = key;
    const within = (/** @type {number} */ g) => x(Math.max(from, Math.min(to, g)));
    const [px, py] = [within(view.gate), y(view.act)];
    setAttributes(this.#dot, { cx: px, cy: py });
    setAttributes(this.#own, { cx: within(ownGate), cy: y(ownAct) });
    this.#own.style.display = view.own === null ? 'none' : '';
    setAttributes(this.#drop, { d: `M${px} ${y(0)}V${py}M${MARGIN.left} ${py}H${px}` });
    this.#svg.setAttribute('aria-label', view.label);
  }

  /**
   * @param {CurveView} view
   * @param {{ first: number, last: number }} inside
   * @param {Scale} x
   * @param {Scale} y
   */
  #drawFrame({ curve, shape, tau }, inside, x, y) {
    const { g } = curve;
    this.#path.setAttribute('d', `M${pathOf(curve, inside, x, y)}`);
    setAttributes(this.#tau, {
      x: MARGIN.left,
      width: WIDTH - MARGIN.left - MARGIN.right,
      y: y(tau),
      height: y(-tau) - y(tau),
    });
    const bands = classBands(curve, inside, tau, shape);
    this.#areas.replaceChildren(
      ...bands.map(({ gateClass, from, to }) => {
        const within = indicesWithin(g, from, to);
        const d = `M${x(from)} ${y(0)}L${pathOf(curve, within, x, y)}L${x(to)} ${y(0)}Z`;
        return svg('path', { class: `area band-${CLASS_NAMES[gateClass]}`, d });
      }),
    );
    this.#bands.replaceChildren(
      ...bands.map(({ gateClass, from, to }) =>
        svg('rect', {
          class: `band band-${CLASS_NAMES[gateClass]}`,
          x: x(from),
          width: Math.max(0, x(to) - x(from)),
          y: HEIGHT - MARGIN.bottom,
          height: BAND_HEIGHT,
        }),
      ),
    );
    this.#axes.replaceChildren(...axes(x, y));
  }
}

/** @typedef {((value: number) => number) & { from: number, to: number }} Scale */

/**
 * @param {number} from
 * @param {number} to
 * @param {number} start
 * @param {number} end
 * @returns {Scale}
 */
export function scale(from, to, start, end) {
  const map = (/** @type {number} */ value) =>
    start + ((value - from) / (to - from)) * (end - start);
  return Object.assign(map, { from, to });
}

/**
 * @param {number} least value of g that has to be in it
 * @param {number} most
 */
function windowFor(least, most) {
  return (
    WINDOWS.find(([from, to]) => least >= from && most <= to - HEADROOM * (to - from)) ??
    WINDOWS[WINDOWS.length - 1]
  );
}

/**
 * @param {Float32Array} g ascending
 * @param {number} from
 * @param {number} to
 */
function indicesWithin(g, from, to) {
  const first = g.findIndex((value) => value >= from);
  const beyond = g.findIndex((value) => value > to);
  return { first, last: (beyond === -1 ? g.length : beyond) - 1 };
}

/**
 * The curve between two samples as the points of a path.
 * @param {ActCurve} curve
 * @param {{ first: number, last: number }} inside
 * @param {Scale} x
 * @param {Scale} y
 */
export function pathOf({ g, a }, { first, last }, x, y) {
  const stride = Math.max(1, Math.floor((last - first) / (2 * WIDTH)));
  const path = [];
  for (let i = first; i <= last; i += stride)
    path.push(`${x(g[i]).toFixed(1)} ${y(a[i]).toFixed(1)}`);
  return path.join('L');
}

/**
 * Stretches of g that belong to one class; a border lies where the curve meets +-tau, between two samples.
 * @param {ActCurve} curve
 * @param {{ first: number, last: number }} inside
 * @param {number} tau
 * @param {ActShape} shape
 */
export function classBands({ g, a }, { first, last }, tau, shape) {
  const bands = [];
  let from = g[first];
  let gateClass = classOf(g[first], a[first], tau, shape);
  for (let i = first + 1; i <= last; i++) {
    const next = classOf(g[i], a[i], tau, shape);
    if (next === gateClass) continue;
    const level = Math.sign(a[i] + a[i - 1]) * tau;
    const share = a[i] === a[i - 1] ? 1 : (level - a[i - 1]) / (a[i] - a[i - 1]);
    const border = g[i - 1] + Math.max(0, Math.min(1, share)) * (g[i] - g[i - 1]);
    bands.push({ gateClass, from, to: border });
    [from, gateClass] = [border, next];
  }
  bands.push({ gateClass, from, to: g[last] });
  return bands;
}

/**
 * @param {number} from
 * @param {number} to
 * @param {number} wanted
 */
function ticks(from, to, wanted) {
  const step = TICK_STEPS.find((size) => (to - from) / size <= wanted) ?? 100;
  const values = [];
  for (let v = Math.ceil(from / step) * step; v <= to; v += step) values.push(v);
  return values;
}

/** @param {number} value */
const tickLabel = (value) => String(Number(value.toFixed(3))).replace('-', '\u2212');

/**
 * @param {Scale} x
 * @param {Scale} y
 */
function axes(x, y) {
  const [left, right, bottom] = [MARGIN.left, WIDTH - MARGIN.right, HEIGHT - MARGIN.bottom];
  /** @type {SVGElement[]} */
  const nodes = [
    svg('path', { class: 'zero', d: `M${left} ${y(0)}H${right}M${x(0)} ${MARGIN.top}V${bottom}` }),
  ];
  for (const value of ticks(x.from, x.to, TICKS_WANTED)) {
    nodes.push(
      svg('text', { x: x(value), y: HEIGHT - 7, 'text-anchor': 'middle' }, tickLabel(value)),
    );
  }
  for (const value of ticks(y.from, y.to, 4)) {
    nodes.push(
      svg('text', { x: left - 5, y: y(value) + 4, 'text-anchor': 'end' }, tickLabel(value)),
    );
  }
  nodes.push(
    svg('text', { class: 'axis-name', x: right, y: bottom - 4, 'text-anchor': 'end' }, 'g'),
    svg('text', { class: 'axis-name', x: left + 6, y: MARGIN.top - 3 }, 'a = act(g)'),
  );
  return nodes;
}
