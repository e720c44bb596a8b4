// wllama in a page: llama.cpp in wasm, which runs whole models and nothing less. Loads them, lets each answer once so that
// run.js can hold that against a reference, then times prompts and the tokens after them, models taking turns.
// Bundled into page.js; started by run.js.

import { LoggerWithoutDebug, Wllama } from '@wllama/wllama';

/** @typedef {() => Promise<number>} Clock milliseconds from some moment */
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
 * @property {number} answerTokens after the first, which is what a prompt gives
 * @property {number} rounds
 */

/**
 * @param {Job} job
 * @param {(model: string, answer: Candidate[]) => Promise<void>} check refuses an answer by throwing
 * @param {Clock} processor
 * @returns {Promise<Timed[]>}
 */
export async function runWholeModels(job, check, processor) {
  const wall = async () => performance.now();
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
      const { text, prefillMs, tokenMs } = await oneRound(
        each.runner,
        job,
        each.timed.threads === 1 ? processor : wall,
      );
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
 * A prompt until its first token is there, and what each token after a short one takes.
 * @param {Wllama} runner
 * @param {Job} job
 * @param {Clock} clock
 */
async function oneRound(runner, { prompt, question, answerTokens }, clock) {
  const timed = async (/** @type {string} */ text, /** @type {number} */ tokens) => {
    const start = await clock();
    const answer = await completed(runner, text, tokens);
    return { answer, ms: (await clock()) - start };
  };
  const whole = await timed(prompt, 1);
  const first = await timed(question, 1);
  const all = await timed(question, 1 + answerTokens);
  return {
    text: whole.answer + all.answer,
    prefillMs: whole.ms,
    tokenMs: (all.ms - first.ms) / answerTokens,
  };
}

/** Text after a prompt, all of which was worked through. @param {Wllama} runner @param {string} prompt @param {number} tokens */
async function completed(runner, prompt, tokens) {
  const { choices, timings, usage } = await runner.createCompletion({
    ...{ prompt, max_tokens: tokens, temperature: 0, ignore_eos: true },
    // What it remembers of the last prompt would be most of this one.
    ...{ cache_prompt: false },
  });
  const [into, out] = [timings?.prompt_n, usage.completion_tokens];
  if (into !== [...prompt].length || out !== tokens) {
    throw new Error(`wllama: ${into} tokens in, ${out} out.`);
  }
  return choices[0].text;
}
