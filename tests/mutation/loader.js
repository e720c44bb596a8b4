// Deletes every single validation of the loader in turn (each `throw` of its files) in a copy of the tree, and says which
// of them no test misses. `node tests/mutation/loader.js [file...]`; it takes a few minutes, so it is not part of npm test.

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyTree } from './patched-tree.js';

const FILES = [
  'budget',
  'cache',
  'checkpoint',
  'config',
  'describe',
  'file-identity',
  'http',
  'http-client',
  'local-file',
  'open',
  'scan',
  'select',
  'shard',
  'source',
  'stream',
];
/** Quick ones first: the first failure is enough. */
const TESTS = ['refusals', 'network', 'http', 'checkpoint', 'ranges', 'families', 'faults'];
/** A test that hangs has noticed, too. */
const LONGEST_RUN = 300_000;

/**
 * Where the throw statements of a source are.
 * @param {string} source
 * @returns {{ begin: number, end: number }[]}
 */
function throwsIn(source) {
  return [...source.matchAll(/\bthrow\b/g)]
    .filter(({ index }) => !/^\s*(\/\/|\*)/.test(source.slice(source.lastIndexOf('\n', index) + 1)))
    .map(({ index }) => {
      let depth = 0;
      let end = index;
      for (; source[end] !== ';' || depth > 0; end++) {
        if ('([{'.includes(source[end])) depth += 1;
        if (')]}'.includes(source[end])) depth -= 1;
      }
      return { begin: index, end: end + 1 };
    });
}

/** @param {string} folder @returns {string | null} the first test file that fails */
function firstFailure(folder) {
  for (const name of TESTS) {
    const { status } = spawnSync(process.execPath, ['--test', `tests/${name}.test.js`], {
      cwd: folder,
      timeout: LONGEST_RUN,
    });
    if (status !== 0) return name;
  }
  return null;
}

const { folder, dispose } = copyTree();
const wanted = process.argv.length > 2 ? process.argv.slice(2) : FILES;
let survivors = 0;
try {
  for (const name of wanted) {
    const path = join(folder, `src/binding/${name}.js`);
    const source = readFileSync(path, 'utf8');
    for (const { begin, end } of throwsIn(source)) {
      const line = source.slice(0, begin).split('\n').length;
      writeFileSync(path, `${source.slice(0, begin)}void 0;${source.slice(end)}`);
      const noticed = firstFailure(folder);
      if (noticed === null) survivors += 1;
      const what = source.slice(begin, end).replace(/\s+/g, ' ').slice(0, 70);
      console.log(`${noticed ?? 'NOT NOTICED'}\t${name}.js:${line}\t${what}`);
    }
    writeFileSync(path, source);
  }
} finally {
  dispose();
}
console.log(
  survivors === 0 ? 'every deletion is noticed' : `${survivors} deletions are not noticed`,
);
process.exitCode = survivors === 0 ? 0 : 1;
