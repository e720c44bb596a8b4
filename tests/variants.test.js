// What some families compute besides the plain formula, asked for by hand: gpt-oss's limit and shift and BitNet's norm against
// their definition in float64, held gates and slices of all, and what is refused. Their goldens are in families, goldens and
// gradients.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { GatedMLP, PCG32, Runtime } from '../src/binding/index.js';
import { assertClose, assertWithin, dot, FLOAT64_TOLERANCE } from './helpers/goldens.js';
import { float64Runtime } from './helpers/numbers.js';

const [D, F, TOKENS] = [6, 70, 5];
const GPT_OSS = { limit: 0.5, upShift: 1 };
const SPARSE = { sparsity: 0.9 };
const NORMED = { normEps: 0.25 };
const ALL = { ...GPT_OSS, sparsity: 0.5, ...NORMED };
/** In which what is beyond the last unit would show: act(0) is not 0. */
const SHIFTED_NORM = { act: 'sigmoid', variant: { ...GPT_OSS, ...NORMED } };

const float64 = await float64Runtime();
/** Products of quantised weights whose inputs have 16 bits wherever this runs. */
const simd128 = await Runtime.create({ variant: 'simd128' });
after(() => [float64, simd128].map((each) => each.dispose()));

/**
 * @param {import('../src/binding/gated-mlp.js').Variant} variant
 * @param {Runtime} [runtime]
 * @param {Partial<Parameters<typeof GatedMLP.create>[2]>} [more]
 */
async function make(variant, runtime, more) {
  const options = { act: 'quick_gelu', bias: true, variant, runtime, ...more };
  const mlp = await GatedMLP.create(D, F, options);
  const norm = { 'ffn_sub_norm.weight': { data: Float32Array.from(numbers(F, 5n, 2)) } };
  if (mlp.stateDict().has('ffn_sub_norm.weight')) mlp.loadStateDict(norm, { strict: false });
  return mlp;
}

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

