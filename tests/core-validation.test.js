// The C entry points called with nonsense directly, since embedders have no JavaScript in front of them: a status, nothing written,
// never a trap, and an instance that works on. What the binding says of the same is in validation.test.js.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { wasmOf } from '../src/binding/runtime.js';
import { layerAtWork } from './helpers/layer-at-work.js';

const { runtime, worksOn } = await layerAtWork();
const wasm = wasmOf(runtime);
after(() => runtime.dispose());

const STATUS = { ok: 0, shape: 1, dtype: 2, activation: 3, overflow: 4 };
const { exports } = wasm;
const F32 = /** @type {{ code: number }} */ (wasm.dtypes.get('F32')).code;
const I32 = /** @type {{ code: number }} */ (wasm.dtypes.get('I32')).code;

/** A gated MLP of the core, an input and an output of three tokens, and a guard that shows whether anything was written. */
function coreMLP() {
  const at = exports.mlp_create(4, 6, 0, F32, 1, 0) >>> 0;
  const [input, output] = [wasm.alloc(48, 'x'), wasm.alloc(48, 'y')];
  wasm.realsAt(output, 12).fill(77);
  return {
    at,
    untouched: () => wasm.realsAt(output, 12).every((value) => value === 77),
    /** @param {number[]} options tokens, first unit, end, scale, accumulate, activation, holds, number of holds */
    forward: (...options) => exports.mlp_forward(output, input, at, ...options, 0),
    /** @param {number[]} options tokens, first unit, end, scale, activation, holds, number of holds */
    backward: (...options) => {
      const pointers = wasm.alloc(32, 'gradients');
      wasm.u8(pointers, 32).fill(0);
      wasm.view.setUint32(pointers, output, true);
      const status = exports.mlp_backward(pointers, input, input, at, ...options, 0);
      wasm.free(pointers);
      return status;
    },
    free() {
      exports.memory_free(at);
      wasm.free(input);
      wasm.free(output);
    },
  };
}

/** @type {[string, number, [number, number, number], number][]} what, status, [tokens, first unit, end], activation */
const WRONG_CALLS = [
  ['negative tokens', STATUS.shape, [-1, 0, 6], -1],
  ['a negative first unit', STATUS.shape, [3, -1, 6], -1],
  ['a slice past the last unit', STATUS.shape, [3, 0, 7], -1],
  ['a slice that ends before it begins', STATUS.shape, [3, 4, 3], -1],
  ['an activation past the table', STATUS.activation, [3, 0, 6], wasm.activations.size],
  ['an activation below -1', STATUS.activation, [3, 0, 6], -2],
  ['more tokens than memory can address', STATUS.overflow, [2 ** 31 - 1, 0, 6], -1],
];
for (const [what, status, [tokens, begin, end], activation] of WRONG_CALLS) {
  test(`the core refuses ${what}, forward and backward, and has written nothing`, async () => {
    const core = coreMLP();
    assert.equal(core.forward(tokens, begin, end, 1, 0, activation, 0, 0), status);
    assert.equal(core.backward(tokens, begin, end, 1, activation, 0, 0), status);
    assert.ok(core.untouched());
    core.free();
    await worksOn();
  });
}

for (const [what, unit, token, count] of /** @type {[string, number, number, number][]} */ ([
  ['a unit past the last', 6, 0, 1],
  ['a negative unit', -1, 0, 1],
  ['a token past the last', 0, 3, 1],
  ['a token below -1', 0, -2, 1],
  ['a negative count', 0, 0, -1],
])) {
  test(`the core refuses a hold with ${what}`, async () => {
    const core = coreMLP();
    const hold = wasm.alloc(12, 'hold');
    wasm.view.setInt32(hold, unit, true);
    wasm.view.setInt32(hold + 4, token, true);
    assert.equal(core.forward(3, 0, 6, 1, 0, -1, hold, count), STATUS.shape);
    assert.equal(core.backward(3, 0, 6, 1, -1, hold, count), STATUS.shape);
    assert.equal(core.forward(3, 0, 6, 1, 0, -1, 0, 1), STATUS.shape, 'holds that are not there');
    assert.ok(core.untouched());
    wasm.free(hold);
    core.free();
    await worksOn();
  });
}

