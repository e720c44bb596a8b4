// What run.js measured, as text for a terminal and as a section of RESULTS.md: what wllama takes for a token, how much of that
// is a layer's MLP, and what gated-mlp takes for the same. Pure. The MLP's part is an estimate, made in two ways.

import { median } from '../rounds.js';
import { SMOLLM2_135M, weightCounts } from './model.js';

/**
 * @typedef {object} Measured
 * @property {string} engine
 * @property {string} machine
 * @property {'simd128' | 'relaxed'} variant
 * @property {import('../report.js').Case[]} cases of gated-mlp: one token, cold, and as many as the prompt has
 * @property {import('./wllama.js').Timed[]} timed the models 'whole' and 'slim'
 * @property {number} deviation largest, of an answer from the reference
 * @property {number} promptTokens
 * @property {number} slimUnits hidden units of the slim model
 */

const { d, dFf, layers } = SMOLLM2_135M;
const MODEL = `${layers} layers of ${d}x${dFf}, the shape of SmolLM2-135M, weights random, in Q4_1 and for the head in Q8_0`;

/** @param {Measured} measured */
export function wholeModelText(measured) {
  const { engine, variant, machine } = measured;
  const head = `${engine}, ${variant}, ${machine}\n\n${introduction([measured])}\n`;
  const lines = table([measured]).map((cells) =>
    cells.map((cell, i) => (i === 0 ? cell.padEnd(48) : cell.padStart(14))).join(''),
  );
  return [head, ...lines, ''].join('\n');
}

/** A section of RESULTS.md, each figure the median of the runs. @param {Measured[]} runs */
export function wholeModelSection(runs) {
  if (runs.length === 0) return '';
  const [{ engine, variant, machine }] = runs;
  const count = runs.length === 1 ? '1 run' : `${runs.length} runs`;
  const [titles, ...rows] = table(runs).map((cells) => `| ${cells.join(' | ')} |`);
  return `
## A whole model in wllama

${engine}, ${variant}, ${machine}; ${count}.

${introduction(runs)}

${titles}
|---|---|---|---|---|
${rows.join('\n')}
`;
}

/** @param {Measured[]} runs */
function introduction(runs) {
  const [{ promptTokens, slimUnits }] = runs;
  const { one, many } = shares(promptTokens);
  const off = Math.max(...runs.map(({ deviation }) => deviation));
  return `wllama runs whole models and nothing less: here ${MODEL}.
Its log-probabilities are within ${percent(off)} (rms, of their standard deviation) of a float64 forward pass of the same weights.
What a layer's MLP takes is an estimate: by share, ${percent(one)} of the weights that one token meets and ${percent(many)} of those of a
prompt; and, measured, by difference to the same model with ${slimUnits} hidden units a layer. "times": wllama's MLP by share
over this one, with as many threads. wllama's one thread by processor time, two and ours by the wall clock. No target.`;
}

const percent = (/** @type {number} */ part) => `${(100 * part).toFixed(0)} %`;

/**
 * Titles, then rows.
 * @param {Measured[]} runs
 * @returns {string[][]}
 */
function table(runs) {
  const [{ promptTokens }] = runs;
  const all = runs.map(rowsOf);
  const rows = all[0].map(({ name, kind }, i) => {
    const middle = (/** @type {(row: Row) => number} */ of) =>
      median(all.map((each) => of(each[i])));
    const [one, many] = [middle((row) => row.one), middle((row) => row.many)];
    const times = [middle((row) => row.timesOne), middle((row) => row.timesMany)];
    const [overOne, overMany] = times.map((x) => (Number.isNaN(x) ? '' : x.toFixed(1)));
    const rates = `${(1000 / one).toFixed(1)} and ${((1000 * promptTokens) / many).toFixed(1)} tokens/s`;
    return [
      kind === 'model' ? `${name}, ${rates}` : name,
      one.toFixed(2),
      overOne,
      many.toFixed(2),
      overMany,
    ];
  });
  return [['ms', 'one token', 'times', `${promptTokens} tokens`, 'times'], ...rows];
}

/**
 * Milliseconds for one token and for the prompt.
 * @typedef {object} Row
 * @property {string} name
 * @property {'model' | 'estimate' | 'ours'} kind
 * @property {number} one
 * @property {number} many
 * @property {number} timesOne wllama's MLP over this one, of ours only
 * @property {number} timesMany
 */

/** @param {Measured} measured @returns {Row[]} */
function rowsOf(measured) {
  return [...new Set(measured.timed.map(({ threads }) => threads))].flatMap((threads) => {
    const { whole, byShare, byDifference } = estimates(measured, threads);
    const none = { timesOne: Number.NaN, timesMany: Number.NaN };
    const suffix = threads === 1 ? '1 thread' : `${threads} threads`;
    const estimate = /** @type {const} */ ('estimate');
    return [
      { name: `wllama, ${suffix}`, kind: /** @type {const} */ ('model'), ...whole, ...none },
      { name: "a layer's MLP of it, by share", kind: estimate, ...byShare, ...none },
      { name: "a layer's MLP of it, by difference", kind: estimate, ...byDifference, ...none },
      ...ourRows(measured, threads, byShare),
    ];
  });
}

/** @param {Measured} measured @param {number} threads @param {{ one: number, many: number }} rival @returns {Row[]} */
function ourRows({ cases: [one, many], variant }, threads, rival) {
  return one.rows
    .filter((row) => row.ours && row.variant === variant && row.threads === threads)
    .map(({ name, ms }) => {
      const prompt = many.rows.find((row) => row.name === name)?.ms ?? Number.NaN;
      return {
        ...{ name, kind: 'ours', one: ms, many: prompt },
        ...{ timesOne: rival.one / ms, timesMany: rival.many / prompt },
      };
    });
}

/** Milliseconds of the model and of one layer's MLP, for one token and for the prompt. @param {Measured} measured @param {number} threads */
function estimates({ timed, promptTokens, slimUnits }, threads) {
  const [whole, slim] = ['whole', 'slim'].map((name) => {
    const one = timed.find((each) => each.model === name && each.threads === threads);
    if (!one) throw new Error(`The ${name} model was not timed with ${threads} threads.`);
    return { one: median(one.tokenMs), many: median(one.prefillMs) };
  });
  const share = shares(promptTokens);
  const perLayer = dFf / (dFf - slimUnits) / layers;
  return {
    whole,
    byShare: { one: (whole.one * share.one) / layers, many: (whole.many * share.many) / layers },
    byDifference: {
      one: (whole.one - slim.one) * perLayer,
      many: (whole.many - slim.many) * perLayer,
    },
  };
}

/** What part of the products are the MLPs': the head takes one token of a prompt, and all that come after. @param {number} promptTokens */
function shares(promptTokens) {
  const { mlp, attention, head } = weightCounts(SMOLLM2_135M);
  const layersOf = promptTokens * (mlp + attention);
  return { one: mlp / (mlp + attention + head), many: (promptTokens * mlp) / (layersOf + head) };
}
