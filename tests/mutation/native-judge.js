// Judges a mutant by the native tests, which takes a second: what the mutation touches is compiled again, in float32 and in float64,
// linked with the objects of everything else, and run until a test fails. What survives, or changes no object here, is for
// node-judge.js, which sees the modules.

import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sameBytes, touchedBy } from './touched.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const execute = promisify(execFile);

/** Processor seconds after which a test counts as never ending. */
const CPU_SECONDS = 30;
/** Ways to build, in the order in which they judge; `mode` is build.sh's. Sanitizers see steps outside a buffer. */
const BUILDS = [
  { name: 'float32', mode: 'quick', flags: [] },
  { name: 'float64', mode: 'quick', flags: ['-DGATED_MLP_FLOAT64'] },
  { name: 'sanitized', mode: 'native', flags: [] },
];
const SAMPLED = 'exhaustive_activation';
const STRIDE = '65537';

/** @typedef {import('./mutants.js').Mutant} Mutant */
/** same: it compiles to the very same modules. @typedef {{ verdict: 'killed' | 'invalid' | 'same' | 'survived', by?: string }} Judgement */

/** @param {string} folder @param {RegExp} pattern */
const filesIn = (folder, pattern) =>
  readdirSync(join(root, folder)).filter((name) => pattern.test(name));

/**
 * Compiles one C file to an object.
 * @param {string} compiler
 * @param {string} source
 * @param {string} object
 * @param {typeof BUILDS[number]} build
 */
async function compile(compiler, source, object, { mode, flags }) {
  await execute('bash', ['build.sh', mode, compiler, object, source, '-c', ...flags], {
    cwd: root,
  });
}

export class NativeJudge {
  #compiler;
  #folder = mkdtempSync(join(tmpdir(), 'gated-mlp-judge-'));
  /** How often each test has killed a mutant of each file: the best ones go first. @type {Map<string, number>} */
  #kills = new Map();
  #core = filesIn('src/core', /\.c$/).filter((name) => name !== 'exports.c');
  #tests = [...filesIn('tests/native', /^test_.*\.c$/), `${SAMPLED}.c`].map((name) =>
    basename(name, '.c'),
  );
  #support = filesIn('tests/native', /\.c$/).filter(
    (name) => !/^int main\(/m.test(readFileSync(join(root, 'tests/native', name), 'utf8')),
  );

  /** @param {string} compiler */
  constructor(compiler) {
    this.#compiler = compiler;
  }

  /** Builds the objects of everything and sees every test pass. */
  async prepare() {
    for (const build of BUILDS) {
      const { name } = build;
      mkdirSync(join(this.#folder, name));
      const sources = [
        ...this.#core.map((file) => `src/core/${file}`),
        ...[...this.#support, ...this.#tests.map((test) => `${test}.c`)].map(
          (file) => `tests/native/${file}`,
        ),
      ];
      for (const source of sources) {
        if (name !== 'float32' && source.includes(SAMPLED)) continue;
        await compile(this.#compiler, source, this.#object(name, basename(source)), build);
      }
      const failed = await this.#failingTest('', build, new Map());
      if (failed) throw new Error(`${failed} fails without a mutation, and so shows nothing`);
    }
  }

  dispose() {
    rmSync(this.#folder, { recursive: true });
  }

  /** @param {Mutant} mutant @returns {Promise<Judgement>} */
  async judge(mutant) {
    if (mutant.file === 'exports.c') return { verdict: 'survived' };
    const folder = mkdtempSync(join(this.#folder, 'mutant-'));
    let changed = false;
    try {
      cpSync(join(root, 'src/core'), folder, { recursive: true });
      writeFileSync(join(folder, mutant.file), mutant.source);
      const touched = touchedBy(folder, mutant.file).filter((name) => this.#core.includes(name));
      for (const build of BUILDS) {
        if (build.name === 'sanitized' && !changed) break;
        const objects = await this.#recompile(folder, touched, build);
        if (objects === null) return { verdict: 'invalid' };
        if (objects.size === 0) continue;
        changed = true;
        const by = await this.#failingTest(mutant.file, build, objects, folder);
        if (by) return { verdict: 'killed', by };
      }
      return { verdict: 'survived' };
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  /**
   * The objects of the mutant that differ from those without it, by file; null where it does not compile.
   * @param {string} folder
   * @param {string[]} touched
   * @param {typeof BUILDS[number]} build
   */
  async #recompile(folder, touched, build) {
    const { name } = build;
    /** @type {Map<string, string>} */
    const objects = new Map();
    for (const file of touched) {
      const object = join(folder, `${file}.${name}.o`);
      try {
        await compile(this.#compiler, join(folder, file), object, build);
      } catch {
        return null;
      }
      if (!sameBytes(object, this.#object(name, file))) objects.set(file, object);
    }
    return objects;
  }

  /** @param {string} precision @param {string} file */
  #object(precision, file) {
    return join(this.#folder, precision, `${file}.o`);
  }

  /**
   * @param {string} file that was mutated
   * @param {typeof BUILDS[number]} build
   * @param {Map<string, string>} objects in use instead of those of these files
   * @param {string} [folder] for the programs
   * @returns {Promise<string | null>} the first test that fails
   */
  async #failingTest(file, { name, mode }, objects, folder = this.#folder) {
    const rank = (/** @type {string} */ test) => this.#kills.get(`${file} ${test}`) ?? 0;
    for (const test of [...this.#tests].sort((a, b) => rank(b) - rank(a))) {
      if (name !== 'float32' && test === SAMPLED) continue;
      const program = join(folder, `${test}.${name}`);
      const core = this.#core.map((each) => objects.get(each) ?? this.#object(name, each));
      const others = [`${test}.c`, ...this.#support].map((each) => this.#object(name, each));
      const args = ['build.sh', mode, this.#compiler, program, ...others, ...core];
      await execute('bash', args, { cwd: root });
      if (!(await passes(program, test === SAMPLED ? [STRIDE] : []))) {
        this.#kills.set(`${file} ${test}`, rank(test) + 1);
        return `${test} in ${name}`;
      }
    }
    return null;
  }
}

/** @param {string} program @param {string[]} args */
async function passes(program, args) {
  try {
    const limited = `ulimit -t ${CPU_SECONDS}; exec "$0" "$@"`;
    await execute('bash', ['-c', limited, program, ...args], { cwd: root, maxBuffer: 1 << 28 });
    return true;
  } catch {
    return false;
  }
}
