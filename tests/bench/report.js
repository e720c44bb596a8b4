// From measured cases to rows, ratios and distances to the targets, and those as text. Pure: used by bench.js, which
// measures, and by its --json.

import { median } from './rounds.js';
import {
  ARITHMETIC_SHARE,
  REACHABLE,
  SPEED_TARGETS,
  STREAM_SHARE,
  WEIGHT_BYTES,
} from './targets.js';

/** @typedef {'simd128' | 'relaxed'} Variant */
/**
 * @typedef {object} Row
 * @property {string} name
 * @property {string} weights
 * @property {Variant} variant
 * @property {boolean} ours
 * @property {number} ms
 * @property {number[]} all milliseconds of every round
 * @property {number} gflops
 * @property {number} gbps of weights
 * @property {number} ratio speed over the best float32 peer's
 * @property {number | null} share of the limit that applies, for arithmetic in float32
 * @property {number} error
 * @property {number} setupMs
 */
/** @typedef {{ shape: string, tokens: number, stream: number, peaks: Record<string, number>, rows: Row[] }} Case */
/**
 * @typedef {object} Verdict
 * @property {string} what
 * @property {number} value a ratio, or a share
 * @property {number} must
 * @property {number} aim
 * @property {number | null} ceiling the ratio at the reachable share of the limit, where that is known
 * @property {boolean} met
 */

/**
 * @param {{ d: number, dFf: number, tokens: number }} size
 * @param {import('./rounds.js').Rounds} rounds
 * @param {Variant} best what this engine runs at most
 * @returns {Case}
 */
export function makeCase({ d, dFf, tokens }, rounds, best) {
  const stream = median(rounds.stream);
  const peaks = Object.fromEntries(
    Object.entries(rounds.peaks).map(([variant, values]) => [variant, median(values)]),
  );
  const weights = 3 * d * dFf;
  const rows = [...rounds.times].map(([{ contestant, error, setupMs }, all]) => {
    const ms = median(all);
    const variant = contestant.variant ?? best;
    const gflops = (2 * weights * tokens) / ms / 1e6;
    const gbps = (weights * WEIGHT_BYTES[contestant.weights]) / ms / 1e6;
    const share = tokens === 1 ? gbps / stream : gflops / peaks[variant];
    const ours = contestant.ours ?? false;
    const { name, weights: held } = contestant;
    const limited = tokens === 1 || computesInFloat(held);
    /** @type {Row} */
    const row = {
      ...{ name, weights: held, variant, ours, ms, all, gflops, gbps, ratio: 0, error, setupMs },
      share: limited ? share : null,
    };
    return row;
  });
  const rival = fastest(rows.filter((row) => !row.ours && row.weights === 'f32'));
  for (const row of rows) row.ratio = rival ? rival.ms / row.ms : Number.NaN;
  return { shape: `${d}x${dFf}`, tokens, stream, peaks, rows };
}

/** @param {Case[]} cases @param {Variant} variant @returns {Verdict[]} */
export function verdicts(cases, variant) {
  return cases.flatMap((one) => [...speedVerdicts(one, variant), ...shareVerdicts(one, variant)]);
}

/** @param {Case} one @param {Variant} variant @returns {Verdict[]} */
function speedVerdicts(one, variant) {
  const { shape, tokens, rows } = one;
  const wanted = SPEED_TARGETS.filter(
    (target) => target.shapes.includes(shape) && target.tokens.includes(tokens),
  );
  return wanted.flatMap((target) => {
    const own = rows.filter((row) => row.ours && row.variant === variant);
    const row = fastest(own.filter(({ weights }) => [weights, 'any'].includes(target.ours)));
    const named =
      target.rival === 'f32' ? (/** @type {Row} */ { weights }) => weights === 'f32' : null;
    const rival = fastest(
      rows.filter((peer) => !peer.ours && (named ? named(peer) : peer.name === target.rival)),
    );
    if (!row || !rival) return [];
    const value = rival.ms / row.ms;
    const ceiling = row.share === null ? null : (value / row.share) * reachable(tokens);
    const must = target.must[variant];
    return [
      {
        what: `${shape} T=${tokens} ${target.ours} over ${target.rival === 'f32' ? rival.name : target.rival}`,
        ...{ value, must, aim: target.aim[variant], ceiling },
        met: value >= Math.min(must, ceiling ?? must),
      },
    ];
  });
}

