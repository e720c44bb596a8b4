// The speeds that this project wants, as ratios to a rival of the same engine and run. `must` is the floor, `aim` where
// it is going. A rival is a peer by name, or 'f32' for the best float32 peer; `ours` may be 'any' dtype.

/**
 * @typedef {object} Target
 * @property {string[]} shapes
 * @property {number[]} tokens
 * @property {string} ours dtype, or 'any'
 * @property {string} rival
 * @property {Record<'simd128' | 'relaxed', number>} must
 * @property {Record<'simd128' | 'relaxed', number>} aim
 */

/** @param {number} simd128 @param {number} [relaxed] */
const floor = (simd128, relaxed = simd128) => ({ simd128, relaxed });

const SMALL = ['576x1536'];
const LARGE = ['2048x8192'];
const COLD = ['2048x8192', '4096x11008'];
const BOTH = [...SMALL, ...LARGE];

/** @type {Target[]} */
export const SPEED_TARGETS = [
  target(SMALL, [128], 'float32', 'plain JS loops', floor(10), floor(20)),
  target(SMALL, [1], 'bfloat16', 'f32', floor(2.2, 2.3), floor(2.7, 3)),
  target(COLD, [1], 'bfloat16', 'f32', floor(1.8), floor(2)),
  target(COLD, [1], 'float32', 'f32', floor(1), floor(1.05)),
  target(SMALL, [16], 'bfloat16', 'f32', floor(1.2), floor(1.5)),
  target(LARGE, [16], 'bfloat16', 'f32', floor(1.3, 1.4), floor(1.5, 1.8)),
  target(SMALL, [128, 512], 'bfloat16', 'f32', floor(1.25, 1.15), floor(1.4, 1.25)),
  target(LARGE, [128, 512], 'bfloat16', 'f32', floor(1.4, 1.5), floor(1.6, 1.75)),
  target(LARGE, [1], 'q8_0', 'LiteRT int8', floor(1.15), floor(1.4)),
  target(SMALL, [1], 'q8_0', 'LiteRT int8', floor(2), floor(3)),
  target(BOTH, [16], 'q8_0', 'LiteRT int8', floor(1.15), floor(1.3)),
  target(BOTH, [128, 512], 'q8_0', 'LiteRT int8', floor(1), floor(1.15)),
  target(BOTH, [128, 512], 'q8_0', 'ORT int8', floor(0.9), floor(1)),
  target(LARGE, [1], 'q4_1', 'LiteRT int4 blocks', floor(8), floor(15)),
  target(LARGE, [1], 'q4_1', 'ORT int4 blocks', floor(45), floor(90)),
  target(BOTH, [16, 128, 512], 'q4_1', 'LiteRT int4 blocks', floor(5), floor(10)),
  target(BOTH, [16, 128, 512], 'q4_1', 'ORT int4 blocks', floor(5), floor(10)),
  target(LARGE, [1], 'any', 'ORT f32', floor(3.5), floor(4.4)),
];

/** Share of the arithmetic peak of the variant, bfloat16, from this many tokens up. */
export const ARITHMETIC_SHARE = { tokens: 128, must: floor(0.72, 0.8), aim: floor(0.88, 0.92) };
/** Share of the stream limit, float32 weights, one token, where the weights are larger than any cache. */
export const STREAM_SHARE = { shapes: COLD, must: 0.95 };

/** Several threads over one, bfloat16; and over LiteRT's several, which it has in a page only. */
export const THREAD_TARGETS = {
  prefill: { tokens: 16, must: 1.7, aim: 1.95 },
  decode: { shapes: LARGE, must: 1.5, mustInPage: 1.3, aim: 1.75 },
  rival: { shapes: SMALL, tokens: 16, name: 'LiteRT f32', must: 1.15, aim: 1.3 },
};
/** Set-up of float32 weights, as the rival's time over ours, at this shape. */
export const SETUP_TARGETS = [
  { shape: '2048x8192', rival: 'LiteRT f32', must: 1 },
  { shape: '2048x8192', rival: 'ORT f32', must: 3 },
];
/** Time of a backward pass that gives every gradient over the forward's, at most; measured at so many tokens. */
export const BACKWARD_TARGETS = {
  tokens: 128,
  'from a trace': { must: 2.6, aim: 2.2 },
  alone: { must: 3.3, aim: 2.9 },
};

/**
 * No floor asks for more than these shares of the run's own limits: above them it counts as met.
 * @type {{ stream: number, arithmetic: number }}
 */
export const REACHABLE = { stream: 0.95, arithmetic: 0.88 };

/** A page's ratios may be smaller by a quarter: its peers gain more from its newer compiler. */
export const PAGE_SHARE = 0.75;

/** Largest error over the answer's rms with which a result counts, by how the weights are held. @type {Record<string, number>} */
export const ERROR_BOUNDS = {
  plain: 1e-5,
  f32: 1e-4,
  int8: 0.3,
  'int4 blocks': 1.5,
  float32: 1e-5,
  bfloat16: 1e-5,
  float16: 1e-5,
  q8_0: 0.05,
  q4_1: 0.9,
};

/** Bytes a weight takes in memory, scales included, by how it is held. @type {Record<string, number>} */
export const WEIGHT_BYTES = {
  plain: 4,
  f32: 4,
  int8: 1,
  'int4 blocks': 0.5625,
  float32: 4,
  bfloat16: 2,
  float16: 2,
  q8_0: 1.0625,
  q4_1: 0.625,
};

/**
 * @param {string[]} shapes
 * @param {number[]} tokens
 * @param {string} ours
 * @param {string} rival
 * @param {Target['must']} must
 * @param {Target['aim']} aim
 * @returns {Target}
 */
function target(shapes, tokens, ours, rival, must, aim) {
  return { shapes, tokens, ours, rival, must, aim };
}
