// Mutants of src/core, one changed line each, made by universalmutator (PyPI) in a virtual environment under build/.
// automatic.js judges them.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { aptInstall, run } from '../helpers/tools.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const VENV = join(root, 'build/mutation-venv');
const MUTATOR = 'universalmutator==1.14.1';

/**
 * @typedef {object} Mutant
 * @property {string} file of src/core
 * @property {number} line from 1
 * @property {string} before the line, trimmed
 * @property {string} after
 * @property {string} source the whole mutated file
 */

/** The mutator, installed at first use. */
function mutatorPath() {
  const program = join(VENV, 'bin/mutate');
  if (existsSync(program)) return program;
  if (spawnSync('python3', ['-c', 'import ensurepip']).status !== 0) {
    aptInstall(['python3-venv'], 'install the mutation tool');
  }
  run('python3', ['-m', 'venv', VENV]);
  run(join(VENV, 'bin/pip'), ['install', '--quiet', MUTATOR]);
  return program;
}

/**
 * Every mutant of one file, in a fixed order; no two are the same.
 * @param {string} file of src/core
 * @returns {Mutant[]}
 */
function mutantsOf(file) {
  const path = join(root, 'src/core', file);
  const lines = readFileSync(path, 'utf8').split('\n');
  const folder = mkdtempSync(join(tmpdir(), 'gated-mlp-mutants-'));
  try {
    const args = [path, 'c', '--noCheck', '--mutantDir', folder];
    const options = /** @type {const} */ ({ cwd: tmpdir(), encoding: 'utf8' });
    const { status, stdout, stderr } = spawnSync(mutatorPath(), args, options);
    if (status !== 0) throw new Error(`mutate ${file}:\n${stdout}${stderr}`);
    const number = (/** @type {string} */ name) => Number(name.match(/\.mutant\.(\d+)\./)?.[1]);
    const names = readdirSync(folder).sort((a, b) => number(a) - number(b));
    const sources = new Set(
      names.map((name) => readFileSync(join(folder, basename(name)), 'utf8')),
    );
    return [...sources].flatMap((source) => {
      const mutated = source.split('\n');
      const at = lines.findIndex((line, i) => line !== mutated[i]);
      if (at < 0 || isComment(lines, at)) return [];
      return [{ file, line: at + 1, before: lines[at].trim(), after: mutated[at].trim(), source }];
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Whether a line lies inside a comment that began on an earlier line, or is one.
 * @param {string[]} lines
 * @param {number} at
 */
function isComment(lines, at) {
  const before = lines.slice(0, at).join('\n');
  const inside = before.lastIndexOf('/*') > before.lastIndexOf('*/');
  return inside || lines[at].trim().startsWith('/*');
}

/**
 * A random sample of all mutants of src/core: the same for the same sources and seed.
 * @param {number} size
 * @param {number} seed
 * @returns {Mutant[]}
 */
export function sampleMutants(size, seed) {
  const files = readdirSync(join(root, 'src/core')).sort();
  const all = files.flatMap((file) => mutantsOf(file));
  console.log(
    `${all.length} mutants of ${files.length} files; ${Math.min(size, all.length)} are tried`,
  );
  const lot = (/** @type {Mutant} */ { file, line, after }) =>
    createHash('sha256').update(`${seed} ${file}:${line} ${after}`).digest('hex');
  return all
    .map((mutant) => ({ mutant, place: lot(mutant) }))
    .sort((a, b) => (a.place < b.place ? -1 : 1))
    .slice(0, size)
    .map(({ mutant }) => mutant);
}
