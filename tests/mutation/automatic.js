// Mutants made by a program against the test suite: the native tests judge first, and what they let pass is built as wasm and tried
// against Node's tests. Of those that build and make a difference 95 % must be killed, and every survivor needs a reason in
// harmless.js.

import { findSanitizingCompilers } from '../helpers/tools.js';
import { HARMLESS } from './harmless.js';
import { sampleMutants } from './mutants.js';
import { NativeJudge } from './native-judge.js';
import { NodeJudge } from './node-judge.js';

const LEAST_KILLED = 0.95;

/** @typedef {import('./mutants.js').Mutant} Mutant */
/** @typedef {import('./native-judge.js').Judgement} Judgement */

/**
 * @param {{ size: number, seed: number, minutes: number }} sample any first part of it is a random sample, too: what is not judged
 *     after so many minutes is left out
 * @returns {Promise<boolean>} whether enough were killed, and every survivor is explained
 */
export async function runAutomatic({ size, seed, minutes }) {
  const queue = sampleMutants(size, seed);
  const [compiler] = findSanitizingCompilers();
  const [native, node] = [new NativeJudge(compiler), new NodeJudge()];
  /** @type {Map<Mutant, Judgement>} */
  const judgements = new Map();
  try {
    await native.prepare();
    await node.prepare();
    const end = performance.now() + minutes * 60_000;
    for (const mutant of queue) {
      if (performance.now() > end) break;
      let judgement = await native.judge(mutant);
      if (judgement.verdict === 'survived') judgement = await node.judge(mutant);
      judgements.set(mutant, judgement);
      console.log(`${judgement.verdict} by ${judgement.by ?? 'nothing'}: ${described(mutant)}`);
    }
  } finally {
    native.dispose();
    node.dispose();
  }
  return report(judgements, seed);
}

/** @param {Mutant} mutant */
const described = ({ file, line, before, after }) => `${file}:${line}\n    ${before}\n    ${after}`;

/** @param {Map<Mutant, Judgement>} judgements @param {number} seed */
function report(judgements, seed) {
  const count = (/** @type {string} */ verdict) =>
    [...judgements.values()].filter((judgement) => judgement.verdict === verdict).length;
  let [unexplained, equivalent] = [0, 0];
  for (const [mutant, { verdict }] of judgements) {
    if (verdict !== 'survived') continue;
    const { file, before, after } = mutant;
    const known = HARMLESS.find((h) => h.file === file && h.before === before && h.after === after);
    if (!known) unexplained += 1;
    if (known?.equivalent) equivalent += 1;
    console.log(`survived  ${described(mutant)}\n    ${known?.reason ?? 'NOT EXPLAINED'}`);
  }
  const [killed, survived] = [count('killed'), count('survived')];
  const different = killed + survived - equivalent;
  const share = killed / different;
  console.log(
    `${judgements.size} mutants with seed ${seed}: ${count('invalid')} do not build, ${count('same')} build the same modules, ` +
      `${killed} killed, ${survived} survived (${equivalent} of them compute the same, ${unexplained} are not explained)`,
  );
  console.log(
    `mutation score: ${(100 * share).toFixed(1)} % (${killed} killed of ${different} that make a difference)`,
  );
  return share >= LEAST_KILLED && unexplained === 0;
}
