// The fused middle of the MLP by itself: silu_mul and gelu_tanh_mul of two tensors, vLLM's silu_and_mul and gelu_tanh_and_mul of
// one that holds both, and what each gives back to its inputs.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Runtime } from '../src/binding/index.js';
import { assertClose, loadGolden, plainCases, readSafetensors, values } from './helpers/goldens.js';
import { float64Runtime, randomSource } from './helpers/numbers.js';
import { ACTS } from './helpers/reference.js';

const runtime = await Runtime.create();
const float64 = await float64Runtime();
after(() => {
  runtime.dispose();
  float64.dispose();
});

/** @typedef {Float32Array | Float64Array} Reals */

const PRODUCTS = /** @type {const} */ ([
  {
    act: 'silu',
    mul: 'siluMul',
    mulBackward: 'siluMulBackward',
    andMul: 'siluAndMul',
    andMulBackward: 'siluAndMulBackward',
  },
  {
    act: 'gelu_tanh',
    mul: 'geluTanhMul',
    mulBackward: 'geluTanhMulBackward',
    andMul: 'geluTanhAndMul',
    andMulBackward: 'geluTanhAndMulBackward',
  },
]);
const SPELLINGS = { silu: 'silu', gelu_tanh: 'gelu_pytorch_tanh' };

/** Lengths around one vector, one strip and one panel. */
const LENGTHS = [0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 1000];

/** @param {number} n @param {number} seed */
function inputs(n, seed) {
  const random = randomSource(seed);
  return { gate: random.floats(n, 8), up: random.floats(n, 2), dOut: random.floats(n) };
}

/** @param {'silu' | 'gelu_tanh'} act @param {Reals} gate @param {Reals} up */
const product = (act, gate, up) => Float64Array.from(gate, (g, i) => ACTS[act][0](g) * up[i]);

/** @param {'silu' | 'gelu_tanh'} act @param {Reals} gate @param {Reals} up @param {Reals} dOut */
const productGradients = (act, gate, up, dOut) => ({
  gate: Float64Array.from(gate, (g, i) => dOut[i] * up[i] * ACTS[act][1](g)),
  up: Float64Array.from(gate, (g, i) => dOut[i] * ACTS[act][0](g)),
});

/** [rows, 2 dFf] out of two [rows, dFf]. @param {Reals} gate @param {Reals} up @param {number} dFf */
function joined(gate, up, dFf) {
  const both = new Float64Array(2 * gate.length);
  for (let i = 0; i < gate.length; i++) {
    const [row, column] = [Math.floor(i / dFf), i % dFf];
    both[row * 2 * dFf + column] = gate[i];
    both[row * 2 * dFf + dFf + column] = up[i];
  }
  return both;
}

for (const { act, mul, mulBackward, andMul, andMulBackward } of PRODUCTS) {
  test(`${mul} of Hugging Face's gate and up is its hidden, bit for bit what a trace holds`, async () => {
    const cases = plainCases().filter((golden) => golden.act === SPELLINGS[act]);
    assert.ok(cases.length >= 10);
    for (const golden of cases) {
      const { mlp, tensors } = await loadGolden(golden, runtime);
      const trace = mlp.trace(values(tensors, 'x'));
      assert.deepEqual(runtime[mul](trace.gate, trace.up), trace.hidden);
      trace.dispose();
      mlp.dispose();
    }
  });

  for (const n of LENGTHS) {
    test(`${mul} of ${n} elements, forward and backward`, () => {
      const { gate, up, dOut } = inputs(n, 100 + n);
      assertClose(runtime[mul](gate, up), product(act, gate, up), mul);
      const gradients = runtime[mulBackward](gate, up, dOut);
      const expected = productGradients(act, gate, up, dOut);
      assert.deepEqual(Object.keys(gradients), ['gate', 'up']);
      assertClose(gradients.gate, expected.gate, 'gate.grad');
      assertClose(gradients.up, expected.up, 'up.grad');
    });
  }

  for (const [rows, dFf] of [
    [0, 3],
    [1, 1],
    [3, 5],
    [2, 32],
    [7, 33],
  ]) {
    test(`${andMul} over [${rows}, 2 x ${dFf}] is ${mul} of the halves, forward and backward`, () => {
      const { gate, up, dOut } = inputs(rows * dFf, 200 + dFf);
      const gateUp = Float32Array.from(joined(gate, up, dFf));
      assertClose(runtime[andMul](gateUp, dFf), product(act, gate, up), andMul);
      assert.deepEqual(runtime[andMul](gateUp, dFf), runtime[mul](gate, up));
      const halves = productGradients(act, gate, up, dOut);
      const expected = joined(halves.gate, halves.up, dFf);
      assertClose(runtime[andMulBackward](gateUp, dFf, dOut), expected, 'gateUp.grad');
    });
  }

  test(`${mul} writes into out, which may be gate or up, and returns it`, () => {
    const { gate, up } = inputs(37, 5);
    const expected = runtime[mul](gate, up);
    const out = new Float32Array(37);
    assert.equal(runtime[mul](gate, up, out), out);
    assert.deepEqual(out, expected);
    assert.deepEqual(runtime[mul](gate.slice(), up, gate.slice()), expected);
    const [inGate, inUp] = [gate.slice(), up.slice()];
    assert.deepEqual(runtime[mul](inGate, up, inGate), expected);
    assert.deepEqual(runtime[mul](gate, inUp, inUp), expected);
    const gateUp = Float32Array.from(joined(gate, up, 37));
    assert.equal(runtime[andMul](gateUp, 37, out), out);
    assert.deepEqual(out, expected);
  });

  test(`${mul}Backward is the central difference of ${mul} in float64`, () => {
    const step = 1e-5;
    const { gate, up, dOut } = inputs(50, 9);
    const [g, u, d] = [gate, up, dOut].map((array) => Float64Array.from(array));
    const gradients = float64[mulBackward](g, u, d);
    const [above, below] = [step, -step].map((s) =>
      float64[mul](
        g.map((v) => v + s),
        u,
      ),
    );
    const [higher, lower] = [step, -step].map((s) =>
      float64[mul](
        g,
        u.map((v) => v + s),
      ),
    );
    for (let i = 0; i < g.length; i++) {
      const byGate = (d[i] * (above[i] - below[i])) / (2 * step);
      const byUp = (d[i] * (higher[i] - lower[i])) / (2 * step);
      assert.ok(Math.abs(gradients.gate[i] - byGate) < 1e-8, `gate[${i}]`);
      assert.ok(Math.abs(gradients.up[i] - byUp) < 1e-8, `up[${i}]`);
    }
  });
}

test('of edge values, silu and gelu_tanh are exactly what the goldens hold', () => {
  for (const [name, mul] of /** @type {const} */ ([
    ['llama_edge_values', 'siluMul'],
    ['gemma_edge_values', 'geluTanhMul'],
  ])) {
    const tensors = readSafetensors(`goldens/mlp/${name}.safetensors`);
    const x = values(tensors, 'x');
    const y = values(tensors, 'f64/y');
    const gate = Float32Array.from({ length: x.length / 2 }, (_, i) => x[2 * i]);
    const act = Float64Array.from({ length: y.length / 2 }, (_, i) => y[2 * i]);
    assertClose(
      runtime[mul](
        gate,
        gate.map(() => 1),
      ),
      act,
      name,
    );
  }
});
