// What must hold for every gated MLP whatever its size and numbers, on layers that fast-check makes up.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { Runtime } from '../src/binding/index.js';
import { assertClose } from './helpers/goldens.js';
import { disposeAll, mlpOf, randomParameters, randomSource } from './helpers/numbers.js';
import { ACTS, referenceBackward, referenceForward, referenceScales } from './helpers/reference.js';

const RUNS = 60;
const runtime = await Runtime.create();
after(() => runtime.dispose());

/** @typedef {import('../src/binding/index.js').GatedMLP} MLP */

/**
 * A layer and an input for it: sizes and a seed, from which fast-check shrinks towards 1 x 1 and one token.
 * @typedef {{ d: number, dFf: number, tokens: number, bias: boolean, act: string, seed: number }} Recipe
 */
const recipes = fc.record({
  d: fc.integer({ min: 1, max: 40 }),
  dFf: fc.integer({ min: 1, max: 70 }),
  tokens: fc.integer({ min: 0, max: 9 }),
  bias: fc.boolean(),
  act: fc.constantFrom(...Object.keys(ACTS)),
  seed: fc.nat(),
});

/** @param {Recipe} recipe */
function make({ d, dFf, tokens, bias, act, seed }) {
  const random = randomSource(seed);
  const parameters = randomParameters(d, dFf, bias, random);
  const [x, gy] = [random.floats(tokens * d, 2), random.floats(tokens * d)];
  // relu's derivative jumps at 0: with multiples of 1/64 gates are exact, so that no rounding decides on which side they are.
  const numbers = act === 'relu' ? [x, ...Object.values(parameters)] : [];
  for (const array of numbers)
    for (const i of array.keys()) array[i] = Math.round(64 * array[i]) / 64;
  return { parameters, x, gy, random };
}

/**
 * @param {string} title
 * @param {(recipe: Recipe, layer: ReturnType<typeof make> & { mlp: MLP }) => void | Promise<void>} property
 */
function holds(title, property) {
  test(title, async () => {
    await fc.assert(
      fc.asyncProperty(recipes, async (recipe) => {
        const layer = make(recipe);
        const { d, dFf, act } = recipe;
        const mlp = await mlpOf(d, dFf, layer.parameters, { act, runtime });
        try {
          await property(recipe, { ...layer, mlp });
        } finally {
          mlp.dispose();
        }
      }),
      { numRuns: RUNS, includeErrorInReport: true },
    );
  });
}

/**
 * As assertClose, on a scale of its own: random sums cancel, and their rounding errors do not.
 * @param {ArrayLike<number>} actual
 * @param {ArrayLike<number>} expected
 * @param {number} scale
 * @param {string} what
 */
function assertNear(actual, expected, scale, what) {
  assertClose([...Array.from(actual), scale], [...Array.from(expected), scale], what);
}

/** The MLP with one parameter replaced, and what is made of it. @template T @param {MLP} mlp @param {string} name @param {Float32Array} data @param {() => T} use */
function withParameter(mlp, name, data, use) {
  const before = new Map(mlp.namedParameters());
  mlp.loadStateDict({ [name]: { data } }, { strict: false });
  const result = use();
  mlp.loadStateDict(before);
  return result;
}

holds(
  'output and every gradient are those of the definition',
  ({ d, dFf, act }, { mlp, parameters, x, gy }) => {
    const reference = { d, dFf, act, parameters };
    const scales = referenceScales(reference, x, gy);
    assertNear(mlp.forward(x), referenceForward(reference, x).y, scales.y, 'y');
    const expected = referenceBackward(reference, x, gy);
    for (const [name, gradient] of Object.entries(mlp.backward(x, gy))) {
      assertNear(gradient, expected[name], scales[name], `${name}.grad`);
    }
  },
);

