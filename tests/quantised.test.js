// Weights held as ggml's Q8_0 and Q4_1: how far results are from those of the weights that were given, and from those of
// the weights that they became. Errors are largest difference over the rms of the answer.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatedMLP, Runtime } from '../src/binding/index.js';
import { wasmOf } from '../src/binding/runtime.js';
import { packParts } from '../src/binding/weights.js';
import { assertWithin, plainCases, readSafetensors, UNDERFLOW, values } from './helpers/goldens.js';
import { referenceBackward, referenceForward } from './helpers/reference.js';

/** @typedef {import('../src/binding/index.js').GatedMLPError} GatedMLPError */
/** @typedef {import('./helpers/reference.js').ReferenceMLP} ReferenceMLP */

/** Against the weights given, and against those held: rounded inputs cost little. */
const BOUNDS = /** @type {const} */ ({ q8_0: [0.05, 0.05], q4_1: [0.9, 0.05] });
const DTYPES = /** @type {(keyof typeof BOUNDS)[]} */ (Object.keys(BOUNDS));
/** What a stored block of 32 weights takes. */
const BLOCK_BYTES = { q8_0: 34, q4_1: 20 };

/**
 * Largest difference over the rms of what is expected, 0 where float32 underflows; NaN must meet NaN.
 * @param {ArrayLike<number>} actual
 * @param {ArrayLike<number>} expected
 */
function errorOf(actual, expected) {
  assert.equal(actual.length, expected.length);
  let largest = 0;
  let squares = 0;
  let count = 0;
  for (let i = 0; i < expected.length; i++) {
    assert.equal(Number.isNaN(actual[i]), Number.isNaN(expected[i]), `value ${i} is ${actual[i]}`);
    if (Number.isNaN(expected[i])) continue;
    largest = Math.max(largest, Math.abs(actual[i] - expected[i]));
    squares += expected[i] ** 2;
    count += 1;
  }
  return largest <= UNDERFLOW ? 0 : largest / Math.sqrt(squares / count);
}

/** @param {GatedMLP} mlp @returns {ReferenceMLP} with the weights as they are held */
function asHeld(mlp) {
  const parameters = Object.fromEntries(
    [...mlp.namedParameters()].map(([name, { data }]) => [name, data]),
  );
  return { d: mlp.d, dFf: mlp.dFf, act: mlp.act, parameters };
}

/** Numbers that look normal, the same in every run. @param {number} seed */
function normals(seed) {
  let state = seed;
  const uniform = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state + 0.5) / 2 ** 32;
  };
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}

/** @param {number} n @param {number} scale @param {number} seed */
function bfloat16s(n, scale, seed) {
  const next = normals(seed);
  const numbers = Float32Array.from({ length: n }, () => scale * next());
  const bits = new Uint32Array(numbers.buffer);
  for (let i = 0; i < n; i++) bits[i] = (bits[i] + 0x8000) & 0xffff0000;
  return numbers;
}

/** @param {number} d @param {number} dFf @returns {ReferenceMLP & { parameters: Record<string, Float32Array> }} */
function gaussianMLP(d, dFf) {
  const parameters = {
    'gate_proj.weight': bfloat16s(d * dFf, d ** -0.5, 1),
    'up_proj.weight': bfloat16s(d * dFf, d ** -0.5, 2),
    'down_proj.weight': bfloat16s(d * dFf, dFf ** -0.5, 3),
  };
  return { d, dFf, act: 'silu', parameters };
}

/** @param {ReferenceMLP & { parameters: Record<string, Float32Array> }} from @param {keyof typeof BOUNDS} dtype */
async function held({ d, dFf, act, parameters }, dtype) {
  const mlp = await GatedMLP.create(d, dFf, { act, dtype });
  mlp.loadStateDict(
    Object.fromEntries(Object.entries(parameters).map(([name, data]) => [name, { data }])),
  );
  return mlp;
}

/** A token alone and among others: by so much differ results at most where the weights' codes are rounded for many. */
const COMPANY = 0.01;

for (const dtype of DTYPES) {
  for (const [d, dFf, tokens] of [
    [576, 1536, 5],
    [2048, 8192, 5],
    [576, 1536, 45],
  ]) {
    test(`${dtype}, ${d} x ${dFf}, ${tokens} tokens: normal weights keep the error bounds`, async (t) => {
      const given = gaussianMLP(d, dFf);
      const mlp = await held(given, dtype);
      t.after(() => mlp.dispose());
      const x = Float32Array.from({ length: tokens * d }, normals(7));
      const y = mlp.forward(x);
      const errors = [given, asHeld(mlp)].map((m) => errorOf(y, referenceForward(m, x).y));
      t.diagnostic(
        `error from weights given ${errors[0].toPrecision(3)}, held ${errors[1].toPrecision(3)}`,
      );
      for (const [i, bound] of BOUNDS[dtype].entries()) assert.ok(errors[i] <= bound);
      const alone = new Float32Array(y.length);
      for (let at = 0; at < x.length; at += d) {
        mlp.forward(x.subarray(at, at + d), { out: alone.subarray(at, at + d) });
      }
      const apart = errorOf(y, alone);
      t.diagnostic(`a token alone differs by ${apart.toPrecision(3)}`);
      assert.ok(apart <= (tokens < 32 ? 0 : COMPANY));
    });
  }
}

/** Two inputs 10^4 to 10^18 apart share a block there, and the lesser one is lost in its rounding. */
const FAR_APART = ['llama_huge_values', 'gemma_huge_values'];

