// The bench without a command line: who runs, in which cases, checked before timed. Runs in Node (bench.js) and in a
// page (page.js); neither file system nor console here.

import { measureBackward } from './backward.js';
import { now, useWallClock } from './clock.js';
import { hasRelaxedSimd, makeLimits } from './limits.js';
import { ourContestants, plainLoops } from './ours.js';
import { jaxContestants } from './peers/jax.js';
import { litertContestants } from './peers/litert.js';
import { ortContestants } from './peers/ort.js';
import { tfjsContestants } from './peers/tfjs.js';
import { makeInputs, makeWeights } from './problem.js';
import { makeCase } from './report.js';
import { runRounds } from './rounds.js';
import { BACKWARD_TARGETS, ERROR_BOUNDS } from './targets.js';

/** @typedef {import('./contestant.js').Contestant} Contestant */
/** @typedef {import('./limits.js').Limits} Limits */
/**
 * @typedef {object} Plan
 * @property {number} rounds
 * @property {number} budgetMs
 * @property {number} threads of those who can; ours runs with 1 as well
 * @property {Record<string, number[]>} cases token counts by shape
 * @property {string[]} backward shapes whose backward is measured too
 * @property {number} patienceMs for which the whole run waits, and takes rounds again, while the machine is not left alone
 */

/**
 * Hears of a run as it goes.
 * @typedef {object} Listener
 * @property {(engine: string, variant: 'simd128' | 'relaxed', clock: string) => void} started
 * @property {(what: string) => void} missing of what this build of gated-mlp does not have
 * @property {(one: import('./report.js').Case) => void} measured
 */

/** @type {Record<'quick' | 'full', Plan>} */
export const PLANS = {
  quick: {
    rounds: 5,
    budgetMs: 700,
    threads: 1,
    cases: { '576x1536': [1, 16, 128, 512], '2048x8192': [1, 16, 128] },
    backward: ['576x1536'],
    patienceMs: 0,
  },
  full: {
    rounds: 9,
    budgetMs: 6000,
    threads: 1,
    cases: { '576x1536': [1, 16, 128, 512], '2048x8192': [1, 16, 128, 512], '4096x11008': [1] },
    backward: ['576x1536', '2048x8192'],
    patienceMs: 0,
  },
};

/** Plain loops do about 2e9 operations a second; a call of more than these tells nothing new. */
const PLAIN_MOST_FLOPS = 2e9;

/** What this engine runs at most. @returns {'simd128' | 'relaxed'} */
export const bestVariant = () => (hasRelaxedSimd() ? 'relaxed' : 'simd128');

/**
 * @param {Plan} plan
 * @param {string} modules URL of the folder in which the peers are installed, with a slash at its end
 * @param {string} only parts of the names of those who run, with commas between
 * @param {(what: string) => void} missing told of what this build of gated-mlp does not have
 */
export async function* runSuite(plan, modules, only, missing) {
  if (plan.threads > 1) useWallClock();
  const limits = await makeLimits(plan.threads, plan.patienceMs);
  const everyone = await allContestants(modules, plan.threads, missing);
  const parts = only.split(',');
  const contestants = everyone.filter(({ name }) => parts.some((part) => name.includes(part)));
  for (const [shape, tokenCounts] of Object.entries(plan.cases)) {
    yield* shapeCases(shape, tokenCounts, contestants, plan, limits);
  }
}

/**
 * @param {string} modules
 * @param {number} threads
 * @param {(what: string) => void} missing
 * @returns {Promise<Contestant[]>}
 */
async function allContestants(modules, threads, missing) {
  /** @type {('simd128' | 'relaxed')[]} */
  const variants = bestVariant() === 'relaxed' ? ['simd128', 'relaxed'] : ['simd128'];
  const all = [plainLoops];
  for (const open of [ortContestants, tfjsContestants, litertContestants, jaxContestants]) {
    all.push(...(await open(modules, threads)));
  }
  for (const variant of variants) {
    all.push(...(await ourContestants(variant, 1, missing)));
    if (threads > 1) all.push(...(await ourContestants(variant, threads, missing)));
  }
  return all;
}

/**
 * Every token count of one shape.
 * @param {string} shape
 * @param {number[]} tokenCounts
 * @param {Contestant[]} contestants
 * @param {Plan} plan
 * @param {Limits} limits
 */
async function* shapeCases(shape, tokenCounts, contestants, plan, limits) {
  const [d, dFf] = shape.split('x').map(Number);
  const weights = makeWeights(d, dFf);
  const inputs = makeInputs(weights);
  const loaded = [];
  for (const contestant of contestants) {
    await limits.quiet.wait();
    loaded.push({ contestant, model: await named(contestant, contestant.load(weights)) });
  }
  for (const tokens of tokenCounts) {
    const x = inputs.x(tokens);
    const entries = [];
    for (const { contestant, model } of loaded) {
      if (contestant === plainLoops && 6 * d * dFf * tokens > PLAIN_MOST_FLOPS) continue;
      entries.push(await checkedEntry(contestant, model, x, tokens, inputs));
    }
    const weightBytes = 3 * d * dFf * Float32Array.BYTES_PER_ELEMENT;
    const options = { ...plan, cold: tokens === 1, weightBytes };
    const measured = await runRounds(entries, x, options, limits);
    for (const { call } of entries) await call.dispose();
    const one = makeCase({ d, dFf, tokens }, measured, bestVariant());
    if (tokens === BACKWARD_TARGETS.tokens && plan.backward.includes(shape)) {
      one.backward = await measureBackward(weights, inputs, tokens, bestVariant(), plan, limits);
      one.again += one.backward.again;
      one.disturbed += one.backward.disturbed;
    }
    yield one;
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
 * @returns {Promise<import('./rounds.js').Entry>}
 */
async function checkedEntry(contestant, model, x, tokens, inputs) {
  const call = await named(contestant, model.at(tokens));
  const start = now();
  const y = await named(contestant, Promise.resolve(call.run(x)));
  const firstMs = now() - start;
  const error = inputs.error(y);
  const { name, weights } = contestant;
  if (y.length !== x.length || !(error <= ERROR_BOUNDS[weights])) {
    throw new Error(`${name}, T=${tokens}: wrong by ${error} of the rms; nothing was timed`);
  }
  const setupMs = (model.setupMs ?? 0) + (call.setupMs ?? 0);
  return { contestant, call, error, firstMs, setupMs };
}

/** @template T @param {Contestant} contestant @param {Promise<T>} work @returns {Promise<T>} */
async function named(contestant, work) {
  try {
    return await work;
  } catch (cause) {
    throw new Error(`${contestant.name} does not run`, { cause });
  }
}
