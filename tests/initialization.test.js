// Default initialization: the PCG32 sequence, and every bit of the layers drawn from it, against Python's own integers and floats
// (fixtures/pcg32.json, which make_pcg32.py wrote after checking the generator's published output).

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { GatedMLP, PCG32, Runtime } from '../src/binding/index.js';
import { readJson } from './helpers/goldens.js';
import { disposeAll, float64Runtime } from './helpers/numbers.js';

const { sequences, layers } = readJson('pcg32.json');
const runtime = await Runtime.create();
const float64 = await float64Runtime();
after(() => {
  runtime.dispose();
  float64.dispose();
});

/** @param {{ seed: string, stream: string }} of */
const generator = ({ seed, stream }) => new PCG32(BigInt(seed), BigInt(stream));

/** Bits of float32s as hexadecimal digits, eight for each. @param {ArrayLike<number>} values */
const hex = (values) =>
  [...new Uint32Array(Float32Array.from(values).buffer)]
    .map((word) => word.toString(16).padStart(8, '0'))
    .join('');

/** @param {GatedMLP} mlp */
const parametersOf = (mlp) =>
  Object.fromEntries([...mlp.namedParameters()].map(([name, { data }]) => [name, hex(data)]));

test("the generator gives O'Neill's published output for seed 42, stream 54", () => {
  const rng = new PCG32(42n, 54n);
  const published = [0xa15c02b7, 0x7b47f409, 0xba1d3330, 0x83d2f293, 0xbfa4784b, 0xcbed606e];
  assert.deepEqual(
    published.map(() => rng.nextUint32()),
    published,
  );
});

for (const sequence of sequences) {
  test(`seed ${sequence.seed}, stream ${sequence.stream}: the sequence is Python's`, () => {
    const rng = generator(sequence);
    const floats = generator(sequence);
    for (const expected of sequence.outputs) {
      assert.equal(rng.nextUint32(), expected);
      assert.equal(floats.nextFloat(), Math.floor(expected / 256) / 2 ** 24);
    }
  });
}

test('a number and a bigint seed the same, negative ones as their 64-bit pattern', () => {
  assert.equal(new PCG32(7).nextUint32(), new PCG32(7n, 0n).nextUint32());
  assert.equal(new PCG32(-1).nextUint32(), new PCG32(2n ** 64n - 1n).nextUint32());
});

test('a seed or stream that is no whole number is refused', () => {
  for (const wrong of [1.5, Number.NaN, 2 ** 53, '7', null]) {
    assert.throws(() => new PCG32(/** @type {number} */ (wrong)), { code: 'ERR_SHAPE' });
    assert.throws(() => new PCG32(1, /** @type {bigint} */ (/** @type {unknown} */ (wrong))), {
      code: 'ERR_SHAPE',
    });
  }
});

for (const layer of layers) {
  const { d, d_ff: dFf, bias, seed, stream } = layer;
  const title = `d ${d}, d_ff ${dFf}${bias ? ' with biases' : ''}, seed ${seed}, stream ${stream}`;

  test(`${title}: every initial bit is Python's, and a second layer goes on where the first ended`, async (t) => {
    const rng = generator(layer);
    const first = await GatedMLP.create(d, dFf, { bias, rng, runtime });
    const second = await GatedMLP.create(d, dFf, { bias, rng, runtime });
    t.after(() => disposeAll(first, second));
    assert.deepEqual(parametersOf(first), layer.parameters);
    assert.deepEqual(parametersOf(second), layer.next_layer);
    assert.equal(rng.nextUint32(), layer.next_output);
  });

  test(`${title}: the float64 build draws the same float32 values`, async (t) => {
    const mlp = await GatedMLP.create(d, dFf, { bias, rng: generator(layer), runtime: float64 });
    t.after(() => mlp.dispose());
    for (const [, { data }] of mlp.namedParameters()) assert.deepEqual(data.map(Math.fround), data);
    assert.deepEqual(parametersOf(mlp), layer.parameters);
  });
}

test('without a generator a layer is that of PCG32(0)', async (t) => {
  const { d, d_ff: dFf, bias, parameters } = layers[0];
  assert.equal(layers[0].seed, '0');
  const mlp = await GatedMLP.create(d, dFf, { bias, runtime });
  t.after(() => mlp.dispose());
  assert.deepEqual(parametersOf(mlp), parameters);
});

for (const [dtype, keep] of /** @type {const} */ ([
  ['bfloat16', 16],
  ['float16', 13],
])) {
  test(`a ${dtype} layer starts as the float32 one, rounded to nearest even`, async (t) => {
    const { d, d_ff: dFf, bias } = layers[0];
    const full = await GatedMLP.create(d, dFf, { bias, runtime });
    const half = await GatedMLP.create(d, dFf, { bias, dtype, runtime });
    t.after(() => disposeAll(full, half));
    const rounded = [...full.namedParameters()].map(([name, { data }]) => [
      name,
      hex(data.map((value) => roundedTo(value, keep))),
    ]);
    assert.deepEqual(parametersOf(half), Object.fromEntries(rounded));
  });
}

/**
 * A float32 with `dropped` mantissa bits rounded away, to nearest even. For numbers that are normal in the narrower type.
 * @param {number} value
 * @param {number} dropped
 */
function roundedTo(value, dropped) {
  const word = new Uint32Array(Float32Array.of(value).buffer)[0];
  const half = 2 ** (dropped - 1);
  const odd = Math.floor(word / 2 ** dropped) % 2;
  const kept = Math.floor((word + half - 1 + odd) / 2 ** dropped) * 2 ** dropped;
  return new Float32Array(Uint32Array.of(kept).buffer)[0];
}
