// Holds what the page times to what it says it times: an MLP of the kept units alone gives the output of the whole one without
// the others, whatever the dtype, the activation, the biases or the variant. The oracle is the definition, with the columns of
// the others empty; of a variant it is the trace with their gates held shut.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatedMLP, PCG32, Runtime } from '../src/binding/index.js';
import { compactLayer } from '../web/compact-layer.js';
import { timeWithout } from '../web/forward-timing.js';
import { failure } from './helpers/failure.js';
import { disposeAll, mlpOf, randomParameters, randomSource } from './helpers/numbers.js';
import { ACTS, referenceForward } from './helpers/reference.js';

const D = 24;
const UNITS = 70;
const KEPT = [0, 1, 2, 5, 8, 13, 21, 34, 40, 41, 42, 55, 69];
const TOLERANCE = 1e-5;
const runtime = await Runtime.create({ variant: 'simd128' });
const dropped = Array.from({ length: UNITS }, (_, unit) => unit).filter((u) => !KEPT.includes(u));

/**
 * The largest difference over the largest expected value.
 * @param {ArrayLike<number>} actual
 * @param {ArrayLike<number>} expected
 */
function worst(actual, expected) {
  assert.equal(actual.length, expected.length);
  const differences = Array.from(expected, (value, i) => Math.abs(actual[i] - value));
  return Math.max(...differences) / Math.max(...Array.from(expected, Math.abs));
}

/**
 * What the layer gives by definition if only the kept units are there.
 * @param {GatedMLP} mlp
 * @param {string} act
 * @param {Float32Array} x
 */
function withoutOthers(mlp, act, x) {
  const parameters = Object.fromEntries(
    [...mlp.namedParameters()].map(([name, { data }]) => [name, data]),
  );
  for (const unit of dropped) {
    for (let row = 0; row < D; row++) parameters['down_proj.weight'][row * UNITS + unit] = 0;
  }
  return referenceForward({ d: D, dFf: UNITS, act, parameters }, x).y;
}

for (const dtype of /** @type {const} */ (['float32', 'float16', 'bfloat16'])) {
  for (const bias of [false, true]) {
    test(`${dtype}, ${bias ? 'with' : 'without'} biases: the kept units alone give what the definition gives without the others`, async () => {
      const random = randomSource(7);
      const parameters = randomParameters(D, UNITS, bias, random);
      const x = random.floats(3 * D, 2);
      for (const act of Object.keys(ACTS)) {
        const mlp = await mlpOf(D, UNITS, parameters, { runtime, dtype, act: 'silu' });
        const compact = await compactLayer(mlp, KEPT, runtime, act);
        assert.deepEqual([compact.dFf, compact.dtype, compact.act], [KEPT.length, dtype, act]);
        const error = worst(compact.forward(x), withoutOthers(mlp, act, x));
        assert.ok(error < TOLERANCE, `${act}: ${error}`);
        disposeAll(mlp, compact);
      }
    });
  }
}

test('a variant of the formula goes along: a limit, and what is added to up', async () => {
  const random = randomSource(8);
  const options = { runtime, act: 'silu', variant: { limit: 0.7, upShift: 1 } };
  const mlp = await GatedMLP.create(D, UNITS, { ...options, rng: new PCG32(3) });
  const compact = await compactLayer(mlp, KEPT, runtime);
  const x = random.floats(2 * D, 3);
  const hold = dropped.map((unit) => ({ unit, value: 0 }));
  const shut = mlp.trace(x, { hold });
  assert.ok(worst(compact.forward(x), shut.output) < TOLERANCE);
  disposeAll(mlp, compact, shut);
});

test('what is timed says of which units it was, and holds its two outputs against each other', async () => {
  const random = randomSource(9);
  const mlp = await mlpOf(D, UNITS, randomParameters(D, UNITS, true, random), { runtime });
  const x = random.floats(5 * D, 2);
  for (const act of ['silu', 'gelu_tanh']) {
    const asked = { token: 2, dropped };
    const timing = await timeWithout({ mlp, x, act }, asked, runtime, () => true);
    assert.ok(timing !== null);
    const { units, kept, tokens, build, threads, dtype, difference } = timing;
    assert.deepEqual({ units, kept, tokens }, { units: UNITS, kept: KEPT.length, tokens: 5 });
    assert.deepEqual({ build, threads, dtype }, { build: 'simd128', threads: 1, dtype: 'float32' });
    assert.ok(difference < TOLERANCE, `${difference}`);
    for (const { all, kept: own, repetitions, precision } of [timing.token, timing.text]) {
      assert.ok(all > 0 && own > 0 && repetitions >= 3 && precision > 0 && precision <= 1);
    }
    const own = x.subarray(2 * D, 3 * D);
    const trace = mlp.trace(own, { act });
    const before = trace.output;
    const after = withoutOthers(mlp, act, own);
    const moved = Math.hypot(...after.map((y, i) => y - before[i])) / Math.hypot(...before);
    assert.ok(Math.abs(timing.moved - moved) < TOLERANCE * moved, `${timing.moved}: ${moved}`);
    trace.dispose();
  }
  mlp.dispose();
});

test('nothing is timed any more once nobody wants it, and no memory is left behind', async () => {
  const random = randomSource(10);
  const mlp = await mlpOf(D, UNITS, randomParameters(D, UNITS, false, random), { runtime });
  const shown = { mlp, x: random.floats(2 * D), act: 'silu' };
  await timeWithout(shown, { token: 0, dropped }, runtime, () => true);
  const before = runtime.bytesUsed;
  for (const answers of [0, 1, 4]) {
    let asked = 0;
    const isWanted = () => asked++ < answers;
    assert.equal(await timeWithout(shown, { token: 0, dropped }, runtime, isWanted), null);
    assert.equal(asked, answers + 1, 'it asks no further');
  }
  await failure(
    timeWithout(shown, { token: 0, dropped: [...Array(UNITS).keys()] }, runtime, () => true),
  );
  assert.equal(runtime.bytesUsed, before);
  mlp.dispose();
});
