// What every contestant is given: weights and inputs of one shape, and the answer in float64.
// Weights are Gaussian and exactly representable in bfloat16, so that float32 and bfloat16 have the same answer.

/**
 * @typedef {object} Weights
 * @property {number} d
 * @property {number} dFf
 * @property {Float32Array} gate [dFf, d]
 * @property {Float32Array} up [dFf, d]
 * @property {Float32Array} down [d, dFf]
 */

/**
 * Distinct tokens in a call. Tokens repeat with this period, which shares no factor with any tile height, so that every
 * row of every result is held against the reference at the price of a few.
 */
const PERIOD = 7;

/** @param {number} d @param {number} dFf @returns {Weights} */
export function makeWeights(d, dFf) {
  const next = gaussian(1);
  return {
    d,
    dFf,
    gate: matrix(dFf, d, next),
    up: matrix(dFf, d, next),
    down: matrix(d, dFf, next),
  };
}

/**
 * Inputs of one shape at any number of tokens, and how far a result is from the answer.
 * @param {Weights} weights
 */
export function makeInputs(weights) {
  const { d } = weights;
  const next = gaussian(2);
  const rows = Float32Array.from({ length: PERIOD * d }, next);
  const answer = reference(rows, weights);
  const rms = Math.sqrt(answer.reduce((sum, y) => sum + y * y, 0) / answer.length);
  return {
    /** @param {number} tokens @returns {Float32Array} [tokens, d] */
    x(tokens) {
      return Float32Array.from({ length: tokens * d }, (_, i) => rows[i % rows.length]);
    },
    /** Largest error over the answer's rms; NaN and Infinity count as infinite. @param {ArrayLike<number>} y */
    error(y) {
      let most = 0;
      for (let i = 0; i < y.length; i++) {
        const off = Math.abs(y[i] - answer[i % answer.length]);
        if (!(off <= most)) most = Number.isFinite(off) ? off : Number.POSITIVE_INFINITY;
      }
      return most / rms;
    },
  };
}

/**
 * y = down(silu(gate(x)) * up(x)) in float64.
 * @param {Float32Array} x [tokens, d]
 * @param {Weights} weights
 */
function reference(x, { d, dFf, gate, up, down }) {
  const y = new Float64Array(x.length);
  const hidden = new Float64Array(dFf);
  for (let row = 0; row < x.length; row += d) {
    const token = Float64Array.from(x.subarray(row, row + d));
    for (let j = 0; j < dFf; j++) {
      const z = dot(gate, j * d, token);
      hidden[j] = (z / (1 + Math.exp(-z))) * dot(up, j * d, token);
    }
    for (let i = 0; i < d; i++) y[row + i] = dot(down, i * dFf, hidden);
  }
  return y;
}

/** @param {Float32Array} weight @param {number} begin @param {Float64Array} vector */
function dot(weight, begin, vector) {
  let even = 0;
  let odd = 0;
  for (let k = 0; k + 1 < vector.length; k += 2) {
    even += weight[begin + k] * vector[k];
    odd += weight[begin + k + 1] * vector[k + 1];
  }
  const last = vector.length - 1;
  if (vector.length % 2 === 1) even += weight[begin + last] * vector[last];
  return even + odd;
}

/** Rows of unit variance once multiplied with a unit Gaussian. @param {number} rows @param {number} columns @param {() => number} next */
function matrix(rows, columns, next) {
  const values = new Float32Array(rows * columns);
  const deviation = 1 / Math.sqrt(columns);
  for (let i = 0; i < values.length; i++) values[i] = next() * deviation;
  const words = new Uint32Array(values.buffer);
  for (let i = 0; i < words.length; i++) words[i] &= 0xffff0000;
  return values;
}

/** Box and Muller's transform of a 32-bit xorshift. @param {number} seed not 0 @returns {() => number} */
function gaussian(seed) {
  let state = (seed * 0x9e3779b9) >>> 0;
  const uniform = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return ((state >>> 0) + 1) / 4294967297;
  };
  let spare = Number.NaN;
  return () => {
    if (!Number.isNaN(spare)) {
      const value = spare;
      spare = Number.NaN;
      return value;
    }
    const radius = Math.sqrt(-2 * Math.log(uniform()));
    const angle = 2 * Math.PI * uniform();
    spare = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  };
}
