// How long the layer's forward takes in this browser, with all its units and with only some of them: measured, in the worker.
// Both are run in turn and warm, as often as the browser's coarse clock needs, with a pause between runs for what else the page
// asks. Which units are left out is the page's choice; finding them is not in the times.

import { compactLayer } from './compact-layer.js';
import { outputChange } from './definitions.js';
import { median } from './layer-measures.js';

/** @typedef {import('../src/binding/index.js').GatedMLP} GatedMLP */
/**
 * Medians in milliseconds, one forward with all units and with the kept ones. `repetitions`: forwards timed of either, at least;
 * `precision`: how far off the clock's step can put a round, as a share of it.
 * @typedef {{ all: number, kept: number, repetitions: number, precision: number }} Timed
 */
/**
 * `moved`: ||y - y of the kept units|| / ||y|| at the token. `difference`: the same between the compact layer and the whole one
 * with the other gates held shut, which are two ways to one output.
 * @typedef {{ token: Timed, text: Timed, tokens: number, units: number, kept: number, moved: number, difference: number,
 *   step: number, build: string, threads: number, dtype: string }} TimingMessage
 */

const ROUNDS = 9;
const LEAST_ROUNDS = 3;
/** A large layer gets fewer rounds. */
const LONG_MS = 2000;
/** A round is timed over so many steps of the clock, and at least and at most so long. */
const STEPS_A_ROUND = 50;
const LEAST_ROUND_MS = 5;
const LONGEST_ROUND_MS = 100;
const STEPS_SEEN = 4;
const TRIES = 3;
/** More than any layer needs; a clock that stands still must end, too. */
const MOST_RUNS = 2 ** 15;
/** More than fit into the longest step of any browser's clock, a tenth of a second. */
const MOST_LOOKS = 10_000_000;
/** What is taken for the step of a clock that has made none. */
const UNSEEN_STEP_MS = 1;

/**
 * @param {{ mlp: GatedMLP, x: Float32Array, act: string }} shown the layer, x [tokens, d] and the activation on show
 * @param {{ token: number, dropped: ArrayLike<number> }} question at least one unit is kept
 * @param {import('../src/binding/index.js').Runtime} runtime
 * @param {() => boolean} isWanted whether the answer still is
 * @returns {Promise<TimingMessage | null>} null: nobody wants it any more
 */
export async function timeWithout({ mlp, x, act }, { token, dropped }, runtime, isWanted) {
  const left = new Set(Array.from(dropped));
  const units = Array.from({ length: mlp.dFf }, (_, unit) => unit);
  const kept = units.filter((unit) => !left.has(unit));
  /** @type {GatedMLP[]} */
  const made = [];
  try {
    const compact = await compactLayer(mlp, kept, runtime, act);
    made.push(compact);
    // Another activation than the weights' own makes a layer of its own, too.
    const whole = act === mlp.act ? mlp : await compactLayer(mlp, units, runtime, act);
    if (whole !== mlp) made.push(whole);
    if (!isWanted()) return null;
    const own = x.subarray(token * mlp.d, (token + 1) * mlp.d);
    const outputs = compared(whole, compact, own, left);
    const times = await timesOf(whole, compact, [own, x], isWanted);
    if (times === null) return null;
    const tokens = x.length / mlp.d;
    const { variant: build, threads } = runtime;
    const { length } = kept;
    return {
      ...outputs,
      ...times,
      tokens,
      units: mlp.dFf,
      kept: length,
      build,
      threads,
      dtype: mlp.dtype,
    };
  } finally {
    for (const layer of made) layer.dispose();
  }
}

/**
 * @param {GatedMLP} whole
 * @param {GatedMLP} compact
 * @param {[Float32Array, Float32Array]} inputs the token's x, and all
 * @param {() => boolean} isWanted
 */
