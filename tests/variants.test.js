// What some families compute besides the plain formula, asked for by hand: gpt-oss's limit and shift against their definition
// in float64, held gates and slices of both, and what is refused. Their goldens are in families, goldens and gradients.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { GatedMLP, PCG32, Runtime } from '../src/binding/index.js';
import { assertClose, assertWithin, dot, FLOAT64_TOLERANCE } from './helpers/goldens.js';
import { float64Runtime } from './helpers/numbers.js';

const [D, F, TOKENS] = [6, 70, 5];
const GPT_OSS = { limit: 0.5, upShift: 1 };
const SPARSE = { sparsity: 0.9 };

const float64 = await float64Runtime();
after(() => float64.dispose());

/** @param {import('../src/binding/gated-mlp.js').Variant} variant @param {Runtime} [runtime] */
const make = (variant, runtime) =>
  GatedMLP.create(D, F, { act: 'quick_gelu', bias: true, variant, runtime });

/** @param {number} n @param {bigint} seed @param {number} scale */
function numbers(n, seed, scale) {
  const rng = new PCG32(seed);
  return Float64Array.from({ length: n }, () => scale * (2 * rng.nextFloat() - 1));
}

const x = numbers(TOKENS * D, 1n, 4);
const dY = numbers(TOKENS * D, 2n, 1);

test('a limited and shifted MLP shows its raw gate, and the act and up that multiply', async (t) => {
  const mlp = await make(GPT_OSS, float64);
  t.after(() => mlp.dispose());
  const plain = await make({}, float64);
  t.after(() => plain.dispose());
  const [ours, raw] = [mlp.trace(x), plain.trace(x)];
  t.after(() => [ours, raw].map((each) => each.dispose()));
  assert.deepEqual(ours.gate, raw.gate);
  const { limit, upShift } = GPT_OSS;
  const up = raw.up.map((u) => Math.max(-limit, Math.min(u, limit)) + upShift);
  const act = raw.gate.map((g) => Math.min(g, limit) / (1 + Math.exp(-1.702 * Math.min(g, limit))));
  for (const tensor of [raw.gate, raw.up]) assert.ok(Math.max(...tensor) > limit);
  assertWithin(ours.up, up, FLOAT64_TOLERANCE, 'up');
  assertWithin(ours.act, act, FLOAT64_TOLERANCE, 'act');
  assert.deepEqual(
    ours.hidden,
    ours.act.map((a, i) => a * ours.up[i]),
  );
});

for (const [name, variant] of Object.entries({ GPT_OSS, SPARSE })) {
  test(`${name}: gradients are the slopes of the forward, with gates held too`, async (t) => {
    const mlp = await make(variant, float64);
    t.after(() => mlp.dispose());
    const hold = [{ unit: 3, value: 0.25 }];
    const valueAt = (/** @type {Float64Array} */ at) => {
      const trace = mlp.trace(at, { hold });
      const value = dot(trace.output, dY);
      trace.dispose();
      return value;
    };
    const trace = mlp.trace(x, { hold });
    const gradient = mlp.backward(trace, dY).x;
    trace.dispose();
    const step = 1e-6;
    const slopes = x.map((_, i) => {
      const [more, less] = [step, -step].map((h) =>
        x.map((each, j) => (i === j ? each + h : each)),
      );
      return (valueAt(more) - valueAt(less)) / (2 * step);
    });
    assertWithin(gradient, slopes, 1e-7, 'x');
  });

  test(`${name}: outputs and gradients of slices add up to the whole`, async (t) => {
    const mlp = await make(variant, float64);
    t.after(() => mlp.dispose());
    const y = new Float64Array(x.length);
    const cuts = [0, 17, 64, F];
    const slices = cuts.slice(1).map((end, i) => {
      mlp.forward(x, { units: [cuts[i], end], out: y, accumulate: true });
      return mlp.backward(x, dY, { units: [cuts[i], end] });
    });
    assertWithin(y, mlp.forward(x), FLOAT64_TOLERANCE, 'y');
    for (const [parameter, whole] of Object.entries(mlp.backward(x, dY))) {
      const sum = whole.map((_, i) => slices.reduce((total, g) => total + g[parameter][i], 0));
      assertWithin(sum, whole, FLOAT64_TOLERANCE, parameter);
    }
  });

  test(`${name}: float32 is close to float64`, async (t) => {
    const [single, double] = [await make(variant), await make(variant, float64)];
    t.after(() => [single, double].map((each) => each.dispose()));
    const rounded = Float32Array.from(x);
    assertClose(single.forward(rounded), double.forward(Float64Array.from(rounded)), 'y');
  });
}

for (const variant of [{ limit: -1 }, { limit: Infinity }, { sparsity: 1 }, { sparsity: NaN }]) {
  test(`a variant of ${JSON.stringify(Object.entries(variant).map(String))} is refused`, async () => {
    const runtime = await Runtime.create();
    await assert.rejects(make(variant, runtime), { code: 'ERR_SHAPE', message: /^variant: / });
    assert.equal(runtime.bytesUsed, 0);
    runtime.dispose();
  });
}

test('a variant is told by the MLP; the plain formula is null', async (t) => {
  const [mlp, plain] = [await make(SPARSE), await GatedMLP.create(D, F)];
  t.after(() => [mlp, plain].map((each) => each.dispose()));
  assert.deepEqual([mlp.variant, plain.variant], [SPARSE, null]);
});
