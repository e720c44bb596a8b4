// A copy of the tree in a temporary folder, into which faults are patched, and in which tests are run.
// Sources, tests and the build script are copied; what no fault touches (fixtures, node_modules) is linked.

import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const COPIED = ['src', 'tests', 'web', 'build.sh', 'package.json'];
const LINKED = ['fixtures', 'node_modules'];
const FLOAT64 = 'build/gated-mlp-f64.wasm';
/** Tests that look at the float64 build alone. */
const IN_FLOAT64 = ['gradcheck.test.js'];
/** The one module the copy has, so that it is also the one that Runtime takes in every engine. */
const SIMD128 = 'src/binding/gated-mlp.wasm';

/** @typedef {import('./faults.js').Fault} Fault */

/** @returns {{ folder: string, dispose(): void }} */
export function copyTree() {
  const folder = mkdtempSync(join(tmpdir(), 'gated-mlp-mutation-'));
  const filter = (/** @type {string} */ path) => !path.endsWith('.wasm');
  for (const name of COPIED) {
    cpSync(join(root, name), join(folder, name), { recursive: true, filter });
  }
  for (const name of LINKED) symlinkSync(join(root, name), join(folder, name));
  mkdirSync(join(folder, 'build'));
  restoreModules(folder);
  return { folder, dispose: () => rmSync(folder, { recursive: true }) };
}

/**
 * Builds the module that a test looks at, after a change to the core.
 * @param {string} folder
 * @param {string} test
 * @returns {string | null} null, or what the compiler said
 */
export function build(folder, test) {
  const variant = IN_FLOAT64.includes(test) ? 'float64' : 'simd128';
  const { status, stdout, stderr } = run(folder, 'bash', ['build.sh', variant]);
  return status === 0 ? null : stdout + stderr;
}

/**
 * Builds both modules.
 * @param {string} folder
 * @returns {'changed' | 'same' | 'broken'} whether anything in them differs from the sources without a change
 */
export function buildAll(folder) {
  for (const variant of ['simd128', 'float64']) {
    if (run(folder, 'bash', ['build.sh', variant]).status !== 0) return 'broken';
  }
  const same = [SIMD128, FLOAT64].every((module) =>
    readFileSync(join(folder, module)).equals(readFileSync(join(root, module))),
  );
  return same ? 'same' : 'changed';
}

/** @param {string} folder @param {string} file of tests/ @returns {boolean} whether all its tests pass */
export function passesFile(folder, file) {
  return run(folder, process.execPath, ['--test', `tests/${file}`]).status === 0;
}

/**
 * Runs one test. Throws unless there is exactly one test of this title.
 * @param {string} folder
 * @param {string} file of tests/
 * @param {string} title
 * @returns {boolean} whether it passed
 */
export function passes(folder, file, title) {
  const exactly = `^${title.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')}$`;
  const args = ['--test', '--test-reporter=tap', `--test-name-pattern=${exactly}`, `tests/${file}`];
  const { status, stdout, stderr } = run(folder, process.execPath, args);
  const escaped = title.replaceAll('#', '\\#');
  const lines = stdout.split('\n').map((line) => line.trim());
  const result = lines.find(
    (line) => /^(not )?ok \d+ - /.test(line) && line.replace(/^.*? - /, '') === escaped,
  );
  if (result?.startsWith('ok') && status === 0) return true;
  // A module that fails as it is loaded has no test to report; that, too, is noticed.
  if (result?.startsWith('not ok') || (!result && status !== 0)) return false;
  throw new Error(`tests/${file} has no test "${title}" that ran:\n${stdout}${stderr}`);
}

/**
 * Patches a fault in, builds, runs its test and puts the sources back.
 * @param {string} folder of copyTree
 * @param {Fault} fault
 * @returns {'noticed' | 'survived'}
 */
export function tryFault(folder, { name, file, find, replace, test, title }) {
  const path = join(folder, file);
  const source = readFileSync(path, 'utf8');
  if (source.split(find).length !== 2) {
    throw new Error(
      `"${name}": its line does not stand exactly once in ${file} any more:\n${find}`,
    );
  }
  writeFileSync(
    path,
    source.replace(find, () => replace),
  );
  try {
    const complaint = file.startsWith('src/core/') ? build(folder, test) : null;
    if (complaint !== null) throw new Error(`"${name}" does not compile:\n${complaint}`);
    return passes(folder, test, title) ? 'survived' : 'noticed';
  } finally {
    writeFileSync(path, source);
    if (file.startsWith('src/core/')) restoreModules(folder);
  }
}

/** @param {string} folder */
function restoreModules(folder) {
  for (const module of [SIMD128, FLOAT64]) {
    cpSync(join(root, module), join(folder, module));
  }
}

/** @param {string} folder @param {string} program @param {string[]} args */
function run(folder, program, args) {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const result = spawnSync(program, args, {
    cwd: folder,
    env,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  });
  if (result.error) throw result.error;
  return result;
}
