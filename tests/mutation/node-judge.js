// Judges a mutant by Node's tests of the core, on modules built from it: the plain one, the one in double and the one on shared
// memory. The relaxed ones are not built: what their two lines do, only an engine with relaxed SIMD could show.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runLimited } from './limited.js';
import { copyTree } from './patched-tree.js';

const READER = ['json-edges', 'looks-like', 'safetensors', 'checkpoint'];
const MATHEMATICS = [
  'goldens',
  'gradients',
  'core-validation',
  'variants',
  'fused-products',
  'slices',
  'gradcheck',
  'reference',
  'held-dtypes',
  'initialization',
  'parameters',
  'linear',
  'experts',
  'closed-gates',
  'real-gradients',
  'threads',
  'properties',
  'ffn-dim',
  'runtime',
];
/** Quantised weights go through these files; the test takes as long as all the others. */
const QUANTISED = { test: 'quantised', files: /^(quant|store|linear|pack|simd|exports)/ };
const BOUNDARY = { tests: ['validation', 'families'], file: 'exports.c' };
/** A mutant may make a test wait for ever: so many times what it takes by itself, and no less than so many seconds. */
const [TIMES, AT_LEAST_SECONDS] = [5, 180];
const FAILED = /^\s*not ok /m;

/** @typedef {import('./mutants.js').Mutant} Mutant */
/** @typedef {import('./native-judge.js').Judgement} Judgement */

/** The tests that can notice a change of a file. @param {string} file of src/core */
function testsOf(file) {
  if (/^(json|safetensors)/.test(file)) return [...READER];
  const tests = [...MATHEMATICS];
  if (QUANTISED.files.test(file)) tests.push(QUANTISED.test);
  if (file === BOUNDARY.file) tests.push(...BOUNDARY.tests, ...READER);
  return tests;
}

export class NodeJudge {
  #tree = copyTree();
  /** Seconds that each test takes without a mutation. @type {Map<string, number>} */
  #seconds = new Map();
  /** How often each test has killed a mutant of each file. @type {Map<string, number>} */
  #kills = new Map();

  /** Compiles all objects and sees every test pass. */
  async prepare() {
    this.#tree.modules.prepare();
    for (const test of testsOf(BOUNDARY.file)) {
      const start = performance.now();
      if (!(await this.#passes(test))) throw new Error(`${test} fails without a mutation`);
      this.#seconds.set(test, (performance.now() - start) / 1000);
    }
  }

  dispose() {
    this.#tree.dispose();
  }

  /** @param {Mutant} mutant @returns {Promise<Judgement>} */
  async judge({ file, source }) {
    const path = join(this.#tree.folder, 'src/core', file);
    const original = readFileSync(path, 'utf8');
    writeFileSync(path, source);
    try {
      const { built } = this.#tree.modules.rebuild(file);
      if (built !== 'changed') return { verdict: built === 'same' ? 'same' : 'invalid' };
      for (const test of this.#likeliestFirst(file)) {
        if (await this.#passes(test)) continue;
        const key = `${file} ${test}`;
        this.#kills.set(key, (this.#kills.get(key) ?? 0) + 1);
        return { verdict: 'killed', by: test };
      }
      return { verdict: 'survived' };
    } finally {
      writeFileSync(path, original);
      this.#tree.modules.restore();
    }
  }

  /** By kills in a second of their time. @param {string} file */
  #likeliestFirst(file) {
    const worth = (/** @type {string} */ test) =>
      (1 + (this.#kills.get(`${file} ${test}`) ?? 0)) / Number(this.#seconds.get(test));
    return testsOf(file).sort((a, b) => worth(b) - worth(a));
  }

  /** @param {string} test */
  async #passes(test) {
    const args = ['--test', '--test-reporter=tap', `tests/${test}.test.js`];
    const { status } = await runLimited(process.execPath, args, {
      cwd: this.#tree.folder,
      seconds: Math.max(AT_LEAST_SECONDS, TIMES * (this.#seconds.get(test) ?? AT_LEAST_SECONDS)),
      failsAt: FAILED,
    });
    return status === 0;
  }
}
