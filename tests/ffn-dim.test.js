// llama_ffn_dim against published widths and against Python's own arithmetic.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { llamaFfnDim, Runtime } from '../src/binding/index.js';

const runtime = await Runtime.create();
after(() => runtime.dispose());

test('the widths of published models come out', async () => {
  assert.equal(await llamaFfnDim(4096), 11008);
  assert.equal(await llamaFfnDim(4096, 1024, 1.3), 14336);
  assert.equal(await llamaFfnDim(2048, 256, 1.5), 8192);
  assert.equal(await llamaFfnDim(8192, 4096, 1.3), 28672);
  assert.equal(await llamaFfnDim(576), 1536);
  assert.equal(await llamaFfnDim(2048), 5632);
});

test("a sweep of more than 10,000 triples equals Python's arithmetic", (t) => {
  const script = fileURLToPath(new URL('./helpers/ffn_dim.py', import.meta.url));
  const { status, stdout, stderr } = spawnSync('python3', [script], {
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  });
  assert.equal(status, 0, stderr);
  const rows = stdout.trimEnd().split('\n');
  assert.ok(rows.length > 10_000, `only ${rows.length} triples`);
  for (const row of rows) {
    const [d, multipleOf, multiplier, width] = JSON.parse(row);
    assert.equal(runtime.llamaFfnDim(d, multipleOf, multiplier), width, row);
  }
  t.diagnostic(`${rows.length} triples`);
});

test('the d_ff of a gated MLP of 8/3 d costs as much as a plain 4d MLP', () => {
  assert.equal(3 * 3072 * runtime.llamaFfnDim(3072, 1), 8 * 3072 ** 2);
});

test('arguments that are not positive whole numbers, or pass int32, are refused', () => {
  for (const d of [
    0,
    -1,
    1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    2 ** 31,
    '4096',
    null,
    undefined,
  ]) {
    assert.throws(
      () => runtime.llamaFfnDim(/** @type {number} */ (d)),
      { code: 'ERR_SHAPE' },
      String(d),
    );
  }
  assert.throws(() => runtime.llamaFfnDim(64, 0), { code: 'ERR_SHAPE' });
  assert.throws(() => runtime.llamaFfnDim(64, 256, -1), { code: 'ERR_SHAPE' });
  assert.throws(() => runtime.llamaFfnDim(64, 256, Number.NaN), { code: 'ERR_SHAPE' });
  assert.throws(() => runtime.llamaFfnDim(2 ** 30), { code: 'ERR_SHAPE' });
});
