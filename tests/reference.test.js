// The tests' own reference (helpers/reference.js) against Hugging Face's float64 values, so that it may be used as an oracle;
// then forward and backward of both builds against it on the shapes where kernels have edges.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Runtime } from '../src/binding/index.js';
import {
  assertClose,
  assertWithin,
  definedCases,
  FLOAT64_TOLERANCE,
  readSafetensors,
  values,
} from './helpers/goldens.js';
import { float64Runtime, mlpOf, randomParameters, randomSource } from './helpers/numbers.js';
import { ACTS, referenceBackward, referenceForward } from './helpers/reference.js';

const SPELLINGS = new Map([
  ['gelu_pytorch_tanh', 'gelu_tanh'],
  ['gelu_new', 'gelu_tanh'],
  ['linear', 'none'],
]);

const runtime = await Runtime.create();
const float64 = await float64Runtime();
after(() => {
  runtime.dispose();
  float64.dispose();
});

for (const golden of definedCases().filter(({ act }) => act !== 'gelu')) {
  test(`${golden.case}: the reference is Hugging Face's float64`, () => {
    const tensors = readSafetensors(`goldens/mlp/${golden.case}.safetensors`);
    const mlp = {
      d: golden.d,
      dFf: golden.f,
      act: SPELLINGS.get(golden.act) ?? golden.act,
      parameters: Object.fromEntries(
        golden.parameters.map((name) => [name, values(tensors, name)]),
      ),
      normEps: golden.norm_eps,
    };
    const x = values(tensors, 'x');
    assertWithin(referenceForward(mlp, x).y, values(tensors, 'f64/y'), FLOAT64_TOLERANCE, 'y');
    const gradients = referenceBackward(mlp, x, values(tensors, 'gy'));
    assert.deepEqual(Object.keys(gradients), ['x', ...golden.parameters]);
    for (const [name, gradient] of Object.entries(gradients)) {
      assertWithin(
        gradient,
        values(tensors, `f64/${name}.grad`),
        FLOAT64_TOLERANCE,
        `${name}.grad`,
      );
    }
  });
}

// d, dFf, tokens: around every size at which a kernel changes its way (lanes, strips of 8, panels of 32, blocks of 128 tokens
// and of 256 terms), one off on either side.
const SHAPES = [
  [1, 1, 1],
  [1, 33, 4],
  [2, 3, 2],
  [3, 7, 3],
  [4, 8, 4],
  [5, 9, 5],
  [7, 31, 6],
  [8, 32, 7],
  [9, 33, 8],
  [15, 40, 9],
  [31, 63, 12],
  [32, 64, 3],
  [33, 65, 5],
  [40, 17, 127],
  [17, 23, 128],
  [23, 41, 129],
  [6, 5, 257],
  [255, 3, 2],
  [256, 9, 5],
  [257, 34, 6],
  [11, 511, 3],
  [13, 513, 5],
];

for (const [i, [d, dFf, tokens]] of SHAPES.entries()) {
  const acts = Object.keys(ACTS);
  const act = acts[i % acts.length];
  const bias = i % 3 !== 0;

  test(`d ${d}, dFf ${dFf}, ${tokens} tokens, ${act}${bias ? ', biases' : ''}: output and gradients are the reference's`, async (t) => {
    const random = randomSource(1000 + i);
    const parameters = randomParameters(d, dFf, bias, random);
    const x = random.floats(tokens * d, 2);
    const gy = random.floats(tokens * d);
    const reference = { d, dFf, act, parameters };
    const y = referenceForward(reference, x).y;
    const expected = referenceBackward(reference, x, gy);

    const mlp = await mlpOf(d, dFf, parameters, { act, runtime });
    t.after(() => mlp.dispose());
    assertClose(mlp.forward(x), y, 'y');
    for (const [name, gradient] of Object.entries(mlp.backward(x, gy))) {
      assertClose(gradient, expected[name], `${name}.grad`);
    }

    const double = await mlpOf(d, dFf, parameters, { act, runtime: float64 });
    t.after(() => double.dispose());
    assertWithin(double.forward(Float64Array.from(x)), y, FLOAT64_TOLERANCE, 'float64 y');
    const gradients = double.backward(Float64Array.from(x), Float64Array.from(gy));
    for (const [name, gradient] of Object.entries(gradients)) {
      assertWithin(gradient, expected[name], FLOAT64_TOLERANCE, `float64 ${name}.grad`);
    }
  });
}
