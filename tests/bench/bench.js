// npm run bench: the public forward against plain JavaScript loops on the shapes of a real layer, in the same run.
// Results are held against a float64 reference before anything is timed. Times are printed, never asserted.

import { cpus } from 'node:os';
import { GatedMLP, Runtime } from '../../src/binding/index.js';
import { plainForward } from './plain.js';

const [D, D_FF] = [576, 1536];
const TOKENS = [1, 16, 128, 512];
const ROUNDS = 7;
/** A round repeats a call until it has taken this long, so that short calls are not timed by their noise. */
const ROUND_MS = 60;

const runtime = await Runtime.create();
const mlp = await GatedMLP.create(D, D_FF, { act: 'silu', runtime });
const half = await GatedMLP.create(D, D_FF, { act: 'silu', dtype: 'bfloat16', runtime });
const weights = Object.fromEntries(
  [...mlp.namedParameters()].map(([name, { data }]) => [name, data]),
);
const halfWeights = Object.fromEntries(
  [...half.namedParameters()].map(([name, { data }]) => [name, data]),
);

console.log(`node ${process.version}, ${runtime.variant}, 1 thread, ${cpus()[0].model.trim()}`);
console.log(`d = ${D}, d_ff = ${D_FF}, silu; medians of ${ROUNDS} interleaved rounds\n`);
console.log('     T   plain JS ms   float32 ms   times   GFLOP/s   bfloat16 ms   times   GFLOP/s');
for (const tokens of TOKENS) console.log(row(tokens));

/** @param {number} tokens */
function row(tokens) {
  const x = Float32Array.from({ length: tokens * D }, (_, i) => Math.sin(i * 0.731) * 2);
  const out = new Float32Array(tokens * D);
  const contenders = [
    { run: () => plainForward(out, x, weights, D, D_FF), weights },
    { run: () => mlp.forward(x, { out }), weights },
    { run: () => half.forward(x, { out }), weights: halfWeights },
  ];
  for (const contender of contenders) {
    const expected = new Float64Array(out.length);
    plainForward(expected, x, contender.weights, D, D_FF);
    contender.run();
    check(out, expected);
  }
  const [plain, ours, oursHalf] = medians(contenders.map(({ run }) => run));
  const gflops = (/** @type {number} */ ms) => (6 * D * D_FF * tokens) / ms / 1e6;
  const columns = [
    [tokens, 0, 6],
    [plain, 3, 14],
    [ours, 3, 13],
    [plain / ours, 1, 8],
    [gflops(ours), 2, 10],
    [oursHalf, 3, 14],
    [plain / oursHalf, 1, 8],
    [gflops(oursHalf), 2, 10],
  ];
  return columns.map(([value, digits, width]) => value.toFixed(digits).padStart(width)).join('');
}

/**
 * Median milliseconds a call of each function, their rounds taken in turn so that a slow moment hits all of them.
 * @param {(() => void)[]} functions
 */
function medians(functions) {
  const times = functions.map(() => /** @type {number[]} */ ([]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [i, run] of functions.entries()) {
      const start = performance.now();
      let calls = 0;
      let elapsed = 0;
      do {
        run();
        calls += 1;
        elapsed = performance.now() - start;
      } while (elapsed < ROUND_MS);
      times[i].push(elapsed / calls);
    }
  }
  return times.map((list) => list.sort((a, b) => a - b)[ROUNDS >> 1]);
}

/**
 * @param {Float32Array} actual
 * @param {Float64Array} expected
 */
function check(actual, expected) {
  const largest = expected.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  for (const [i, value] of expected.entries()) {
    if (!(Math.abs(actual[i] - value) <= 2e-6 * largest)) {
      throw new Error(`value ${i} is ${actual[i]}, not ${value}: nothing was timed`);
    }
  }
}
