// The data that everything else is held against is what SHA256SUMS says it is, file by file.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fixture } from './helpers/goldens.js';

test('every data file in fixtures/ has its recorded sum, and each has one', () => {
  const lines = readFileSync(fixture('SHA256SUMS'), 'utf8').trimEnd().split('\n');
  const recorded = new Map(lines.map((line) => [line.slice(66), line.slice(0, 64)]));
  const names = readdirSync(fixture(''), { recursive: true, encoding: 'utf8' });
  const data = names.filter((name) => /\.(safetensors|json)$/.test(name));
  assert.deepEqual(data.sort(), [...recorded.keys()].sort());
  for (const [name, sum] of recorded) {
    assert.equal(
      createHash('sha256')
        .update(readFileSync(fixture(name)))
        .digest('hex'),
      sum,
      name,
    );
  }
});
