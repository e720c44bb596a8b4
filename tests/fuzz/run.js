// npm run test:fuzz: libFuzzer on the safetensors reader under ASan and UBSan with the corpus as seeds, then mutated
// files against the reference parser (differential.py). Prints how many inputs each has seen.
//   node tests/fuzz/run.js [inputs for libFuzzer] [files for the differential run]

import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { corpus, fileBytes } from '../helpers/corpus.js';
import { aptInstall, findProgram, run } from '../helpers/tools.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = 'build/fuzz';
const [inputs = '100000000', files = '1000000'] = process.argv.slice(2);
/** Long enough for every kind of header; longer inputs only cost speed. */
const LONGEST = 1024;

process.chdir(root);
fuzz();
differ();

function fuzz() {
  if (findProgram(['clang']) === null) aptInstall(['clang'], 'fuzz the safetensors reader');
  const core = readdirSync('src/core').filter((name) => /^(json|safetensors).*\.c$/.test(name));
  const sources = ['tests/fuzz/fuzz_safetensors.c', ...core.map((name) => `src/core/${name}`)];
  const program = `${folder}/fuzz_safetensors`;
  run('bash', ['build.sh', 'fuzz', 'clang', program, ...sources]);
  for (const name of ['seeds', 'found']) mkdirSync(`${folder}/${name}`, { recursive: true });
  corpus.files.forEach((file, i) => {
    if (!isSmall(file)) return;
    writeFileSync(`${folder}/seeds/${String(i).padStart(4, '0')}`, fileBytes(file));
  });
  run(program, [
    `-runs=${inputs}`,
    `-max_len=${LONGEST}`,
    '-dict=tests/fuzz/safetensors.dict',
    `-artifact_prefix=${folder}/`,
    '-verbosity=0',
    '-print_final_stats=1',
    `${folder}/found`,
    `${folder}/seeds`,
  ]);
  console.log(`libFuzzer: ${inputs} inputs, no finding`);
}

/** @param {import('../helpers/corpus.js').CorpusFile} file */
function isSmall(file) {
  const times = [...(file.raw ?? file.header ?? [])].map((part) =>
    typeof part === 'object' && 'times' in part ? part.times : 0,
  );
  return Math.max(0, ...times) <= LONGEST;
}

function differ() {
  const venv = 'build/fuzz-venv';
  const python = `${venv}/bin/python`;
  if (!existsSync(python)) {
    run('python3', ['-m', 'venv', venv]);
    run(python, ['-m', 'pip', 'install', '-q', 'safetensors==0.8.0', 'numpy==2.4.6']);
  }
  run(python, ['tests/fuzz/differential.py', files]);
}
