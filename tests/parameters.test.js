// Parameters as Hugging Face names, orders and shapes them: counting, reading out, loading with every complaint in one error,
// dtypes converted exactly or rounded once, and files that the reference safetensors package reads back.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { GatedMLP, GatedMLPError, openCheckpoint, Runtime } from '../src/binding/index.js';
import { wasmOf } from '../src/binding/runtime.js';
import { parseSafetensors, plainCases, readJson } from './helpers/goldens.js';
import { asState, mlpOf, randomParameters, randomSource } from './helpers/numbers.js';
import { findProgram } from './helpers/tools.js';

const runtime = await Runtime.create();
after(() => runtime.dispose());

const [D, D_FF] = [3, 5];
const SHAPES = new Map([
  ['gate_proj.weight', [D_FF, D]],
  ['gate_proj.bias', [D_FF]],
  ['up_proj.weight', [D_FF, D]],
  ['up_proj.bias', [D_FF]],
  ['down_proj.weight', [D, D_FF]],
  ['down_proj.bias', [D]],
]);
const parameters = randomParameters(D, D_FF, true, randomSource(3));

/** @param {Float32Array} data */
const bytesOf = (data) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength);

/** @param {GatedMLP} mlp */
const snapshot = (mlp) => new Map(mlp.stateDict());

test('a gated MLP of d_ff = 8d/3 has 8 d^2 parameters, what a plain 4d MLP has', async (t) => {
  const mlp = await GatedMLP.create(96, 256, { runtime });
  t.after(() => mlp.dispose());
  assert.equal(mlp.numParameters, 8 * 96 ** 2);
});

test("TorchCode's layer, 64 and 128 with biases, has 24,896 parameters", async (t) => {
  const mlp = await GatedMLP.create(64, 128, { bias: true, runtime });
  t.after(() => mlp.dispose());
  assert.equal(mlp.numParameters, 3 * 64 * 128 + 2 * 128 + 64);
  assert.equal(mlp.numParameters, 24_896);
});

for (const golden of plainCases()) {
  test(`${golden.case}: names, order and shapes are the class's own`, async (t) => {
    const { d, f, bias = false } = golden;
    const mlp = await GatedMLP.create(d, f, { bias, runtime });
    t.after(() => mlp.dispose());
    const shapes = readJson('goldens/index.json').mlp.find(
      (/** @type {{ case: string }} */ each) => each.case === golden.case,
    ).parameter_shapes;
    const expected = golden.parameters.map((name) => [name, shapes[name]]);
    const parameters = [...mlp.namedParameters()];
    assert.deepEqual(
      parameters.map(([name, { shape }]) => [name, shape]),
      expected,
    );
    const held = [...mlp.stateDict()].map(([name, { shape }]) => [name, shape]);
    assert.deepEqual(held, expected);
    const count = parameters.reduce((sum, [, { data }]) => sum + data.length, 0);
    assert.equal(mlp.numParameters, count);
  });
}

test('what is loaded comes out of stateDict and namedParameters bit for bit, as copies', async (t) => {
  const mlp = await mlpOf(D, D_FF, parameters, { runtime });
  t.after(() => mlp.dispose());
  for (const [name, { dtype, shape, data }] of mlp.stateDict()) {
    assert.deepEqual([dtype, shape], ['F32', SHAPES.get(name)]);
    assert.deepEqual(data, bytesOf(parameters[name]));
    data.fill(0);
  }
  for (const [name, { data }] of mlp.namedParameters()) {
    assert.deepEqual(data, parameters[name]);
    data.fill(0);
  }
  assert.deepEqual(
    snapshot(mlp).get('down_proj.bias')?.data,
    bytesOf(parameters['down_proj.bias']),
  );
});

test('a Map and a plain object load the same, with or without dtype and shape', async (t) => {
  const mlp = await GatedMLP.create(D, D_FF, { bias: true, runtime });
  t.after(() => mlp.dispose());
  const result = mlp.loadStateDict(asState(parameters));
  assert.deepEqual(result, { missing: [], unexpected: [] });
  const first = snapshot(mlp);
  mlp.loadStateDict(
    new Map(
      [...SHAPES].map(([name, shape]) => [
        name,
        { dtype: 'F32', shape, data: bytesOf(parameters[name]) },
      ]),
    ),
  );
  assert.deepEqual(snapshot(mlp), first);
});