holds(
  'a closed gate shuts its unit and stops the gradient to its up row, and to its column of down',
  (recipe, { mlp, parameters, x, gy, random }) => {
    const { d, dFf, tokens } = recipe;
    const unit = Math.floor(random.next() * dFf);
    const huge = random.floats(d, 1e6);
    const up = parameters['up_proj.weight'].slice();
    up.set(huge, unit * d);
    withParameter(mlp, 'up_proj.weight', up, () => {
      const hold = [{ unit, value: 0 }];
      const trace = mlp.trace(x, { hold });
      for (let t = 0; t < tokens; t++) assert.equal(positive(trace.hidden[t * dFf + unit]), 0);
      const gradients = mlp.backward(trace, gy);
      for (const name of ['up_proj.weight', 'gate_proj.weight']) {
        const row = gradients[name].subarray(unit * d, (unit + 1) * d);
        assert.ok(
          row.every((value) => value === 0),
          name,
        );
      }
      const column = gradients['down_proj.weight'].filter((_, i) => i % dFf === unit);
      assert.ok(
        column.every((value) => value === 0),
        'down_proj.weight',
      );
      const output = trace.output.slice();
      trace.dispose();
      const zeroUp = parameters['up_proj.weight'].slice().fill(0, unit * d, (unit + 1) * d);
      const withoutUnit = withParameter(mlp, 'up_proj.weight', zeroUp, () => {
        const other = mlp.trace(x, { hold });
        const { output: y } = other;
        other.dispose();
        return y;
      });
      assert.deepEqual(output.map(positive), withoutUnit.map(positive));
    });
  },
);

/** -0 and 0 are the same output. @param {number} value */
const positive = (value) => value + 0;

holds(
  'silu and gelu_tanh gates from -200 down are closed without being held',
  async ({ d, dFf, tokens, act }, { parameters, x, gy, random }) => {
    const unit = Math.floor(random.next() * dFf);
    const gateBias = new Float32Array(dFf);
    gateBias[unit] = -1000;
    const biased = {
      ...parameters,
      'gate_proj.bias': gateBias,
      'up_proj.bias': new Float32Array(dFf),
      'down_proj.bias': new Float32Array(d),
    };
    const order = [
      'gate_proj.weight',
      'gate_proj.bias',
      'up_proj.weight',
      'up_proj.bias',
      'down_proj.weight',
      'down_proj.bias',
    ];
    const closing = act === 'silu' ? 'silu' : 'gelu_tanh';
    const state = Object.fromEntries(
      order.map((name) => [name, biased[/** @type {keyof typeof biased} */ (name)]]),
    );
    const mlp = await mlpOf(d, dFf, state, { act: closing, runtime });
    const trace = mlp.trace(x);
    for (let t = 0; t < tokens; t++) assert.equal(Math.abs(trace.act[t * dFf + unit]), 0);
    const gradients = mlp.backward(trace, gy);
    for (const name of ['up_proj.weight', 'gate_proj.weight']) {
      assert.ok(
        gradients[name].subarray(unit * d, (unit + 1) * d).every((value) => value === 0),
        name,
      );
    }
    disposeAll(trace, mlp);
  },
);

for (const name of ['up_proj.weight', 'down_proj.weight']) {
  holds(
    `without biases the output is linear in ${name}`,
    async ({ d, dFf, act }, { parameters, x, random }) => {
      const plain = Object.fromEntries(
        Object.entries(parameters).filter(([key]) => key.endsWith('weight')),
      );
      const mlp = await mlpOf(d, dFf, plain, { act, runtime });
      const first = plain[name];
      const second = random.floats(first.length);
      const sum = first.map((value, i) => value + second[i]);
      const outputs = [first, second, sum].map((data) =>
        withParameter(mlp, name, data, () => mlp.forward(x)),
      );
      const magnitudes = first.map((value, i) => Math.abs(value) + Math.abs(second[i]));
      const reference = { d, dFf, act, parameters: { ...plain, [name]: magnitudes } };
      const scale = referenceScales(reference, x, x).y;
      assertNear(
        outputs[2],
        outputs[0].map((value, i) => value + outputs[1][i]),
        scale,
        'y',
      );
      assert.deepEqual(
        withParameter(
          mlp,
          name,
          first.map((value) => 4 * value),
          () => mlp.forward(x),
        ),
        outputs[0].map((value) => 4 * value),
      );
      mlp.dispose();
    },
  );
}

