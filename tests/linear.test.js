// Linear: the kernels alone, against float64 sums.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Linear, PCG32, Runtime } from '../src/binding/index.js';

const runtime = await Runtime.create();
after(() => runtime.dispose());

/** @param {PCG32} rng @param {number} n */
const values = (rng, n) => Float32Array.from({ length: n }, () => 2 * rng.nextFloat() - 1);

for (const [inFeatures, outFeatures, tokens, bias] of /** @type {const} */ ([
  [1, 1, 1, false],
  [7, 33, 1, true],
  [300, 5, 4, false],
  [65, 130, 9, true],
])) {
  test(`${inFeatures} to ${outFeatures} on ${tokens} tokens ${bias ? 'with' : 'without'} bias is x weight^T + bias`, async () => {
    const rng = new PCG32(11);
    const linear = await Linear.create(inFeatures, outFeatures, { bias, runtime });
    const weight = values(rng, outFeatures * inFeatures);
    const offset = bias ? values(rng, outFeatures) : new Float32Array(outFeatures);
    linear.loadStateDict({ weight: { data: weight }, ...(bias && { bias: { data: offset } }) });
    const x = values(rng, tokens * inFeatures);
    const y = linear.forward(x);
    for (let t = 0; t < tokens; t++) {
      for (let o = 0; o < outFeatures; o++) {
        let sum = offset[o];
        for (let k = 0; k < inFeatures; k++)
          sum += x[t * inFeatures + k] * weight[o * inFeatures + k];
        assert.ok(
          Math.abs(y[t * outFeatures + o] - sum) <= 2e-6 * Math.sqrt(inFeatures),
          `${t}, ${o}`,
        );
      }
    }
    linear.dispose();
  });
}

test('it writes into out, takes no tokens, and says what does not fit', async () => {
  const linear = await Linear.create(3, 2, { runtime });
  linear.loadStateDict({ weight: { shape: [2, 3], data: Float32Array.of(1, 2, 3, 4, 5, 6) } });
  const out = new Float32Array(2);
  assert.equal(linear.forward(Float32Array.of(1, 1, 1), { out }), out);
  assert.deepEqual(out, Float32Array.of(6, 15));
  assert.equal(linear.forward(new Float32Array(0)).length, 0);
  assert.throws(() => linear.forward(new Float32Array(4)), {
    code: 'ERR_SHAPE',
    message: /inFeatures = 3/,
  });
  assert.throws(() => linear.forward(new Float32Array(3), { out: new Float32Array(3) }), {
    code: 'ERR_SHAPE',
  });
  assert.throws(() => linear.loadStateDict({}), {
    code: 'ERR_SHAPE',
    message: /weight is missing/,
  });
  linear.dispose();
  linear.dispose();
  assert.throws(() => linear.forward(new Float32Array(3)), { code: 'ERR_DISPOSED' });
  await assert.rejects(Linear.create(0, 2, { runtime }), {
    code: 'ERR_SHAPE',
    message: /inFeatures is 0/,
  });
});
