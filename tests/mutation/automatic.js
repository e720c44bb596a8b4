// Mutants made by a program against the test suite: the native tests judge first, and what they let pass is built as wasm and tried
// against Node's tests. Of those that make a difference 95 % must be
// killed, and every survivor needs a reason in harmless.js.

import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import { findSanitizingCompilers } from '../helpers/tools.js';
import { HARMLESS } from './harmless.js';
import { sampleMutants } from './mutants.js';
import { NativeJudge } from './native-judge.js';
import { buildAll, copyTree, passesFile } from './patched-tree.js';

const LEAST_KILLED = 0.95;

/** Node's tests of the core, the quickest and sharpest first. */
const NODE_TESTS = [
  'goldens.test.js',
  'gradients.test.js',
  'initialization.test.js',
  'ffn-dim.test.js',
  'fused-products.test.js',
  'parameters.test.js',
  'slices.test.js',
  'gradcheck.test.js',
  'reference.test.js',
  'held-dtypes.test.js',
  'core-validation.test.js',
  'validation.test.js',
  'properties.test.js',
  'closed-gates.test.js',
  'json-edges.test.js',
  'looks-like.test.js',
  'safetensors.test.js',
  'runtime.test.js',
];

/** @typedef {import('./mutants.js').Mutant} Mutant */
/** @typedef {import('./native-judge.js').Judgement} Judgement */

/**
 * @param {number} size of the sample
 * @returns {Promise<boolean>} whether enough were killed, and every survivor is explained
 */
export async function runAutomatic(size) {
  const mutants = sampleMutants(size);
  const [compiler] = findSanitizingCompilers();
  const judge = new NativeJudge(compiler);
  /** @type {Map<Mutant, Judgement>} */
  const judgements = new Map();
  try {
    await judge.prepare();
    const queue = [...mutants];
    const worker = async () => {
      for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
        const judgement = await judge.judge(mutant);
        judgements.set(mutant, judgement);
        if (judgement.verdict === 'survived') console.log(`to wasm: ${described(mutant)}`);
        if (judgements.size % 50 === 0) console.log(`${judgements.size} of ${mutants.length}`);
      }
    };
    await Promise.all(Array.from({ length: availableParallelism() }, worker));
  } finally {
    judge.dispose();
  }
  askNode(
    mutants.filter((mutant) => judgements.get(mutant)?.verdict === 'survived'),
    judgements,
  );
  return report(judgements);
}

/** @param {Mutant} mutant */
const described = ({ file, line, before, after }) => `${file}:${line}\n    ${before}\n    ${after}`;

/**
 * @param {Mutant[]} left
 * @param {Map<Mutant, Judgement>} judgements
 */
function askNode(left, judgements) {
  console.log(`${left.length} go on to wasm and Node's tests`);
  const tree = copyTree();
  try {
    for (const mutant of left) {
      const judgement = judgeByNode(tree.folder, mutant);
      judgements.set(mutant, judgement);
      console.log(`${judgement.verdict} by ${judgement.by ?? 'nothing'}: ${described(mutant)}`);
    }
  } finally {
    tree.dispose();
  }
}

/** @param {string} folder @param {Mutant} mutant @returns {Judgement} */
function judgeByNode(folder, { file, source }) {
  const path = join(folder, 'src/core', basename(file));
  const original = readFileSync(path, 'utf8');
  writeFileSync(path, source);
  try {
    const built = buildAll(folder);
    if (built !== 'changed') return { verdict: built === 'same' ? 'equivalent' : 'invalid' };
    const by = NODE_TESTS.find((test) => !passesFile(folder, test));
    return by ? { verdict: 'killed', by } : { verdict: 'survived' };
  } finally {
    writeFileSync(path, original);
  }
}

/** @param {Map<Mutant, Judgement>} judgements */
function report(judgements) {
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
  const share = killed / (killed + survived - equivalent);
  console.log(
    `${judgements.size} mutants: ${count('invalid')} do not compile, ${count('equivalent')} compile to the same code, ` +
      `${killed} killed, ${survived} survived (${equivalent} of them compute the same, ${unexplained} are not explained): ` +
      `${(100 * share).toFixed(1)} % of those that make a difference killed`,
  );
  return share >= LEAST_KILLED && unexplained === 0;
}