holds(
  'slices at any two cuts sum to the whole, output and gradients',
  ({ d, dFf, act }, { mlp, parameters, x, gy, random }) => {
    const cuts = [
      0,
      ...[random.next(), random.next()].map((r) => Math.floor(r * (dFf + 1))).sort((a, b) => a - b),
      dFf,
    ];
    const out = new Float32Array(x.length);
    /** @type {Record<string, Float64Array>} */
    const sums = {};
    for (let i = 0; i < 3; i++) {
      const units = /** @type {[number, number]} */ ([cuts[i], cuts[i + 1]]);
      mlp.forward(x, { out, accumulate: true, units });
      for (const [name, gradient] of Object.entries(mlp.backward(x, gy, { units }))) {
        sums[name] = Float64Array.from(gradient, (value, j) => value + (sums[name]?.[j] ?? 0));
      }
    }
    const reference = { d, dFf, act, parameters };
    const scales = referenceScales(reference, x, gy);
    assertNear(out, referenceForward(reference, x).y, scales.y, 'y');
    const expected = referenceBackward(reference, x, gy);
    for (const [name, sum] of Object.entries(sums)) {
      assertNear(sum, expected[name], scales[name], `${name}.grad`);
    }
  },
);

holds(
  'permuting the units changes nothing but their order',
  async ({ d, dFf, act }, { mlp, parameters, x, gy, random }) => {
    const order = Array.from({ length: dFf }, (_, unit) => ({ unit, key: random.next() }))
      .sort((a, b) => a.key - b.key)
      .map(({ unit }) => unit);
    const permuted = Object.fromEntries(
      Object.entries(parameters).map(([name, data]) => [name, permute(name, data, order, d, dFf)]),
    );
    const other = await mlpOf(d, dFf, permuted, { act, runtime });
    const scales = referenceScales({ d, dFf, act, parameters }, x, gy);
    assertNear(other.forward(x), mlp.forward(x), scales.y, 'y');
    const gradients = mlp.backward(x, gy);
    for (const [name, gradient] of Object.entries(other.backward(x, gy))) {
      const expected =
        name === 'x'
          ? gradients.x
          : permute(name, /** @type {Float32Array} */ (gradients[name]), order, d, dFf);
      assertNear(gradient, expected, scales[name], `${name}.grad`);
    }
    other.dispose();
  },
);

/**
 * A parameter, or its gradient, with its units in another order.
 * @param {string} name
 * @param {Float32Array} data
 * @param {number[]} order
 * @param {number} d
 * @param {number} dFf
 */
function permute(name, data, order, d, dFf) {
  if (name === 'down_proj.bias') return data;
  if (name === 'down_proj.weight') return data.map((_, i) => data[i - (i % dFf) + order[i % dFf]]);
  const width = name.endsWith('bias') ? 1 : d;
  return data.map((_, i) => data[order[Math.floor(i / width)] * width + (i % width)]);
}

holds('zero tokens give an empty output, an empty trace and zero gradients', ({ dFf }, { mlp }) => {
  const none = new Float32Array(0);
  assert.deepEqual(mlp.forward(none), none);
  const trace = mlp.trace(none);
  assert.equal(trace.tokens, 0);
  for (const name of /** @type {const} */ (['gate', 'act', 'up', 'hidden', 'output']))
    assert.deepEqual(trace[name], none);
  for (const given of [none, trace]) {
    const { x, ...rest } = mlp.backward(given, none);
    assert.deepEqual(x, none);
    for (const gradient of Object.values(rest))
      assert.ok(gradient.length >= Math.min(1, dFf) && gradient.every((value) => value === 0));
  }
  trace.dispose();
});

