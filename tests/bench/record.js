// node tests/bench/record.js [--quick] [--runs 3] [--minutes 35] [--patience 240]: runs the bench so many times in every engine and
// writes RESULTS.md from all runs that are there. A run takes minutes: leave the machine alone.
//
// Each run is kept as a file under build/bench, in a folder of its own for every state of the modules, so that a
// recording that was interrupted, or stopped after its minutes, goes on where it was when it is started again. Runs of all
// engines take turns: whenever it stops, each engine has about as many.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { resultsText } from './results.js';
import { wholeModelSection } from './whole-model/report.js';

/** @typedef {import('./results.js').Run} Run */
/** @typedef {import('./whole-model/report.js').Measured} Measured */

const TWO_THREADS = ['--threads', '2', '--only', 'gated-mlp bfloat16,LiteRT f32'];
/** Those with two threads come last in a turn: they are the shortest and the least steady. */
const ENGINES = [
  { title: 'Node, simd128', key: 'node-simd128', args: [] },
  { title: 'Node 22, relaxed SIMD', key: 'node-22', args: ['--node', '22'] },
  { title: 'Node 24, relaxed SIMD', key: 'node-24', args: ['--node', '24'] },
  { title: 'Chromium', key: 'chromium', args: ['--browser'] },
  { title: 'Node, simd128, two threads', key: 'node-threads', args: TWO_THREADS },
  { title: 'Chromium, two threads', key: 'page-threads', args: ['--browser', ...TWO_THREADS] },
];
/** Held against no target, and so last of all. */
const WHOLE_MODEL = { key: 'whole-model', args: ['--browser', '--wllama'] };
const MODULES = [
  'gated-mlp',
  'gated-mlp-relaxed',
  'gated-mlp-threads',
  'gated-mlp-relaxed-threads',
];

const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '3' },
    minutes: { type: 'string', default: '35' },
    patience: { type: 'string', default: '240' },
    quick: { type: 'boolean', default: false },
  },
});

const bench = fileURLToPath(new URL('bench.js', import.meta.url));
const folder = new URL(
  `../../build/bench/${stateOfModules()}${options.quick ? '-quick' : ''}/`,
  import.meta.url,
);
mkdirSync(folder, { recursive: true });
const end = Date.now() + Number(options.minutes) * 60_000;
let failed = false;
for (let turn = 1; turn <= Number(options.runs); turn++) {
  for (const { key, args } of ENGINES) record(new URL(`${key}-${turn}.json`, folder), args);
}
for (let turn = 1; turn <= Number(options.runs); turn++) {
  record(new URL(`${WHOLE_MODEL.key}-${turn}.json`, folder), WHOLE_MODEL.args);
}
const recorded = ENGINES.map(({ title, key, args }) => ({
  title,
  threads: args.includes('--threads') ? 2 : 1,
  runs: /** @type {Run[]} */ (runsOf(key)),
}));
const wholeModels = /** @type {Measured[]} */ (runsOf(WHOLE_MODEL.key));
writeFileSync(
  new URL('RESULTS.md', import.meta.url),
  `${resultsText(recorded, options.quick)}${wholeModelSection(wholeModels)}`,
);
for (const { title, runs } of recorded) console.error(`${title}: ${runs.length} runs`);
console.error(`A whole model: ${wholeModels.length} runs`);
if (failed) process.exitCode = 1;

/** What the modules are: results of other ones must not be mixed in. */
function stateOfModules() {
  const hash = createHash('sha256');
  for (const name of MODULES) {
    hash.update(readFileSync(new URL(`../../src/binding/${name}.wasm`, import.meta.url)));
  }
  return hash.digest('hex').slice(0, 12);
}

/** One run, unless it is there or there is no time left. @param {URL} file @param {string[]} args */
function record(file, args) {
  if (existsSync(file) || Date.now() > end) return;
  const start = Date.now();
  const quick = options.quick ? ['--quick'] : [];
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [bench, '--json', '--patience', options.patience, ...quick, ...args],
    { maxBuffer: 2 ** 28, encoding: 'utf8' },
  );
  const seconds = ((Date.now() - start) / 1000).toFixed(0);
  const name = file.pathname.split('/').at(-1);
  console.error(
    `${name}: ${status === 0 ? 'done' : `ended with status ${status}`} in ${seconds} s`,
  );
  if (status !== 0) {
    console.error(stderr.split('\n').slice(-20).join('\n'));
    failed = true;
    return;
  }
  const whole = new URL(`${file.href}.part`);
  writeFileSync(whole, stdout);
  renameSync(whole, file);
}

/** What was recorded under a key. @param {string} key @returns {unknown[]} */
function runsOf(key) {
  const names = readdirSync(folder).filter((name) => new RegExp(`^${key}-\\d+\\.json$`).test(name));
  return names.sort().map((name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')));
}
