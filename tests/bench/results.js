// Recorded runs of the bench as Markdown: a table of all targets over engines, then each engine's own. Every figure is
// the median of its runs. Pure but for the versions, which are read from package.json; used by record.js.

import { readFileSync } from 'node:fs';
import { limitsText } from './report.js';
import { median } from './rounds.js';
import { countText, STATUS_TEXT, statusOf } from './verdicts.js';

/** @typedef {import('./report.js').Case} Case */
/** @typedef {import('./report.js').Row} Row */
/** @typedef {import('./verdicts.js').Verdict} Verdict */
/** @typedef {{ engine: string, variant: string, clock: string, machine: string, cases: Case[], verdicts: Verdict[] }} Run */
/** @typedef {{ title: string, threads: number, runs: Run[] }} Recorded */
/**
 * @typedef {object} Summary one target over the runs of an engine
 * @property {Verdict} target
 * @property {number[]} values
 * @property {number} value
 * @property {number | null} ceiling
 * @property {import('./verdicts.js').Status} status
 * @property {string[]} peers the best ones, where it is over those
 */

const PEERS = [
  'onnxruntime-web',
  '@tensorflow/tfjs-backend-wasm',
  '@litertjs/core',
  '@jax-js/jax',
  '@wllama/wllama',
];

/** @param {Recorded[]} recorded @param {boolean} quick */
export function resultsText(recorded, quick) {
  const there = recorded.filter(({ runs }) => runs.length > 0);
  const missing = recorded.filter(({ runs }) => runs.length === 0).map(({ title }) => title);
  const absent = missing.length ? `\nNot recorded: ${missing.join('; ')}.\n` : '';
  return `# What the bench measured

Written by \`node tests/bench/record.js${quick ? ' --quick' : ''}\`. ${versions()}. [NOTES.md](NOTES.md) says what limits the
targets that are short, and what is not measured.

"A over B" is B's time over A's, the median of the runs. The ceiling of a ratio is what the run's own limits allow: 95 % of the
stream, of several threads that of all reading at once, or 88 % of the arithmetic peak, over the rival's rate. A floor ("must")
above its ceiling is out of anybody's reach, and counts as met for whoever is at the ceiling, not for whoever is under it:
both are told apart from what is met outright. The peak of q8_0 and q4_1 is that of 16-bit dot products, or two thirds of
that of relaxed 8-bit ones, of which two inputs take three at the accuracy asked; those are one instruction where the
engine knows the processor's (AVX-VNNI), as Node 24 and Chromium do and Node 22 does not. In Chromium 75 % of a floor, or of
its ceiling, does. Cold: the caches are emptied before each call. Set-up is by the wall clock, once a run, and mostly new
memory, of which the machine has as much at hand as is wanted (NOTES.md). A round in which it did less than 90 % of its best
arithmetic so far, just before or just after, is taken again: somebody else was at work on the same core. Set-ups wait for that,
but are not taken again, and who uses memory is not seen.
${absent}
## Targets

${overview(there)}
${there.map(section).join('\n')}`;
}

function versions() {
  const file = new URL('package.json', import.meta.url);
  const { dependencies } = JSON.parse(readFileSync(file, 'utf8'));
  return `Peers: ${PEERS.map((name) => `${name} ${dependencies[name]}`).join(', ')}`;
}

/** Every target's medians side by side; those of simd128 and of relaxed SIMD have floors of their own. @param {Recorded[]} all */
function overview(all) {
  const engines = all.map(
    ({ runs }) => new Map(summaries(runs).map((one) => [name(one.target), one])),
  );
  const names = [...new Set(engines.flatMap((each) => [...each.keys()]))];
  const rows = names.map((what) => {
    const cells = engines.map((each) => {
      const one = each.get(what);
      if (!one) return '';
      return marked(one);
    });
    return `| ${[what, ...cells].join(' | ')} |`;
  });
  const total = all.map(({ runs }) => countText(summaries(runs).map(({ status }) => status)));
  return `Value (must); bold: short. Italics: must lies above the ceiling, which is named.

| | ${all.map(({ title }) => title).join(' | ')} |
|---|${all.map(() => '---|').join('')}
${rows.join('\n')}
| of all | ${total.join(' | ')} |
`;
}

/** To as many places as tell it from its floor, if it is short. @param {Summary} one */
function valueText({ value, status, target: { must } }) {
  let places = 2;
  if (status === 'short') while (value.toFixed(places) === must.toFixed(places)) places++;
  return value.toFixed(places);
}

