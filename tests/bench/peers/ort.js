// ONNX Runtime Web on its wasm backend. One copy of the package has one thread count, fixed at first use.

import { inNode, wallNow } from '../clock.js';
import { onnxModel } from '../formats/onnx.js';
import { readyMemory } from '../ready-memory.js';

/** @typedef {import('../contestant.js').Contestant} Contestant */

/** @type {[string, import('../formats/onnx.js').Kind][]} */
const KINDS = [
  ['f32', 'f32'],
  ['int8', 'int8'],
  ['int4 blocks', 'int4'],
];

/** @param {string} modules URL of the folder of packages @param {number} threads @returns {Promise<Contestant[]>} */
export async function ortContestants(modules, threads) {
  const ort = await import('onnxruntime-web');
  if (!inNode) ort.env.wasm.wasmPaths = `${modules}onnxruntime-web/dist/`;
  ort.env.wasm.numThreads = threads;
  ort.env.logLevel = 'error';
  return KINDS.map(([label, kind]) => ({
    name: `ORT ${label}${threads > 1 ? ` ${threads}t` : ''}`,
    threads,
    weights: label,
    variant: 'simd128',
    async load(weights) {
      const hadWorker = 'Worker' in globalThis;
      const bytes = onnxModel(weights, kind);
      await readyMemory(weights);
      const start = wallNow();
      const session = await ort.InferenceSession.create(bytes, {
        executionProviders: ['wasm'],
        graphOptimizationLevel: 'all',
      });
      const setupMs = wallNow() - start;
      // In Node it puts a Worker in the global scope, by which jax-js would take itself to be in a browser.
      if (!hadWorker) Reflect.deleteProperty(globalThis, 'Worker');
      return {
        async at(tokens) {
          return {
            async run(x) {
              const input = new ort.Tensor('float32', x, [tokens, weights.d]);
              const { down } = await session.run({ x: input });
              return /** @type {Float32Array} */ (down.data);
            },
            dispose() {},
          };
        },
        setupMs,
        dispose: () => session.release(),
      };
    },
  }));
}
