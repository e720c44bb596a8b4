// Which arrays a caller may hand in: those of any realm (a frame's, a node:vm context's), none inside the runtime's own
// memory. Wrong lengths and classes are validation.test.js's matter.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { createContext, runInContext } from 'node:vm';
import { GatedMLP, Linear, Runtime } from '../src/binding/index.js';

const runtime = await Runtime.create();
const mlp = await GatedMLP.create(4, 6, { bias: true, runtime });
after(() => runtime.dispose());

const x = Float32Array.from({ length: 12 }, (_, i) => Math.sin(i));
const other = createContext({});

/** The same values in another realm's class. @param {ArrayLike<number>} values @param {string} [name] */
function foreign(values, name = 'Float32Array') {
  const array = runInContext(`new ${name}(${values.length})`, other);
  array.set(values);
  assert.ok(!(array instanceof Object));
  return array;
}

test('arrays of another realm are taken for what they are', async () => {
  const y = mlp.forward(x);
  assert.deepEqual(mlp.forward(foreign(x)), y);
  const out = foreign(new Float32Array(12));
  assert.equal(mlp.forward(x, { out }), out);
  assert.deepEqual(Float32Array.from(out), y);
  const own = mlp.backward(x, y);
  assert.deepEqual(mlp.backward(foreign(x), foreign(y)), own);
  assert.deepEqual(runtime.siluMul(foreign(x), foreign(x)), runtime.siluMul(x, x));
  assert.throws(() => mlp.forward(foreign(x, 'Float64Array')), { code: 'ERR_DTYPE' });
  assert.throws(() => mlp.forward(runInContext('[1, 2, 3, 4]', other)), { code: 'ERR_DTYPE' });
  const named = { [Symbol.toStringTag]: 'Float32Array', length: 4, buffer: new ArrayBuffer(16) };
  assert.throws(() => mlp.forward(/** @type {never} */ (named)), { code: 'ERR_DTYPE' });
});

test('a state dict of another realm, Map and arrays, is loaded', async () => {
  const map = runInContext('new Map()', other);
  for (const [name, { shape, data }] of mlp.namedParameters()) {
    map.set(name, { shape, data: foreign(data) });
  }
  const copy = await GatedMLP.create(4, 6, { bias: true, runtime });
  assert.deepEqual(copy.loadStateDict(map), { missing: [], unexpected: [] });
  assert.deepEqual(copy.forward(x), mlp.forward(x));
  const linear = await Linear.create(4, 3, { runtime });
  const weights = runInContext('new Map()', other);
  linear.loadStateDict(weights.set('weight', { data: foreign(x) }));
  assert.equal(linear.forward(Float32Array.of(1, 0, 0, 0))[1], x[4]);
  for (const each of [copy, linear]) each.dispose();
});

test('a module handed over as bytes of another realm is compiled', async () => {
  const file = readFileSync(new URL('../src/binding/gated-mlp.wasm', import.meta.url));
  const bytes = foreign(file, 'Uint8Array');
  for (const wasm of [bytes, bytes.buffer]) {
    const made = await Runtime.create({ wasm });
    assert.equal(made.llamaFfnDim(4096), 11008);
    made.dispose();
  }
});

test('an array of nothing is an array; one whose buffer has gone elsewhere is not', () => {
  assert.equal(mlp.forward(new Float32Array(0)).length, 0);
  const gone = Float32Array.from(x);
  structuredClone(gone.buffer, { transfer: [gone.buffer] });
  assert.throws(() => mlp.forward(gone), {
    code: 'ERR_SHAPE',
    message: /x: its buffer is detached/,
  });
});

test("views of the runtime's own memory are refused by name: it moves as it grows", async () => {
  const { buffer } = runtime.memory;
  const inside = new Float32Array(buffer, buffer.byteLength - 48, 12);
  for (const [name, call] of /** @type {[string, () => unknown][]} */ ([
    ['x', () => mlp.forward(inside)],
    ['out', () => mlp.forward(x, { out: inside })],
    ['x', () => mlp.trace(inside)],
    ['gradOutput', () => mlp.backward(x, inside)],
    ['gate', () => runtime.siluMul(inside, x)],
    ['out', () => runtime.siluMul(x, x, inside)],
  ])) {
    const message = new RegExp(`^${name} is a view of the runtime's memory.*pass a copy$`);
    assert.throws(call, { code: 'ERR_SHAPE', message });
  }
  const memory = new WebAssembly.Memory({ initial: 256, maximum: 512, shared: true });
  const brought = await Runtime.create({ memory });
  const onBrought = await GatedMLP.create(4, 6, { runtime: brought });
  assert.throws(() => onBrought.forward(new Float32Array(memory.buffer, 0, 12)), {
    code: 'ERR_SHAPE',
    message: /^x is a view of the runtime's memory/,
  });
  brought.dispose();
  const elsewhere = await Runtime.create();
  const foreignMemory = new Float32Array(elsewhere.memory.buffer, 0, 12);
  assert.equal(mlp.forward(foreignMemory).length, 12);
  elsewhere.dispose();
});