/** @param {Case} one @param {Variant} variant @returns {Verdict[]} */
function shareVerdicts({ shape, tokens, rows }, variant) {
  /** @param {string} weights */
  const share = (weights) =>
    rows.find((row) => row.ours && row.variant === variant && row.weights === weights)?.share;
  const half = share('bfloat16');
  if (tokens >= ARITHMETIC_SHARE.tokens && half) {
    const must = ARITHMETIC_SHARE.must[variant];
    const what = `${shape} T=${tokens} bfloat16, share of the arithmetic peak`;
    const aim = ARITHMETIC_SHARE.aim[variant];
    return [{ what, value: half, must, aim, ceiling: null, met: half >= must }];
  }
  const full = share('float32');
  if (tokens === 1 && STREAM_SHARE.shapes.includes(shape) && full) {
    const { must } = STREAM_SHARE;
    const what = `${shape} T=1 float32, share of the stream limit`;
    return [{ what, value: full, must, aim: must, ceiling: null, met: full >= must }];
  }
  return [];
}

/** @param {Case} one */
export function caseText({ shape, tokens, stream, peaks, rows }) {
  const limits = Object.entries(peaks).map(
    ([variant, peak]) =>
      `${peak.toFixed(1)} GFLOP/s ${variant === 'relaxed' ? 'relaxed_madd' : 'mul+add'}`,
  );
  const head = `${shape}  T=${tokens}${tokens === 1 ? ' cold' : ''}  (limits: ${stream.toFixed(1)} GB/s, ${limits.join(', ')})`;
  const lines = [...rows]
    .sort((a, b) => a.ms - b.ms)
    .map(({ name, ms, gflops, gbps, ratio, share, error }) =>
      [
        name.padEnd(30),
        ms.toFixed(3).padStart(10),
        gflops.toFixed(1).padStart(9),
        gbps.toFixed(1).padStart(8),
        `${ratio.toFixed(2)}x`.padStart(9),
        (share === null ? '' : `${(100 * share).toFixed(0)} %`).padStart(8),
        error.toExponential(1).padStart(10),
      ].join(''),
    );
  const titles = `${''.padEnd(30)}        ms  GFLOP/s    GB/s  vs peer   share     error`;
  return [head, titles, ...lines, ''].join('\n');
}

/** @param {Verdict[]} all */
export function verdictText(all) {
  const lines = all.map(({ what, value, must, aim, ceiling, met }) =>
    [
      (met ? 'met  ' : 'SHORT').padEnd(7),
      what.padEnd(62),
      value.toFixed(2).padStart(7),
      must.toFixed(2).padStart(7),
      percent(value / must).padStart(7),
      aim.toFixed(2).padStart(7),
      percent(value / aim).padStart(7),
      (ceiling === null ? '' : ceiling.toFixed(2)).padStart(9),
    ].join(''),
  );
  const titles = `${''.padEnd(69)}  value   must    by    aim     by  ceiling`;
  return [titles, ...lines].join('\n');
}

/** @param {number} ratio */
function percent(ratio) {
  const off = Math.round(100 * (ratio - 1));
  return `${off < 0 ? '' : '+'}${off} %`;
}

/** @param {Row[]} rows */
function fastest(rows) {
  return rows.reduce(
    (best, row) => (best && best.ms <= row.ms ? best : row),
    /** @type {Row | undefined} */ (undefined),
  );
}

/** @param {number} tokens */
const reachable = (tokens) => (tokens === 1 ? REACHABLE.stream : REACHABLE.arithmetic);

/** Whether weights held so are multiplied in float32, to which the arithmetic limit applies. @param {string} held */
function computesInFloat(held) {
  return ['plain', 'f32', 'float32', 'bfloat16', 'float16'].includes(held);
}
