// The example that can be followed by hand, d = d_ff = 1, Wg = 1, Wu = 2, Wd = 3, x = 1; and what a closed gate does.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { GatedMLP, PCG32, Runtime } from '../src/binding/index.js';

const runtime = await Runtime.create();
after(() => runtime.dispose());

for (const [act, name, expected] of /** @type {const} */ ([
  ['silu', 'SwiGLU', '4.386352'],
  ['gelu_tanh', 'GeGLU', '5.047152'],
])) {
  test(`${name} of 1 with weights 1, 2, 3 is ${expected}`, async () => {
    const mlp = await GatedMLP.create(1, 1, { act, runtime });
    mlp.loadStateDict({
      'gate_proj.weight': { data: Float32Array.of(1) },
      'up_proj.weight': { data: Float32Array.of(2) },
      'down_proj.weight': { data: Float32Array.of(3) },
    });
    assert.equal(mlp.forward(Float32Array.of(1))[0].toFixed(6), expected);
    mlp.dispose();
  });
}

/**
 * An MLP of d = 5, d_ff = 7 of which one unit has the gate bias and the up row given.
 * @param {string} act
 * @param {number} unit
 * @param {number} gateBias
 * @param {number[]} upRow
 */
async function withUnit(act, unit, gateBias, upRow) {
  const mlp = await GatedMLP.create(5, 7, { act, bias: true, rng: new PCG32(9n), runtime });
  const state = Object.fromEntries(mlp.namedParameters());
  state['gate_proj.bias'].data[unit] = gateBias;
  state['up_proj.weight'].data.set(upRow, unit * 5);
  mlp.loadStateDict(state);
  return mlp;
}

const upRows = fc.array(fc.float({ min: -1000, max: 1000, noNaN: true }), {
  minLength: 5,
  maxLength: 5,
});
const inputs = fc.array(fc.float({ min: -1, max: 1, noNaN: true }), { minLength: 5, maxLength: 5 });

for (const act of ['silu', 'gelu_tanh', 'relu']) {
  test(`a closed gate shuts its ${act} unit off whatever up says`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(6), upRows, inputs, async (unit, upRow, x) => {
        const mlp = await withUnit(act, unit, -200, upRow);
        const zeroUp = await withUnit(act, unit, -200, [0, 0, 0, 0, 0]);
        const token = Float32Array.from(x);
        assert.deepEqual(add0(mlp.forward(token)), add0(zeroUp.forward(token)));
        mlp.dispose();
        zeroUp.dispose();
      }),
      { numRuns: 50 },
    );
  });

  test(`a ${act} unit held at 0 is off whatever its gate and up say`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(6), upRows, inputs, async (unit, upRow, x) => {
        const open = await withUnit(act, unit, 3, upRow);
        const shut = await withUnit(act, unit, -200, upRow);
        const token = Float32Array.from(x);
        const held = open.trace(token, { hold: [{ unit, value: 0 }] });
        assert.equal(held.act[unit], 0);
        assert.deepEqual(add0(held.output), add0(shut.forward(token)));
        held.dispose();
        open.dispose();
        shut.dispose();
      }),
      { numRuns: 50 },
    );
  });
}

/** -0 and 0 are the same output. @param {import('../src/binding/runtime.js').RealArray} y */
function add0(y) {
  return y.map((value) => value + 0);
}
