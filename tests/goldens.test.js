// Forward passes and traces against Hugging Face's LlamaMLP, GemmaMLP, Gemma3nTextMLP and BitNetMLP in float64
// (fixtures/goldens/mlp).

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertClose, goldenCases, loadGolden, tensor, values } from './helpers/goldens.js';

const cases = goldenCases();

test('the golden cases are all there', () => {
  assert.equal(cases.length, 48);
  assert.deepEqual([...new Set(cases.map(({ act }) => act))].sort(), [
    'gelu',
    'gelu_new',
    'gelu_pytorch_tanh',
    'linear',
    'quick_gelu',
    'relu',
    'relu2',
    'sigmoid',
    'silu',
  ]);
});

for (const golden of cases) {
  test(`${golden.case}: forward is Hugging Face's`, async (t) => {
    const { mlp, tensors } = await loadGolden(golden);
    t.after(() => mlp.dispose());
    const y = mlp.forward(values(tensors, 'x'));
    const worst = assertClose(y, values(tensors, 'f64/y'), 'y');
    t.diagnostic(`largest difference / largest value: ${worst.toExponential(2)}`);
  });

  test(`${golden.case}: the trace shows Hugging Face's gate, act, up and hidden`, async (t) => {
    const { mlp, tensors } = await loadGolden(golden);
    t.after(() => mlp.dispose());
    const trace = mlp.trace(values(tensors, 'x'));
    t.after(() => trace.dispose());
    const tokens = tensor(tensors, 'x').shape.slice(0, -1);
    assert.equal(
      trace.tokens,
      tokens.reduce((a, b) => a * b, 1),
    );
    const gate = values(tensors, 'f64/gate');
    const up = values(tensors, 'f64/up');
    // TorchCode's exercise does not keep act; its formula is known.
    const act = tensors.has('f64/act') ? values(tensors, 'f64/act') : gate.map(silu);
    assertClose(trace.gate, gate, 'gate');
    assertClose(trace.act, act, 'act');
    assertClose(trace.up, up, 'up');
    const hidden = Float64Array.from(act, (a, i) => a * up[i]);
    assertClose(trace.hidden, hidden, 'hidden');
    assert.deepEqual(trace.output, mlp.forward(values(tensors, 'x')));
  });
}

/** @param {number} z */
function silu(z) {
  return z / (1 + Math.exp(-z));
}

for (const golden of cases.filter(({ case: name }) => name.endsWith('one_nan_token'))) {
  test(`${golden.case}: a NaN token leaves every other token as it is`, async (t) => {
    const { mlp, tensors } = await loadGolden(golden);
    t.after(() => mlp.dispose());
    const y = mlp.forward(values(tensors, 'x'));
    const nanRows = new Set();
    for (const [i, value] of y.entries())
      if (Number.isNaN(value)) nanRows.add(Math.floor(i / golden.d));
    assert.deepEqual([...nanRows], [2]);
  });
}
