// Brings what is missing, and only that: `node tests/helpers/prepare.js STEP...` before npm start, test, check, bench and pack.
//   modules   node_modules as package-lock.json says        wasm      the module, if its sources changed
//   compiler  a C compiler with sanitizers                  float64   the test build of the module in double
//   browser   a Chromium                                    relaxed   the modules for relaxed SIMD, where that can be built
//   peers     what the bench measures against              threads   the module on shared memory
//   engines   Firefox, and WebKit with a virtual screen      valgrind  what test:native runs under besides sanitizers
// A second run finds everything in place and does nothing.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  aptInstall,
  findBrowser,
  findEmcc,
  findProgram,
  findSanitizingCompilers,
  run,
} from './tools.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
process.chdir(root);

/** @type {Record<string, () => void>} */
const steps = {
  modules() {
    installModules('.');
  },
  peers() {
    installModules('tests/bench');
  },
  wasm() {
    buildWasm('simd128', 'src/binding/gated-mlp.wasm');
  },
  threads() {
    buildWasm('threads', 'src/binding/gated-mlp-threads.wasm');
  },
  relaxed() {
    if (tryRelaxed()) return;
    try {
      aptInstall(['clang-19', 'lld-19', 'llvm-19'], 'compile for relaxed SIMD');
    } catch (error) {
      console.error(error instanceof Error ? error.message : error);
    }
    if (tryRelaxed()) return;
    console.error('GOING ON WITHOUT RELAXED SIMD: the plain module runs everywhere, more slowly.');
  },
  float64() {
    buildWasm('float64', 'build/gated-mlp-f64.wasm');
  },
  compiler() {
    if (findSanitizingCompilers().length === 0) {
      aptInstall(['gcc', 'libc6-dev'], 'run the native tests under sanitizers');
    }
  },
  valgrind() {
    if (findProgram(['valgrind']) === null)
      aptInstall(['valgrind'], 'look for reads of uninitialized memory');
  },
  browser() {
    if (findBrowser() === null) aptInstall(['chromium'], 'test the page in a browser');
  },
  engines() {
    const programs = {
      'firefox-esr': 'firefox-esr',
      WebKitWebDriver: 'webkit2gtk-driver',
      Xvfb: 'xvfb',
    };
    for (const [program, name] of Object.entries(programs)) {
      if (findProgram([program]) === null) aptInstall([name], 'test the page in three engines');
    }
  },
};

/** @param {string} folder of a package-lock.json */
function installModules(folder) {
  if (!modulesAreCurrent(folder)) {
    const args = ['ci', '--no-audit', '--no-fund', '--fetch-retries=5'];
    run('npm', args, { cwd: folder });
  }
}

/** Whether every package that the lockfile demands on this platform is installed in that version. @param {string} folder */
function modulesAreCurrent(folder) {
  const installedList = `${folder}/node_modules/.package-lock.json`;
  if (!existsSync(installedList)) return false;
  const wanted = JSON.parse(readFileSync(`${folder}/package-lock.json`, 'utf8')).packages;
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

/** Whether the compilers here could build them. Those of an older state are taken away: their exports may no longer fit. */
function tryRelaxed() {
  for (const variant of ['relaxed', 'relaxed-threads']) {
    const output = `src/binding/gated-mlp-${variant}.wasm`;
    try {
      buildWasm(variant, output);
    } catch (error) {
      rmSync(output, { force: true });
      const NO_TOOLCHAIN = 3;
      if (error instanceof Error && 'status' in error && error.status === NO_TOOLCHAIN)
        return false;
      throw error;
    }
  }
  return true;
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
