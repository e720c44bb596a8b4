// Brings what is missing, and only that: `node tests/helpers/prepare.js STEP...` before npm start, test, check, bench and pack.
//   modules   node_modules as package-lock.json says        wasm      the module, if its sources changed
//   compiler  a C compiler with sanitizers                  float64   the test build of the module in double
//   browser   a Chromium
// A second run finds everything in place and does nothing.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { aptInstall, findBrowser, findEmcc, findSanitizingCompilers, run } from './tools.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
process.chdir(root);

/** @type {Record<string, () => void>} */
const steps = {
  modules() {
    if (modulesAreCurrent()) return;
    run('npm', ['ci', '--no-audit', '--no-fund']);
  },
  wasm() {
    buildWasm('simd128', 'src/binding/gated-mlp.wasm');
  },
  float64() {
    buildWasm('float64', 'build/gated-mlp-f64.wasm');
  },
  compiler() {
    if (findSanitizingCompilers().length === 0) {
      aptInstall(['gcc', 'libc6-dev'], 'run the native tests under sanitizers');
    }
  },
  browser() {
    if (findBrowser() === null) aptInstall(['chromium'], 'test the page in a browser');
  },
};

/** Whether every package that the lockfile demands on this platform is installed in that version. */
function modulesAreCurrent() {
  const installedList = 'node_modules/.package-lock.json';
  if (!existsSync(installedList)) return false;
  const wanted = JSON.parse(readFileSync('package-lock.json', 'utf8')).packages;
  const installed = JSON.parse(readFileSync(installedList, 'utf8')).packages;
  return Object.keys(wanted).every((path) => {
    if (path === '' || (wanted[path].optional && !(path in installed))) return true;
    return installed[path]?.version === wanted[path].version;
  });
}

/**
 * Builds a module unless the stamp beside it says that it came from these very sources.
 * @param {string} variant as build.sh names it
 * @param {string} output
 */
function buildWasm(variant, output) {
  const stamp = `build/${variant}.stamp`;
  if (existsSync(output) && existsSync(stamp) && readFileSync(stamp, 'utf8') === state(output))
    return;
  if (findEmcc() === null) aptInstall(['emscripten'], 'compile the C core to wasm');
  run('bash', ['build.sh', variant]);
  mkdirSync('build', { recursive: true });
  writeFileSync(stamp, state(output));
}

/**
 * One hash over what a build reads and what it wrote.
 * @param {string} output
 */
function state(output) {
  const hash = createHash('sha256');
  const sources = readdirSync('src/core').filter((name) => /\.[ch]$/.test(name));
  for (const path of ['build.sh', ...sources.sort().map((name) => `src/core/${name}`), output]) {
    const bytes = readFileSync(path);
    hash.update(`${path} ${bytes.length}\n`).update(bytes);
  }
  return hash.digest('hex');
}

try {
  for (const name of process.argv.slice(2)) {
    if (!(name in steps))
      throw new Error(`prepare.js knows ${Object.keys(steps).join(', ')}; not ${name}.`);
    steps[name]();
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
