// The hook that readers run on their own models, on a real one of transformers: what it captures is what the model's MLP
// read and wrote, by this module's own forward pass, and is what tests/browser/capture holds.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GatedMLP, openCheckpoint } from '../../src/binding/index.js';
import { run } from '../helpers/tools.js';

const STORED = fileURLToPath(new URL('../browser/capture/', import.meta.url));
const SCRIPT = fileURLToPath(new URL('make_capture.py', import.meta.url));
const TOLERANCE = 2e-6;

/** @param {string} file @param {string} name */
async function read(file, name) {
  const checkpoint = await openCheckpoint(file);
  const { data } = await checkpoint.read(name);
  return { values: new Float32Array(data.slice().buffer), metadata: checkpoint.metadata };
}

/** @param {Float32Array} actual @param {Float32Array} expected @param {string} what */
function near(actual, expected, what) {
  const scale = Math.max(...expected.map(Math.abs));
  const worst = Math.max(...actual.map((value, i) => Math.abs(value - expected[i]))) / scale;
  assert.ok(actual.length === expected.length && worst <= TOLERANCE, `${what}: ${worst}`);
  console.log(`ok - captured states: ${what}, ${worst.toExponential(1)} of the largest value`);
}

/** @param {string} python */
export async function checkCapture(python) {
  const folder = mkdtempSync(join(tmpdir(), 'gated-mlp-capture-'));
  try {
    run(python, [SCRIPT, folder]);
    const hidden = join(folder, 'hidden.safetensors');
    const x = await read(hidden, 'x');
    const y = await read(hidden, 'y');
    const mlp = await GatedMLP.fromPretrained(folder, { layer: 1 });
    near(
      /** @type {Float32Array} */ (mlp.forward(x.values)),
      y.values,
      'y is down(act(gate(x)) * up(x))',
    );
    const stored = await read(`${STORED}hidden.safetensors`, 'x');
    near(x.values, stored.values, 'x is the stored one');
    assert.deepEqual(x.metadata, stored.metadata);
    assert.deepEqual(
      JSON.parse(x.metadata.tokens),
      'which gates are closed here and how far'.split(' '),
    );
    const config = (/** @type {string} */ path) => JSON.parse(readFileSync(path, 'utf8'));
    assert.deepEqual(config(join(folder, 'config.json')), config(`${STORED}config.json`));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
