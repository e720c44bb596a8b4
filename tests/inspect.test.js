// The command `gated-mlp inspect`: what it prints of a real file and of a folder, and what it says when it cannot.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { fixture } from './helpers/goldens.js';
import { llamaTensors, makeSafetensors } from './helpers/make-safetensors.js';

const command = fileURLToPath(new URL('../src/cli/gated-mlp.js', import.meta.url));

/** @param {string[]} words */
const run = (...words) => spawnSync(process.execPath, [command, ...words], { encoding: 'utf8' });

test('a layer of the real model is one line of a table', () => {
  const path = fileURLToPath(fixture('smollm2-135m-instruct-layer24.safetensors'));
  const { status, stdout } = run('inspect', path);
  assert.equal(status, 0);
  assert.match(stdout, /layer24\.safetensors: 3 tensors, 1 gated MLPs\n/);
  assert.match(
    stdout,
    /\n24 +- +576 +1536 +BF16 +silu +default +5,308,416 +model\.layers\.24\.mlp\n/,
  );
});

test('a folder as JSON has every MLP and expert, with where the activation was read', () => {
  const { status, stdout } = run(
    'inspect',
    fileURLToPath(fixture('goldens/families/qwen2_moe')),
    '--json',
  );
  assert.equal(status, 0);
  const { mlps } = JSON.parse(stdout);
  assert.equal(mlps.length, 8);
  assert.ok(mlps.every((/** @type {{ actSource: string }} */ m) => m.actSource === 'hidden_act'));
});

test('what is found but cannot be loaded says why', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gated-mlp-inspect-'));
  const layer = llamaTensors('model.layers.0.mlp', 8, 12);
  writeFileSync(join(folder, 'model.safetensors'), makeSafetensors(layer));
  writeFileSync(join(folder, 'config.json'), '{"model_type":"step3p7","swiglu_limits":[7]}');
  const { status, stdout } = run('inspect', folder);
  rmSync(folder, { recursive: true });
  assert.equal(status, 0);
  assert.match(
    stdout,
    /cannot be loaded: model\.layers\.0\.mlp: a model whose config has a swiglu_limit .* a clamped gate and up/,
  );
});

test('a missing file and a wrong command end in words and a status', () => {
  const missing = run('inspect', '/nowhere/model.safetensors');
  assert.equal(missing.status, 1);
  assert.match(missing.stderr, /^ERR_SAFETENSORS: \/nowhere\/model\.safetensors: cannot be read/);
  const wrong = run('look');
  assert.equal(wrong.status, 2);
  assert.match(wrong.stderr, /Usage: gated-mlp inspect/);
});
