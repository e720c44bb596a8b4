// What this machine and engine can do at most, measured with hand-written wasm: bytes a second out of memory, and
// operations a second with everything in registers, in float32 and in the dot products of integers that wasm has. The
// stream doubles as the sweep that empties the caches.

import wabtModule from 'wabt';
import { now } from './clock.js';
import { Quiet } from './quiet.js';
import { median } from './rounds.js';
import { startTogether } from './together.js';

/** More than any cache here holds. */
const SWEEP_BYTES = 192 * 2 ** 20;
const PAGE_BYTES = 65536;
const VECTOR_BYTES = 16;
const PEAK_ITERATIONS = 160000;
const PEAK_STRETCHES = 3;
/** How long one stretch of a look takes whether the machine is left alone, in milliseconds; in iterations of each of several threads. */
const LOOK_MS = 4;
const LOOK_ITERATIONS = 1600000;
const WARM_CALLS = 40;
const WARM_PART = 50;

/**
 * Multiplications and additions of vectors: how each is spelled, and how many operations it does.
 * @typedef {object} Arithmetic
 * @property {number} operations
 * @property {boolean} [relaxed] needs relaxed SIMD
 * @property {(x: string, y: string, z: string) => string} step
 */

/** @type {Record<string, Arithmetic>} */
const ARITHMETIC = {
  simd128: { operations: 8, step: (x, y, z) => `(f32x4.add (f32x4.mul ${x} ${y}) ${z})` },
  relaxed: {
    operations: 8,
    relaxed: true,
    step: (x, y, z) => `(f32x4.relaxed_madd ${x} ${y} ${z})`,
  },
  dot16: { operations: 16, step: (x, y, z) => `(i32x4.add (i32x4.dot_i16x8_s ${x} ${y}) ${z})` },
  dot8: {
    operations: 32,
    relaxed: true,
    step: (x, y, z) => `(i32x4.relaxed_dot_i8x16_i7x16_add_s ${x} ${y} ${z})`,
  },
};

/**
 * Loops that come near the peak; which of them gets there depends on the engine's registers and on luck, so the best
 * counts. Sums are independent: enough to hide the latency, few enough to stay in V8's 15 registers.
 * @type {{ sums: number, operands: (i: number) => [x: string, y: string, z: string] }[]}
 */
const LOOPS = [
  { sums: 12, operands: (i) => [`(local.get $s${i})`, '(local.get $a)', '(local.get $b)'] },
  {
    sums: 10,
    operands: (i) => [
      '(local.get $a)',
      `(v128.load offset=${i * VECTOR_BYTES} (i32.const 0))`,
      `(local.get $s${i})`,
    ],
  },
];

/** Whether this engine runs relaxed SIMD. */
export function hasRelaxedSimd() {
  // (func (param v128 v128 v128) (result v128) (f32x4.relaxed_madd (local.get 0) (local.get 1) (local.get 2)))
  const bytes = [
    0, 97, 115, 109, 1, 0, 0, 0, 1, 8, 1, 96, 3, 123, 123, 123, 1, 123, 3, 2, 1, 0, 10, 13, 1, 11,
    0, 32, 0, 32, 1, 32, 2, 0xfd, 0x85, 0x02, 11,
  ];
  return WebAssembly.validate(Uint8Array.from(bytes));
}

/**
 * @typedef {object} Limits rates, each taken over stretches as long as the calls that it is compared with, since
 *   a long stretch meets more disturbance than a short one
 * @property {(stretchBytes: number) => number} stream GB/s, the median over stretches; leaves the caches without anything else
 * @property {((stretchBytes: number) => number) | null} shared GB/s of all threads at once, where there are several
 * @property {Record<string, (stretchMs: number) => number>} peaks 1e9 operations a second, the same: of float32 by variant, and
 *   of `dot16` (16-bit integers) and `dot8` (8 by 7 bits, relaxed SIMD)
 * @property {Quiet} quiet judged by multiplications and additions on all threads at once
 */

/** @param {number} threads @param {number} patienceMs @returns {Promise<Limits>} */
export async function makeLimits(threads, patienceMs) {
  const { memory, loop: stream } = await instantiate(streamText(false));
  // Pages that were never written are all one page of zeros, which stays in the cache.
  new Uint8Array(memory.buffer).fill(1);
  await warm(() => stream(0, SWEEP_BYTES / WARM_PART));
  /** @type {Limits['peaks']} */
  const peaks = {};
  for (const [name, { operations, relaxed, step }] of Object.entries(ARITHMETIC)) {
    if (relaxed && !hasRelaxedSimd()) continue;
    /** @type {Parameters<typeof peakRate>[0][]} */
    const loops = [];
    for (const { sums, operands } of LOOPS) {
      const { loop } = await instantiate(peakText(sums, (i) => step(...operands(i))));
      await warm(() => loop(0, PEAK_ITERATIONS / WARM_PART));
      loops.push({ operations: operations * sums, loop });
    }
    peaks[name] = (ms) => Math.max(...loops.map((loop) => peakRate(loop, ms)));
  }
  /** @param {number} begin @param {number} bytes */
  const read = (begin, bytes) => {
    const start = now();
    stream(begin, begin + bytes);
    return now() - start;
  };
  const shared = threads > 1 ? await sharedStream(threads) : null;
  const rate = threads > 1 ? await sharedArithmetic(threads) : () => peaks.simd128(LOOK_MS);
  const quiet = new Quiet(rate, patienceMs);
  return { stream: (stretchBytes) => streamRate(read, stretchBytes), shared, peaks, quiet };
}

