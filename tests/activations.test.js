// One table of Hugging Face's spellings: each means one of the eight gates, in every place that takes an activation.
// `npm run test:torch` holds each to transformers' own function of that name.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { GatedMLP, Runtime } from '../src/binding/index.js';

const runtime = await Runtime.create();
after(() => runtime.dispose());

/** transformers' ACT2FN, as far as gated MLPs are built with it, and the names of this package and of papers. */
const SPELLINGS = {
  silu: ['silu', 'swish', 'swiglu'],
  gelu_tanh: [
    'gelu_tanh',
    'gelu_pytorch_tanh',
    'gelu_new',
    'gelu_fast',
    'gelu_accurate',
    'gelu_python_tanh',
    'geglu',
  ],
  gelu: ['gelu', 'gelu_python'],
  relu: ['relu'],
  relu2: ['relu2'],
  sigmoid: ['sigmoid'],
  quick_gelu: ['quick_gelu'],
  none: ['none', 'linear'],
};

for (const [act, spellings] of Object.entries(SPELLINGS)) {
  for (const spelling of spellings) {
    test(`'${spelling}' is ${act}, when an MLP is made and when one is traced`, async (t) => {
      const mlp = await GatedMLP.create(3, 5, { act: spelling, runtime });
      const plain = await GatedMLP.create(3, 5, { act, runtime });
      t.after(() => [mlp, plain].map((each) => each.dispose()));
      assert.equal(mlp.act, act);
      const x = Float32Array.of(1, -2, 3, -0.5, 0.25, 4);
      const y = mlp.forward(x);
      assert.deepEqual(y, plain.forward(x));
      const other = await GatedMLP.create(3, 5, { act: act === 'relu' ? 'silu' : 'relu', runtime });
      const trace = other.trace(x, { act: spelling });
      assert.equal(trace.activation, act);
      assert.deepEqual(trace.output, y);
      trace.dispose();
      other.dispose();
    });
  }
}

test('the eight gates are eight different functions', async () => {
  const x = Float32Array.of(1, -2, 3);
  const outputs = new Set();
  for (const act of Object.keys(SPELLINGS)) {
    const mlp = await GatedMLP.create(3, 5, { act, runtime });
    outputs.add(mlp.forward(x).join());
    mlp.dispose();
  }
  assert.equal(outputs.size, 8);
});

test("a close relative that is none of them is refused: 'gelu_10' clips, 'relu6' does too", async () => {
  for (const act of ['gelu_10', 'relu6', 'mish', 'tanh', 'leaky_relu', 'laplace']) {
    await assert.rejects(GatedMLP.create(3, 5, { act, runtime }), { code: 'ERR_ACTIVATION' });
  }
});
