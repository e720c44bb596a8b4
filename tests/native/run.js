// Builds the programs of tests/native with all of src/core but its wasm boundary, and runs them.
// As a program (npm run test:native) it runs every test_*.c under sanitizers with every compiler here, then those that compute under
// valgrind, which also sees what was never written; tests/native.test.js runs the sanitizers of the first compiler.
// A file without main is support, linked into each program.

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findSanitizingCompilers } from '../helpers/tools.js';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** @param {string} folder @returns {string[]} its C files, as paths from the root */
function cFiles(folder) {
  const names = readdirSync(`${root}${folder}`).filter((name) => name.endsWith('.c'));
  return names.sort().map((name) => `${folder}/${name}`);
}

/** @returns {string[]} the test programs, as paths from the root */
export function nativeTests() {
  return cFiles('tests/native').filter((path) => basename(path).startsWith('test_'));
}

/** Objects of src/core and of the support files, compiled once for all programs of a process. @type {Map<string, string[]>} */
const objectsOf = new Map();

/**
 * @param {string} compiler
 * @param {'native' | 'fast'} mode
 * @param {string[]} flags
 */
function commonObjects(compiler, mode, flags) {
  const folder = `build/${mode}/${basename(compiler)}${flags.join('')}/`;
  const made = objectsOf.get(folder);
  if (made) return made;
  const support = cFiles('tests/native').filter(
    (path) => !/^int main\(/m.test(readFileSync(`${root}${path}`, 'utf8')),
  );
  const core = cFiles('src/core').filter((path) => basename(path) !== 'exports.c');
  // Put in place whole: where there are more processors, another test file may be linking the same objects.
  const unfinished = `${folder}${process.pid}/`;
  output('bash', ['build.sh', mode, compiler, unfinished, ...core, ...support, ...flags]);
  const names = [...core, ...support].map((path) => `${basename(path, '.c')}.o`);
  for (const name of names) renameSync(`${root}${unfinished}${name}`, `${root}${folder}${name}`);
  rmSync(`${root}${unfinished}`, { recursive: true });
  const objects = names.map((name) => folder + name);
  objectsOf.set(folder, objects);
  return objects;
}

/**
 * Builds one program. Throws with what the compiler said unless it compiles without a warning.
 * @param {string} compiler
 * @param {string} source a path from the root
 * @param {'native' | 'fast'} mode as build.sh names it: under sanitizers, or at full speed
 * @param {string[]} flags more for the compiler, such as -DGATED_MLP_FLOAT64
 * @returns {string} the program's path from the root
 */
export function buildNative(compiler, source, mode = 'native', flags = []) {
  const program = `build/${mode}/${basename(compiler)}/${basename(source, '.c')}${flags.join('')}`;
  const objects = commonObjects(compiler, mode, flags);
  output('bash', ['build.sh', mode, compiler, program, source, ...objects, ...flags]);
  return program;
}

/**
 * Builds and runs one test program under sanitizers. Throws with all it printed unless it exits with 0.
 * @param {string} compiler
 * @param {string} source
 * @param {string[]} [flags]
 * @returns {string} what it printed
 */
export function runNativeTest(compiler, source, flags) {
  return output(buildNative(compiler, source, 'native', flags), []);
}

/** What every program is built as: real = float, and real = double. @type {Record<string, string[]>} */
export const PRECISIONS = { float32: [], float64: ['-DGATED_MLP_FLOAT64'] };

/**
 * Runs a program in the root folder.
 * @param {string} program
 * @param {string[]} args
 * @returns {string} what it printed
 */
export function output(program, args) {
  const { status, signal, error, stdout, stderr } = spawnSync(program, args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  });
  if (error) throw error;
  if (status !== 0)
    throw new Error(`${program} ended with ${status ?? signal}:\n${stdout}${stderr}`);
  return stdout + stderr;
}

/** Goldens, odd shapes from 1 to 33, and threads. The optimized programs are looked at: those that would be shipped. */
const UNDER_VALGRIND = ['goldens', 'forward', 'gradients', 'linear', 'store', 'quant', 'team'];

/** @param {string} compiler @param {string} source @param {string[]} flags @returns {string} what it printed */
function runUnderValgrind(compiler, source, flags) {
  const program = buildNative(compiler, source, 'fast', [...flags, '-g']);
  return output('valgrind', ['--quiet', '--error-exitcode=99', '--leak-check=full', program]);
}

/** Runs everything and prints what failed whole. @returns {number} how many failed */
function runAll() {
  let failed = 0;
  const attempt = (/** @type {string} */ what, /** @type {() => string} */ run) => {
    try {
      console.log(`ok   ${what}\n${run().trimEnd()}`);
    } catch (error) {
      failed += 1;
      console.log(`FAIL ${what}\n${error instanceof Error ? error.message : error}`);
    }
  };
  const compilers = findSanitizingCompilers();
  for (const [precision, flags] of Object.entries(PRECISIONS)) {
    for (const compiler of compilers) {
      for (const source of nativeTests()) {
        const what = `${compiler} ${precision} ${source}`;
        attempt(what, () => runNativeTest(compiler, source, flags));
      }
    }
    for (const name of UNDER_VALGRIND) {
      const source = `tests/native/test_${name}.c`;
      const what = `valgrind ${compilers[0]} ${precision} ${source}`;
      attempt(what, () => runUnderValgrind(compilers[0], source, flags));
    }
  }
  return failed;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const failed = runAll();
  console.log(failed === 0 ? 'all passed' : `${failed} failed`);
  if (failed > 0) process.exitCode = 1;
}
