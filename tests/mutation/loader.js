// Deletes every single validation of the loader's JavaScript in turn (each throw, each error that is returned, each operand of
// a condition that leads to one) in copies of the tree, and says which no test misses.
//   node tests/mutation/loader.js [file...]     every file of the loader without a word

import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deletionsInJs } from './deletions.js';
import { runLimited } from './limited.js';
import { copyTree } from './patched-tree.js';
import { tryDeletions } from './try-deletions.js';

/** @typedef {import('./deletions.js').Deletion} Deletion */

const NETWORK = ['network', 'faults', 'http', 'public-reports', 'sources', 'checkpoint'];
const SOURCES = [
  'sources',
  'checkpoint',
  'refusals',
  'network',
  'http',
  'public-reports',
  'faults',
];
const MEANING = [
  'refusals',
  'config-keys',
  'checkpoint',
  'families',
  'family-table',
  'adapters',
  'inspect',
];
const HEADER = ['public-reports', 'http', 'checkpoint', 'json-edges', 'safetensors'];

/** The tests that can miss a validation of a file, those that mostly do first. @type {Record<string, string[]>} */
const TESTS = {
  adapters: ['adapters', 'refusals'],
  arrays: ['validation', 'arrays'],
  budget: NETWORK,
  cache: ['cache', 'public-reports'],
  checkpoint: SOURCES,
  config: MEANING,
  describe: MEANING,
  families: MEANING,
  'file-identity': NETWORK,
  http: NETWORK,
  'http-client': NETWORK,
  'local-file': SOURCES,
  open: SOURCES,
  'path-files': SOURCES,
  placement: MEANING,
  ranges: NETWORK,
  refusal: MEANING,
  retry: NETWORK,
  'safetensors-table': HEADER,
  scan: MEANING,
  select: MEANING,
  shard: NETWORK,
  'shard-index': SOURCES,
  source: SOURCES,
  'state-dict': ['parameters', 'arrays', 'linear'],
  stream: [...NETWORK, 'cache'],
};
/** A deletion may make a test wait for ever: so many times what it takes by itself, and no less than so many seconds. */
const [TIMES, AT_LEAST_SECONDS] = [5, 60];
const FAILED = /^\s*not ok /m;

class LoaderJudge {
  #tree = copyTree();
  /** How often each test has missed a validation of each file: the best ones go first. @type {Map<string, number>} */
  static #kills = new Map();
  /** Seconds that each test file may take. @type {Map<string, number>} */
  #limits;

  /** @param {Map<string, number>} limits */
  constructor(limits) {
    this.#limits = limits;
  }

  dispose() {
    this.#tree.dispose();
  }

  /** @param {Deletion} deletion @returns {Promise<string | null>} the first test file that fails */
  async judge({ file, source }) {
    const path = join(this.#tree.folder, 'src/binding', file);
    const original = readFileSync(path, 'utf8');
    writeFileSync(path, source);
    try {
      const rank = (/** @type {string} */ test) => LoaderJudge.#kills.get(`${file} ${test}`) ?? 0;
      const tests = [...TESTS[file.replace(/\.js$/, '')]].sort((a, b) => rank(b) - rank(a));
      for (const test of tests) {
        if (await this.passes(test)) continue;
        LoaderJudge.#kills.set(`${file} ${test}`, rank(test) + 1);
        return test;
      }
      return null;
    } finally {
      writeFileSync(path, original);
    }
  }

  /** @param {string} test */
  async passes(test) {
    const args = ['--test', '--test-reporter=tap', `tests/${test}.test.js`];
    const { status } = await runLimited(process.execPath, args, {
      cwd: this.#tree.folder,
      seconds: this.#limits.get(test),
      failsAt: FAILED,
    });
    return status === 0;
  }
}

/**
 * @param {string[]} [names] of files in src/binding, without .js
 * @returns {Promise<boolean>} whether every deletion is noticed, or harmless for a known reason
 */
export async function runLoader(names = Object.keys(TESTS)) {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const deletions = names.flatMap((name) =>
    deletionsInJs(`${name}.js`, readFileSync(join(root, `src/binding/${name}.js`), 'utf8')),
  );
  /** @type {Map<string, number>} */
  const limits = new Map();
  const judges = Array.from({ length: availableParallelism() }, () => new LoaderJudge(limits));
  try {
    for (const test of new Set(names.flatMap((name) => TESTS[name]))) {
      const start = performance.now();
      if (!(await judges[0].passes(test))) throw new Error(`${test} fails without a deletion`);
      const seconds = (performance.now() - start) / 1000;
      limits.set(test, Math.max(AT_LEAST_SECONDS, TIMES * seconds));
    }
    return await tryDeletions(
      deletions,
      judges.map((judge) => (/** @type {Deletion} */ deletion) => judge.judge(deletion)),
    );
  } finally {
    for (const judge of judges) judge.dispose();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const names = process.argv.slice(2);
  const good = await runLoader(names.length > 0 ? names : undefined);
  process.exitCode = good ? 0 : 1;
}
