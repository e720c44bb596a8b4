// `npm run test:torch`: makes a virtual environment with the packages of requirements.txt in build/torch-venv, then runs check.py in
// it. The first run downloads torch (about 200 MB) and takes minutes; later ones take seconds.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { activationOf } from '../../src/binding/activations.js';
import { aptInstall, run } from '../helpers/tools.js';
import { checkCapture } from './capture.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const venv = `${root}build/torch-venv`;
const stamp = `${venv}/requirements.txt`;
const wanted = readFileSync(`${root}tests/torch/requirements.txt`, 'utf8');

if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
  mkdirSync(`${root}build`, { recursive: true });
  if (spawnSync('python3', ['-c', 'import ensurepip']).status !== 0) {
    aptInstall(['python3-venv'], 'install torch, to test against it');
  }
  run('python3', ['-m', 'venv', venv]);
  run(`${venv}/bin/pip`, ['install', '--quiet', '-r', `${root}tests/torch/requirements.txt`]);
  writeFileSync(stamp, wanted);
}
run(`${venv}/bin/python`, [`${root}tests/torch/check.py`, root, JSON.stringify(spellings())]);
await checkCapture(`${venv}/bin/python`);
// What toSafetensors writes, read back by the reference package of that environment.
run(process.execPath, [
  '--test',
  '--test-reporter=dot',
  '--test-name-pattern=toSafetensors',
  `${root}tests/parameters.test.js`,
]);

/** Every spelling that is taken, and what it means: the list is in the message for one that is not. */
function spellings() {
  try {
    activationOf('');
  } catch (error) {
    const known =
      String(error)
        .match(/Known: (.*)$/)?.[1]
        .split(', ') ?? [];
    return Object.fromEntries(known.map((spelling) => [spelling, activationOf(spelling)]));
  }
  throw new Error('the empty string is taken for an activation');
}
