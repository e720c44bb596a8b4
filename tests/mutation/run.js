// `npm run test:mutation`: every fault of faults.js, every validation of the reader (reader.js) and of the loader (loader.js)
// deleted in turn, then mutants of src/core that a program makes (automatic.js).
//   node tests/mutation/run.js [faults] [reader] [loader] [automatic] [--sample N] [--seed N] [--minutes N]
// All four without a word. Of the mutants a sample is drawn by the seed; those not judged in time are left out.

import { parseArgs } from 'node:util';
import { runAutomatic } from './automatic.js';
import { NAMED_FAULTS, OTHER_FAULTS } from './faults.js';
import { runLoader } from './loader.js';
import { copyTree, passes, tryFault, variantFor } from './patched-tree.js';
import { runReader } from './reader.js';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string', default: '600' },
    seed: { type: 'string', default: '4' },
    minutes: { type: 'string', default: '240' },
  },
});
const wanted = positionals.length > 0 ? positionals : ['faults', 'reader', 'loader', 'automatic'];

/** @returns {boolean} whether every fault was noticed by the test it names */
function runFaults() {
  const faults = [...NAMED_FAULTS, ...OTHER_FAULTS];
  const tree = copyTree();
  let survived = 0;
  try {
    tree.modules.prepare([...new Set(faults.map((fault) => variantFor(fault.test)))]);
    const tests = new Map(faults.map((fault) => [`${fault.test} ${fault.title}`, fault]));
    for (const { test, title } of tests.values()) {
      if (!passes(tree.folder, test, title)) {
        throw new Error(`"${title}" fails without a fault, and so shows nothing`);
      }
    }
    for (const fault of faults) {
      const result = tryFault(tree, fault);
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
if (wanted.includes('automatic')) {
  const [size, seed, minutes] = [values.sample, values.seed, values.minutes].map(Number);
  good = (await runAutomatic({ size, seed, minutes })) && good;
}
process.exitCode = good ? 0 : 1;
