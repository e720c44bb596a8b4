// A copy of the tree in a temporary folder, into which faults are patched, and in which tests are run.
// Sources, tests and the build script are copied; what no fault touches (fixtures, node_modules) is linked.

import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sameBytes, touchedBy } from './touched.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const COPIED = ['src', 'tests', 'web', 'build.sh', 'package.json'];
const LINKED = ['fixtures', 'node_modules'];
/** Tests that look at the float64 build alone, or for a fault at that first. */
const IN_FLOAT64 = ['gradcheck.test.js', 'variants.test.js'];
/** The modules of the copy. None is relaxed, so that every engine takes the same. @type {Record<string, string>} */
const MODULES = {
  simd128: 'src/binding/gated-mlp.wasm',
  float64: 'build/gated-mlp-f64.wasm',
  threads: 'src/binding/gated-mlp-threads.wasm',
};
const VARIANTS = Object.keys(MODULES);
/** What is added to an object's name while that of a changed source stands in its place. */
const GOOD = '.good';

/** @typedef {import('./faults.js').Fault} Fault */

/** @returns {{ folder: string, modules: Modules, dispose(): void }} */
export function copyTree() {
  const folder = mkdtempSync(join(tmpdir(), 'gated-mlp-mutation-'));
  const filter = (/** @type {string} */ path) => !path.endsWith('.wasm');
  for (const name of COPIED) {
    cpSync(join(root, name), join(folder, name), { recursive: true, filter });
  }
  for (const name of LINKED) symlinkSync(join(root, name), join(folder, name));
  mkdirSync(join(folder, 'build'));
  const modules = new Modules(folder);
  return { folder, modules, dispose: () => rmSync(folder, { recursive: true }) };
}

/** The modules of a copied tree: after a change to a file of the core only the objects it reaches are compiled again. */
class Modules {
  #folder;
  /** Objects of the sources without a change, while others stand in their place. @type {string[]} */
  #replaced = [];

  /** @param {string} folder */
  constructor(folder) {
    this.#folder = folder;
    for (const module of Object.values(MODULES)) cpSync(join(root, module), join(folder, module));
  }

  /** Compiles every object of these variants, from sources that are not changed yet. @param {string[]} variants */
  prepare(variants = VARIANTS) {
    for (const variant of variants) {
      const complaint = this.#make(variant, '-c');
      if (complaint !== null) throw new Error(complaint);
    }
  }

  /**
   * @param {string} changed a file of src/core
   * @param {string[]} variants
   * @returns {{ built: 'changed' | 'same' } | { built: 'broken', complaint: string }} same: nothing in the modules differs
   */
  rebuild(changed, variants = VARIANTS) {
    const touched = touchedBy(join(this.#folder, 'src/core'), changed);
    let same = true;
    for (const variant of variants) {
      const objects = touched.map((file) => join(this.#objects(variant), `${file.slice(0, -2)}.o`));
      for (const object of objects) renameSync(object, `${object}${GOOD}`);
      this.#replaced.push(...objects);
      const broken = this.#make(variant, '-c');
      if (broken !== null) return { built: 'broken', complaint: broken };
      if (objects.every((object) => sameBytes(object, `${object}${GOOD}`))) continue;
      const unlinked = this.#make(variant);
      if (unlinked !== null) return { built: 'broken', complaint: unlinked };
      const module = MODULES[variant];
      same &&= sameBytes(join(this.#folder, module), join(root, module));
    }
    return { built: same ? 'same' : 'changed' };
  }

  /** Puts objects and modules back. */
  restore() {
    for (const object of this.#replaced.splice(0)) renameSync(`${object}${GOOD}`, object);
    for (const module of Object.values(MODULES)) {
      cpSync(join(root, module), join(this.#folder, module));
    }
  }

  /** @param {string} variant */
  #objects(variant) {
    return join(this.#folder, 'build/objects', variant);
  }

  /** @param {string} variant @param {string[]} args @returns {string | null} null, or what the compiler said */
  #make(variant, ...args) {
    const env = { OBJECTS: this.#objects(variant) };
    const { status, stdout, stderr } = run(
      this.#folder,
      'bash',
      ['build.sh', variant, ...args],
      env,
    );
    return status === 0 ? null : stdout + stderr;
  }
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
 * @param {{ folder: string, modules: Modules }} tree whose modules are prepared
 * @param {Fault} fault
 * @returns {'noticed' | 'survived'}
 */
export function tryFault({ folder, modules }, { name, file, find, replace, test, title }) {
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
    if (file.startsWith('src/core/')) {
      const result = modules.rebuild(basename(file), [variantFor(test)]);
      if (result.built === 'broken')
        throw new Error(`"${name}" does not compile:\n${result.complaint}`);
    }
    return passes(folder, test, title) ? 'survived' : 'noticed';
  } finally {
    writeFileSync(path, source);
    modules.restore();
  }
}

/** The variant that a test looks at. @param {string} test */
export const variantFor = (test) => (IN_FLOAT64.includes(test) ? 'float64' : 'simd128');

/** @param {string} folder @param {string} program @param {string[]} args @param {NodeJS.ProcessEnv} [more] */
function run(folder, program, args, more) {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const result = spawnSync(program, args, {
    cwd: folder,
    env: { ...env, ...more },
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  });
  if (result.error) throw result.error;
  return result;
}
