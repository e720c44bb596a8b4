// From measured cases to rows, ratios and distances to the targets, and those as text. Pure: used by bench.js, which
// measures, and by its --json.

import { median } from './rounds.js';
import { WEIGHT_BYTES } from './targets.js';

/** @typedef {'simd128' | 'relaxed'} Variant */
/**
 * @typedef {object} Row
 * @property {string} name
 * @property {string} weights
 * @property {Variant} variant
 * @property {boolean} ours
 * @property {number} threads
 * @property {number} ms
 * @property {number[]} all milliseconds of every round
 * @property {number} gflops
 * @property {number} gbps of weights
 * @property {number} ratio speed over the best float32 peer's
 * @property {number | null} share of the limit that applies, where that is known: of a peer's integers it is not
 * @property {number} error
 * @property {number} setupMs by the wall clock, whatever the times are by
 */
/**
 * @typedef {object} Backward
 * @property {number} error
 * @property {Record<'forward' | 'from a trace' | 'alone', number[]>} times ms of every round
 * @property {number} again as in Case, which counts these, too
 * @property {number} disturbed
 */
/**
 * @typedef {object} Case
 * @property {string} shape
 * @property {number} tokens
 * @property {number} stream GB/s
 * @property {number | null} [shared] the same of all threads at once, where there are several
 * @property {Record<string, number>} peaks GFLOP/s by kind of arithmetic, as limits.js names them
 * @property {Row[]} rows
 * @property {number} again rounds that were taken again, since the machine was not left alone
 * @property {number} disturbed rounds that count although it was not
 * @property {Backward} [backward]
 */
/**
 * @param {{ d: number, dFf: number, tokens: number }} size
 * @param {import('./rounds.js').Rounds} rounds
 * @param {Variant} best what this engine runs at most
 * @returns {Case}
 */
export function makeCase({ d, dFf, tokens }, rounds, best) {
  const stream = median(rounds.stream);
  const shared = rounds.shared.length > 0 ? median(rounds.shared) : null;
  const peaks = Object.fromEntries(
    Object.entries(rounds.peaks).map(([variant, values]) => [variant, median(values)]),
  );
  const weights = 3 * d * dFf;
  const rows = [...rounds.times].map(([{ contestant, error, setupMs }, all]) => {
    const ms = median(all);
    const variant = contestant.variant ?? best;
    const gflops = (2 * weights * tokens) / ms / 1e6;
    const gbps = (weights * WEIGHT_BYTES[contestant.weights]) / ms / 1e6;
    const ours = contestant.ours ?? false;
    const threads = contestant.threads ?? 1;
    const { name, weights: held } = contestant;
    const peak = arithmeticLimit(peaks, held, variant, ours);
    /** @type {Row} */
    const row = {
      ...{
        name,
        weights: held,
        variant,
        ours,
        threads,
        ms,
        all,
        gflops,
        gbps,
        ratio: 0,
        error,
        setupMs,
      },
      share: tokens === 1 ? gbps / ((threads > 1 && shared) || stream) : peak && gflops / peak,
    };
    return row;
  });
  const rival = fastest(rows.filter((row) => !row.ours && row.weights === 'f32'));
  for (const row of rows) row.ratio = rival ? rival.ms / row.ms : Number.NaN;
  const { again, disturbed } = rounds;
  return { shape: `${d}x${dFf}`, tokens, stream, shared, peaks, rows, again, disturbed };
}

/** @param {Case} one */
export function caseText({ shape, tokens, stream, shared, peaks, rows, disturbed }) {
  const limits = limitsText(stream, shared, peaks);
  const beside = disturbed ? `; rounds not left alone: ${disturbed}` : '';
  const head = `${shape}  T=${tokens}${tokens === 1 ? ' cold' : ''}  (limits: ${limits}${beside})`;
  const lines = [...rows]
    .sort((a, b) => a.ms - b.ms)
    .map(({ name, ms, gflops, gbps, ratio, share, error, setupMs }) =>
      [
        name.padEnd(34),
        ms.toFixed(3).padStart(10),
        gflops.toFixed(1).padStart(9),
        gbps.toFixed(1).padStart(8),
        `${ratio.toFixed(2)}x`.padStart(9),
        (share === null ? '' : `${(100 * share).toFixed(0)} %`).padStart(8),
        error.toExponential(1).padStart(10),
        setupMs.toFixed(0).padStart(10),
      ].join(''),
    );
  const titles = `${''.padEnd(34)}        ms  GFLOP/s    GB/s  vs peer   share     error set-up ms`;
  return [head, titles, ...lines, ''].join('\n');
}

/** @param {Row[]} rows */
export function fastest(rows) {
  return rows.reduce(
    (best, row) => (best && best.ms <= row.ms ? best : row),
    /** @type {Row | undefined} */ (undefined),
  );
}

/** What limits.js measures, in the instructions' own names. @type {Record<string, string>} */
const PEAK_NAMES = {
  simd128: 'mul+add',
  relaxed: 'relaxed_madd',
  dot16: 'dot_i16x8',
  dot8: 'relaxed_dot_i8x16_i7x16',
};

/** @param {number} stream GB/s @param {number | null | undefined} shared @param {Record<string, number>} peaks */
export function limitsText(stream, shared, peaks) {
  const rates = Object.entries(peaks).map(
    ([name, peak]) => `${peak.toFixed(0)} ${PEAK_NAMES[name]}`,
  );
  const together = shared ? `, all threads ${shared.toFixed(1)}` : '';
  return `${stream.toFixed(1)} GB/s${together}; GFLOP/s: ${rates.join(', ')}`;
}

/**
 * The peak of the arithmetic with which weights held so can be multiplied at the accuracy that is asked of them, or null.
 * The error that quantised weights are held to leaves inputs of 8 bits no room: three 8-bit products take the place of two.
 * @param {Record<string, number>} peaks
 * @param {string} held
 * @param {Variant} variant
 * @param {boolean} ours
 */
function arithmeticLimit(peaks, held, variant, ours) {
  if (['plain', 'f32', 'float32', 'bfloat16', 'float16'].includes(held)) return peaks[variant];
  if (!ours) return null;
  const dot8 = variant === 'relaxed' ? peaks.dot8 : 0;
  return Math.max(peaks.dot16, dot8 / 1.5);
}