for (const [name, variant] of Object.entries({ GPT_OSS, SPARSE, NORMED, ALL })) {
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

/**
 * scale * down( weight * hidden / sqrt(mean(hidden^2) + eps) ) over a slice of hidden, and down's bias in the first one.
 * @param {GatedMLP} mlp
 * @param {ArrayLike<number>} hidden [TOKENS, F]
 * @param {number} eps
 * @param {[number, number]} [units]
 */
function normedOutput(mlp, hidden, eps, [begin, end] = [0, F]) {
  const parameters = Object.fromEntries(mlp.namedParameters());
  const [down, bias, weight] = ['down_proj.weight', 'down_proj.bias', 'ffn_sub_norm.weight'].map(
    (name) => parameters[name].data,
  );
  return Float64Array.from({ length: TOKENS * D }, (_, at) => {
    const [token, row] = [Math.floor(at / D), at % D];
    const own = Array.from(hidden).slice(token * F, (token + 1) * F);
    const mean = own.reduce((sum, h) => sum + h * h, 0) / F;
    let y = begin === 0 && end > 0 ? bias[row] : 0;
    for (let i = begin; i < end; i++)
      y += (down[row * F + i] * weight[i] * own[i]) / Math.sqrt(mean + eps);
    return y;
  });
}

test('a normed MLP: its trace has hidden before the norm, and its outputs are those of the definition', async (t) => {
  const { act, variant } = SHIFTED_NORM;
  const mlp = await make(variant, float64, { act });
  t.after(() => mlp.dispose());
  const hold = [{ unit: F - 1, token: 1, value: 40 }];
  for (const options of [{}, { act: 'silu' }, { hold }]) {
    const trace = mlp.trace(x, options);
    t.after(() => trace.dispose());
    assert.deepEqual(
      trace.hidden,
      trace.act.map((a, i) => a * trace.up[i]),
    );
    const expected = normedOutput(mlp, trace.hidden, variant.normEps);
    assertWithin(trace.output, expected, FLOAT64_TOLERANCE, Object.keys(options).join());
  }
  const { hidden } = mlp.trace(x);
  for (const units of /** @type {[number, number][]} */ ([
    [0, 7],
    [31, 33],
    [64, F],
    [9, 9],
  ])) {
    const expected = normedOutput(mlp, hidden, variant.normEps, units);
    const scaled = expected.map((v) => -0.5 * v);
    mlp.forward(x.map((each) => -each)); // what scratch holds of these tokens is of no help
    const y = mlp.forward(x, { units, scale: -0.5 });
    assertWithin(y, scaled, FLOAT64_TOLERANCE, `units ${units.join(' to ')}`);
  }
});

test('one token whose units are all shut is divided by the root of eps, and by nothing else', async (t) => {
  const mlp = await make({ normEps: 1e-5 }, float64);
  t.after(() => mlp.dispose());
  const hold = Array.from({ length: F }, (_, unit) => ({ unit, value: unit === 3 ? 1e-9 : 0 }));
  const { hidden, output } = mlp.trace(x, { hold });
  assertWithin(output, normedOutput(mlp, hidden, 1e-5), FLOAT64_TOLERANCE, 'y');
  const none = await make({ normEps: 0 }, float64);
  t.after(() => none.dispose());
  const shut = hold.map(({ unit }) => ({ unit, value: 0 }));
  assert.ok(none.trace(x, { hold: shut }).output.every(Number.isNaN), 'as 0 / 0 is in PyTorch');
});

for (const dtype of /** @type {const} */ (['float16', 'bfloat16', 'q8_0', 'q4_1'])) {
  test(`a normed MLP in ${dtype} computes from what it holds, and gives back what it was given`, async (t) => {
    const { act, variant } = SHIFTED_NORM;
    const mlp = await make(variant, simd128, { act, dtype });
    const same = await make(variant, float64, { act });
    t.after(() => [mlp, same].map((each) => each.dispose()));
    const held = Object.fromEntries(mlp.namedParameters());
    const weight = held['ffn_sub_norm.weight'].data;
    const given = Float32Array.from(numbers(F, 5n, 2));
    if (dtype.startsWith('q')) assert.deepEqual(weight, given, 'norms are not quantised');
    else assertWithin(weight, given, 2 ** -8, 'rounded once');
    same.loadStateDict(held);
    const tolerance = dtype.startsWith('q') ? 1e-3 : 2e-6;
    const [x32, dY32] = [x, dY].map((each) => Float32Array.from(each));
    const [x64, dY64] = [x32, dY32].map((each) => Float64Array.from(each));
    assertWithin(mlp.forward(x32), same.forward(x64), tolerance, 'y');
    const gradients = mlp.backward(x32, dY32);
    for (const [name, expected] of Object.entries(same.backward(x64, dY64)))
      assertWithin(gradients[name], expected, tolerance, name);
    const again = await make(variant, simd128, { act, dtype });
    t.after(() => again.dispose());
    again.loadStateDict(mlp.stateDict());
    assert.deepEqual(again.stateDict(), mlp.stateDict());
    assert.deepEqual(again.forward(x32), mlp.forward(x32));
  });
}

test('the weight of a norm is a parameter: counted, named last, ones in a new MLP, and missed where it is missing', async (t) => {
  const mlp = await GatedMLP.create(D, F, { variant: NORMED });
  t.after(() => mlp.dispose());
  assert.equal(mlp.numParameters, 3 * D * F + F);
  const all = [...mlp.namedParameters()];
  assert.deepEqual(
    all.map(([name]) => name),
    ['gate_proj.weight', 'up_proj.weight', 'down_proj.weight', 'ffn_sub_norm.weight'],
  );
  assert.deepEqual(all[3][1], { shape: [F], data: new Float32Array(F).fill(1) });
  const plain = await GatedMLP.create(D, F);
  t.after(() => plain.dispose());
  assert.throws(() => mlp.loadStateDict(plain.stateDict()), {
    code: 'ERR_SHAPE',
    message: /ffn_sub_norm\.weight is missing/,
  });
  assert.throws(() => plain.loadStateDict(mlp.stateDict()), {
    code: 'ERR_SHAPE',
    message: /ffn_sub_norm\.weight is unexpected/,
  });
});

for (const variant of [
  { limit: -1 },
  { limit: Infinity },
  { sparsity: 1 },
  { sparsity: NaN },
  { normEps: -1e-5 },
  { normEps: Infinity },
  { normEps: NaN },
]) {
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
