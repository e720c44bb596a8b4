// npm run bench: gated-mlp and its peers on the same problem, in one process and interleaved rounds, with the machine's
// limits beside them. Results are held against a float64 reference before anything is timed; a peer that does not run
// fails the bench. Times are printed, never asserted.
//
//   --quick         the cases that tell most, within three minutes
//   --relaxed       in a Node with relaxed SIMD, where this one needs a flag for it
//   --node 22       in that Node, or in 24; both are among the bench's packages
//   --browser       in Chromium
//   --wllama        in Chromium, a whole model by wllama, beside ours on one of its layers, and nothing else
//   --threads N     ours and the peers that have threads with N of them, ours with 1 as well; by the wall clock
//   --patience S    waits, and takes rounds again, for so many seconds in all while somebody else uses the cores; 0 unless
//                   said, and with --wllama
//   --json          the measurements and verdicts as JSON
//   --only A,B      only contestants whose name holds A or B (without peers there are no ratios)
//   --shape DxF     only this shape; --tokens 1,16 only these token counts

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { clockKind } from './clock.js';
import { caseText } from './report.js';
import { bestVariant, PLANS, runSuite } from './suite.js';
import { verdicts, verdictText } from './verdicts.js';
import { wholeModelText } from './whole-model/report.js';

/** @typedef {import('./report.js').Case} Case */

const machine = cpus()[0].model.trim();
const RELAXED_FLAG = '--experimental-wasm-relaxed-simd';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    relaxed: { type: 'boolean', default: false },
    node: { type: 'string' },
    browser: { type: 'boolean', default: false },
    wllama: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    threads: { type: 'string', default: '1' },
    patience: { type: 'string', default: '0' },
    shape: { type: 'string' },
    tokens: { type: 'string' },
  },
});

const isNode = (/** @type {string} */ version) => process.versions.node.startsWith(`${version}.`);
const lacksRelaxed = options.relaxed && bestVariant() !== 'relaxed';
if (options.node && !isNode(options.node)) process.exitCode = inPackagedNode(options.node);
else if (lacksRelaxed && !options.browser) process.exitCode = inRelaxedEngine();
else if (options.wllama) await benchWholeModel();
else await bench();

/** Runs this program again in a Node of the bench's packages. Returns its exit status. @param {string} version */
function inPackagedNode(version) {
  const program = packagedNode(version);
  if (!existsSync(program)) throw new Error(`--node ${version}: ${program} is not there`);
  return again(program, []);
}

/** The same in a newer Node where one is installed, else under this one's flag. */
function inRelaxedEngine() {
  if (process.execArgv.includes(RELAXED_FLAG)) throw new Error('This engine has no relaxed SIMD.');
  const newer = packagedNode('24');
  return existsSync(newer) ? again(newer, []) : again(process.execPath, [RELAXED_FLAG]);
}

/** @param {string} version */
function packagedNode(version) {
  return fileURLToPath(new URL(`node_modules/node-${version}/bin/node`, import.meta.url));
}

/** @param {string} program @param {string[]} flags */
function again(program, flags) {
  const args = [...flags, fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  return spawnSync(program, args, { stdio: 'inherit' }).status ?? 1;
}

async function bench() {
  const chosen = plan();
  /** @type {Case[]} */
  const cases = [];
  /** @type {Set<string>} */
  const missing = new Set();
  let about = { engine: '', variant: bestVariant(), clock: '' };
  // Loaded only where it is wanted: it needs the packages of the page's tests.
  const run = options.browser ? (await import('./browser.js')).runInBrowser : runHere;
  await run(chosen, options.only, {
    started(engine, variant, clock) {
      about = { engine, variant, clock };
      say(`${engine}, ${variant}, ${threadText(chosen.threads)}, ${machine}`);
      say(
        `medians of ${chosen.rounds} interleaved rounds, ${clock} time; set-up by the wall clock\n`,
      );
    },
    missing(what) {
      missing.add(what);
    },
    measured(one) {
      cases.push(one);
      say(caseText(one));
    },
  });
  const judged = verdicts(cases, about.variant, options.browser);
  say(`${about.variant}, against every peer that this engine runs\n${verdictText(judged)}`);
  for (const what of missing) say(`MISSING from this build: ${what}.`);
  if (options.json) console.log(JSON.stringify({ ...about, machine, cases, verdicts: judged }));
}

async function benchWholeModel() {
  const { measureWholeModel } = await import('./whole-model/run.js');
  const measured = { ...(await measureWholeModel()), machine };
  say(wholeModelText(measured));
  if (options.json) console.log(JSON.stringify(measured));
}

/**
 * @param {import('./suite.js').Plan} plan
 * @param {string} only
 * @param {import('./suite.js').Listener} listener
 */
async function runHere(plan, only, listener) {
  const engine = `Node ${process.versions.node} (V8 ${process.versions.v8})`;
  listener.started(engine, bestVariant(), plan.threads > 1 ? 'wall' : clockKind());
  const modules = new URL('node_modules/', import.meta.url).href;
  for await (const one of runSuite(plan, modules, only, listener.missing)) listener.measured(one);
}

/** The chosen plan, narrowed to what was asked for. */
function plan() {
  const whole = options.quick ? PLANS.quick : PLANS.full;
  const tokens = options.tokens?.split(',').map(Number);
  const chosen = Object.entries(whole.cases)
    .filter(([shape]) => !options.shape || shape === options.shape)
    .map(([shape, counts]) => [shape, tokens ?? counts]);
  const threads = Number(options.threads);
  const patienceMs = 1000 * Number(options.patience);
  return { ...whole, threads, patienceMs, cases: Object.fromEntries(chosen) };
}

/** @param {number} threads */
function threadText(threads) {
  return threads === 1 ? '1 thread' : `up to ${threads} threads`;
}

/** @param {string} text */
function say(text) {
  if (options.json) console.error(text);
  else console.log(text);
}
