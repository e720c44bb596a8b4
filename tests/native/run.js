// Builds every tests/native/test_*.c with all of src/core but its wasm boundary, under sanitizers, and runs it.
// As a program (npm run test:native) it does so with every compiler here; tests/native.test.js uses the first one.

import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findSanitizingCompilers } from '../helpers/tools.js';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** @returns {string[]} the test programs, as paths from the root */
export function nativeTests() {
  const names = readdirSync(`${root}tests/native`).filter((name) => /^test_.*\.c$/.test(name));
  return names.sort().map((name) => `tests/native/${name}`);
}

/**
 * Builds and runs one test program. Throws with all it printed unless it compiles without warnings and exits with 0.
 * @param {string} compiler
 * @param {string} source
 * @returns {string} what it printed
 */
export function runNativeTest(compiler, source) {
  const program = `build/native/${basename(compiler)}/${basename(source, '.c')}`;
  const core = readdirSync(`${root}src/core`).filter(
    (name) => name.endsWith('.c') && name !== 'exports.c',
  );
  const files = [source, ...core.sort().map((name) => `src/core/${name}`)];
  output('bash', ['build.sh', 'native', compiler, program, ...files]);
  return output(program, []);
}

/**
 * @param {string} program
 * @param {string[]} args
 * @returns {string}
 */
function output(program, args) {
  const { status, signal, error, stdout, stderr } = spawnSync(program, args, {
    cwd: root,
    encoding: 'utf8',
  });
  if (error) throw error;
  if (status !== 0)
    throw new Error(`${program} ended with ${status ?? signal}:\n${stdout}${stderr}`);
  return stdout + stderr;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  let failed = 0;
  for (const compiler of findSanitizingCompilers()) {
    for (const source of nativeTests()) {
      try {
        console.log(`ok   ${compiler} ${source}\n${runNativeTest(compiler, source).trimEnd()}`);
      } catch (error) {
        failed += 1;
        console.log(
          `FAIL ${compiler} ${source}\n${error instanceof Error ? error.message : error}`,
        );
      }
    }
  }
  if (failed > 0) process.exitCode = 1;
}