/** @param {number} threads @returns {Promise<(stretchBytes: number) => number>} */
async function sharedStream(threads) {
  const pages = SWEEP_BYTES / PAGE_BYTES;
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  new Uint8Array(memory.buffer).fill(1);
  const read = await startTogether(await compile(streamText(true)), memory, threads);
  await warm(() => read(0, Math.floor(SWEEP_BYTES / WARM_PART / PAGE_BYTES) * PAGE_BYTES));
  return (stretchBytes) => streamRate(read, stretchBytes);
}

/** Multiplications and additions on all threads at once, in any unit. @param {number} threads @returns {Promise<() => number>} */
async function sharedArithmetic(threads) {
  const [{ sums, operands }] = LOOPS;
  const text = peakText(sums, (i) => ARITHMETIC.simd128.step(...operands(i)));
  const run = await startTogether(await compile(text), null, threads);
  await warm(() => run(0, PEAK_ITERATIONS / WARM_PART));
  const count = threads * LOOK_ITERATIONS;
  return () => median(Array.from({ length: PEAK_STRETCHES }, () => count / run(0, count)));
}

/** @param {(begin: number, bytes: number) => number} read gives milliseconds @param {number} stretchBytes */
function streamRate(read, stretchBytes) {
  const stretches = Math.max(1, Math.floor(SWEEP_BYTES / stretchBytes));
  const bytes = Math.ceil(SWEEP_BYTES / stretches / PAGE_BYTES) * PAGE_BYTES;
  const rates = [];
  for (let begin = 0; begin + bytes <= SWEEP_BYTES; begin += bytes) {
    rates.push(bytes / read(begin, bytes) / 1e6);
  }
  return median(rates);
}

/** @param {{ operations: number, loop: (from: number, to: number) => number }} one @param {number} stretchMs */
function peakRate({ operations, loop }, stretchMs) {
  const rates = [];
  for (let i = 0; i < PEAK_STRETCHES; i++) {
    const start = now();
    let iterations = 0;
    do {
      loop(0, PEAK_ITERATIONS);
      iterations += PEAK_ITERATIONS;
    } while (now() - start < stretchMs);
    rates.push((iterations * operations) / (now() - start) / 1e6);
  }
  return median(rates);
}

/** Small calls with pauses, in which the engine puts its optimised code in place. @param {() => unknown} run */
async function warm(run) {
  for (let call = 0; call < WARM_CALLS; call++) {
    run();
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** @param {string} text @returns {Promise<Record<string, (...n: number[]) => number> & { memory: WebAssembly.Memory }>} */
async function instantiate(text) {
  const { exports } = await WebAssembly.instantiate(await compile(text));
  return /** @type {any} */ (exports);
}

/** @param {string} text */
async function compile(text) {
  const wabt = await wabtModule();
  const features = { simd: true, relaxed_simd: true, threads: true };
  const parsed = wabt.parseWat('limits.wat', text, features);
  const { buffer } = parsed.toBinary({});
  parsed.destroy();
  return WebAssembly.compile(/** @type {any} */ (buffer));
}

/** Its loop reads the bytes from $at to $end. @param {boolean} shared a memory that is brought */
function streamText(shared) {
  const WIDTH = 8;
  const pages = SWEEP_BYTES / PAGE_BYTES;
  const [sums, loads] = [4, Array.from({ length: WIDTH }, (_, i) => i)];
  const adds = loads.map(
    (i) =>
      `(local.set $s${i % sums} (v128.xor (local.get $s${i % sums})
        (v128.load offset=${i * VECTOR_BYTES} (local.get $at))))`,
  );
  return `(module
    ${shared ? `(import "env" "memory" (memory ${pages} ${pages} shared))` : `(memory (export "memory") ${pages})`}
    (func (export "loop") (param $at i32) (param $end i32) (result i32)
      ${locals(sums)}
      (loop $next
        ${adds.join('\n')}
        (local.set $at (i32.add (local.get $at) (i32.const ${WIDTH * VECTOR_BYTES})))
        (br_if $next (i32.lt_u (local.get $at) (local.get $end))))
      (i32x4.extract_lane 0 ${folded(sums, 'v128.xor')})))`;
}

/** Its loop has so many steps. @param {number} sums @param {(i: number) => string} next the new value of sum i */
function peakText(sums, next) {
  const indices = Array.from({ length: sums }, (_, i) => i);
  const starts = indices.map((i) => `(local.set $s${i} (f32x4.splat (f32.const ${i + 1})))`);
  const steps = indices.map((i) => `(local.set $s${i} ${next(i)})`);
  return `(module
    (memory 1)
    (func (export "loop") (param $at i32) (param $end i32) (result f32)
      (local $a v128) (local $b v128) ${locals(sums)}
      (local.set $a (f32x4.splat (f32.const 0.5)))
      (local.set $b (f32x4.splat (f32.const 0.75)))
      ${starts.join('\n')}
      (loop $next
        ${steps.join('\n')}
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br_if $next (i32.lt_u (local.get $at) (local.get $end))))
      (f32x4.extract_lane 0 ${folded(sums, 'f32x4.add')})))`;
}

/** @param {number} count */
function locals(count) {
  return Array.from({ length: count }, (_, i) => `(local $s${i} v128)`).join(' ');
}

/** @param {number} count @param {string} operator */
function folded(count, operator) {
  let text = '(local.get $s0)';
  for (let i = 1; i < count; i++) text = `(${operator} ${text} (local.get $s${i}))`;
  return text;
}