test('where memory for loading is missing, nothing has changed', async (t) => {
  const own = await Runtime.create();
  t.after(() => own.dispose());
  const mlp = await GatedMLP.create(D, D_FF, { bias: true, runtime: own });
  const before = snapshot(mlp);
  const wasm = wasmOf(own);
  const alloc = wasm.alloc.bind(wasm);
  const { bytesUsed } = own;
  for (let granted = 0; granted < SHAPES.size; granted++) {
    let asked = 0;
    wasm.alloc = (bytes, what, owner) =>
      asked++ < granted ? alloc(bytes, what, owner) : wasm.adopt(0, bytes, what);
    assert.throws(() => mlp.loadStateDict(asState(parameters)), { code: 'ERR_OUT_OF_MEMORY' });
    wasm.alloc = alloc;
    assert.deepEqual(snapshot(mlp), before);
  }
  assert.equal(own.bytesUsed, bytesUsed);
});

test('everything that is wrong with a state dict is listed in one error, and nothing has changed', async (t) => {
  const mlp = await mlpOf(D, D_FF, parameters, { runtime });
  t.after(() => mlp.dispose());
  const before = snapshot(mlp);
  const state = {
    'gate_proj.weight': { data: new Float32Array(15).fill(9) },
    'gate_proj.bias': { dtype: 'I32', shape: [5], data: new Uint8Array(20) },
    'up_proj.weight': { shape: [D, D_FF], data: new Float32Array(15) },
    'down_proj.weight': { dtype: 'F32', shape: [D, D_FF], data: new Uint8Array(59) },
    'down_proj.bias': { dtype: 'F99', shape: [D], data: new Uint8Array(12) },
    'gate_proj.weigth': { data: new Float32Array(15) },
  };
  assert.throws(
    () => mlp.loadStateDict(state),
    (error) => {
      assert.ok(error instanceof GatedMLPError);
      assert.equal(error.code, 'ERR_SHAPE');
      for (const part of [
        'up_proj.bias is missing',
        'gate_proj.weigth is unexpected',
        'gate_proj.bias has dtype I32',
        'up_proj.weight has shape [3, 5], not [5, 3]',
        'down_proj.weight has 59 bytes of data, not 60',
        'down_proj.bias has dtype F99',
      ]) {
        assert.ok(error.message.includes(part), `"${part}" is not in: ${error.message}`);
      }
      const { missing, unexpected } = /** @type {any} */ (error);
      assert.deepEqual([missing, unexpected], [['up_proj.bias'], ['gate_proj.weigth']]);
      return true;
    },
  );
  assert.deepEqual(snapshot(mlp), before);
});

test('strict: false takes what fits, names the rest, and still refuses what is wrong', async (t) => {
  const mlp = await mlpOf(D, D_FF, parameters, { runtime });
  t.after(() => mlp.dispose());
  const up = Float32Array.from({ length: 15 }, (_, i) => i);
  const result = mlp.loadStateDict(
    { 'up_proj.weight': { data: up }, other: { data: up } },
    { strict: false },
  );
  assert.deepEqual(result.unexpected, ['other']);
  assert.deepEqual(
    result.missing,
    [...SHAPES.keys()].filter((name) => name !== 'up_proj.weight'),
  );
  const after = new Map(mlp.namedParameters());
  assert.deepEqual(after.get('up_proj.weight')?.data, up);
  assert.deepEqual(after.get('gate_proj.weight')?.data, parameters['gate_proj.weight']);
  assert.throws(() => mlp.loadStateDict({ 'up_proj.bias': { data: up } }, { strict: false }), {
    code: 'ERR_SHAPE',
  });
});

test('a bias is unexpected where the MLP has none', async (t) => {
  const mlp = await GatedMLP.create(D, D_FF, { runtime });
  t.after(() => mlp.dispose());
  assert.throws(() => mlp.loadStateDict(asState(parameters)), /gate_proj\.bias is unexpected/);
});

