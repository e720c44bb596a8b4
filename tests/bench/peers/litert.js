// LiteRT.js, XNNPACK compiled to wasm. It has a build with relaxed SIMD and one without, and picks by probing.
// In Node it loads its script through a stand-in for importScripts. Shapes are static: every token count is compiled anew.

import { inNode, wallNow } from '../clock.js';
import { tfliteModels } from '../formats/tflite.js';
import { hasRelaxedSimd } from '../limits.js';
import { readyMemory } from '../ready-memory.js';

/** @typedef {import('../contestant.js').Contestant} Contestant */

/** @type {[string, import('../formats/tflite.js').Kind][]} */
const KINDS = [
  ['f32', 'f32'],
  ['int8', 'int8'],
  ['int4 blocks', 'int4'],
];

/**
 * @param {string} modules URL of the folder of packages
 * @param {number} asked threads, which only its build with relaxed SIMD has, and only in a page
 * @returns {Promise<Contestant[]>}
 */
export async function litertContestants(modules, asked) {
  const litert = await import('@litertjs/core');
  const threads = !inNode && hasRelaxedSimd() ? asked : 1;
  await load(litert, `${modules}@litertjs/core/wasm/`, threads);
  return KINDS.map(([label, kind]) => ({
    name: `LiteRT ${label}${threads > 1 ? ` ${threads}t` : ''}`,
    threads,
    weights: label,
    async load(weights) {
      const write = tfliteModels(weights, kind);
      return {
        async at(tokens) {
          const bytes = write(tokens);
          await readyMemory(weights);
          const start = wallNow();
          const model = await litert.loadAndCompile(bytes, {
            accelerator: 'wasm',
            cpuOptions: { numThreads: threads },
          });
          return {
            setupMs: wallNow() - start,
            async run(x) {
              const input = litert.Tensor.fromTypedArray(x, [tokens, weights.d]);
              const [output] = await model.run(input);
              const y = /** @type {Float32Array} */ (output.toTypedArray());
              input.delete();
              output.delete();
              return y;
            },
            dispose: () => model.delete(),
          };
        },
        dispose() {},
      };
    },
  }));
}

/**
 * @param {typeof import('@litertjs/core')} litert
 * @param {string} folder URL of its wasm files
 * @param {number} threads
 */
async function load(litert, folder, threads) {
  const scope = /** @type {any} */ (globalThis);
  const { warn } = console;
  // It logs at length, and warns of every way in which this machine has no GPU; only its CPU build is wanted here.
  console.warn = () => {};
  scope.Module = { print() {}, printErr() {} };
  try {
    await (inNode
      ? loadInNode(litert, folder, scope)
      : litert.loadLiteRt(folder, { threads: threads > 1 }));
  } finally {
    console.warn = warn;
  }
}

/**
 * Through the globals of a worker, taken away again since other packages take them for a browser's.
 * @param {typeof import('@litertjs/core')} litert
 * @param {string} folder
 * @param {any} scope
 */
async function loadInNode(litert, folder, scope) {
  const [{ readFileSync }, { createRequire }, { dirname }, { fileURLToPath }, { compileFunction }] =
    await Promise.all([
      import('node:fs'),
      import('node:module'),
      import('node:path'),
      import('node:url'),
      import('node:vm'),
    ]);
  scope.self = scope;
  scope.importScripts = (/** @type {string} */ path) => {
    const source = `${readFileSync(path, 'utf8')}\nreturn ModuleFactory;`;
    const given = ['require', '__filename', '__dirname'];
    const define = compileFunction(source, given, { filename: path });
    scope.ModuleFactory = define(createRequire(path), path, dirname(path));
  };
  await litert.loadLiteRt(fileURLToPath(folder));
  delete scope.self;
  delete scope.importScripts;
}
