// node tests/bench/sweep.js: how the time of forward grows with tokens, d and d_ff, through sizes on both sides of the
// kernels' multiples. Writes sweep.svg and prints whatever costs more than the next multiple by over 10 %.

import { writeFileSync } from 'node:fs';
import { GatedMLP, Runtime } from '../../src/binding/index.js';
import { chart } from './chart.js';
import { now } from './clock.js';
import { median } from './rounds.js';

const DTYPES = /** @type {const} */ (['float32', 'bfloat16', 'q8_0', 'q4_1']);
const [D, D_FF, TOKENS] = [576, 1536, 16];
/** Panels are so many columns wide and blocks of tokens are multiples of less. */
const MULTIPLE = 32;
const MOST_OVER_NEXT = 1.1;
const ROUNDS = 7;
const ROUND_MS = 12;

/** Each multiple in a range with its neighbours. @param {number} first @param {number} last @param {number} step */
function around(first, last, step) {
  const sizes = [];
  for (let size = first; size <= last; size += step) sizes.push(size - 1, size, size + 1);
  return sizes;
}

const TOKEN_COUNTS = [
  ...Array.from({ length: 12 }, (_, i) => i + 1),
  ...around(16, 64, 16),
  ...around(96, 480, 32),
  511,
  512,
];

const runtime = await Runtime.create();
const sweeps = [
  { label: 'tokens', sizes: TOKEN_COUNTS, size: (/** @type {number} */ n) => [D, D_FF, n] },
  { label: 'd', sizes: around(448, 704, 32), size: (/** @type {number} */ n) => [n, D_FF, TOKENS] },
  {
    label: 'd_ff',
    sizes: around(1408, 1664, 32),
    size: (/** @type {number} */ n) => [D, n, TOKENS],
  },
];
const panels = [];
for (const { label, sizes, size } of sweeps) {
  const lines = [];
  for (const dtype of DTYPES) {
    const points = await measure(
      sizes.map((n) => ({ n, size: size(n) })),
      dtype,
    );
    lines.push({ label: dtype, points });
    for (const cliff of cliffs(points)) console.log(`${label} ${dtype}: ${cliff}`);
  }
  panels.push({ label, lines });
}
const title = `forward, ${runtime.variant}, 1 thread: d = ${D}, d_ff = ${D_FF}, ${TOKENS} tokens unless varied`;
writeFileSync(new URL('sweep.svg', import.meta.url), chart(title, 'ms', panels));

/**
 * Milliseconds at each size: medians over rounds that visit every size in turn.
 * @param {{ n: number, size: number[] }[]} places
 * @param {typeof DTYPES[number]} dtype
 * @returns {Promise<[n: number, ms: number][]>}
 */
async function measure(places, dtype) {
  const calls = [];
  for (const {
    n,
    size: [d, dFf, tokens],
  } of places) {
    const mlp = await GatedMLP.create(d, dFf, { dtype, runtime });
    const x = Float32Array.from({ length: tokens * d }, (_, i) => Math.sin(i));
    const out = new Float32Array(x.length);
    calls.push({ n, mlp, run: () => mlp.forward(x, { out }), times: /** @type {number[]} */ ([]) });
  }
  for (let round = 0; round <= ROUNDS; round++) {
    for (const { run, times } of calls) {
      const single = [];
      const begin = now();
      do {
        const start = now();
        run();
        single.push(now() - start);
      } while (now() - begin < ROUND_MS);
      if (round > 0) times.push(median(single));
    }
  }
  for (const { mlp } of calls) mlp.dispose();
  return calls.map(({ n, times }) => [n, median(times)]);
}

/** Sizes just past a multiple that cost more than the next multiple does, by too much. @param {[number, number][]} points */
function cliffs(points) {
  const at = new Map(points);
  return points.flatMap(([n, ms]) => {
    const next = Math.ceil(n / MULTIPLE) * MULTIPLE;
    const limit = at.get(next);
    if (n % MULTIPLE !== 1 || limit === undefined || ms <= MOST_OVER_NEXT * limit) return [];
    return [`${n} takes ${ms.toFixed(3)} ms, ${next} takes ${limit.toFixed(3)} ms`];
  });
}