for (const golden of plainCases().filter((each) => !FAR_APART.includes(each.case))) {
  for (const dtype of DTYPES) {
    test(`${golden.case} in ${dtype}: forward keeps the error bounds`, async (t) => {
      const { act, d, f, bias = false, parameters } = golden;
      const tensors = readSafetensors(`goldens/mlp/${golden.case}.safetensors`);
      const mlp = await GatedMLP.create(d, f, { act, bias, dtype });
      t.after(() => mlp.dispose());
      mlp.loadStateDict(
        Object.fromEntries(parameters.map((name) => [name, { data: values(tensors, name) }])),
      );
      const y = mlp.forward(values(tensors, 'x'));
      const error = errorOf(y, values(tensors, 'f64/y'));
      t.diagnostic(`error from weights given ${error.toPrecision(3)}`);
      assert.ok(error <= BOUNDS[dtype][0]);
    });
  }
}

for (const name of FAR_APART) {
  for (const dtype of DTYPES) {
    test(`${name} in ${dtype}: what is finite stays finite`, async (t) => {
      const tensors = readSafetensors(`goldens/mlp/${name}.safetensors`);
      const mlp = await GatedMLP.create(2, 1, { act: 'silu', dtype });
      t.after(() => mlp.dispose());
      for (const each of ['gate_proj.weight', 'up_proj.weight', 'down_proj.weight'])
        mlp.loadStateDict({ [each]: { data: values(tensors, each) } }, { strict: false });
      assert.ok(values(tensors, 'x').length > 0);
      assert.ok(mlp.forward(values(tensors, 'x')).every(Number.isFinite));
    });
  }
}

for (const dtype of DTYPES) {
  const given = gaussianMLP(70, 45);
  const x = Float32Array.from({ length: 6 * 70 }, normals(8));

  test(`${dtype}: gradients are those of the weights held`, async (t) => {
    const mlp = await held(given, dtype);
    t.after(() => mlp.dispose());
    const gy = Float32Array.from({ length: x.length }, normals(9));
    const expected = referenceBackward(asHeld(mlp), x, gy);
    const gradients = mlp.backward(x, gy);
    assert.deepEqual(Object.keys(gradients), Object.keys(expected));
    for (const [name, values] of Object.entries(expected))
      assertWithin(gradients[name], values, 1e-3, name);
  });

  test(`${dtype}: the state dict is F32, and loads into the same weights`, async (t) => {
    const mlp = await held(given, dtype);
    const again = await GatedMLP.create(70, 45, { dtype });
    t.after(() => [mlp, again].map((each) => each.dispose()));
    const state = mlp.stateDict();
    assert.deepEqual(new Set([...state.values()].map((each) => each.dtype)), new Set(['F32']));
    again.loadStateDict(state);
    assert.ok(errorOf(again.forward(x), mlp.forward(x)) < 1e-3);
    assert.equal(again.dtype, dtype);
  });

  test(`${dtype}: weights take at most a twentieth more than their blocks`, async (t) => {
    const runtime = await Runtime.create();
    t.after(() => runtime.dispose());
    const before = runtime.bytesUsed;
    await GatedMLP.create(576, 1536, { dtype, runtime });
    const stored = ((3 * 576 * 1536) / 32) * BLOCK_BYTES[dtype];
    const taken = runtime.bytesUsed - before;
    assert.ok(taken >= stored && taken <= 1.05 * stored, `${taken} bytes for ${stored}`);
  });

  test(`${dtype}: columns that arrive in pieces make the same blocks`, async (t) => {
    const [rows, cols] = [4200, 70];
    const matrix = bfloat16s(rows * cols, 1, 4);
    const transposed = Float32Array.from(
      matrix,
      (_, i) => matrix[(i % rows) * cols + Math.trunc(i / rows)],
    );
    const runtime = await Runtime.create();
    t.after(() => runtime.dispose());
    const wasm = wasmOf(runtime);
    const { code } = /** @type {{ code: number }} */ (wasm.dtypes.get(dtype.toUpperCase()));
    const f32 = /** @type {{ code: number }} */ (wasm.dtypes.get('F32')).code;
    /** @param {Float32Array} data @param {number} rowStride @param {number} colStride */
    const packed = (data, rowStride, colStride) => {
      const address = wasm.exports.linear_create(rows, cols, code, 0);
      const part = { parameter: 'one.weight', tensor: 'one', dtype: 'F32', rows, cols, base: 0 };
      const bytes = new Uint8Array(data.buffer);
      const tensors = new Map([['one', bytes]]);
      packParts(wasm, { one: address }, [{ ...part, rowStride, colStride }], tensors);
      const copy = wasm.alloc(bytes.length, 'a copy');
      wasm.done(wasm.exports.linear_get(copy, f32, address, 0, rows), 'linear_get');
      return wasm.u8(copy, bytes.length).slice();
    };
    assert.deepEqual(packed(transposed, 1, rows), packed(matrix, cols, 1));
  });
}

test('a dtype that is none is refused with those that are', async () => {
  const refused = GatedMLP.create(32, 32, { dtype: /** @type {any} */ ('q5_k') });
  await assert.rejects(refused, (/** @type {GatedMLPError} */ error) => {
    assert.equal(error.code, 'ERR_DTYPE');
    return /float32, float16, bfloat16, q8_0, q4_1/.test(error.message);
  });
});