/** @param {Summary} one */
function marked(one) {
  const { ceiling, status, target } = one;
  const text = `${valueText(one)} (${target.must})`;
  if (status === 'met') return text;
  if (status === 'short') return `**${text}**`;
  return `*${text}, ${STATUS_TEXT[status]} of ${ceiling?.toFixed(2)}*`;
}

/** A target without the variant, which the column says. @param {Verdict} target */
function name({ what }) {
  return what.replaceAll(/ (simd128|relaxed)/g, '');
}

/** @param {Run[]} runs @returns {Summary[]} */
function summaries(runs) {
  return runs[0].verdicts.flatMap((target) => {
    const each = runs.flatMap(
      ({ verdicts }) => verdicts.find(({ what }) => what === target.what) ?? [],
    );
    const values = each.map(({ value }) => value);
    const value = median(values);
    const ceilings = each.flatMap((verdict) => verdict.ceiling ?? []);
    const ceiling = ceilings.length ? median(ceilings) : null;
    return {
      ...{ target, values, value, ceiling },
      status: statusOf({ ...target, value, ceiling }),
      peers: [...new Set(each.flatMap(({ peer }) => peer ?? []))],
    };
  });
}

/** @param {Recorded} recorded */
function section({ title, threads, runs }) {
  const [{ engine, variant, clock, machine, cases }] = runs;
  const count = runs.length === 1 ? '1 run' : `${runs.length} runs in a row`;
  return `## ${title}

${engine}, ${variant}, ${threads === 1 ? '1 thread' : '1 and 2 threads'}, ${machine}; ${count}, ${clock} time${clock === 'wall' ? '' : ', set-ups wall time'}.

${disturbedText(runs)}
${targetTable(summaries(runs))}
${cases.map((_, i) => caseTable(runs.map((run) => run.cases[i]))).join('\n')}`;
}

/** @param {Run[]} runs */
function disturbedText(runs) {
  /** @param {(one: Case) => number} of */
  const sum = (of) => runs.flatMap(({ cases }) => cases.map(of)).reduce((a, b) => a + b, 0);
  const [again, disturbed] = [sum((one) => one.again), sum((one) => one.disturbed)];
  return `Rounds taken again since the machine was not left alone: ${again}; counted nevertheless: ${disturbed}.
`;
}

/** @param {Summary[]} all */
function targetTable(all) {
  const rows = all.map((one) => {
    const {
      target: { what, must, aim, most },
      values,
      value,
      ceiling,
      status,
      peers,
    } = one;
    const distance = Math.round(100 * ((most ? aim / value : value / aim) - 1));
    const cells = [
      peers.length ? `${what} (${peers.join(', ')})` : what,
      valueText(one),
      values.map((each) => each.toFixed(2)).join(', '),
      must,
      status === 'short' ? '**short**' : STATUS_TEXT[status],
      aim,
      `${distance > 0 ? '+' : ''}${distance} %`,
      ceiling?.toFixed(2) ?? '',
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return `| target | median | runs | must | | aim | to aim | ceiling |
|---|---|---|---|---|---|---|---|
${rows.join('\n')}
`;
}

/** @param {Case[]} all one case, of every run */
function caseTable(all) {
  const [{ shape, tokens, peaks: kinds, rows }] = all;
  const peaks = Object.keys(kinds).map((kind) => [kind, median(all.map((one) => one.peaks[kind]))]);
  const stream = median(all.map((one) => one.stream));
  const together = all.flatMap(({ shared }) => shared ?? []);
  const shared = together.length > 0 ? median(together) : null;
  const lines = rows
    .map((row) => caseRow(all.flatMap((one) => one.rows.filter(({ name }) => name === row.name))))
    .sort((a, b) => a.ms - b.ms);
  return `### ${shape}, T = ${tokens}${tokens === 1 ? ', cold' : ''}

Limits: ${limitsText(stream, shared, Object.fromEntries(peaks))}.

| | ms | GFLOP/s | over the best f32 peer | of the limit | error |
|---|---|---|---|---|---|
${lines.map(({ text }) => text).join('\n')}
`;
}

/** @param {Row[]} each one contestant's, of every run */
function caseRow(each) {
  /** @param {(row: Row) => number} of */
  const middle = (of) => median(each.map(of));
  const [{ name, error, share, ratio }] = each;
  const ms = middle((row) => row.ms);
  const cells = [
    name,
    ms.toFixed(3),
    middle((row) => row.gflops).toFixed(1),
    ratio === null ? '' : middle((row) => row.ratio).toFixed(2), // no peer, no ratio
    share === null ? '' : `${(100 * middle((row) => row.share ?? 0)).toFixed(0)} %`,
    error.toExponential(1),
  ];
  return { ms, text: `| ${cells.join(' | ')} |` };
}
