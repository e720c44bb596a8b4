// Slices of the hidden width: the worked example of tensor parallelism. Each shard holds the rows of gate and up, and the columns
// of down, of its units, as an MLP of its own or as a range of a whole one; the partial outputs and gradients add up to the whole.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { GatedMLP, Runtime } from '../src/binding/index.js';
import { assertClose, loadGolden, plainCases, values } from './helpers/goldens.js';
import { float64Runtime, mlpOf, randomParameters, randomSource } from './helpers/numbers.js';
import { referenceBackward, referenceForward } from './helpers/reference.js';

const runtime = await Runtime.create();
const float64 = await float64Runtime();
after(() => {
  runtime.dispose();
  float64.dispose();
});

const [D, D_FF, TOKENS] = [24, 83, 6];
const random = randomSource(41);
const parameters = randomParameters(D, D_FF, true, random);
const x = random.floats(TOKENS * D);
const gy = random.floats(TOKENS * D);

/** Ranges of units that cover [0, dFf), as even as they can be. @param {number} dFf @param {number} shards */
function ranges(dFf, shards) {
  const bound = (/** @type {number} */ i) => Math.floor((dFf * i) / shards);
  return Array.from(
    { length: shards },
    (_, i) => /** @type {[number, number]} */ ([bound(i), bound(i + 1)]),
  );
}

/** @param {Float32Array} rows @param {number} width @param {[number, number]} range */
const rowsOf = (rows, width, [begin, end]) => rows.slice(begin * width, end * width);

/** Columns [begin, end) of a [rows, width] matrix. @param {Float32Array} matrix @param {number} width @param {[number, number]} range */
const columnsOf = (matrix, width, [begin, end]) =>
  matrix.filter((_, i) => i % width >= begin && i % width < end);

/**
 * The parameters of one shard. down's bias belongs to the shard that holds unit 0; elsewhere it is zeros.
 * @param {[number, number]} range
 */
function shardParameters(range) {
  const bias = parameters['down_proj.bias'];
  return {
    'gate_proj.weight': rowsOf(parameters['gate_proj.weight'], D, range),
    'gate_proj.bias': rowsOf(parameters['gate_proj.bias'], 1, range),
    'up_proj.weight': rowsOf(parameters['up_proj.weight'], D, range),
    'up_proj.bias': rowsOf(parameters['up_proj.bias'], 1, range),
    'down_proj.weight': columnsOf(parameters['down_proj.weight'], D_FF, range),
    'down_proj.bias': range[0] === 0 ? bias : bias.map(() => 0),
  };
}

for (const shards of [2, 3, 8]) {
  test(`${shards} shards, each an MLP of its own: outputs and input gradients add up to the whole`, async () => {
    const whole = { d: D, dFf: D_FF, act: 'silu', parameters };
    const y = new Float32Array(TOKENS * D);
    const dX = new Float32Array(TOKENS * D);
    const expected = referenceBackward(whole, x, gy);
    for (const range of ranges(D_FF, shards)) {
      const width = range[1] - range[0];
      const shard = await mlpOf(D, width, shardParameters(range), { runtime });
      shard.forward(x, { out: y, accumulate: true });
      const gradients = shard.backward(x, gy);
      gradients.x.forEach((value, i) => {
        dX[i] += value;
      });
      const rows = Float32Array.from(expected['up_proj.weight']);
      assertClose(gradients['up_proj.weight'], rowsOf(rows, D, range), 'up_proj.weight.grad');
      const columns = Float32Array.from(expected['down_proj.weight']);
      assertClose(
        gradients['down_proj.weight'],
        columnsOf(columns, D_FF, range),
        'down_proj.weight.grad',
      );
      shard.dispose();
    }
    assertClose(y, referenceForward(whole, x).y, 'y');
    assertClose(dX, expected.x, 'x.grad');
  });

  for (const act of ['silu', 'gelu_tanh']) {
    test(`${shards} slices of one ${act} MLP: outputs and every gradient add up to the whole`, async () => {
      const mlp = await mlpOf(D, D_FF, parameters, { act, runtime });
      const reference = { d: D, dFf: D_FF, act, parameters };
      const y = new Float32Array(TOKENS * D);
      /** @type {Record<string, Float32Array | Float64Array>} */
      const sums = {};
      for (const units of ranges(D_FF, shards)) {
        mlp.forward(x, { out: y, accumulate: true, units });
        for (const [name, gradient] of Object.entries(mlp.backward(x, gy, { units }))) {
          const before = sums[name];
          sums[name] = before ? before.map((value, i) => value + gradient[i]) : gradient;
        }
      }
      assertClose(y, referenceForward(reference, x).y, 'y');
      const expected = referenceBackward(reference, x, gy);
      assert.deepEqual(Object.keys(sums), Object.keys(expected));
      for (const [name, sum] of Object.entries(sums)) assertClose(sum, expected[name], name);
      mlp.dispose();
    });
  }
}