async function timesOf(whole, compact, [own, all], isWanted) {
  const step = clockStep();
  const timed = (/** @type {Float32Array} */ x) => {
    const out = new Float32Array(x.length);
    return inTurn(
      [() => whole.forward(x, { out }), () => compact.forward(x, { out })],
      step,
      isWanted,
    );
  };
  const token = await timed(own);
  const text = token === null ? null : await timed(all);
  return token === null || text === null ? null : { token, text, step };
}

/**
 * The compact layer's output beside the whole one's, and beside that with the other gates held shut.
 * @param {GatedMLP} whole
 * @param {GatedMLP} compact
 * @param {Float32Array} x of one token
 * @param {Set<number>} left
 */
function compared(whole, compact, x, left) {
  const hold = Array.from(left, (unit) => ({ unit, value: 0 }));
  const trace = whole.trace(x, { hold });
  const shut = floats(trace.output);
  trace.dispose();
  const y = floats(compact.forward(x));
  return {
    moved: outputChange(floats(whole.forward(x)), y).relative,
    difference: outputChange(shut, y).relative,
  };
}

/** The page's runtime computes in float32. @param {Float32Array | Float64Array} array */
const floats = (array) => /** @type {Float32Array} */ (array);

/**
 * Two calls, a round of each in turn.
 * @param {[() => void, () => void]} calls
 * @param {number} step of the clock
 * @param {() => boolean} isWanted
 * @returns {Promise<Timed | null>}
 */
async function inTurn(calls, step, isWanted) {
  const long = Math.min(LONGEST_ROUND_MS, Math.max(LEAST_ROUND_MS, STEPS_A_ROUND * step));
  /** @type {number[]} */
  const runs = [];
  for (const call of calls) {
    const count = await runsFor(call, long, isWanted);
    if (count === null) return null;
    runs.push(count);
  }
  /** @type {number[][]} */
  const rounds = [[], []];
  const began = performance.now();
  for (let round = 0; round < ROUNDS; round++) {
    if (round >= LEAST_ROUNDS && performance.now() - began > LONG_MS) break;
    for (const [i, call] of calls.entries()) {
      await turn();
      if (!isWanted()) return null;
      // Whatever came in between has the caches now.
      call();
      rounds[i].push(timeOf(call, runs[i]));
    }
  }
  const [all, kept] = rounds.map((times, i) => median(times) / runs[i]);
  return {
    all,
    kept,
    repetitions: rounds[1].length * Math.min(...runs),
    precision: Math.max(...rounds.map((times) => step / Math.max(step, median(times)))),
  };
}

/** Lets in whatever else the page asks. */
const turn = () => new Promise((resolve) => setTimeout(resolve));

/**
 * How often a call has to be made to take so long, also when nothing else holds it up.
 * @param {() => void} call
 * @param {number} long
 * @param {() => boolean} isWanted
 * @returns {Promise<number | null>} null: nobody wants it any more
 */
async function runsFor(call, long, isWanted) {
  for (let runs = 1; runs < MOST_RUNS; runs *= 2) {
    let isLong = true;
    for (let i = 0; i < TRIES && isLong; i++) {
      await turn();
      if (!isWanted()) return null;
      const time = timeOf(call, runs);
      // One call that takes as long as the tries are to take together is not tried again.
      if (runs === 1 && time >= TRIES * long) return runs;
      isLong = time >= long;
    }
    if (isLong) return runs;
  }
  return MOST_RUNS;
}

/**
 * @param {() => void} call
 * @param {number} runs
 */
function timeOf(call, runs) {
  const began = performance.now();
  for (let run = 0; run < runs; run++) call();
  return performance.now() - began;
}

/** The least step that the clock is seen to make: 0.1 to 1 ms in a page that is not isolated, in some browsers more. */
function clockStep() {
  let least = Number.POSITIVE_INFINITY;
  let last = performance.now();
  for (let seen = 0, looks = 0; seen < STEPS_SEEN && looks < MOST_LOOKS; looks++) {
    const now = performance.now();
    if (now === last) continue;
    least = Math.min(least, now - last);
    last = now;
    seen++;
  }
  return Number.isFinite(least) ? least : UNSEEN_STEP_MS;
}
