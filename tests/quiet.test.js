// That the bench takes again what it timed while somebody else used the same core, told by a loop's rate and nothing else.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Quiet } from './bench/quiet.js';
import { runRounds } from './bench/rounds.js';

/** A rate that is so much at each look; the last one stays. @param {number[]} rates */
function rateOf(rates) {
  const left = [...rates];
  return () => (left.length > 1 ? Number(left.shift()) : left[0]);
}

/** Work whose results are 1, 2, 3. */
function counter() {
  let done = 0;
  return async () => ++done;
}

const PATIENCE_MS = 60_000;

test('what was disturbed is done again until it is not', async () => {
  const quiet = new Quiet(rateOf([100, 80, 85, 100, 95, 91, 105]), PATIENCE_MS);
  const work = counter();
  assert.deepEqual(await quiet.run(work), { result: 2, again: 1, disturbed: false });
  assert.deepEqual(await quiet.run(work), { result: 3, again: 0, disturbed: false });
});

test('without patience it is done once, and told', async () => {
  const quiet = new Quiet(rateOf([100, 89, 89, 100, 100]), 0);
  const work = counter();
  assert.deepEqual(await quiet.run(work), { result: 1, again: 0, disturbed: true });
  assert.deepEqual(await quiet.run(work), { result: 2, again: 0, disturbed: true });
  assert.deepEqual(await quiet.run(work), { result: 3, again: 0, disturbed: false });
});

test('patience has an end', async () => {
  for (const patience of [1, Number.NaN]) {
    const quiet = new Quiet(rateOf([100, 50]), patience);
    const { again, disturbed } = await quiet.run(counter());
    assert.deepEqual([again, disturbed], [patience === 1 ? 1 : 0, true]);
    assert.equal(await quiet.wait(), false);
  }
});

test('of a round that is taken again nothing counts', async () => {
  let [calls, looks] = [0, 0];
  const call = {
    run(/** @type {Float32Array} */ x) {
      calls++;
      return x;
    },
    dispose() {},
  };
  const load = () => Promise.reject(new Error('is loaded'));
  const contestant = { name: 'one', weights: 'f32', load };
  const entry = { contestant, call, error: 0, firstMs: 1000, setupMs: 0 };
  const limits = {
    ...{ stream: () => 30, shared: null, peaks: { simd128: () => ++looks } },
    quiet: new Quiet(rateOf([100, 50, 100]), PATIENCE_MS),
  };
  const plan = { rounds: 2, cold: true, budgetMs: Number.POSITIVE_INFINITY, weightBytes: 1 };
  const rounds = await runRounds([entry], new Float32Array(1), plan, limits);
  assert.deepEqual([rounds.again, rounds.disturbed, rounds.stream.length], [1, 0, 2]);
  assert.deepEqual(rounds.peaks, { simd128: [2, 3] });
  assert.equal(rounds.times.get(entry)?.length, 2);
  assert.equal(calls, 3 * 3);
});
