// Finds the programs that building and testing need, and installs them by apt where that is possible.
// Used by prepare.js and by tests that start a compiler or a browser; nothing that is shipped imports it.

import { spawnSync } from 'node:child_process';
import { accessSync, constants, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A folder in which programs may be run: those for temporary files forbid it on some machines. */
const BUILD = fileURLToPath(new URL('../../build/', import.meta.url));
/** Another program may be installing at the same time, and a mirror may be slow or out of reach for a moment. */
const PATIENT = ['-q', '-o', 'DPkg::Lock::Timeout=600', '-o', 'Acquire::Retries=5'];

/**
 * Runs a program with its output on this terminal. The error that it ended badly has its `status`.
 * @param {string} program
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [options]
 */
export function run(program, args, options = {}) {
  const { status, error } = spawnSync(program, args, {
    stdio: ['ignore', 'inherit', 'inherit'],
    ...options,
  });
  if (error) throw error;
  if (status !== 0) {
    const message = `${program} ${args.join(' ')} ended with status ${status}`;
    throw Object.assign(new Error(message), { status });
  }
}

/**
 * The first of some programs that is on PATH (or is a path itself), as an absolute path.
 * @param {string[]} names
 * @returns {string | null}
 */
export function findProgram(names) {
  const folders = (process.env.PATH ?? '').split(delimiter);
  for (const name of names) {
    const places = name.includes('/') ? [name] : folders.map((folder) => join(folder, name));
    for (const place of places) {
      try {
        accessSync(place, constants.X_OK);
        return place;
      } catch {
        // not there: the next place
      }
    }
  }
  return null;
}

/** @returns {string | null} emcc, or what EMCC names */
export function findEmcc() {
  return findProgram([process.env.EMCC ?? 'emcc']);
}

/** @returns {string | null} a Chromium; CHROMIUM names another one */
export function findBrowser() {
  const named = process.env.CHROMIUM;
  return findProgram(
    named ? [named] : ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
  );
}

/** @returns {string[]} every C compiler here that links and runs a program under ASan and UBSan */
export function findSanitizingCompilers() {
  return ['gcc', 'clang'].filter((name) => findProgram([name]) !== null && canSanitize(name));
}

/** @param {string} compiler */
function canSanitize(compiler) {
  mkdirSync(BUILD, { recursive: true });
  const folder = mkdtempSync(join(BUILD, 'probe-'));
  try {
    const source = join(folder, 'probe.c');
    const program = join(folder, 'probe');
    writeFileSync(source, 'int main(void) { return 0; }\n');
    const built = spawnSync(compiler, ['-fsanitize=address,undefined', source, '-o', program]);
    return built.status === 0 && spawnSync(program).status === 0;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Installs Debian packages by name: as root, or by sudo that asks for no password. Throws one sentence that says what to install
 * where that cannot be done.
 * @param {string[]} packages
 * @param {string} purpose what they are for, to end the sentence "... is needed to"
 */
export function aptInstall(packages, purpose) {
  const list = packages.join(' ');
  const advice = `${list} is needed to ${purpose}: please install it (Debian, Ubuntu: apt-get install ${list}).`;
  const apt = findProgram(['apt-get']);
  const root = process.getuid?.() === 0;
  if (apt === null || (!root && spawnSync('sudo', ['-n', 'true']).status !== 0))
    throw new Error(advice);
  console.log(`Installing ${list} to ${purpose} ...`);
  const [program, before] = root ? [apt, []] : ['sudo', ['-n', apt]];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const aptGet = (/** @type {string[]} */ args) =>
    spawnSync(program, [...before, ...PATIENT, ...args], {
      encoding: 'utf8',
      env,
      maxBuffer: 64 << 20,
    });
  // A list that cannot be renewed is no reason to stop: the one that is there may do.
  aptGet(['update']);
  const { status, stdout, stderr } = aptGet([
    'install',
    '-y',
    '--no-install-recommends',
    ...packages,
  ]);
  if (status !== 0) throw new Error(`${stdout}${stderr}${advice}`);
}
