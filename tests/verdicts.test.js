// The bench's judgement, on measurements made up here: which limit a row is held to, what counts as met and what only as at
// the ceiling, and that RESULTS.md tells them apart. No times are taken.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeCase } from './bench/report.js';
import { resultsText } from './bench/results.js';
import { countText, statusOf, verdicts } from './bench/verdicts.js';

const LEFT_ALONE = { again: 0, disturbed: 0 };
const PEAKS = { simd128: 60, relaxed: 64, dot16: 120, dot8: 300 };

/** @param {string} name @param {string} weights @param {object} [rest] */
const contestant = (name, weights, rest = {}) => ({
  ...{ name, weights, load: () => Promise.reject(new Error('not run')) },
  ...rest,
});

/**
 * A case of 576x1536 in which each contestant had so many GFLOP/s.
 * @param {[import('./bench/contestant.js').Contestant, number][]} rates
 */
function caseOf(rates) {
  const size = { d: 576, dFf: 1536, tokens: 16 };
  const operations = 2 * 3 * size.d * size.dFf * size.tokens;
  const times = new Map(
    rates.map(([each, gflops]) => {
      const call = { run: (/** @type {Float32Array} */ x) => x, dispose() {} };
      const entry = { contestant: each, call, error: 0, firstMs: 1, setupMs: 1 };
      return [entry, [operations / gflops / 1e6]];
    }),
  );
  const peaks = Object.fromEntries(Object.entries(PEAKS).map(([name, peak]) => [name, [peak]]));
  return makeCase(size, { stream: [30], shared: [], peaks, times, ...LEFT_ALONE }, 'relaxed');
}

const ours = (/** @type {string} */ weights, /** @type {'simd128' | 'relaxed'} */ variant) =>
  contestant(`gated-mlp ${weights} ${variant}`, weights, { ours: true, variant });

test('a row is held to the peak of the arithmetic that its accuracy allows', () => {
  const { rows } = caseOf([
    [ours('bfloat16', 'simd128'), 30],
    [ours('bfloat16', 'relaxed'), 32],
    [ours('q8_0', 'simd128'), 60],
    [ours('q8_0', 'relaxed'), 100],
    [ours('q4_1', 'simd128'), 60],
    [ours('q4_1', 'relaxed'), 100],
    [contestant('LiteRT int8', 'int8'), 140],
    [contestant('LiteRT f32', 'f32'), 48],
  ]);
  const shares = rows.map(({ share }) => share && Number(share.toFixed(6)));
  assert.deepEqual(shares, [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, null, 0.75]);
});

test('a floor above the ceiling is met by nobody outright, and told apart from what is short', () => {
  const status = (/** @type {number} */ value, /** @type {number | null} */ ceiling, part = 1) =>
    statusOf({ value, must: 1.2, ceiling, part });
  assert.equal(status(1.2, null), 'met');
  assert.equal(status(1.2, 1.1), 'met');
  assert.equal(status(1.19, null), 'short');
  assert.equal(status(1.19, 1.3), 'short');
  assert.equal(status(1.1, 1.1), 'ceiling');
  assert.equal(status(1.09, 1.1), 'under');
  assert.equal(status(0.9, null, 0.75), 'met');
  assert.equal(status(0.89, 1, 0.75), 'ceiling');
  assert.equal(statusOf({ value: 2, must: 2.6, ceiling: null, most: true, part: 1 }), 'met');
  assert.equal(statusOf({ value: 2.7, must: 2.6, ceiling: null, most: true, part: 1 }), 'short');
  const counts = countText(['met', 'short', 'met', 'under', 'ceiling']);
  assert.equal(counts, '2 met, 1 at the ceiling, 1 under the ceiling, 1 short');
});

test('two threads that read a token are held to what two threads can read', () => {
  const size = { d: 2048, dFf: 8192, tokens: 1 };
  const bytes = 2 * 3 * size.d * size.dFf;
  const times = new Map(
    [1, 2].map((threads) => {
      const rate = threads === 1 ? 25 : 36;
      const each = { ...ours('bfloat16', 'simd128'), threads };
      const call = { run: (/** @type {Float32Array} */ x) => x, dispose() {} };
      return [{ contestant: each, call, error: 0, firstMs: 1, setupMs: 1 }, [bytes / rate / 1e6]];
    }),
  );
  const judge = (/** @type {number[]} */ shared) => {
    const one = makeCase(
      size,
      { stream: [30], shared, peaks: {}, times, ...LEFT_ALONE },
      'simd128',
    );
    const [{ value, ceiling, status }] = verdicts([one], 'simd128', false);
    assert.ok(Math.abs(value - 36 / 25) < 1e-9);
    return { ceiling, status, shares: one.rows.map(({ share }) => share) };
  };
  assert.deepEqual(judge([]).status, 'short');
  const held = judge([37.5, 36, 40]);
  assert.equal(held.status, 'ceiling');
  assert.ok(Math.abs(Number(held.ceiling) - (0.95 * 37.5) / 25) < 1e-9);
  assert.ok(Math.abs(Number(held.shares[0]) - 25 / 30) < 1e-9);
  assert.ok(Math.abs(Number(held.shares[1]) - 36 / 37.5) < 1e-9);
  assert.equal(judge([45]).status, 'short');
});

test('RESULTS.md says of every target what it came to', () => {
  const one = caseOf([
    [ours('q8_0', 'relaxed'), 177],
    [ours('bfloat16', 'relaxed'), 50],
    [contestant('LiteRT int8', 'int8'), 160],
    [contestant('LiteRT f32', 'f32'), 45],
  ]);
  const judged = verdicts([one], 'relaxed', false);
  const [half, byte] = judged;
  assert.deepEqual([half.status, byte.status], ['short', 'ceiling']);
  assert.ok(Math.abs(Number(byte.ceiling) - (0.88 * 200) / 160) < 1e-9);
  const run = { engine: 'E', variant: 'relaxed', clock: 'wall', machine: 'M', cases: [one] };
  const runs = [{ ...run, verdicts: judged }];
  const text = resultsText([{ title: 'Engine', threads: 1, runs }], true);
  assert.match(text, /bfloat16 over the best f32 peer \| \*\*1\.11 \(1\.2\)\*\*/);
  assert.match(text, /q8_0 over LiteRT int8 \| \*1\.11 \(1\.15\), at the ceiling of 1\.10\*/);
  assert.match(text, /\| of all \| 0 met, 1 at the ceiling, 1 short \|/);
  assert.match(text, /64 relaxed_madd, 120 dot_i16x8, 300 relaxed_dot_i8x16_i7x16/);
});
