// Deletes every single validation of the safetensors reader in turn and sees whether a case fails: a file of the corpus, or
// test_safetensors.c; first as the programs are, then under sanitizers.
//   node tests/mutation/reader.js [file...]     every file of the reader without a word

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Runtime } from '../../src/binding/index.js';
import { wasmOf } from '../../src/binding/runtime.js';
import { corpus, fileBytes } from '../helpers/corpus.js';
import { packedCorpus, wrongVerdicts } from '../helpers/native-verdicts.js';
import { findSanitizingCompilers } from '../helpers/tools.js';
import { deletionsInC } from './deletions.js';
import { runLimited } from './limited.js';
import { tryDeletions } from './try-deletions.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const READER = /^(json|safetensors).*\.c$/;
const MODES = ['quick', 'native'];
const [CORPUS, UNIT] = ['read_corpus', 'test_safetensors'];
/** The few larger files of the corpus come last, and without sanitizers. */
const SMALL_BYTES = 1 << 20;
/** Far more than either program takes on a busy machine; a deletion may make it go round for ever. */
const SECONDS = 30;

/** @typedef {import('./deletions.js').Deletion} Deletion */
/** @typedef {import('../helpers/corpus.js').CorpusFile} CorpusFile */

/** Some files of the corpus, and what the reader prints of them; the first time that is held to the reference's verdicts. */
class CorpusPart {
  #files;
  #dtypes;
  #input;
  /** @type {string[] | undefined} */
  #right;

  /** @param {CorpusFile[]} files @param {string[]} dtypes */
  constructor(files, dtypes) {
    this.#files = files;
    this.#dtypes = dtypes;
    this.#input = packedCorpus(files);
  }

  /** @param {string} program @returns {Promise<boolean>} */
  async passes(program) {
    const limits = { cwd: root, seconds: SECONDS, input: this.#input };
    const { status, stdout } = await runLimited(program, [], limits);
    if (status !== 0) return false;
    if (this.#right === undefined) {
      const wrong = wrongVerdicts(stdout, this.#dtypes, this.#files);
      if (wrong.length === 0) this.#right = this.#verdicts(stdout);
      return wrong.length === 0;
    }
    return this.#verdicts(stdout).join('\n') === this.#right.join('\n');
  }

  /** Of each line what a test looks at: all where the file is taken, else the kind, any reason, the looks. @param {string} output */
  #verdicts(output) {
    return output.split('\n').map((line, i) => {
      const [kind, reason, , , , , , look] = line.split('\t');
      if (kind === 'ok') return line;
      return `${kind} ${reason !== ''} ${this.#files[i]?.looks === undefined ? '' : look}`;
    });
  }
}

class ReaderJudge {
  #folder = mkdtempSync(join(tmpdir(), 'gated-mlp-reader-'));
  #compiler;
  #small;
  #large;
  /** Objects that no deletion touches, by mode. @type {Map<string, string[]>} */
  #objects = new Map();

  /** @param {string} compiler @param {string[]} dtypes */
  constructor(compiler, dtypes) {
    this.#compiler = compiler;
    const isSmall = (/** @type {CorpusFile} */ file) => fileBytes(file).length <= SMALL_BYTES;
    this.#small = new CorpusPart(corpus.files.filter(isSmall), dtypes);
    this.#large = new CorpusPart(
      corpus.files.filter((file) => !isSmall(file)),
      dtypes,
    );
  }

  async prepare() {
    const core = readdirSync(join(root, 'src/core')).filter((name) => /\.c$/.test(name));
    const native = readdirSync(join(root, 'tests/native')).filter((name) => /\.c$/.test(name));
    const support = native.filter(
      (name) => !/^int main\(/m.test(readFileSync(join(root, 'tests/native', name), 'utf8')),
    );
    const sources = [
      ...core.filter((name) => name !== 'exports.c').map((name) => `src/core/${name}`),
      ...[...support, `${CORPUS}.c`, `${UNIT}.c`].map((name) => `tests/native/${name}`),
    ];
    for (const mode of MODES) {
      const folder = `${join(this.#folder, mode)}/`;
      await this.#build(mode, folder, sources);
      const objects = sources.map((path) => `${folder}${basename(path, '.c')}.o`);
      this.#objects.set(mode, objects);
      const failed = await this.#failing(mode, objects, folder);
      if (failed) throw new Error(`${failed} fails without a deletion, and so shows nothing`);
    }
  }

  dispose() {
    rmSync(this.#folder, { recursive: true });
  }

  /** @param {Deletion} deletion @returns {Promise<string | null>} */
  async judge({ file, source }) {
    const folder = mkdtempSync(join(this.#folder, 'without-'));
    try {
      writeFileSync(join(folder, file), source);
      for (const mode of MODES) {
        const made = `${join(folder, mode)}/`;
        mkdirSync(made);
        const NO_WARNINGS = '-w';
        await this.#build(mode, made, [join(folder, file), NO_WARNINGS]);
        const name = `${basename(file, '.c')}.o`;
        const objects = (this.#objects.get(mode) ?? []).map((object) =>
          basename(object) === name ? made + name : object,
        );
        const by = await this.#failing(mode, objects, made);
        if (by) return `${by}, ${mode}`;
      }
      return null;
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  /** @param {string} mode @param {string} out @param {string[]} inputs */
  async #build(mode, out, inputs) {
    const args = ['build.sh', mode, this.#compiler, out, ...inputs];
    const { status } = await runLimited('bash', args, { cwd: root });
    if (status !== 0) throw new Error(`bash ${args.join(' ')} ended with ${status}`);
  }

  /** @param {string} mode @param {string[]} objects @param {string} folder @returns {Promise<string | null>} */
  async #failing(mode, objects, folder) {
    const [reads, tests] = [`${folder}${CORPUS}`, `${folder}${UNIT}`];
    const without = (/** @type {string} */ name) =>
      objects.filter((object) => basename(object) !== `${name}.o`);
    await this.#build(mode, reads, without(UNIT));
    if (!(await this.#small.passes(reads))) return CORPUS;
    await this.#build(mode, tests, without(CORPUS));
    const { status } = await runLimited(tests, [], { cwd: root, seconds: SECONDS });
    if (status !== 0) return UNIT;
    return mode === 'native' || (await this.#large.passes(reads)) ? null : `${CORPUS}, large files`;
  }
}

const readerFiles = () => readdirSync(join(root, 'src/core')).filter((name) => READER.test(name));

/**
 * @param {string[]} [files] of src/core
 * @returns {Promise<boolean>} whether every deletion is noticed, or harmless for a known reason
 */
export async function runReader(files = readerFiles()) {
  const [compiler] = findSanitizingCompilers();
  const dtypes = [...wasmOf(await Runtime.create()).dtypes.keys()];
  const judge = new ReaderJudge(compiler, dtypes);
  try {
    await judge.prepare();
    const deletions = files.flatMap((file) =>
      deletionsInC(file, readFileSync(join(root, 'src/core', file), 'utf8')),
    );
    const judges = Array.from(
      { length: availableParallelism() },
      () => (/** @type {Deletion} */ deletion) => judge.judge(deletion),
    );
    return await tryDeletions(deletions, judges);
  } finally {
    judge.dispose();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const names = process.argv.slice(2);
  const good = await runReader(names.length > 0 ? names : undefined);
  process.exitCode = good ? 0 : 1;
}
