// Central differences in float64: the derivative of the very forward that runs, for x and every parameter, in whatever way a
// forward can be asked for. Uses the float64 build of the same sources (bash build.sh float64).

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertWithin, dot } from './helpers/goldens.js';
import {
  asState,
  float64Runtime,
  mlpOf,
  randomParameters,
  randomSource,
} from './helpers/numbers.js';

const ACTS = ['silu', 'gelu_tanh', 'gelu', 'relu', 'relu2', 'sigmoid', 'quick_gelu', 'none'];
/** Step of a central difference: the error of the formula (step^2) and that of rounding (1e-16 / step) are both near 1e-10. */
const STEP = 1e-5;
/** Relative to a gradient's largest value. */
const TOLERANCE = 1e-8;
const [D, D_FF, TOKENS] = [5, 7, 3];

const runtime = await float64Runtime();
after(() => runtime.dispose());

/** @typedef {import('../src/binding/index.js').GatedMLP} MLP */

/**
 * @param {Record<string, Float32Array>} record
 * @returns {Record<string, Float64Array>}
 */
const inDouble = (record) =>
  Object.fromEntries(Object.entries(record).map(([name, data]) => [name, Float64Array.from(data)]));

/**
 * A layer with biases and an input for it, all in float64, of which no gate is so near 0 that a step would cross a kink.
 * @param {string} act
 * @param {number} [normEps] of a norm before down_proj
 */
async function setUp(act, normEps) {
  const random = randomSource(7);
  const parameters = inDouble(randomParameters(D, D_FF, true, random));
  const { x, gy } = inDouble({ x: random.floats(TOKENS * D, 2), gy: random.floats(TOKENS * D) });
  const norm = normEps !== undefined && inDouble({ 'ffn_sub_norm.weight': random.floats(D_FF, 2) });
  Object.assign(parameters, norm);
  const mlp = await mlpOf(D, D_FF, parameters, { act, runtime, variant: { normEps } });
  const trace = mlp.trace(x);
  assert.ok(trace.gate.every((g) => Math.abs(g) > 100 * STEP));
  trace.dispose();
  return { mlp, x, gy, parameters };
}

/**
 * The gradient of `loss` by central differences, entry by entry.
 * @param {Float64Array} values changed in place and put back
 * @param {() => number} loss
 */
function differences(values, loss) {
  return Float64Array.from(values, (value, i) => {
    values[i] = value + STEP;
    const above = loss();
    values[i] = value - STEP;
    const below = loss();
    values[i] = value;
    return (above - below) / (2 * STEP);
  });
}

/**
 * Holds gradients against central differences of sum(forward * gy), for x and every parameter.
 * @param {{ mlp: MLP, x: Float64Array, gy: Float64Array, parameters: Record<string, Float64Array> }} layer
 * @param {Record<string, ArrayLike<number>>} gradients
 * @param {(x: Float64Array) => ArrayLike<number>} forward
 */
function assertIsDerivative({ mlp, x, gy, parameters }, gradients, forward) {
  assert.deepEqual(Object.keys(gradients), ['x', ...Object.keys(parameters)]);
  /** @type {Record<string, ReturnType<typeof differences>>} */
  const expected = { x: differences(x, () => dot(forward(x), gy)) };
  for (const [name, values] of Object.entries(parameters)) {
    const loss = () => {
      mlp.loadStateDict(asState({ [name]: values }), { strict: false });
      return dot(forward(x), gy);
    };
    expected[name] = differences(values, loss);
    loss();
  }
  for (const [name, gradient] of Object.entries(gradients)) {
    assertWithin(gradient, expected[name], TOLERANCE, name);
  }
}

for (const act of ACTS) {
  test(`${act} with biases: backward is the derivative of forward`, async (t) => {
    const layer = await setUp(act);
    t.after(() => layer.mlp.dispose());
    const { mlp, x, gy } = layer;
    assertIsDerivative(layer, mlp.backward(x, gy), (at) => mlp.forward(at));
  });
}

