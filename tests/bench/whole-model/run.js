// npm run bench -- --browser --wllama: a whole model by wllama in Chromium, and a layer's MLP of the same shape by gated-mlp
// there. A second model, all but without MLPs, tells what they take of the first. Each answers once before it is timed, and
// the answer is held against a float64 reference. Used by bench.js; report.js makes text of what comes out.

import { fileURLToPath } from 'node:url';
import { runInBrowser, withPage } from '../browser.js';
import { letter, SMOLLM2_135M, writeModel } from './model.js';
import { checkedDeviation, logProbabilities } from './reference.js';

/** @typedef {import('../report.js').Case} Case */
/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./wllama.js').Candidate} Candidate */
/** @typedef {Omit<import('./report.js').Measured, 'machine'>} Measured */

/** The other one's hidden units: the fewest that blocks of 32 weights allow. */
const SLIM_UNITS = 32;
/** @type {Record<string, Model>} */
const MODELS = { whole: SMOLLM2_135M, slim: { ...SMOLLM2_135M, dFf: SLIM_UNITS } };

const PROMPT_TOKENS = 128;
const ANSWER_TOKENS = 32;
const QUESTION = [300, 5000, 301, 40_000, 17, 23_456, 300, 12];
const ROUNDS = 3;
const THREADS = [1, 2];

const OURS = 'gated-mlp bfloat16,gated-mlp q8_0,gated-mlp q4_1';
const PLAN = {
  ...{ rounds: 5, budgetMs: 2000, threads: Math.max(...THREADS), backward: [], patienceMs: 0 },
  cases: { [`${SMOLLM2_135M.d}x${SMOLLM2_135M.dFf}`]: [1, PROMPT_TOKENS] },
};

/** @returns {Promise<Measured>} */
export async function measureWholeModel() {
  const cases = await measureOurs();
  const paths = writeModels();
  const references = new Map(
    Object.entries(MODELS).map(([name, model]) => [name, logProbabilities(model, QUESTION)]),
  );
  return withPage(async ({ page, origin, modules, engine, about }) => {
    /** @type {number[]} */
    const deviations = [];
    await page.exposeFunction(
      'checkAnswer',
      (/** @type {string} */ name, /** @type {Candidate[]} */ answer) => {
        deviations.push(checkedDeviation(answer, references.get(name) ?? new Float64Array()));
      },
    );
    await page.exposeFunction('processorMs', await rendererClock(page));
    const job = {
      ...JOB,
      modules,
      files: paths.map(([name, path]) => [name, `${origin}/${path}`]),
    };
    const timed = await page.evaluate(`runWholeModels(${JSON.stringify(job)})`);
    const deviation = Math.max(...deviations);
    return {
      ...{ engine, variant: about.variant, cases, timed, deviation },
      ...{ promptTokens: PROMPT_TOKENS, slimUnits: SLIM_UNITS },
    };
  });
}

/** What the page does, but for where everything is. */
const JOB = {
  threads: THREADS,
  vocabulary: SMOLLM2_135M.vocabulary,
  question: QUESTION.map(letter).join(''),
  // Any tokens: all of them letters, and no two alike.
  prompt: Array.from({ length: PROMPT_TOKENS }, (_, i) => letter(300 + 37 * i)).join(''),
  answerTokens: ANSWER_TOKENS,
  rounds: ROUNDS,
};

/**
 * Milliseconds of processor that the page's process has had: for one thread what a quiet machine's wall clock would show.
 * @param {import('playwright-core').Page} page the only one
 */
async function rendererClock(page) {
  const session = await page.context().browser()?.newBrowserCDPSession();
  if (!session) throw new Error('This browser does not tell its processor time.');
  return async () => {
    const { processInfo } = await session.send('SystemInfo.getProcessInfo');
    const pages = processInfo.filter(({ type }) => type === 'renderer');
    return 1000 * pages.reduce((sum, { cpuTime }) => sum + cpuTime, 0);
  };
}

async function measureOurs() {
  /** @type {Case[]} */
  const cases = [];
  await runInBrowser(PLAN, OURS, {
    started() {},
    missing(what) {
      throw new Error(`This build does not have ${what}.`);
    },
    measured: (one) => void cases.push(one),
  });
  return cases;
}

/** Names, and paths from the root of the repository. @returns {[string, string][]} */
function writeModels() {
  return Object.entries(MODELS).map(([name, model]) => {
    const path = `build/bench/whole-model/${name}.gguf`;
    writeModel(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), model);
    return [name, path];
  });
}
