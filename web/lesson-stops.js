// What the steps of the lesson are made of, besides words: the settings before and after the answer, which answer is so,
// which runs of the module the words need, and which of their figures go where. The words are lesson-text.js, in this order.

import { number } from './format.js';

/** @typedef {import('./lesson-bench.js').TinyRun} TinyRun */
/** @typedef {import('./lesson-bench.js').TinyTrace} TinyTrace */
/**
 * One unit with d = 1; `hidesCurve`: the activation's curve would give the answer away.
 * @typedef {{ x: number, gate: number, up: number, down: number, act: string, hidesCurve?: boolean }} Setting
 */
/** Two units on one input; only the down weights can be set. @typedef {{ down: [number, number], closed: boolean[] }} Pair */
/** @typedef {{ units: number, x: number }} Comparison  ReLU units, and where both are read off */
/** @typedef {import('./lesson-bench.js').WidthQuestion} WidthQuestion */

/**
 * The four kinds of benches, each with its settings while the question stands and once it is answered.
 * @typedef {{ bench: 'unit', before: Setting, after: Setting }
 *   | { bench: 'pair', before: Pair, after: Pair }
 *   | { bench: 'product', before: Comparison, after: Comparison }
 *   | { bench: 'width', before: WidthQuestion, after: WidthQuestion }} BenchSettings
 */
/**
 * @typedef {object} Facts
 * @property {number} right  the answer that is so, from 0
 * @property {Record<string, TinyRun>} runs
 * @property {WidthQuestion} [width]
 * @property {(trace: Record<string, TinyTrace>, dFf: number) => Record<string, string>} figures
 */

/** The example by hand of the library's documentation. */
const WORKED = { x: 1, gate: 1, up: 2, down: 3, act: 'silu' };
const SHUT = { ...WORKED, gate: -10 };
const GELU = { ...WORKED, gate: -6, act: 'gelu_tanh' };
/** Where SiLU is lowest, to three places. */
const DIP = { ...WORKED, gate: -1.278 };

/** @type {Pair} */
const PAIR = { down: [3, -2.9], closed: [false, false] };
export const PAIR_WEIGHTS = { act: 'silu', gate: [1, 1], up: [2, 2], x: [1] };
export const SQUARE = { act: 'silu', gate: [1], up: [1], down: [1] };
/** Between these the knees of the ReLU layer lie on the unit's curve. */
export const KNEES = { from: 0, to: 6 };
const FEW_UNITS = 4;

/** Llama 7B's, and what of it the models since have changed; the names are lessonText.width.models. @type {WidthQuestion[]} */
export const MODEL_WIDTHS = [
  { d: 4096, multipleOf: 256, multiplier: null },
  { d: 4096, multipleOf: 1024, multiplier: 1.3 },
  { d: 2048, multipleOf: 256, multiplier: 1.5 },
  { d: 576, multipleOf: 256, multiplier: null },
];

/**
 * @param {Setting} setting
 * @param {TinyRun['hold']} [hold]
 * @returns {TinyRun}
 */
export function runOf({ x, gate, up, down, act }, hold) {
  return { act, x: [x], gate: [gate], up: [up], down: [down], hold };
}

/** @param {Pair} pair @returns {TinyRun} */
export function runOfPair({ down, closed }) {
  const hold = closed.flatMap((isClosed, unit) => (isClosed ? [{ unit, value: 0 }] : []));
  return { ...PAIR_WEIGHTS, down, hold };
}

/**
 * A plain ReLU layer as a gated MLP whose up is always 1 (its weights 0, its biases 1): straight pieces that meet on the
 * given points and run on past the last.
 * @param {ArrayLike<number>} x ascending; the first is the first knee
 * @param {ArrayLike<number>} y
 * @param {number[]} at where it is to be computed
 * @returns {TinyRun}
 */
export function reluLayer(x, y, at) {
  const units = x.length - 1;
  const slopes = Array.from({ length: units }, (_, i) => (y[i + 1] - y[i]) / (x[i + 1] - x[i]));
  return {
    act: 'relu',
    gate: new Array(units).fill(1),
    gateBias: Array.from({ length: units }, (_, i) => -x[i]),
    up: new Array(units).fill(0),
    upBias: new Array(units).fill(1),
    down: slopes.map((slope, i) => slope - (i === 0 ? 0 : slopes[i - 1])),
    x: at,
  };
}

