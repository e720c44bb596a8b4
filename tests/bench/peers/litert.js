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
  const scope = /** @type {any} */ (globalThis);
  scope.Module = { print() {}, printErr() {} };
  const { warn } = console;
  // It warns of every way in which this machine has no GPU; only its CPU build is wanted here.
  console.warn = () => {};
  await litert.loadLiteRt(await scriptFolder());
  console.warn = warn;
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

/** Where the package's wasm files are, and in Node the means to load the script among them. */
async function scriptFolder() {
  if (!('process' in globalThis)) return new URL('../node_modules/@litertjs/core/wasm/', import.meta.url).href;
  const [{ readFileSync }, { createRequire }, { dirname }, { compileFunction }] = await Promise.all([
    import('node:fs'),
    import('node:module'),
    import('node:path'),
    import('node:vm'),
  ]);
  const require = createRequire(import.meta.url);
  const scope = /** @type {any} */ (globalThis);
  scope.self = scope;
  scope.importScripts = (/** @type {string} */ path) => {
    const source = `${readFileSync(path, 'utf8')}\nreturn ModuleFactory;`;
    const load = compileFunction(source, ['require', '__filename', '__dirname'], { filename: path });
    scope.ModuleFactory = load(require, path, dirname(path));
  };
  return require.resolve('@litertjs/core').replace(/dist[^]*$/, 'wasm/');
}
