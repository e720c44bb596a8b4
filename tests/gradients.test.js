// Gradients for x and every parameter against Hugging Face's classes in float64 (fixtures/goldens/mlp), and the same cases in
// the float64 build, where nothing but rounding may differ.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  assertClose,
  assertWithin,
  FLOAT64_TOLERANCE,
  goldenCases,
  loadGolden,
  values,
} from './helpers/goldens.js';
import { float64Runtime } from './helpers/numbers.js';

const float64 = await float64Runtime();
after(() => float64.dispose());

const cases = goldenCases();

for (const golden of cases) {
  const names = ['x', ...golden.parameters];

  test(`${golden.case}: every gradient is Hugging Face's`, async (t) => {
    const { mlp, tensors } = await loadGolden(golden);
    t.after(() => mlp.dispose());
    const gradients = mlp.backward(values(tensors, 'x'), values(tensors, 'gy'));
    assert.deepEqual(Object.keys(gradients), names);
    const errors = names.map((name) =>
      assertClose(gradients[name], values(tensors, `f64/${name}.grad`), `${name}.grad`),
    );
    t.diagnostic(`largest difference / largest value: ${Math.max(...errors).toExponential(2)}`);
  });

  test(`${golden.case}: the backward of a trace is that of x, bit for bit`, async (t) => {
    const { mlp, tensors } = await loadGolden(golden);
    t.after(() => mlp.dispose());
    const x = values(tensors, 'x');
    const trace = mlp.trace(x);
    t.after(() => trace.dispose());
    const gy = values(tensors, 'gy');
    assert.deepEqual(mlp.backward(trace, gy), mlp.backward(x, gy));
  });

  test(`${golden.case}: arrays of an earlier backward are written again, with the same bits`, async (t) => {
    const { mlp, tensors } = await loadGolden(golden);
    t.after(() => mlp.dispose());
    const [x, gy] = [values(tensors, 'x'), values(tensors, 'gy')];
    const out = mlp.backward(x, x);
    const again = mlp.backward(x, gy, { out });
    assert.deepEqual(again, mlp.backward(x, gy));
    for (const name of names) assert.equal(again[name], out[name]);
  });

  test(`${golden.case}: the float64 build gives Hugging Face's float64 values`, async (t) => {
    const { mlp, tensors } = await loadGolden(golden, float64);
    t.after(() => mlp.dispose());
    const x = Float64Array.from(values(tensors, 'x'));
    const y = mlp.forward(x);
    assert.ok(y instanceof Float64Array);
    assertWithin(y, values(tensors, 'f64/y'), FLOAT64_TOLERANCE, 'y');
    const gradients = mlp.backward(x, Float64Array.from(values(tensors, 'gy')));
    for (const name of names) {
      const expected = values(tensors, `f64/${name}.grad`);
      assertWithin(gradients[name], expected, FLOAT64_TOLERANCE, `${name}.grad`);
    }
  });
}
