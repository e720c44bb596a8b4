// wllama in a page: llama.cpp in wasm, which runs whole models and nothing less. Loads them, lets each answer once so that
// run.js can hold that against a reference, then times prompts and the tokens after them, models taking turns.
// Bundled into page.js; started by run.js.

import { LoggerWithoutDebug, Wllama } from '@wllama/wllama';
import { median } from '../rounds.js';

/** @typedef {{ id: number, logprob: number }} Candidate */
/** @typedef {{ model: string, threads: number, prefillMs: number[], tokenMs: number[] }} Timed one number for each round */
/**
 * @typedef {object} Job
 * @property {string} modules URL of the folder of packages
 * @property {[name: string, url: string][]} files the models
 * @property {number[]} threads
 * @property {string} question
 * @property {number} vocabulary
 * @property {string} prompt
 * @property {number} promptTokens
 * @property {number} answerTokens after the first, which is what the prompt gives
 * @property {number} rounds
 */

/**
 * @param {Job} job
 * @param {(model: string, answer: Candidate[]) => Promise<void>} check refuses an answer by throwing
 * @returns {Promise<Timed[]>}
 */
export async function runWholeModels(job, check) {
  const all = [];
  for (const [model, url] of job.files) {
    const file = await (await fetch(url)).blob();
    for (const threads of job.threads) {
      const runner = await open(job.modules, file, threads);
      await check(model, await answerOf(runner, job));
      /** @type {Timed} */
      const timed = { model, threads, prefillMs: [], tokenMs: [] };
      all.push({ runner, timed, text: '' });
    }
  }
  for (let round = 0; round < job.rounds; round++) {
    for (const each of all) {
      const { text, prefillMs, tokenMs } = await oneRound(each.runner, job);
      if (round > 0 && text !== each.text)
        throw new Error('wllama: the same prompt, another answer.');
      each.text = text;
      each.timed.prefillMs.push(prefillMs);
      each.timed.tokenMs.push(tokenMs);
    }
  }
  for (const { runner } of all) await runner.exit();
  return all.map(({ timed }) => timed);
}

/** @param {string} modules @param {Blob} file @param {number} threads */
async function open(modules, file, threads) {
  const runner = new Wllama(
    { default: `${modules}@wllama/wllama/esm/wasm/wllama.wasm` },
    { logger: LoggerWithoutDebug, suppressNativeLog: true },
  );
  await runner.loadModel([file], { n_gpu_layers: 0, n_threads: threads, n_parallel: 1 });
  if (runner.isMultithread() !== threads > 1) throw new Error(`wllama: not ${threads} threads.`);
  return runner;
}

/** What may follow the question, with its probability: all of the vocabulary. @param {Wllama} runner @param {Job} job */
async function answerOf(runner, { question, vocabulary }) {
  const { choices } = await runner.createCompletion({
    prompt: question,
    max_tokens: 1,
    temperature: 0,
    logprobs: vocabulary,
  });
  // Its types are those of an older interface.
  const { content } = /** @type {{ content: { top_logprobs: Candidate[] }[] }} */ (
    /** @type {unknown} */ (choices[0].logprobs)
  );
  return content[0].top_logprobs.map(({ id, logprob }) => ({ id, logprob }));
}

/**
 * A prompt and some tokens after it: until the first is there, and the median of what each later one takes.
 * @param {Wllama} runner
 * @param {Job} job
 */
async function oneRound(runner, { prompt, promptTokens, answerTokens }) {
  let text = '';
  /** @type {number[]} */
  const moments = [performance.now()];
  let evaluated = 0;
  const options = {
    ...{ prompt, max_tokens: 1 + answerTokens, temperature: 0, ignore_eos: true },
    // What it remembers of the last prompt would be all of this one.
    ...{ cache_prompt: false, stream: /** @type {const} */ (true) },
  };
  await runner.createCompletion({
    ...options,
    onData({ choices, timings }) {
      evaluated = timings?.prompt_n ?? evaluated;
      if (!choices[0].text) return;
      text += choices[0].text;
      moments.push(performance.now());
    },
  });
  if (evaluated !== promptTokens || moments.length !== 2 + answerTokens) {
    throw new Error(`wllama: ${evaluated} tokens in, ${moments.length - 1} out.`);
  }
  const [prefillMs, ...each] = moments.slice(1).map((moment, i) => moment - moments[i]);
  return { text, prefillMs, tokenMs: median(each) };
}
