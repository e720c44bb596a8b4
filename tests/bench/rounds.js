// Times contestants in rounds: each round runs every contestant once and measures the limits again, so that a slow
// moment of a shared machine hits all of them. Results are checked before anything is timed.

import { now } from './clock.js';

/** @typedef {import('./contestant.js').Call} Call */
/** @typedef {{ contestant: import('./contestant.js').Contestant, call: Call, error: number, firstMs: number, setupMs: number }} Entry */
/** @typedef {{ stream: number[], shared: number[], peaks: Record<string, number[]>, times: Map<Entry, number[]> }} Rounds times in milliseconds */

/** Warm-up: an engine optimises in the background after some calls. */
const WARM_MS = 120;
const WARM_CALLS = 4;
/** A round repeats a warm call until it has taken this long, and takes the median. */
const ROUND_MS = 15;
/** Calls in a cold round, each after a sweep. */
const COLD_CALLS = 3;
/** Whose first call took longer than this is not warmed any further: it spends its time inside few long loops. */
const LONG_MS = 400;
/** Peers' helper threads spin after a call; this is let pass before the next contestant. */
const REST_MS = 2;
const REST_OF_THREADS_MS = 15;

/**
 * @param {Entry[]} entries
 * @param {Float32Array} x
 * @param {{ rounds: number, cold: boolean, budgetMs: number, weightBytes: number }} options cold: the caches are emptied before every call;
 *   weightBytes: what a call reads in float32; budgetMs: whoever has used this much time sits out the rounds that remain, after one at least
 * @param {import('./limits.js').Limits} limits
 * @returns {Promise<Rounds>}
 */
export async function runRounds(entries, x, { rounds, cold, budgetMs, weightBytes }, limits) {
  for (const { call, firstMs } of entries) if (firstMs < LONG_MS) await warm(call, x);
  /** @type {Map<Entry, number>} */
  const spent = new Map();
  const stretchMs = Math.min(ROUND_MS, ...entries.map(({ firstMs }) => firstMs));
  const threads = entries.some(({ contestant }) => (contestant.threads ?? 1) > 1);
  const restMs = threads ? REST_OF_THREADS_MS : REST_MS;
  /** @type {Rounds} */
  const result = {
    ...{ stream: [], shared: [], peaks: {} },
    times: new Map(entries.map((entry) => [entry, []])),
  };
  for (let round = 0; round < rounds; round++) {
    result.stream.push(limits.stream(weightBytes));
    if (limits.shared) result.shared.push(limits.shared(weightBytes));
    for (const [variant, peak] of Object.entries(limits.peaks)) {
      result.peaks[variant] ??= [];
      result.peaks[variant].push(peak(stretchMs));
    }
    for (let i = 0; i < entries.length; i++) {
      // Nobody always runs after the same neighbour.
      const entry = entries[(i * stride(entries.length, round) + round) % entries.length];
      const used = spent.get(entry) ?? 0;
      if (used > budgetMs) continue;
      await pause(restMs);
      const start = now();
      const ms = cold
        ? await coldMs(entry.call, x, () => limits.stream(weightBytes))
        : await warmMs(entry.call, x);
      spent.set(entry, used + now() - start);
      result.times.get(entry)?.push(ms);
    }
  }
  return result;
}

/** @param {readonly number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Milliseconds of one call, the median over a round. @param {Call} call @param {Float32Array} x */
async function warmMs(call, x) {
  const begin = now();
  const times = [];
  do {
    times.push(await oneMs(call, x));
  } while (now() - begin < ROUND_MS);
  return median(times);
}

/** The median of calls that found nothing in the caches. @param {Call} call @param {Float32Array} x @param {() => unknown} sweep */
async function coldMs(call, x, sweep) {
  const times = [];
  for (let i = 0; i < COLD_CALLS; i++) {
    sweep();
    times.push(await oneMs(call, x));
  }
  return median(times);
}

/** @param {Call} call @param {Float32Array} x */
async function oneMs(call, x) {
  const start = now();
  const y = call.run(x);
  if (y instanceof Promise) await y;
  return now() - start;
}

/** @param {Call} call @param {Float32Array} x */
async function warm(call, x) {
  const start = now();
  for (let calls = 0; calls < WARM_CALLS || now() - start < WARM_MS; calls++) {
    await call.run(x);
    await pause(0);
  }
}

/** A step that visits all of n places, another one each round. @param {number} n @param {number} round */
function stride(n, round) {
  /** @param {number} a @param {number} b @returns {number} */
  const divisor = (a, b) => (b === 0 ? a : divisor(b, a % b));
  const steps = Array.from({ length: n }, (_, i) => i + 1).filter((step) => divisor(step, n) === 1);
  return steps[round % steps.length];
}

/** @param {number} ms */
function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
