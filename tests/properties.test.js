// What must hold for every gated MLP whatever its size and numbers, on layers that fast-check makes up.

import assert from 'node:assert/strict';
import { after } from 'node:test';
import { Runtime } from '../src/binding/index.js';
import { assertNear, holdsFor, withParameter } from './helpers/layers.js';
import { mlpOf } from './helpers/numbers.js';
import { referenceBackward, referenceForward, referenceScales } from './helpers/reference.js';

const runtime = await Runtime.create();
after(() => runtime.dispose());

/** @type {(title: string, property: Parameters<typeof holdsFor>[2]) => void} */
const holds = (title, property) => holdsFor(runtime, title, property);

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
