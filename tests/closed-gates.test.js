// Gates that are closed, by themselves or by hand: what a shut unit may still do (nothing), on layers that fast-check makes up.

import assert from 'node:assert/strict';
import { after } from 'node:test';
import { Runtime } from '../src/binding/index.js';
import { assertNear, holdsFor, withParameter } from './helpers/layers.js';
import { disposeAll, mlpOf } from './helpers/numbers.js';
import { ACTS, referenceForward, referenceScales } from './helpers/reference.js';

const runtime = await Runtime.create();
after(() => runtime.dispose());

/** @type {(title: string, property: Parameters<typeof holdsFor>[2]) => void} */
const holds = (title, property) => holdsFor(runtime, title, property);

holds(
  'a closed gate shuts its unit and stops the gradient to its up row, and to its column of down',
  (recipe, { mlp, parameters, x, gy, random }) => {
    const { d, dFf, tokens } = recipe;
    const unit = Math.floor(random.next() * dFf);
    const huge = random.floats(d, 1e6);
    const up = parameters['up_proj.weight'].slice();
    up.set(huge, unit * d);
    withParameter(mlp, 'up_proj.weight', up, () => {
      const hold = [{ unit, value: 0 }];
      const trace = mlp.trace(x, { hold });
      for (let t = 0; t < tokens; t++) assert.equal(positive(trace.hidden[t * dFf + unit]), 0);
      const gradients = mlp.backward(trace, gy);
      for (const name of ['up_proj.weight', 'gate_proj.weight']) {
        const row = gradients[name].subarray(unit * d, (unit + 1) * d);
        assert.ok(
          row.every((value) => value === 0),
          name,
        );
      }
      const column = gradients['down_proj.weight'].filter((_, i) => i % dFf === unit);
      assert.ok(
        column.every((value) => value === 0),
        'down_proj.weight',
      );
      const output = trace.output.slice();
      trace.dispose();
      const zeroUp = parameters['up_proj.weight'].slice().fill(0, unit * d, (unit + 1) * d);
      const withoutUnit = withParameter(mlp, 'up_proj.weight', zeroUp, () => {
        const other = mlp.trace(x, { hold });
        const { output: y } = other;
        other.dispose();
        return y;
      });
      assert.deepEqual(output.map(positive), withoutUnit.map(positive));
    });
  },
);

/** -0 and 0 are the same output. @param {number} value */
const positive = (value) => value + 0;

holds(
  'silu and gelu_tanh gates from -200 down are closed without being held',
  async ({ d, dFf, tokens, act }, { parameters, x, gy, random }) => {
    const unit = Math.floor(random.next() * dFf);
    const gateBias = new Float32Array(dFf);
    gateBias[unit] = -1000;
    const biased = {
      ...parameters,
      'gate_proj.bias': gateBias,
      'up_proj.bias': new Float32Array(dFf),
      'down_proj.bias': new Float32Array(d),
    };
    const order = [
      'gate_proj.weight',
      'gate_proj.bias',
      'up_proj.weight',
      'up_proj.bias',
      'down_proj.weight',
      'down_proj.bias',
    ];
    const closing = act === 'silu' ? 'silu' : 'gelu_tanh';
    const state = Object.fromEntries(
      order.map((name) => [name, biased[/** @type {keyof typeof biased} */ (name)]]),
    );
    const mlp = await mlpOf(d, dFf, state, { act: closing, runtime });
    const trace = mlp.trace(x);
    for (let t = 0; t < tokens; t++) assert.equal(Math.abs(trace.act[t * dFf + unit]), 0);
    const gradients = mlp.backward(trace, gy);
    for (const name of ['up_proj.weight', 'gate_proj.weight']) {
      assert.ok(
        gradients[name].subarray(unit * d, (unit + 1) * d).every((value) => value === 0),
        name,
      );
    }
    disposeAll(trace, mlp);
  },
);

holds(
  'a trace with holds on any cells is the forward of the definition with those cells set',
  ({ d, dFf, tokens, act }, { mlp, parameters, x, gy, random }) => {
    if (tokens === 0) return;
    const hold = Array.from({ length: 5 }, () => {
      const unit = Math.floor(random.next() * dFf);
      const token = random.next() < 0.5 ? undefined : Math.floor(random.next() * tokens);
      return { unit, token, value: 2 * random.next() - 1 };
    });
    const trace = mlp.trace(x, { hold });
    const { gate, up } = referenceForward({ d, dFf, act, parameters }, x);
    const scales = referenceScales({ d, dFf, act, parameters }, x, gy);
    const held = gate.map((g) => ACTS[act][0](g));
    const isHeld = new Set();
    for (const { unit, token, value } of hold) {
      for (let t = 0; t < tokens; t++) {
        if (token !== undefined && token !== t) continue;
        held[t * dFf + unit] = value;
        isHeld.add(t * dFf + unit);
      }
    }
    assertNear(trace.gate, gate, scales.gate, 'gate');
    assertNear(trace.act, held, scales.act, 'act');
    const hidden = held.map((a, i) => a * up[i]);
    assertNear(trace.hidden, hidden, scales.hidden, 'hidden');
    const down = parameters['down_proj.weight'];
    const dGateBias = mlp.backward(trace, gy)['gate_proj.bias'];
    if (dGateBias) {
      const expected = new Float64Array(dFf);
      for (let i = 0; i < gate.length; i++) {
        const [t, unit] = [Math.floor(i / dFf), i % dFf];
        let upstream = 0;
        for (let k = 0; k < d; k++) upstream += gy[t * d + k] * down[k * dFf + unit];
        if (!isHeld.has(i)) expected[unit] += upstream * up[i] * ACTS[act][1](gate[i]);
      }
      assertNear(dGateBias, expected, scales['gate_proj.bias'], 'gate_proj.bias.grad');
    }
    trace.dispose();
  },
);
