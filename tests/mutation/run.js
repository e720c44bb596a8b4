// `npm run test:mutation`: every fault of faults.js, every validation of the reader (reader.js) and of the loader (loader.js)
// deleted in turn, then mutants of src/core that a program makes (automatic.js).
//   node tests/mutation/run.js [faults] [reader] [loader] [automatic] [--sample N]     all without a word; N mutants, default 600

import { parseArgs } from 'node:util';
import { runAutomatic } from './automatic.js';
import { NAMED_FAULTS, OTHER_FAULTS } from './faults.js';
import { runLoader } from './loader.js';
import { copyTree, passes, tryFault } from './patched-tree.js';
import { runReader } from './reader.js';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { sample: { type: 'string', default: '600' } },
});
const wanted = positionals.length > 0 ? positionals : ['faults', 'reader', 'loader', 'automatic'];

/** @returns {boolean} whether every fault was noticed by the test it names */
function runFaults() {
  const faults = [...NAMED_FAULTS, ...OTHER_FAULTS];
  const tree = copyTree();
  let survived = 0;
  try {
    const tests = new Map(faults.map((fault) => [`${fault.test} ${fault.title}`, fault]));
    for (const { test, title } of tests.values()) {
      if (!passes(tree.folder, test, title)) {
        throw new Error(`"${title}" fails without a fault, and so shows nothing`);
      }
    }
    for (const fault of faults) {
      const result = tryFault(tree.folder, fault);
      if (result === 'survived') survived += 1;
      console.log(`${result}  ${fault.name}  <- ${fault.test}: ${fault.title}`);
    }
  } finally {
    tree.dispose();
  }
  console.log(`${faults.length - survived} of ${faults.length} faults noticed`);
  return survived === 0;
}

let good = true;
if (wanted.includes('faults')) good = runFaults() && good;
if (wanted.includes('reader')) good = (await runReader()) && good;
if (wanted.includes('loader')) good = (await runLoader()) && good;
if (wanted.includes('automatic')) good = (await runAutomatic(Number(values.sample))) && good;
process.exitCode = good ? 0 : 1;
