// npm run bench: gated-mlp and its peers on the same problem, in one process and interleaved rounds, with the machine's
// limits beside them. Results are held against a float64 reference before anything is timed; a peer that does not run
// fails the bench. Times are printed, never asserted.
//
//   --quick         the cases that tell most, within three minutes
//   --relaxed       in a Node with relaxed SIMD, where this one needs a flag for it: 24, or --node 22
//   --browser       in Chromium
//   --wllama        in Chromium, a whole model by wllama, beside ours on one of its layers, and nothing else
//   --threads N     ours and the peers that have threads with N of them, ours with 1 as well; by the wall clock
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
/** Their packages. @type {Record<string, string>} */
const NEWER_NODES = { 22: 'node-22', 24: 'node-24' };

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    relaxed: { type: 'boolean', default: false },
    node: { type: 'string', default: '24' },
    browser: { type: 'boolean', default: false },
    wllama: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    threads: { type: 'string', default: '1' },
    shape: { type: 'string' },
    tokens: { type: 'string' },
  },
});

const elsewhere = options.relaxed && !options.browser && bestVariant() !== 'relaxed';
if (elsewhere) process.exitCode = inRelaxedEngine(options.node);
else if (options.wllama) await benchWholeModel();
else await bench();

/**
 * Runs this program again in a newer Node where it is installed, else under this one's flag. Returns its exit status.
 * @param {string} version a key of NEWER_NODES
 */
function inRelaxedEngine(version) {
  if (process.execArgv.includes(RELAXED_FLAG)) throw new Error('This engine has no relaxed SIMD.');
  const name = NEWER_NODES[version];
  if (!name) throw new Error(`--node ${version}: the bench has ${Object.keys(NEWER_NODES)}.`);
  const args = [fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  const newer = fileURLToPath(new URL(`node_modules/${name}/bin/node`, import.meta.url));
  const [program, flags] = existsSync(newer) ? [newer, []] : [process.execPath, [RELAXED_FLAG]];
  return spawnSync(program, [...flags, ...args], { stdio: 'inherit' }).status ?? 1;
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
      say(`medians of ${chosen.rounds} interleaved rounds, ${clock} time\n`);
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
  return { ...whole, threads: Number(options.threads), cases: Object.fromEntries(chosen) };
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
