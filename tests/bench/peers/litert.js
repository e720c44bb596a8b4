// LiteRT.js, XNNPACK compiled to wasm. It has a build with relaxed SIMD and one without, and picks by probing.
// In Node it loads its script through a stand-in for importScripts. Shapes are static: every token count is compiled anew.

import { tfliteModels } from '../formats/tflite.js';

/** @typedef {import('../contestant.js').Contestant} Contestant */

/** @type {[string, import('../formats/tflite.js').Kind][]} */
const KINDS = [
  ['f32', 'f32'],
  ['int8', 'int8'],
  ['int4 blocks', 'int4'],
];

/** @returns {Promise<Contestant[]>} */
export async function litertContestants() {
  const litert = await import('@litertjs/core');
  await load(litert);
  return KINDS.map(([label, kind]) => ({
    name: `LiteRT ${label}`,
    weights: label,
    async load(weights) {
      const write = tfliteModels(weights, kind);
      return {
        async at(tokens) {
          const model = await litert.loadAndCompile(write(tokens), { accelerator: 'wasm' });
          return {
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

/** @param {typeof import('@litertjs/core')} litert */
async function load(litert) {
  const scope = /** @type {any} */ (globalThis);
  const { warn } = console;
  // It logs at length, and warns of every way in which this machine has no GPU; only its CPU build is wanted here.
  console.warn = () => {};
  scope.Module = { print() {}, printErr() {} };
  try {
    if ('process' in scope) await loadInNode(litert, scope);
    else
      await litert.loadLiteRt(
        new URL('../node_modules/@litertjs/core/wasm/', import.meta.url).href,
      );
  } finally {
    console.warn = warn;
  }
}

/**
 * Through the globals of a worker, taken away again since other packages take them for a browser's.
 * @param {typeof import('@litertjs/core')} litert
 * @param {any} scope
 */
async function loadInNode(litert, scope) {
  const [{ readFileSync }, { createRequire }, { dirname, join }, { compileFunction }] =
    await Promise.all([
      import('node:fs'),
      import('node:module'),
      import('node:path'),
      import('node:vm'),
    ]);
  const require = createRequire(import.meta.url);
  scope.self = scope;
  scope.importScripts = (/** @type {string} */ path) => {
    const source = `${readFileSync(path, 'utf8')}\nreturn ModuleFactory;`;
    const define = compileFunction(source, ['require', '__filename', '__dirname'], {
      filename: path,
    });
    scope.ModuleFactory = define(require, path, dirname(path));
  };
  await litert.loadLiteRt(join(dirname(require.resolve('@litertjs/core')), '../wasm/'));
  delete scope.self;
  delete scope.importScripts;
}