holds(
  "a token's output and input gradient do not depend on which others are in the call, to the bit",
  ({ d, tokens }, { mlp, x, gy }) => {
    const y = mlp.forward(x);
    const { x: dX } = mlp.backward(x, gy);
    for (let t = 0; t < tokens; t++) {
      const row = (/** @type {Float32Array | Float64Array} */ a) => a.slice(t * d, (t + 1) * d);
      assert.deepEqual(mlp.forward(row(x)), row(y));
      assert.deepEqual(mlp.backward(row(x), row(gy)).x, row(dX));
    }
  },
);

holds(
  'a second call gives the same bits, whatever was computed in between',
  ({ d, tokens }, { mlp, x, gy, random }) => {
    const [y, gradients] = [mlp.forward(x), mlp.backward(x, gy)];
    const other = random.floats((tokens + 3) * d, 1e20);
    mlp.forward(other);
    mlp.backward(other, other);
    assert.deepEqual(mlp.forward(x), y);
    assert.deepEqual(mlp.backward(x, gy), gradients);
  },
);

holds('neither x nor gradOutput is written to; out may be x', (_, { mlp, x, gy }) => {
  const [before, beforeGy] = [x.slice(), gy.slice()];
  const y = mlp.forward(x);
  mlp.backward(x, gy);
  mlp.trace(x).dispose();
  assert.deepEqual([x, gy], [before, beforeGy]);
  assert.deepEqual(mlp.forward(x, { out: x }), y);
  assert.deepEqual(x, y);
});

holds(
  'gradients are linear in gradOutput',
  ({ d, dFf, act }, { mlp, parameters, x, gy, random }) => {
    const other = random.floats(gy.length);
    const all = [gy, other, gy.map((value, i) => value + other[i])].map((each) =>
      mlp.backward(x, each),
    );
    const magnitudes = gy.map((value, i) => Math.abs(value) + Math.abs(other[i]));
    const scales = referenceScales({ d, dFf, act, parameters }, x, magnitudes);
    for (const name of Object.keys(all[0])) {
      assertNear(
        all[2][name],
        all[0][name].map((value, i) => value + all[1][name][i]),
        scales[name],
        name,
      );
    }
  },
);

holds(
  'a trace with holds on any cells is the forward of the definition with those cells set',
  ({ d, dFf, tokens, act }, { mlp, parameters, x, gy, random }) => {
    if (tokens === 0) return;
    const hold = Array.from({ length: 5 }, () => {
      const unit = Math.floor(random.next() * dFf);
      const token = random.next() < 0.5 ? undefined : Math.floor(random.next() * tokens);
      return { unit, token, value: 2 * random.next() - 1 };
    });
    const trace = mlp.trace(x, { hold });
    const { gate, up } = referenceForward({ d, dFf, act, parameters }, x);
    const scales = referenceScales({ d, dFf, act, parameters }, x, gy);
    const held = gate.map((g) => ACTS[act][0](g));
    const isHeld = new Set();
    for (const { unit, token, value } of hold) {
      for (let t = 0; t < tokens; t++) {
        if (token !== undefined && token !== t) continue;
        held[t * dFf + unit] = value;
        isHeld.add(t * dFf + unit);
      }
    }
    assertNear(trace.gate, gate, scales.gate, 'gate');
    assertNear(trace.act, held, scales.act, 'act');
    const hidden = held.map((a, i) => a * up[i]);
    assertNear(trace.hidden, hidden, scales.hidden, 'hidden');
    const down = parameters['down_proj.weight'];
    const dGateBias = mlp.backward(trace, gy)['gate_proj.bias'];
    if (dGateBias) {
      const expected = new Float64Array(dFf);
      for (let i = 0; i < gate.length; i++) {
        const [t, unit] = [Math.floor(i / dFf), i % dFf];
        let upstream = 0;
        for (let k = 0; k < d; k++) upstream += gy[t * d + k] * down[k * dFf + unit];
        if (!isHeld.has(i)) expected[unit] += upstream * up[i] * ACTS[act][1](gate[i]);
      }
      assertNear(dGateBias, expected, scales['gate_proj.bias'], 'gate_proj.bias.grad');
    }
    trace.dispose();
  },
);
