// Measured cases held against the targets: which floors are met, and how far they and the aims are. Pure; used by bench.js.

import { fastest } from './report.js';
import { median } from './rounds.js';
import {
  ARITHMETIC_SHARE,
  BACKWARD_TARGETS,
  PAGE_SHARE,
  REACHABLE,
  SETUP_TARGETS,
  SPEED_TARGETS,
  STREAM_SHARE,
  THREAD_TARGETS,
} from './targets.js';

/** @typedef {import('./report.js').Case} Case */
/** @typedef {import('./report.js').Row} Row */
/** @typedef {import('./report.js').Variant} Variant */
/**
 * @typedef {object} Verdict
 * @property {string} what
 * @property {string} [peer] which peer was the best one
 * @property {number} value a ratio, or a share
 * @property {number} must
 * @property {number} aim
 * @property {number | null} ceiling the ratio at the reachable share of the limit, where that is known
 * @property {boolean} [most] must and aim are upper bounds
 * @property {number} part of must, and of the ceiling, that counts here: less than 1 in a page
 * @property {Status} status
 */
/** @typedef {Omit<Verdict, 'part' | 'status'>} Comparison */
/**
 * met: at its must, or past it. Where must lies above the ceiling, which nothing on that machine passes: `ceiling` at the
 * ceiling or past it, `under` it otherwise. short: all else.
 * @typedef {'met' | 'ceiling' | 'under' | 'short'} Status
 */

/** @param {Case[]} cases @param {Variant} variant @param {boolean} inPage @returns {Verdict[]} */
export function verdicts(cases, variant, inPage) {
  return cases.flatMap((one) => {
    if (one.rows.some(({ threads }) => threads > 1)) {
      return threadVerdicts(one, variant, inPage).map((each) => judged(each, false));
    }
    const all = [
      ...speedVerdicts(one, variant),
      ...shareVerdicts(one, variant),
      ...setupVerdicts(one, variant),
      ...backwardVerdicts(one),
    ];
    return all.map((each) => judged(each, inPage));
  });
}

/** @param {Comparison} comparison @param {boolean} inPage @returns {Verdict} */
function judged(comparison, inPage) {
  const part = inPage && !comparison.most ? PAGE_SHARE : 1;
  return { ...comparison, part, status: statusOf({ ...comparison, part }) };
}

/** @param {Pick<Verdict, 'value' | 'must' | 'ceiling' | 'most' | 'part'>} verdict @returns {Status} */
export function statusOf({ value, must, ceiling, most, part }) {
  if (most ? value <= must : value >= part * must) return 'met';
  if (ceiling === null || ceiling >= must) return 'short';
  return value >= part * ceiling ? 'ceiling' : 'under';
}

/** How a status reads in a table. */
export const STATUS_TEXT = {
  met: 'met',
  ceiling: 'at the ceiling',
  under: 'under the ceiling',
  short: 'short',
};

/** @param {Status[]} all */
export function countText(all) {
  const counts = /** @type {Status[]} */ (Object.keys(STATUS_TEXT)).map(
    (status) => /** @type {const} */ ([status, all.filter((each) => each === status).length]),
  );
  const there = counts.filter(([status, count]) => count > 0 || status === 'met');
  return there.map(([status, count]) => `${count} ${STATUS_TEXT[status]}`).join(', ');
}

/** @param {Case} one @param {Variant} variant @param {boolean} inPage @returns {Comparison[]} */
function threadVerdicts({ shape, tokens, shared, rows }, variant, inPage) {
  const { prefill, decode, rival } = THREAD_TARGETS;
  const own = rows.filter(
    (row) => row.ours && row.variant === variant && row.weights === 'bfloat16',
  );
  const several = own.find(({ threads }) => threads > 1);
  const single = own.find(({ threads }) => threads === 1);
  const other = rows.find(({ name, threads }) => name.startsWith(rival.name) && threads > 1);
  if (!several || !single) return [];
  const limit = tokens === 1 && shared ? REACHABLE.stream * shared : null;
  /** @param {Row} slower @param {number} must @param {number} aim @returns {Comparison} */
  const over = (slower, must, aim) => {
    const value = slower.ms / several.ms;
    const what = `${shape} T=${tokens} ${several.name} over ${slower.name}`;
    return { what, value, must, aim, ceiling: limit && limit / slower.gbps };
  };
  const all = [];
  if (tokens >= prefill.tokens) all.push(over(single, prefill.must, prefill.aim));
  else if (decode.shapes.includes(shape)) {
    all.push(over(single, inPage ? decode.mustInPage : decode.must, decode.aim));
  }
  if (other && tokens >= rival.tokens && rival.shapes.includes(shape)) {
    all.push(over(other, rival.must, rival.aim));
  }
  return all;
}