for (const act of ['silu', 'gelu_tanh']) {
  for (const units of /** @type {[number, number][]} */ ([
    [0, 3],
    [2, 6],
    [5, 7],
  ])) {
    test(`${act}, units ${units.join(' to ')}: backward of a slice is the derivative of its forward`, async (t) => {
      const layer = await setUp(act);
      t.after(() => layer.mlp.dispose());
      const { mlp, x, gy } = layer;
      const gradients = mlp.backward(x, gy, { units });
      assertIsDerivative(layer, gradients, (at) => mlp.forward(at, { units }));
    });
  }

  test(`${act}: backward of a trace with held gates takes them as constants`, async (t) => {
    const layer = await setUp(act);
    t.after(() => layer.mlp.dispose());
    const { mlp, x, gy } = layer;
    const hold = [
      { unit: 1, value: 0 },
      { unit: 4, token: 2, value: 0.75 },
      { unit: 6, token: 0, value: -1.5 },
    ];
    const trace = mlp.trace(x, { hold });
    t.after(() => trace.dispose());
    assertIsDerivative(layer, mlp.backward(trace, gy), (at) => traceOutput(mlp, at, { hold }));
  });

  test(`a trace with another activation than ${act}: backward differentiates that one`, async (t) => {
    const layer = await setUp(act);
    t.after(() => layer.mlp.dispose());
    const { mlp, x, gy } = layer;
    const other = { act: act === 'silu' ? 'gelu_tanh' : 'silu' };
    const trace = mlp.trace(x, other);
    t.after(() => trace.dispose());
    assertIsDerivative(layer, mlp.backward(trace, gy), (at) => traceOutput(mlp, at, other));
  });
}

for (const act of ['relu2', 'silu']) {
  for (const normEps of [1e-5, 0.5]) {
    test(`${act} with a norm of eps ${normEps}: backward is the derivative of forward, of slices and of held gates`, async (t) => {
      const layer = await setUp(act, normEps);
      t.after(() => layer.mlp.dispose());
      const { mlp, x, gy } = layer;
      assertIsDerivative(layer, mlp.backward(x, gy), (at) => mlp.forward(at));
      for (const units of /** @type {[number, number][]} */ ([
        [0, 3],
        [2, 6],
        [5, 7],
      ])) {
        const gradients = mlp.backward(x, gy, { units });
        assertIsDerivative(layer, gradients, (at) => mlp.forward(at, { units }));
      }
      const options = { act: 'gelu', hold: [{ unit: 4, token: 2, value: 0.75 }] };
      const trace = mlp.trace(x, options);
      t.after(() => trace.dispose());
      assertIsDerivative(layer, mlp.backward(trace, gy), (at) => traceOutput(mlp, at, options));
    });
  }
}

/** @param {MLP} mlp @param {Float64Array} x @param {Parameters<MLP['trace']>[1]} options */
function traceOutput(mlp, x, options) {
  const trace = mlp.trace(x, options);
  const { output } = trace;
  trace.dispose();
  return output;
}

test('a layer of many panels and tokens: the slope along random directions is what backward says', async (t) => {
  const [d, dFf, tokens] = [41, 75, 131];
  const random = randomSource(11);
  const parameters = inDouble(randomParameters(d, dFf, true, random));
  const { x, gy } = inDouble({ x: random.floats(tokens * d), gy: random.floats(tokens * d) });
  const mlp = await mlpOf(d, dFf, parameters, { act: 'gelu_tanh', runtime });
  t.after(() => mlp.dispose());
  const gradients = mlp.backward(x, gy);
  for (let round = 0; round < 5; round++) {
    const direction = inDouble({
      x: random.floats(x.length),
      ...randomParameters(d, dFf, true, random),
    });
    const at = (/** @type {number} */ step) => {
      const moved = (/** @type {Float64Array} */ values, /** @type {string} */ name) =>
        values.map((value, i) => value + step * direction[name][i]);
      mlp.loadStateDict(
        asState(Object.fromEntries(Object.entries(parameters).map(([n, v]) => [n, moved(v, n)]))),
      );
      return dot(mlp.forward(moved(x, 'x')), gy);
    };
    const slope = (at(STEP) - at(-STEP)) / (2 * STEP);
    const parts = Object.entries(gradients).map(([name, g]) => dot(g, direction[name]));
    const expected = parts.reduce((a, b) => a + b, 0);
    const size = parts.reduce((a, b) => a + Math.abs(b), 0);
    assert.ok(Math.abs(slope - expected) <= 1e-7 * size, `slope ${slope}, backward ${expected}`);
  }
});
