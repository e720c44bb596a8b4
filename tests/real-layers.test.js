// The three real layers of SmolLM2-135M-Instruct, loaded from BF16 through HTTP ranges, against Hugging Face's float32
// output, its float64 twin, and the closure counts that the page shows.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { GatedMLP, Runtime } from '../src/binding/index.js';
import { createPageServer, listen } from '../web/serve.js';
import { readJson, readSafetensors, values, worstRowError } from './helpers/goldens.js';

const NAME = 'smollm2-135m-instruct';
const PER_TOKEN = 2e-6;
const [D, D_FF] = [576, 1536];

const hidden = readSafetensors(`${NAME}-hidden.safetensors`);
const checks = readSafetensors(`${NAME}-checks.safetensors`);
const { layers, prompts } = readJson(`${NAME}-prompts.json`);

const server = createPageServer();
const address = await listen(server, 0);
const runtime = await Runtime.create();
after(() => {
  runtime.dispose();
  server.closeAllConnections();
  server.close();
});

/** @param {number} layer */
const fileOf = (layer) => `${NAME}-layer${String(layer).padStart(2, '0')}.safetensors`;

// All loads before the first test: a test file is over for node:test once no test is left that it knows of.
const loaded = [];
for (const layer of layers) {
  const url = `${address}fixtures/${fileOf(layer)}`;
  loaded.push({ layer, mlp: await GatedMLP.fromPretrained(url, { layer, runtime }) });
}

for (const { layer, mlp } of loaded) {
  test(`layer ${layer} is found, and held as it is stored`, () => {
    assert.deepEqual(
      [mlp.d, mlp.dFf, mlp.act, mlp.bias, mlp.dtype, mlp.numParameters],
      [D, D_FF, 'silu', false, 'bfloat16', 3 * D * D_FF],
    );
  });

  test(`layer ${layer}'s parameters are the file's, bit for bit`, () => {
    const file = readSafetensors(fileOf(layer));
    for (const [name, { shape, data }] of mlp.namedParameters()) {
      const stored = file.get(`model.layers.${layer}.mlp.${name}`);
      assert.ok(stored);
      assert.deepEqual(shape, stored.shape);
      const upper = Uint16Array.from(new Uint32Array(data.buffer), (bits) => bits >>> 16);
      assert.deepEqual(upper, stored.data);
      assert.ok(new Uint32Array(data.buffer).every((bits) => (bits & 0xffff) === 0));
    }
  });

  for (const prompt of prompts) {
    const key = `layer${String(layer).padStart(2, '0')}/${prompt.name}`;
    const x = values(hidden, `${key}/x`);

    test(`layer ${layer}, ${prompt.name}: every token's output is Hugging Face's`, (t) => {
      const y = mlp.forward(x);
      const float32 = worstRowError(y, values(hidden, `${key}/y`), D);
      const float64 = worstRowError(y, values(checks, `${key}/y64`), D);
      assert.ok(float32 <= PER_TOKEN, `float32: ${float32}`);
      assert.ok(float64 <= PER_TOKEN, `float64: ${float64}`);
      t.diagnostic(
        `worst token: ${float32.toExponential(2)} of float32, ${float64.toExponential(2)} of float64`,
      );
    });

    test(`layer ${layer}, ${prompt.name}: gates are Hugging Face's, and as many are closed`, () => {
      const trace = mlp.trace(x);
      assert.ok(worstRowError(trace.gate, values(checks, `${key}/gate64`), D_FF) <= PER_TOKEN);
      assertClosureCounts(trace, prompt.closure[layer]);
      trace.dispose();
    });
  }
}

/**
 * Per token, the negative gates and the units with |act| below each threshold. A unit within 1e-5 of a threshold may fall
 * either way; the file says how many of those there are in all tokens together.
 * @param {import('../src/binding/index.js').GateTrace} trace
 * @param {{ thresholds: number[], closed_per_token: Record<string, number[]>,
 *   within_1e_5_of_threshold: Record<string, number>, negative_gates_per_token: number[] }} closure
 */
function assertClosureCounts(trace, closure) {
  const rows = (
    /** @type {ArrayLike<number>} */ data,
    /** @type {(v: number) => boolean} */ holds,
  ) =>
    Array.from({ length: trace.tokens }, (_, token) => {
      let count = 0;
      for (let unit = 0; unit < D_FF; unit++) if (holds(data[token * D_FF + unit])) count += 1;
      return count;
    });
  assert.deepEqual(
    rows(trace.gate, (g) => g < 0),
    closure.negative_gates_per_token,
  );
  for (const threshold of closure.thresholds) {
    const closed = rows(trace.act, (a) => Math.abs(a) < threshold);
    const expected = closure.closed_per_token[threshold];
    assert.equal(closed.length, expected.length);
    const apart = closed.reduce((sum, count, token) => sum + Math.abs(count - expected[token]), 0);
    assert.ok(
      apart <= closure.within_1e_5_of_threshold[threshold],
      `at ${threshold}: ${apart} units apart`,
    );
  }
}

test('every prompt is covered by every layer', () => {
  assert.deepEqual(layers, [5, 11, 24]);
  assert.deepEqual(
    prompts.map((/** @type {{ name: string }} */ { name }) => name),
    ['english', 'code', 'chat'],
  );
});
