// A mixture of experts out of gated MLPs in one runtime: Mixtral's block, with the choice and the weights its real router made
// (fixtures/goldens/families/mixtral), as weighted sums by `scale` and `accumulate`.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { GatedMLP, openCheckpoint, Runtime } from '../src/binding/index.js';
import { assertClose, fixture, readSafetensors, tensor, values } from './helpers/goldens.js';

const FOLDER = 'goldens/families/mixtral';
const [D, EXPERTS, CHOSEN] = [16, 3, 2];

const runtime = await Runtime.create();
after(() => runtime.dispose());
const io = readSafetensors(`${FOLDER}/mlp_io.safetensors`);
const checkpoint = await openCheckpoint(
  new Blob([readFileSync(fixture(`${FOLDER}/model.safetensors`))]),
  {
    runtime,
  },
);

for (const layer of [0, 1]) {
  const key = `model.layers.${layer}.mlp`;
  const x = values(io, `${key}/x`);
  const tokens = x.length / D;
  const choice = tensor(io, `${key}/router.experts`).data;
  const weights = values(io, `${key}/router.weights`);
  const experts = await Promise.all(
    Array.from({ length: EXPERTS }, (_, expert) =>
      GatedMLP.fromCheckpoint(checkpoint, { layer, expert, act: 'silu', runtime }),
    ),
  );

  test(`layer ${layer}: the router of the goldens sends tokens to every expert`, () => {
    assert.equal(choice.length, tokens * CHOSEN);
    assert.deepEqual([...new Set(Array.from(choice, Number))].sort(), [0, 1, 2]);
  });

  for (const [e, expert] of experts.entries()) {
    test(`layer ${layer}, expert ${e} by itself is Hugging Face's`, () => {
      assertClose(expert.forward(x), values(io, `${key}/expert.${e}.y`), 'y');
    });
  }

  test(`layer ${layer}, token by token: each chosen expert adds its weighted output to what is there`, () => {
    const y = new Float32Array(x.length);
    for (let token = 0; token < tokens; token++) {
      const row = (/** @type {Float32Array | Float64Array} */ a) =>
        a.subarray(token * D, (token + 1) * D);
      for (let i = 0; i < CHOSEN; i++) {
        const expert = experts[Number(choice[token * CHOSEN + i])];
        const scale = weights[token * CHOSEN + i];
        const out = row(y);
        assert.equal(expert.forward(row(x), { out, scale, accumulate: true }), out);
      }
    }
    assertClose(y, values(io, `${key}/y`), 'y');
  });

  test(`layer ${layer}, expert by expert: all tokens that chose it in one call`, () => {
    const y = new Float32Array(x.length);
    for (const [e, expert] of experts.entries()) {
      const places = Array.from(choice, Number).flatMap((chosen, place) =>
        chosen === e ? [place] : [],
      );
      const rows = places.map((place) => Math.floor(place / CHOSEN));
      const gathered = Float32Array.from(rows.flatMap((t) => [...x.subarray(t * D, (t + 1) * D)]));
      const out = expert.forward(gathered);
      for (const [i, token] of rows.entries()) {
        for (let k = 0; k < D; k++) y[token * D + k] += weights[places[i]] * out[i * D + k];
      }
    }
    assertClose(y, values(io, `${key}/y`), 'y');
  });
}

test('scale without accumulate overwrites, and scale 0 of finite numbers is 0', async (t) => {
  const mlp = await GatedMLP.create(D, 5, { bias: true, runtime });
  t.after(() => mlp.dispose());
  const x = Float32Array.from({ length: 2 * D }, (_, i) => Math.sin(i));
  const y = mlp.forward(x);
  const out = new Float32Array(2 * D).fill(7);
  assert.deepEqual(
    mlp.forward(x, { out, scale: -2 }),
    y.map((value) => -2 * value),
  );
  assert.ok(mlp.forward(x, { out, scale: 0 }).every((value) => value === 0));
  out.fill(1);
  assert.deepEqual(
    mlp.forward(x, { out, scale: 0.5, accumulate: true }),
    y.map((value) => 1 + Math.fround(0.5 * value)),
  );
});
