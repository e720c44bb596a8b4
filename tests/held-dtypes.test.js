// Weights held as they are stored: every code of the 16-bit types, what it means in a forward, and how wider numbers are rounded.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { GatedMLP, PCG32, Runtime } from '../src/binding/index.js';
import { disposeAll, randomSource } from './helpers/numbers.js';

const runtime = await Runtime.create();
after(() => runtime.dispose());

/** All 65,536 codes of a 16-bit type as one weight, and what each means. */
const CODES = Uint16Array.from({ length: 65_536 }, (_, i) => i);
/** @type {[string, 'float16' | 'bfloat16', (code: number) => number][]} */
const HALVES = [
  ['F16', 'float16', float16Value],
  ['BF16', 'bfloat16', (code) => new Float32Array(Uint32Array.of(code * 65_536).buffer)[0]],
];

/** IEEE binary16, from its definition. @param {number} code */
function float16Value(code) {
  const sign = code >> 15 ? -1 : 1;
  const exponent = (code >> 10) & 31;
  const fraction = (code & 1023) / 1024;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (exponent === 0 ? fraction * 2 ** -14 : (1 + fraction) * 2 ** (exponent - 15));
}

for (const [stored, held, meaning] of HALVES) {
  test(`every ${stored} code is kept bit for bit as ${held}, and means the number it stands for`, async (t) => {
    const mlp = await GatedMLP.create(256, 256, { dtype: held, runtime });
    t.after(() => mlp.dispose());
    mlp.loadStateDict(
      {
        'up_proj.weight': { dtype: stored, shape: [256, 256], data: new Uint8Array(CODES.buffer) },
      },
      { strict: false },
    );
    const entry = mlp.stateDict().get('up_proj.weight');
    assert.ok(entry);
    assert.equal(entry.dtype, stored);
    const kept = new Uint16Array(entry.data.buffer);
    const numbers = new Map(mlp.namedParameters()).get('up_proj.weight')?.data ?? [];
    for (const code of CODES) {
      const expected = meaning(code);
      assert.ok(Object.is(numbers[code], expected), `${code}: ${numbers[code]}, not ${expected}`);
      assert.equal(kept[code], code);
    }
  });

  test(`a forward with ${held} weights computes from exactly these numbers, subnormal ones too`, async (t) => {
    const random = randomSource(21);
    const half = await GatedMLP.create(40, 33, {
      dtype: held,
      bias: true,
      rng: new PCG32(5n),
      runtime,
    });
    const tiny = random.floats(40 * 33, 2 ** -15);
    half.loadStateDict({ 'up_proj.weight': { data: tiny } }, { strict: false });
    const full = await GatedMLP.create(40, 33, { bias: true, runtime });
    full.loadStateDict(new Map(half.namedParameters()));
    t.after(() => disposeAll(half, full));
    for (const tokens of [1, 2, 5, 9]) {
      const x = random.floats(tokens * 40);
      assert.deepEqual(half.forward(x), full.forward(x));
      assert.deepEqual(half.backward(x, x), full.backward(x, x));
    }
  });
}

test('float64 in is rounded once to the held type, also where a stop at float32 would round twice', async (t) => {
  // 1 + 2^-11 + 2^-40 lies just above the middle between two halves; as float32 it is that middle, which rounds to even.
  const above = 1 + 2 ** -11 + 2 ** -40;
  const mlp = await GatedMLP.create(1, 1, { dtype: 'float16', runtime });
  t.after(() => mlp.dispose());
  mlp.loadStateDict({
    'gate_proj.weight': { data: Float64Array.of(above) },
    'up_proj.weight': { data: Float64Array.of(1 + 2 ** -11) },
    'down_proj.weight': { data: Float64Array.of(70_000) },
  });
  const data = [...mlp.namedParameters()].map(([, parameter]) => parameter.data[0]);
  assert.deepEqual(data, [1 + 2 ** -10, 1, Number.POSITIVE_INFINITY]);
});

test('float32 weights come out as bfloat16 rounded to nearest even', async (t) => {
  const mlp = await GatedMLP.create(1, 1, { dtype: 'bfloat16', runtime });
  t.after(() => mlp.dispose());
  mlp.loadStateDict({
    'gate_proj.weight': { data: Float32Array.of(1 + 2 ** -8) },
    'up_proj.weight': { data: Float32Array.of(1 + 3 * 2 ** -8) },
    'down_proj.weight': { data: Float32Array.of(-(1 + 2 ** -8 + 2 ** -20)) },
  });
  const data = [...mlp.namedParameters()].map(([, parameter]) => parameter.data[0]);
  assert.deepEqual(data, [1, 1 + 2 ** -6, -(1 + 2 ** -7)]);
});

test('a signalling NaN stays a NaN, made quiet, where its bits do not fit', async (t) => {
  const bytes = new Uint8Array(BigUint64Array.of(0x7ff0000000000001n).buffer);
  for (const [dtype, quiet] of /** @type {const} */ ([
    ['float16', 0x7e00],
    ['bfloat16', 0x7fc0],
  ])) {
    const mlp = await GatedMLP.create(1, 1, { dtype, runtime });
    t.after(() => mlp.dispose());
    mlp.loadStateDict(
      { 'up_proj.weight': { dtype: 'F64', shape: [1, 1], data: bytes } },
      { strict: false },
    );
    const held = mlp.stateDict().get('up_proj.weight');
    assert.deepEqual([...new Uint16Array(held?.data.slice().buffer ?? [])], [quiet]);
  }
});
