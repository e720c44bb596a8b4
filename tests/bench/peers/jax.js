// jax-js on its wasm backend, the whole MLP under jit. It probes the engine for relaxed SIMD by itself.

import { wallNow } from '../clock.js';
import { readyMemory } from '../ready-memory.js';

/** @typedef {import('../contestant.js').Contestant} Contestant */

/** @returns {Promise<Contestant[]>} */
export async function jaxContestants() {
  const { init, defaultDevice, jit, nn, numpy: np } = await import('@jax-js/jax');
  await init('wasm');
  defaultDevice('wasm');
  return [
    {
      name: 'jax-js f32',
      weights: 'f32',
      async load({ d, dFf, gate, up, down }) {
        /** @param {Float32Array} data @param {number[]} shape */
        const hold = (data, shape) => np.array(data, { shape });
        await readyMemory({ d, dFf });
        const start = wallNow();
        const held = [hold(gate, [dFf, d]), hold(up, [dFf, d]), hold(down, [d, dFf])];
        const setupMs = wallNow() - start;
        const forward = jit((/** @type {any[]} */ ...[x, g, u, o]) => {
          const z = np.matmul(x.ref, g.transpose());
          const act = nn.silu(z);
          const hidden = act.mul(np.matmul(x, u.transpose()));
          return np.matmul(hidden, o.transpose());
        });
        return {
          async at(tokens) {
            return {
              run(x) {
                const input = np.array(x, { shape: [tokens, d] });
                const y = forward(input, ...held.map((weight) => weight.ref));
                return y.dataSync();
              },
              dispose() {},
            };
          },
          setupMs,
          dispose() {
            for (const weight of held) weight.dispose();
            forward.dispose();
          },
        };
      },
    },
  ];
}