test('a fused gate_up_proj stands for gate and up, gate first', async (t) => {
  const mlp = await GatedMLP.create(D, D_FF, { bias: true, runtime });
  t.after(() => mlp.dispose());
  const join2 = (/** @type {string} */ kind) =>
    Float32Array.of(...parameters[`gate_proj.${kind}`], ...parameters[`up_proj.${kind}`]);
  mlp.loadStateDict({
    'gate_up_proj.weight': { shape: [2 * D_FF, D], data: join2('weight') },
    'gate_up_proj.bias': { shape: [2 * D_FF], data: join2('bias') },
    'down_proj.weight': { data: parameters['down_proj.weight'] },
    'down_proj.bias': { data: parameters['down_proj.bias'] },
  });
  for (const [name, { data }] of mlp.namedParameters()) assert.deepEqual(data, parameters[name]);
  assert.throws(
    () =>
      mlp.loadStateDict(
        { 'gate_up_proj.weight': { shape: [D_FF, D], data: join2('weight') } },
        { strict: false },
      ),
    /gate_up_proj\.weight has shape \[5, 3\], not \[10, 3\]/,
  );
});

test('data that lies at an odd address of a larger buffer is read from there', async (t) => {
  const mlp = await mlpOf(D, D_FF, parameters, { runtime });
  t.after(() => mlp.dispose());
  const values = Float32Array.from({ length: 15 }, (_, i) => 1 / (i + 1));
  const larger = new Uint8Array(64);
  larger.set(bytesOf(values), 3);
  mlp.loadStateDict(
    { 'up_proj.weight': { dtype: 'F32', shape: [D_FF, D], data: larger.subarray(3, 63) } },
    { strict: false },
  );
  assert.deepEqual(new Map(mlp.namedParameters()).get('up_proj.weight')?.data, values);
});

// ---------------------------------------------------------------------------------------- files

for (const dtype of /** @type {const} */ (['float32', 'float16', 'bfloat16'])) {
  test(`toSafetensors of ${dtype}: our reader, the tests' own and the reference package read the same bits`, async (t) => {
    const mlp = await mlpOf(D, D_FF, parameters, { dtype, runtime });
    t.after(() => mlp.dispose());
    const file = mlp.toSafetensors();
    const state = mlp.stateDict();

    const plain = parseSafetensors(Buffer.from(file));
    assert.deepEqual([...plain.keys()], [...SHAPES.keys()]);
    for (const [name, { dtype: stored, shape, data }] of plain) {
      assert.deepEqual(
        { dtype: stored, shape, data: new Uint8Array(data.buffer) },
        state.get(name),
      );
    }

    const checkpoint = await openCheckpoint(new Blob([file]), { runtime });
    for (const [name, expected] of state) assert.deepEqual(await checkpoint.read(name), expected);

    const read = readByReference(t, file);
    if (read !== null) {
      const expected = [...state].map(([name, { dtype: stored, shape, data }]) => [
        name,
        [stored, shape, Buffer.from(data).toString('hex')],
      ]);
      assert.deepEqual(read, Object.fromEntries(expected));
    }
  });
}

/**
 * What the reference package says is in a file; null where no Python here has it (npm run test:torch brings it).
 * @param {import('node:test').TestContext} t
 * @param {Uint8Array} file
 */
function readByReference(t, file) {
  const folder = mkdtempSync(join(tmpdir(), 'gated-mlp-'));
  try {
    const path = join(folder, 'mlp.safetensors');
    writeFileSync(path, file);
    const venv = fileURLToPath(new URL('../build/torch-venv/bin/python', import.meta.url));
    const script = fileURLToPath(new URL('./helpers/read_safetensors.py', import.meta.url));
    for (const python of [venv, 'python3'].filter((name) => findProgram([name]) !== null)) {
      const { status, stdout, stderr } = spawnSync(python, [script, path], { encoding: 'utf8' });
      if (status === 0) return JSON.parse(stdout);
      assert.equal(status, 3, stderr);
    }
    t.diagnostic('no Python with the safetensors package here: read by our own readers only');
    return null;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('a parameter that is given twice, alone and fused, is refused', async (t) => {
  const mlp = await GatedMLP.create(D, D_FF, { runtime });
  t.after(() => mlp.dispose());
  const state = Object.fromEntries(mlp.stateDict());
  const fused = { shape: [2 * D_FF, D], data: new Float32Array(2 * D_FF * D) };
  assert.throws(() => mlp.loadStateDict({ ...state, 'gate_up_proj.weight': fused }), {
    code: 'ERR_SHAPE',
    message: /gate_up_proj\.weight gives gate_proj\.weight a second time/,
  });
  assert.deepEqual(Object.fromEntries(mlp.stateDict()), state);
});
