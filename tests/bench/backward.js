// The time of a backward pass over that of a forward pass: from a trace that is at hand, and alone; all three write into arrays
// that are at hand, too. Gradients are held against float64 loops before anything is timed. No peer here gives gradients of
// this on the processor.

import { GatedMLP, Runtime } from '../../src/binding/index.js';
import { stateDict } from './ours.js';
import { runRounds } from './rounds.js';

/** @typedef {import('./problem.js').Weights} Weights */
/** @typedef {import('./contestant.js').Call} Call */

/** Largest error over the largest reference value of the same gradient. */
const ERROR_BOUND = 2e-5;

/**
 * @param {Weights} weights
 * @param {ReturnType<typeof import('./problem.js').makeInputs>} inputs
 * @param {number} tokens
 * @param {'simd128' | 'relaxed'} variant
 * @param {{ rounds: number, budgetMs: number }} plan
 * @param {import('./limits.js').Limits} limits
 * @returns {Promise<import('./report.js').Backward>}
 */
export async function measureBackward(weights, inputs, tokens, variant, plan, limits) {
  const { d, dFf } = weights;
  const runtime = await Runtime.create({ variant });
  const mlp = await GatedMLP.create(d, dFf, { runtime });
  mlp.loadStateDict(stateDict(weights));
  const x = inputs.x(tokens);
  const gradOutput = x.map((value) => 0.5 - value);
  const trace = mlp.trace(x);
  const out = new Float32Array(x.length);
  const gradients = mlp.backward(x, gradOutput);
  const errorAlone = gradientError(gradients, x, gradOutput, weights);
  mlp.backward(trace, gradOutput, { out: gradients });
  const error = Math.max(errorAlone, gradientError(gradients, x, gradOutput, weights));
  if (!(error <= ERROR_BOUND)) throw new Error(`backward is wrong by ${error}; nothing was timed`);
  const calls = {
    forward: () => mlp.forward(x, { out }),
    'from a trace': () => mlp.backward(trace, gradOutput, { out: gradients }),
    alone: () => mlp.backward(x, gradOutput, { out: gradients }),
  };
  const entries = Object.entries(calls).map(([name, run]) => ({
    contestant: { name, weights: 'float32', load: () => Promise.reject(new Error('is loaded')) },
    call: { run: /** @type {Call['run']} */ (run), dispose() {} },
    ...{ error, firstMs: 0, setupMs: 0 },
  }));
  const weightBytes = 3 * d * dFf * Float32Array.BYTES_PER_ELEMENT;
  const options = { ...plan, cold: false, weightBytes };
  const { times, again, disturbed } = await runRounds(entries, x, options, limits);
  trace.dispose();
  runtime.dispose();
  const named = [...times].map(([{ contestant }, all]) => [contestant.name, all]);
  return { error, times: Object.fromEntries(named), again, disturbed };
}

/**
 * How far the gradient of x's first token and those of the first unit's weights are from float64 loops.
 * @param {Record<string, ArrayLike<number>>} gradients
 * @param {Float32Array} x [tokens, d]
 * @param {Float32Array} gradOutput [tokens, d]
 * @param {Weights} weights
 */
function gradientError(gradients, x, gradOutput, weights) {
  const { d, dFf, gate, up } = weights;
  const token = new Float64Array(d);
  for (let j = 0; j < dFf; j++) {
    const { dGate, dUp } = unitGradients(x, gradOutput, 0, j, weights);
    for (let k = 0; k < d; k++) token[k] += dGate * gate[j * d + k] + dUp * up[j * d + k];
  }
  const unit = { gate: new Float64Array(d), up: new Float64Array(d), down: new Float64Array(d) };
  for (let row = 0; row < x.length; row += d) {
    const { dGate, dUp, hidden } = unitGradients(x, gradOutput, row, 0, weights);
    for (let k = 0; k < d; k++) {
      unit.gate[k] += dGate * x[row + k];
      unit.up[k] += dUp * x[row + k];
      unit.down[k] += hidden * gradOutput[row + k];
    }
  }
  return Math.max(
    offBy(token, (k) => gradients.x[k]),
    offBy(unit.gate, (k) => gradients['gate_proj.weight'][k]),
    offBy(unit.up, (k) => gradients['up_proj.weight'][k]),
    offBy(unit.down, (k) => gradients['down_proj.weight'][k * dFf]),
  );
}

/**
 * hidden = silu(z) u of one unit and token, and the loss's derivatives by z and by u.
 * @param {Float32Array} x
 * @param {Float32Array} gradOutput
 * @param {number} row where the token begins in both
 * @param {number} j the unit
 * @param {Weights} weights
 */
function unitGradients(x, gradOutput, row, j, { d, dFf, gate, up, down }) {
  let [z, u, dHidden] = [0, 0, 0];
  for (let k = 0; k < d; k++) {
    z += gate[j * d + k] * x[row + k];
    u += up[j * d + k] * x[row + k];
    dHidden += down[k * dFf + j] * gradOutput[row + k];
  }
  const sigmoid = 1 / (1 + Math.exp(-z));
  const slope = sigmoid * (1 + z * (1 - sigmoid));
  return {
    dGate: dHidden * u * slope,
    dUp: dHidden * z * sigmoid,
    hidden: z * sigmoid * u,
  };
}

/** @param {Float64Array} expected @param {(k: number) => number} actual */
function offBy(expected, actual) {
  const largest = expected.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return expected.reduce((most, value, k) => {
    const off = Math.abs(actual(k) - value) / largest;
    return off <= most ? most : Number.isFinite(off) ? off : Number.POSITIVE_INFINITY;
  }, 0);
}