test('rows and columns of units outside a slice get no gradient, those inside what they get in the whole', async (t) => {
  const mlp = await mlpOf(D, D_FF, parameters, { runtime });
  t.after(() => mlp.dispose());
  const whole = mlp.backward(x, gy);
  for (const units of /** @type {[number, number][]} */ ([
    [0, 1],
    [5, 40],
    [31, 33],
    [64, 83],
    [83, 83],
  ])) {
    const inside = (/** @type {number} */ unit) => unit >= units[0] && unit < units[1];
    const slice = mlp.backward(x, gy, { units });
    const unitOf = {
      'gate_proj.weight': (/** @type {number} */ i) => Math.floor(i / D),
      'gate_proj.bias': (/** @type {number} */ i) => i,
      'up_proj.weight': (/** @type {number} */ i) => Math.floor(i / D),
      'up_proj.bias': (/** @type {number} */ i) => i,
      'down_proj.weight': (/** @type {number} */ i) => i % D_FF,
    };
    for (const [name, unit] of Object.entries(unitOf)) {
      assert.deepEqual(
        slice[name],
        whole[name].map((value, i) => (inside(unit(i)) ? value : 0)),
        name,
      );
    }
  }
});

test('the down bias is added, and its gradient given, by the slice with unit 0 and by no other', async (t) => {
  const bias = Float32Array.from({ length: D }, (_, i) => i + 1);
  const mlp = await mlpOf(D, D_FF, { ...parameters, 'down_proj.bias': bias }, { runtime });
  const without = await mlpOf(
    D,
    D_FF,
    { ...parameters, 'down_proj.bias': bias.map(() => 0) },
    { runtime },
  );
  t.after(() => [mlp, without].map((each) => each.dispose()));
  const columnSums = Float64Array.from({ length: D }, (_, k) =>
    gy.reduce((sum, g, i) => (i % D === k ? sum + g : sum), 0),
  );
  for (const [units, has] of /** @type {[[number, number], boolean][]} */ ([
    [[0, 1], true],
    [[0, D_FF], true],
    [[0, 32], true],
    [[1, D_FF], false],
    [[32, 64], false],
    [[0, 0], false],
  ])) {
    const difference = mlp
      .forward(x, { units })
      .map((v, i) => v - without.forward(x, { units })[i]);
    assertClose(
      Float64Array.of(...difference, 1000),
      [...difference.map((_, i) => (has ? bias[i % D] : 0)), 1000],
      `${units}`,
    );
    assertClose(
      mlp.backward(x, gy, { units })['down_proj.bias'],
      has ? columnSums : columnSums.map(() => 0),
      `${units}`,
    );
  }
});

test('an empty slice gives zeros, whatever the call before it left in scratch', async (t) => {
  const mlp = await mlpOf(D, D_FF, parameters, { runtime });
  t.after(() => mlp.dispose());
  mlp.forward(x);
  mlp.backward(x, gy);
  assert.ok(mlp.forward(x, { units: [7, 7] }).every((value) => value === 0));
  for (const gradient of Object.values(mlp.backward(x, gy, { units: [7, 7] }))) {
    assert.ok(gradient.every((value) => value === 0));
  }
});

for (const golden of plainCases().filter(({ f, case: name }) => f > 8 && !name.includes('nan'))) {
  test(`${golden.case} in 3 slices of float64 is Hugging Face's`, async (t) => {
    const { mlp, tensors } = await loadGolden(golden, float64);
    t.after(() => mlp.dispose());
    const input = Float64Array.from(values(tensors, 'x'));
    const out = new Float64Array(input.length);
    for (const units of ranges(golden.f, 3)) mlp.forward(input, { out, accumulate: true, units });
    assertClose(out, values(tensors, 'f64/y'), 'y');
  });
}

test('units that are no range of the hidden width are refused', async (t) => {
  const mlp = await GatedMLP.create(4, 6, { runtime });
  t.after(() => mlp.dispose());
  for (const units of [
    [0, 7],
    [-1, 3],
    [4, 2],
    [0],
    [0, 2.5],
    [0, Number.NaN],
    'all',
    [0, 1, 2],
    {},
  ]) {
    const options = { units: /** @type {[number, number]} */ (units) };
    assert.throws(() => mlp.forward(new Float32Array(4), options), { code: 'ERR_SHAPE' });
    assert.throws(() => mlp.backward(new Float32Array(4), new Float32Array(4), options), {
      code: 'ERR_SHAPE',
    });
  }
});
