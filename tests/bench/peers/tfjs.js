// TensorFlow.js on its wasm backend. Weights are held transposed: matMul's own transposeB is a slow loop there.

import { inNode, wallNow } from '../clock.js';
import { transpose } from '../formats/quantise.js';
import { readyMemory } from '../ready-memory.js';

/** @typedef {import('../contestant.js').Contestant} Contestant */

/** @param {string} modules URL of the folder of packages @returns {Promise<Contestant[]>} */
export async function tfjsContestants(modules) {
  const tf = await import('@tensorflow/tfjs-core');
  const { setWasmPaths } = await import('@tensorflow/tfjs-backend-wasm');
  if (!inNode) setWasmPaths(`${modules}@tensorflow/tfjs-backend-wasm/dist/`);
  await tf.setBackend('wasm');
  await tf.ready();
  if (tf.getBackend() !== 'wasm') throw new Error(`tfjs runs on ${tf.getBackend()}, not on wasm`);
  return [
    {
      name: 'tfjs f32',
      weights: 'f32',
      variant: 'simd128',
      async load({ d, dFf, gate, up, down }) {
        await readyMemory({ d, dFf });
        const start = wallNow();
        const held = [
          tf.tensor2d(transpose(gate, dFf, d), [d, dFf]),
          tf.tensor2d(transpose(up, dFf, d), [d, dFf]),
          tf.tensor2d(transpose(down, d, dFf), [dFf, d]),
        ];
        const setupMs = wallNow() - start;
        /** @param {Float32Array} x @param {number} tokens */
        const forward = (x, tokens) => {
          const input = tf.tensor2d(x, [tokens, d]);
          const z = tf.matMul(input, held[0]);
          const act = tf.mul(z, tf.sigmoid(z));
          return tf.matMul(tf.mul(act, tf.matMul(input, held[1])), held[2]);
        };
        return {
          async at(tokens) {
            return {
              run(x) {
                const y = tf.tidy(() => forward(x, tokens));
                const values = /** @type {Float32Array} */ (y.dataSync());
                y.dispose();
                return values;
              },
              dispose() {},
            };
          },
          setupMs,
          dispose: () => tf.dispose(held),
        };
      },
    },
  ];
}
