// `npm run test:nodes`: the tests of Node under later versions of it, each as npm packs it, installed in build/nodes.
//   node tests/nodes/run.js [test files]     all of tests/*.test.js without a word

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../helpers/tools.js';

const VERSIONS = ['22.23.5', '24.22.3'];
const FOLDER = 'build/nodes';

process.chdir(fileURLToPath(new URL('../../', import.meta.url)));
const files =
  process.argv.length > 2
    ? process.argv.slice(2)
    : readdirSync('tests')
        .filter((name) => name.endsWith('.test.js'))
        .map((name) => `tests/${name}`);

/** @param {string} version @returns {string} the path of that Node */
function nodeOf(version) {
  const folder = `${FOLDER}/${version}`;
  const name = `node-${process.platform}-${process.arch}`;
  const program = `${folder}/node_modules/${name}/bin/node`;
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(`${folder}/package.json`, '{ "private": true }\n');
    const args = ['install', '--no-audit', '--no-fund', '--no-package-lock', `${name}@${version}`];
    run('npm', args, { cwd: folder });
  }
  return fileURLToPath(new URL(`../../${program}`, import.meta.url));
}

/** @param {string} version @returns {boolean} whether every test passed */
function passesUnder(version) {
  const program = nodeOf(version);
  console.log(`Node ${version}, ${files.length} files`);
  // npm and whatever else a test starts by name run under the same Node.
  const env = { ...process.env, PATH: `${dirname(program)}${delimiter}${process.env.PATH}` };
  return spawnSync(program, ['--test', ...files], { stdio: 'inherit', env }).status === 0;
}

const failed = VERSIONS.filter((version) => !passesUnder(version));
console.log(failed.length === 0 ? 'passed under all' : `failed under ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;
