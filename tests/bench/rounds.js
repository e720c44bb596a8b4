// Times contestants in rounds: each round runs every contestant once and measures the limits again, so that a slow
// moment of a shared machine hits all of them, and is taken again if its limits say that somebody else was at work. Results
// are checked before anything is timed.

import { now } from './clock.js';

/** @typedef {import('./contestant.js').Call} Call */
/** @typedef {{ contestant: import('./contestant.js').Contestant, call: Call, error: number, firstMs: number, setupMs: number }} Entry */
/**
 * @typedef {object} Rounds
 * @property {number[]} stream
 * @property {number[]} shared
 * @property {Record<string, number[]>} peaks
 * @property {Map<Entry, number[]>} times milliseconds
 * @property {number} again rounds that were taken again, since somebody disturbed them
 * @property {number} disturbed rounds that are among these although somebody did
 */

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
  const stretchMs = Math.min(ROUND_MS, ...entries.map(({ firstMs }) => firstMs));
  const threads = entries.some(({ contestant }) => (contestant.threads ?? 1) > 1);
  const restMs = threads ? REST_OF_THREADS_MS : REST_MS;
  /** @type {Map<Entry, number>} */
  const spent = new Map();
  /** @type {Rounds} */
  const all = {
    ...{ stream: [], shared: [], peaks: {} },
    times: new Map(entries.map((entry) => [entry, []])),
    ...{ again: 0, disturbed: 0 },
  };
  for (let round = 0; round < rounds; round++) {
    // Nobody always runs after the same neighbour.
    const order = entries.map(
      (_, i) => (i * stride(entries.length, round) + round) % entries.length,
    );
    const there = order
      .map((i) => entries[i])
      .filter((entry) => (spent.get(entry) ?? 0) <= budgetMs);
    const { result, again, disturbed } = await limits.quiet.run(async () => ({
      rates: ratesOf(limits, weightBytes, stretchMs),
      times: await timesOf(there, x, restMs, cold ? () => limits.stream(weightBytes) : null),
    }));
    all.again += again;
    all.disturbed += Number(disturbed);
    addRates(all, result.rates);
    for (const { entry, ms, spent: used } of result.times) {
      all.times.get(entry)?.push(ms);
      spent.set(entry, (spent.get(entry) ?? 0) + used);
    }
  }
  return all;
}

/**
 * One round: the milliseconds of each one's call, and all that it took to find them.
 * @param {Entry[]} entries
 * @param {Float32Array} x
 * @param {number} restMs
 * @param {(() => unknown) | null} sweep empties the caches, where calls are to find nothing there
 */
async function timesOf(entries, x, restMs, sweep) {
  const times = [];
  for (const entry of entries) {
    await pause(restMs);
    const start = now();
    const ms = await (sweep ? coldMs(entry.call, x, sweep) : warmMs(entry.call, x));
    times.push({ entry, ms, spent: now() - start });
  }
  await pause(restMs); // for whoever looks next whether somebody disturbs
  return times;
}

/**
 * @param {import('./limits.js').Limits} limits
 * @param {number} stretchBytes
 * @param {number} stretchMs
 */
function ratesOf({ stream, shared, peaks }, stretchBytes, stretchMs) {
  return {
    stream: stream(stretchBytes),
    shared: shared?.(stretchBytes),
    peaks: Object.entries(peaks).map(
      ([kind, peak]) => /** @type {const} */ ([kind, peak(stretchMs)]),
    ),
  };
}

/** @param {Rounds} all @param {ReturnType<typeof ratesOf>} rates */
function addRates(all, { stream, shared, peaks }) {
  all.stream.push(stream);
  if (shared !== undefined) all.shared.push(shared);
  for (const [kind, rate] of peaks) {
    all.peaks[kind] ??= [];
    all.peaks[kind].push(rate);
  }
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