/** @param {number} units */
export function kneesOf(units) {
  const { from, to } = KNEES;
  return Array.from({ length: units + 1 }, (_, i) => from + (i * (to - from)) / units);
}

/**
 * The weights of the MLP, beside those of a plain one of 4d.
 * @param {number} d
 * @param {number} dFf
 */
export const weightCounts = (d, dFf) => ({ gated: 3 * d * dFf, plain: 2 * d * 4 * d });

/** Near 100 % the tenths are what matters. @param {number} share */
export const costOf = (share) => `${number(100 * share, 4)}\u202f%`;

/** @type {(BenchSettings & Facts)[]} */
export const STOPS = [
  {
    bench: 'unit',
    before: WORKED,
    after: WORKED,
    right: 1,
    runs: {
      silu: runOf(WORKED),
      gelu: runOf({ ...WORKED, act: 'gelu_tanh' }),
      whole: runOf(WORKED, [{ unit: 0, value: 1 }]),
      far: runOf({ ...WORKED, gate: 5 }),
    },
    figures: ({ silu, gelu, whole, far }) => ({
      a: number(silu.act[0]),
      y: number(silu.output[0], 7),
      geglu: number(gelu.output[0], 7),
      whole: number(whole.output[0], 1),
      far: number(far.act[0]),
    }),
  },
  {
    bench: 'unit',
    before: SHUT,
    after: { ...SHUT, up: 3 },
    right: 2,
    runs: { low: runOf({ ...SHUT, up: -3 }), high: runOf({ ...SHUT, up: 3 }) },
    figures: ({ low, high }) => ({
      a: number(low.act[0]),
      low: number(low.hidden[0]),
      high: number(high.hidden[0]),
    }),
  },
  {
    bench: 'unit',
    before: { ...SHUT, up: 1000 },
    after: { ...SHUT, up: 1000 },
    right: 0,
    runs: { loud: runOf({ ...SHUT, up: 1000 }) },
    figures: ({ loud }) => ({ a: number(loud.act[0]), h: number(loud.hidden[0]) }),
  },
  {
    bench: 'unit',
    before: { ...WORKED, gate: 0, hidesCurve: true },
    after: DIP,
    right: 1,
    runs: { dip: runOf(DIP), left: runOf({ ...WORKED, gate: -6 }) },
    figures: ({ dip, left }) => ({
      g: number(dip.gate[0], 4),
      a: number(dip.act[0]),
      h: number(dip.hidden[0]),
      left: number(left.act[0]),
    }),
  },
  {
    bench: 'unit',
    before: { ...WORKED, gate: -6 },
    after: GELU,
    right: 2,
    runs: {
      silu: runOf({ ...WORKED, gate: -6 }),
      gelu: runOf(GELU),
      loud: runOf({ ...GELU, up: 1000 }),
    },
    figures: ({ silu, gelu, loud }) => ({
      silu: number(silu.act[0]),
      gelu: number(gelu.act[0]),
      loud: number(loud.hidden[0]),
    }),
  },
  {
    bench: 'pair',
    before: PAIR,
    after: PAIR,
    right: 0,
    runs: {
      both: runOfPair(PAIR),
      first: runOfPair({ ...PAIR, closed: [false, true] }),
      second: runOfPair({ ...PAIR, closed: [true, false] }),
    },
    figures: ({ both, first, second }) => ({
      first: number(Math.abs(first.output[0])),
      second: number(Math.abs(second.output[0])),
      y: number(both.output[0]),
      alone: number(first.output[0]),
      times: number(Math.abs(first.output[0] / both.output[0]), 2),
    }),
  },
  {
    bench: 'product',
    before: { units: FEW_UNITS, x: 5 },
    after: { units: FEW_UNITS, x: 10 },
    right: 2,
    runs: { gated: { ...SQUARE, x: [5, 10] } },
    figures: ({ gated }) => ({
      five: number(gated.output[0]),
      ten: number(gated.output[1]),
      times: number(gated.output[1] / gated.output[0]),
    }),
  },
  {
    bench: 'width',
    before: MODEL_WIDTHS[0],
    after: MODEL_WIDTHS[0],
    right: 1,
    runs: {},
    width: MODEL_WIDTHS[0],
    figures: (_, dFf) => {
      const { gated, plain } = weightCounts(MODEL_WIDTHS[0].d, dFf);
      return { dFf: String(dFf), ratio: costOf(gated / plain) };
    },
  },
];