test('the core knows no size for widths and dtypes it cannot hold', () => {
  const sizes = [
    [0, 6],
    [4, 0],
    [-4, 6],
    [4, -6],
    [2 ** 31 - 1, 2 ** 31 - 1],
  ];
  for (const [d, dFf] of sizes)
    assert.equal(exports.mlp_bytes(d, dFf, F32, 1, 1), 0n, `${d} x ${dFf}`);
  for (const dtype of [I32, -1, 1000]) assert.equal(exports.mlp_bytes(4, 6, dtype, 0, 1), 0n);
  const [plain, biased, normed] = [
    [0, 0],
    [1, 0],
    [0, 1],
  ].map((has) => exports.mlp_bytes(4, 6, F32, ...has));
  assert.ok(plain < biased && plain < normed);
});

test('the core makes no layer of widths and dtypes it cannot hold', async () => {
  for (const [out, width, dtype] of [
    [0, 6, F32],
    [4, -6, F32],
    [2 ** 31 - 1, 2 ** 31 - 1, F32],
    [4, 6, I32],
    [4, 6, -1],
  ]) {
    assert.equal(exports.linear_bytes(out, width, dtype, 1), 0n);
    assert.equal(exports.linear_create(out, width, dtype, 1), 0, `${out} x ${width} of ${dtype}`);
    assert.equal(
      exports.mlp_create(out, width, 0, dtype, 1, 1),
      0,
      `${out} x ${width} of ${dtype}`,
    );
  }
  await worksOn();
});

test('the core refuses blocks of weights outside the matrix, and elements that are no numbers', async () => {
  const core = coreMLP();
  const gate = exports.mlp_linear(core.at, 0) >>> 0;
  const source = wasm.alloc(256, 'weights');
  const set = (
    /** @type {[number, number, number, number]} */ block,
    /** @type {number} */ dtype,
  ) => exports.linear_set(gate, ...block, source, dtype, 4n, 1n);
  for (const block of /** @type {[number, number, number, number][]} */ ([
    [-1, 1, 0, 4],
    [6, 1, 0, 4],
    [0, 7, 0, 4],
    [0, -1, 0, 4],
    [0, 1, -1, 4],
    [0, 1, 1, 4],
    [0, 1, 0, -4],
    [2 ** 31 - 1, 2 ** 31 - 1, 0, 4],
  ])) {
    assert.equal(set(block, F32), STATUS.shape, String(block));
  }
  assert.equal(set([0, 6, 0, 4], I32), STATUS.dtype);
  assert.equal(set([0, 6, 0, 4], -1), STATUS.dtype);
  assert.equal(set([0, 6, 0, 4], F32), STATUS.ok);
  assert.equal(exports.linear_set_bias(gate, 5, 2, source, F32, 1n), STATUS.shape);
  assert.equal(exports.linear_set_bias(gate, -1, 2, source, F32, 1n), STATUS.shape);
  assert.equal(exports.linear_set_bias(gate, 0, 2, source, I32, 1n), STATUS.dtype);
  assert.equal(exports.linear_get(source, I32, gate, 0, 1), STATUS.dtype);
  assert.equal(exports.linear_get_bias(source, I32, gate), STATUS.dtype);
  assert.equal(exports.linear_get_bias(source, -1, gate), STATUS.dtype);
  assert.equal(exports.linear_get_bias(source, F32, gate), STATUS.ok);
  assert.equal(exports.linear_get(source, F32, gate, 6, 1), STATUS.shape);
  wasm.free(source);
  core.free();
  await worksOn();
});

test('the core refuses unknown activations element by element', async () => {
  const at = wasm.alloc(64, 'z');
  for (const activation of [-1, wasm.activations.size, 2 ** 31 - 1]) {
    for (const status of [
      exports.act(at, at, activation, 4),
      exports.act_derivative(at, at, activation, 4),
      exports.act_mul_run(at, at, at, activation, 4),
      exports.act_and_mul_run(at, at, activation, 2, 2),
      exports.act_mul_backward_run(at, at, at, at, at, activation, 4),
      exports.act_and_mul_backward_run(at, at, at, activation, 2, 2),
    ]) {
      assert.equal(status, STATUS.activation);
    }
  }
  wasm.free(at);
  await worksOn();
});

test('a block of 2 GiB or more is a null pointer, however full memory is; so is one that is not there', async () => {
  const held = [];
  for (let block = 1; block !== 0; held.push(block)) {
    for (const bytes of [
      2n ** 31n - 1n,
      2n ** 31n,
      4_000_000_000n,
      2n ** 32n - 1n,
      2n ** 32n,
      2n ** 63n,
      2n ** 64n - 1n,
    ]) {
      assert.equal(exports.memory_alloc(bytes), 0, String(bytes));
    }
    block = exports.memory_alloc(2n ** 30n) >>> 0;
  }
  assert.ok(held.length > 1);
  for (const block of held) exports.memory_free(block);
  exports.memory_free(0);
  await worksOn();
});
