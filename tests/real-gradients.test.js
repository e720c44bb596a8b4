// Gradients on the three real layers of SmolLM2-135M-Instruct, held in BF16, for the upstream gradient of the model's own
// next-token loss: against float64 (fixtures/smollm2-135m-instruct-checks.safetensors).

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { GatedMLP, Runtime } from '../src/binding/index.js';
import {
  assertClose,
  readJson,
  readSafetensors,
  TOLERANCE,
  tensor,
  values,
  worstRowError,
} from './helpers/goldens.js';

const NAME = 'smollm2-135m-instruct';
const [D, D_FF] = [576, 1536];
const SAMPLES = 256;

const hidden = readSafetensors(`${NAME}-hidden.safetensors`);
const checks = readSafetensors(`${NAME}-checks.safetensors`);
const { layers, prompts } = readJson(`${NAME}-prompts.json`);

const runtime = await Runtime.create();
after(() => runtime.dispose());

for (const layer of layers) {
  const twoDigits = String(layer).padStart(2, '0');
  const mlp = await realLayer(layer, twoDigits);

  for (const { name } of prompts) {
    const key = `layer${twoDigits}/${name}`;
    const x = values(hidden, `${key}/x`);
    const gy = values(checks, `${key}/gy`);
    const gradients = mlp.backward(x, gy);

    test(`layer ${layer}, ${name}: the gradient for x is that of float64`, (t) => {
      const expected = values(checks, `${key}/x.grad64`);
      const error = worstRowError(gradients.x, expected, expected.length);
      assert.ok(error <= TOLERANCE, `|ours - float64| / |float64| = ${error}`);
      t.diagnostic(`|ours - float64| / |float64| = ${error.toExponential(2)}`);
    });

    for (const weight of ['gate_proj.weight', 'up_proj.weight', 'down_proj.weight']) {
      test(`layer ${layer}, ${name}: sampled entries, norm and peak of ${weight}'s gradient are those of float64`, () => {
        const { data } = tensor(checks, `${key}/${weight}.grad.at`);
        const at = /** @type {BigInt64Array} */ (data);
        const largest = values(checks, `${key}/${weight}.grad.max64`)[0];
        const samples = Array.from(at, (i) => gradients[weight][Number(i)]);
        const expected = values(checks, `${key}/${weight}.grad.values64`);
        assert.equal(expected.length, SAMPLES);
        assertClose([...samples, largest], [...expected, largest], weight);
        assertNormAndPeak(gradients[weight], checks, `${key}/${weight}.grad`);
      });
    }

    test(`layer ${layer}, ${name}: the backward of a trace is that of x, bit for bit`, () => {
      const trace = mlp.trace(x);
      assert.deepEqual(mlp.backward(trace, gy), gradients);
      trace.dispose();
    });
  }
}

/** @param {number} layer @param {string} twoDigits */
async function realLayer(layer, twoDigits) {
  const file = readSafetensors(`${NAME}-layer${twoDigits}.safetensors`);
  const mlp = await GatedMLP.create(D, D_FF, { dtype: 'bfloat16', runtime });
  mlp.loadStateDict(
    new Map(
      [...file].map(([name, { dtype, shape, data }]) => [
        name.replace(`model.layers.${layer}.mlp.`, ''),
        { dtype, shape, data: new Uint8Array(data.buffer) },
      ]),
    ),
  );
  return mlp;
}

/**
 * Every entry counts in these two, not only the sampled ones.
 * @param {ArrayLike<number>} gradient
 * @param {Map<string, import('./helpers/goldens.js').Tensor>} stored
 * @param {string} key
 */
function assertNormAndPeak(gradient, stored, key) {
  let square = 0;
  let largest = 0;
  for (let i = 0; i < gradient.length; i++) {
    square += gradient[i] ** 2;
    largest = Math.max(largest, Math.abs(gradient[i]));
  }
  for (const [ours, what] of /** @type {const} */ ([
    [Math.sqrt(square), 'norm64'],
    [largest, 'max64'],
  ])) {
    const [expected] = values(stored, `${key}.${what}`);
    assert.ok(Math.abs(ours - expected) <= TOLERANCE * expected, `${key}.${what}: ${ours}`);
  }
}
