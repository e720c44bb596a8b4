// Mutants of src/core, one changed line each, made by universalmutator (PyPI) in a virtual environment under build/.
// automatic.js judges them.

import { spawnSync } from 'node:child_process';
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
    const { status, stdout, stderr } = spawnSync(mutatorPath(), args, { encoding: 'utf8' });
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
 * A sample of all mutants of src/core: each file has its share, spread evenly over its lines. The same on every run.
 * @param {number} size
 * @returns {Mutant[]}
 */
export function sampleMutants(size) {
  const files = readdirSync(join(root, 'src/core')).sort();
  const all = files.map((file) => mutantsOf(file));
  const total = all.reduce((sum, mutants) => sum + mutants.length, 0);
  console.log(
    `${total} mutants of ${files.length} files; every ${(total / size).toFixed(1)}th is tried`,
  );
  const flat = all.flat();
  const step = Math.max(1, total / size);
  return Array.from(
    { length: Math.min(size, total) },
    (_, i) => flat[Math.floor((i + 0.5) * step)],
  );
}