/** @param {Case} one @param {Variant} variant @returns {Comparison[]} */
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
    // A narrower type would do better than this row's limit, so 'any' has no ceiling.
    const share = target.ours === 'any' ? null : row.share;
    const ceiling = share === null ? null : (value / share) * reachable(tokens);
    const over = target.rival === 'f32' ? 'the best f32 peer' : target.rival;
    return [
      {
        what: `${shape} T=${tokens} ${target.ours} over ${over}`,
        ...(target.rival === 'f32' ? { peer: rival.name } : {}),
        ...{ value, must: target.must[variant], aim: target.aim[variant], ceiling },
      },
    ];
  });
}

/** @param {Case} one @param {Variant} variant @returns {Comparison[]} */
function shareVerdicts({ shape, tokens, rows }, variant) {
  /** @param {string} weights */
  const share = (weights) =>
    rows.find((row) => row.ours && row.variant === variant && row.weights === weights)?.share;
  const half = share('bfloat16');
  if (tokens >= ARITHMETIC_SHARE.tokens && half) {
    const must = ARITHMETIC_SHARE.must[variant];
    const what = `${shape} T=${tokens} bfloat16, share of the arithmetic peak`;
    const aim = ARITHMETIC_SHARE.aim[variant];
    return [{ what, value: half, must, aim, ceiling: null }];
  }
  const full = share('float32');
  if (tokens === 1 && STREAM_SHARE.shapes.includes(shape) && full) {
    const { must } = STREAM_SHARE;
    const what = `${shape} T=1 float32, share of the stream limit`;
    return [{ what, value: full, must, aim: must, ceiling: null }];
  }
  return [];
}

/** @param {Case} one @param {Variant} variant @returns {Comparison[]} */
function setupVerdicts({ shape, tokens, rows }, variant) {
  if (tokens !== 1) return [];
  const own = rows.find((row) => row.ours && row.variant === variant && row.weights === 'float32');
  return SETUP_TARGETS.filter((target) => target.shape === shape).flatMap(({ rival, must }) => {
    const other = rows.find((row) => row.name === rival);
    if (!own || !other) return [];
    const value = other.setupMs / own.setupMs;
    const what = `${shape} set-up of float32 over ${rival}`;
    return [{ what, value, must, aim: must, ceiling: null }];
  });
}

/** @param {Case} one @returns {Comparison[]} */
function backwardVerdicts({ shape, tokens, backward }) {
  if (!backward) return [];
  return /** @type {const} */ (['from a trace', 'alone']).map((kind) => {
    const value = median(backward.times[kind]) / median(backward.times.forward);
    const { must, aim } = BACKWARD_TARGETS[kind];
    const what = `${shape} T=${tokens} backward ${kind}, time over forward (at most)`;
    return { what, value, must, aim, ceiling: null, most: true };
  });
}

/** @param {Verdict[]} all */
export function verdictText(all) {
  const lines = all.map(({ what, peer, value, must, aim, ceiling, status, most }) =>
    [
      (status === 'short' ? 'SHORT' : STATUS_TEXT[status]).padEnd(18),
      (peer ? `${what} (${peer})` : what).padEnd(62),
      value.toFixed(2).padStart(7),
      must.toFixed(2).padStart(7),
      percent(most ? must / value : value / must).padStart(7),
      aim.toFixed(2).padStart(7),
      percent(most ? aim / value : value / aim).padStart(7),
      (ceiling === null ? '' : ceiling.toFixed(2)).padStart(9),
    ].join(''),
  );
  const titles = `${''.padEnd(80)}  value   must    by    aim     by  ceiling`;
  return [titles, ...lines, countText(all.map(({ status }) => status))].join('\n');
}

/** @param {number} ratio */
function percent(ratio) {
  const off = Math.round(100 * (ratio - 1));
  return `${off < 0 ? '' : '+'}${off} %`;
}

/** @param {number} tokens */
const reachable = (tokens) => (tokens === 1 ? REACHABLE.stream : REACHABLE.arithmetic);
