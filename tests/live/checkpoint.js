// The whole checkpoint of fixtures/make_checkpoint.py, made once in build/live by a virtual environment of pinned versions.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { aptInstall, run } from '../helpers/tools.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const BUILD = `${root}build/live`;
const VENV = `${BUILD}/venv`;
const STAMP = `${VENV}/requirements.txt`;
const REQUIREMENTS = `${root}tests/live/requirements.txt`;

/** @returns {string} the folder it is in, made where it is missing */
export function wholeCheckpoint() {
  const folder = `${BUILD}/checkpoint`;
  if (existsSync(folder)) return folder;
  makeVenv();
  const unfinished = `${folder}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  run(`${VENV}/bin/python`, [`${root}fixtures/make_checkpoint.py`, unfinished]);
  renameSync(unfinished, folder);
  return folder;
}

function makeVenv() {
  const wanted = readFileSync(REQUIREMENTS, 'utf8');
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted) return;
  mkdirSync(BUILD, { recursive: true });
  if (spawnSync('python3', ['-c', 'import ensurepip']).status !== 0) {
    aptInstall(['python3-venv'], 'make the whole checkpoint');
  }
  run('python3', ['-m', 'venv', VENV]);
  run(`${VENV}/bin/pip`, ['install', '--quiet', '-r', REQUIREMENTS]);
  writeFileSync(STAMP, wanted);
}
