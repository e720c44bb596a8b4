// node tests/bench/record.js [--runs 3] [--quick]: runs the bench so many times in each engine and writes RESULTS.md,
// which states the median of the runs and keeps every run's ratio beside it. A run takes minutes: leave the machine alone.

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { median } from './rounds.js';

/** @typedef {import('./report.js').Case} Case */
/** @typedef {import('./verdicts.js').Verdict} Verdict */
/** @typedef {{ engine: string, variant: string, clock: string, machine: string, cases: Case[], verdicts: Verdict[] }} Run */

const ENGINES = [
  ['Node, simd128', []],
  ['Node, relaxed SIMD', ['--relaxed']],
  ['Chromium', ['--browser']],
];
const PEERS = ['onnxruntime-web', '@tensorflow/tfjs-backend-wasm', '@litertjs/core', '@jax-js/jax'];
const folder = new URL('.', import.meta.url);

const { values: options } = parseArgs({
  options: { runs: { type: 'string', default: '3' }, quick: { type: 'boolean', default: false } },
});

const { dependencies } = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8'));
const versions = PEERS.map((name) => `${name} ${dependencies[name]}`).join(', ');
const parts = ENGINES.map(([title, args]) => section(String(title), runs([...args])));
writeFileSync(
  new URL('RESULTS.md', folder),
  `# What the bench measured

Written by \`node tests/bench/record.js\`. Peers: ${versions}. "ours over X" is X's time over ours; "met" counts a floor
that lies above what the run's own limits allow (the ceiling) as met there. Cold: the caches are emptied before each call.

${parts.join('\n')}`,
);

/** @param {string[]} args @returns {Run[]} */
function runs(args) {
  const quick = options.quick ? ['--quick'] : [];
  return Array.from({ length: Number(options.runs) }, () => {
    const bench = new URL('bench.js', folder).pathname;
    const { stdout, status } = spawnSync(process.execPath, [bench, '--json', ...quick, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
      maxBuffer: 2 ** 28,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`bench ${args.join(' ')} ended with status ${status}`);
    return JSON.parse(stdout);
  });
}

/** @param {string} title @param {Run[]} all */
function section(title, all) {
  const [{ engine, variant, clock, machine }] = all;
  return `## ${title}

${engine}, ${variant}, 1 thread, ${machine}; ${all.length} runs, ${clock} time.

${verdictTable(all)}
${all[0].cases.map((_, i) => caseTable(all.map(({ cases }) => cases[i]))).join('\n')}`;
}

/** @param {Run[]} all */
function verdictTable(all) {
  const rows = all[0].verdicts.map(({ what, must, aim, most }, i) => {
    const each = all.map(({ verdicts }) => verdicts[i]);
    const value = median(each.map((verdict) => verdict.value));
    const ceilings = each.flatMap(({ ceiling }) => ceiling ?? []);
    const floor = Math.min(must, ...(ceilings.length ? [median(ceilings)] : []));
    const met = most ? value <= must : value >= floor;
    const distance = `${Math.round(100 * ((most ? aim / value : value / aim) - 1))} %`;
    const ceiling = ceilings.length ? median(ceilings).toFixed(2) : '';
    const spread = each.map((verdict) => verdict.value.toFixed(2)).join(', ');
    const cells = [what, value.toFixed(2), spread, must, met ? 'met' : '**short**', aim, distance];
    return `| ${[...cells, ceiling].join(' | ')} |`;
  });
  return `| target | median | runs | must | | aim | to aim | ceiling |
|---|---|---|---|---|---|---|---|
${rows.join('\n')}
`;
}

/** @param {Case[]} all one case, of every run */
function caseTable(all) {
  const [{ shape, tokens, rows }] = all;
  const limits = Object.keys(all[0].peaks).map(
    (variant) => `${median(all.map(({ peaks }) => peaks[variant])).toFixed(0)} GFLOP/s ${variant}`,
  );
  const stream = median(all.map((one) => one.stream)).toFixed(1);
  const lines = rows
    .map(({ name, error }) => {
      const each = all.flatMap((one) => one.rows.filter((row) => row.name === name));
      /** @param {(row: import('./report.js').Row) => number} of */
      const middle = (of) => median(each.map(of));
      const share = each.every((row) => row.share !== null)
        ? `${(100 * middle((row) => row.share ?? 0)).toFixed(0)} %`
        : '';
      const ms = middle((row) => row.ms);
      const cells = [name, ms.toFixed(3), middle((row) => row.gflops).toFixed(1)];
      const ratio = middle((row) => row.ratio).toFixed(2);
      return { ms, text: `| ${[...cells, ratio, share, error.toExponential(1)].join(' | ')} |` };
    })
    .sort((a, b) => a.ms - b.ms);
  return `### ${shape}, T = ${tokens}${tokens === 1 ? ', cold' : ''}

Limits: ${stream} GB/s, ${limits.join(', ')}.

| | ms | GFLOP/s | over the best f32 peer | of the limit | error |
|---|---|---|---|---|---|
${lines.map(({ text }) => text).join('\n')}
`;
}
