// The page's timing of a forward with and without some units, where the clock or the reader does not go along: it ends.
// What it says of a timing is in tests/browser/timing.test.js.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatedMLP, PCG32, Runtime } from '../src/binding/index.js';
import { timeWithout } from '../web/forward-timing.js';

const runtime = await Runtime.create({ variant: 'simd128' });
const mlp = await GatedMLP.create(8, 16, { rng: new PCG32(1), runtime });
const shown = { mlp, x: new Float32Array(3 * 8).fill(0.5), act: mlp.act };
const question = { token: 1, dropped: [2, 3, 5] };

/** @param {import('node:test').TestContext} t @param {() => number} now */
function setClock(t, now) {
  const { performance } = globalThis;
  Object.defineProperty(globalThis, 'performance', { value: { now }, configurable: true });
  t.after(() =>
    Object.defineProperty(globalThis, 'performance', { value: performance, configurable: true }),
  );
}

test('with a clock that stands still the timing begins all the same, and is left once nobody wants it', async (t) => {
  setClock(t, () => 0);
  let [looks, turns, over] = [0, 0, false];
  const timing = timeWithout(shown, question, runtime, () => ++looks < 8).finally(() => {
    over = true;
  });
  for (; !over; turns++) await new Promise((resolve) => setTimeout(resolve));
  assert.equal(await timing, null);
  assert.equal(looks, 8);
  assert.ok(turns > 4, `${turns} turns`);
});

test('a call that is long by itself is tried once, and is timed in every round', async (t) => {
  // Every look at the clock takes a second.
  let milliseconds = 0;
  setClock(t, () => (milliseconds += 1000));
  const timing = await timeWithout(shown, question, runtime, () => true);
  assert.ok(timing);
  assert.deepEqual([timing.step, timing.units, timing.kept], [1000, 16, 13]);
  assert.deepEqual([timing.token.all, timing.token.kept, timing.text.all], [1000, 1000, 1000]);
  assert.equal(timing.token.repetitions, 3);
});
