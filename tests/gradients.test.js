// Gradients for x and every parameter against Hugging Face's classes in float64 (fixtures/goldens/mlp), and the same cases in
// the float64 build, where nothing but rounding may differ.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Runtime } from '../src/binding/index.js';
import {
  assertClose,
  largestMagnitude,
  loadGolden,
  plainCases,
  values,
} from './helpers/goldens.js';

/** What is left of a float64 result's error, relative to the tensor's largest value: sums in another order, another exp. */
const FLOAT64_TOLERANCE = 1e-12;

const float64 = await Runtime.create({
  wasm: new URL('../build/gated-mlp-f64.wasm', import.meta.url),
});
after(() => float64.dispose());

const cases = plainCases();

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

  test(`${golden.case}: the float64 build gives Hugging Face's float64 values`, async (t) => {
    const { mlp, tensors } = await loadGolden(golden, float64);
    t.after(() => mlp.dispose());
    const x = Float64Array.from(values(tensors, 'x'));
    assertFloat64(mlp.forward(x), values(tensors, 'f64/y'), 'y');
    const gradients = mlp.backward(x, Float64Array.from(values(tensors, 'gy')));
    for (const name of names) {
      assertFloat64(gradients[name], values(tensors, `f64/${name}.grad`), `${name}.grad`);
    }
  });
}

/**
 * @param {ArrayLike<number>} actual
 * @param {ArrayLike<number>} expected
 * @param {string} what
 */
function assertFloat64(actual, expected, what) {
  assert.ok(actual instanceof Float64Array, `${what} is not a Float64Array`);
  assert.equal(actual.length, expected.length, `${what}: number of values`);
  const allowed = FLOAT64_TOLERANCE * largestMagnitude(expected);
  for (let i = 0; i < expected.length; i++) {
    if (Number.isNaN(expected[i])) {
      assert.ok(Number.isNaN(actual[i]), `${what}[${i}] is ${actual[i]}, not NaN`);
    } else {
      const difference = Math.abs(actual[i] - expected[i]);
      assert.ok(difference <= allowed, `${what}[${i}] is ${actual[i]}, not ${expected[i]}`);
    }
  }
}
