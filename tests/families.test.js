// Whole tiny models, saved by each family's own class in transformers, and MLPs after published code where there is no class:
// every gated MLP and expert in them loads from the folder's URL plus layer, expert or prefix, and computes what that code
// computes. What must be refused by name is in refusals.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { GatedMLP, openCheckpoint, Runtime } from '../src/binding/index.js';
import { FOLDER, goldens, ROWS, rows, serveFamilies } from './helpers/family-goldens.js';
import { assertClose, readSafetensors, values } from './helpers/goldens.js';

const EXPERTS = 3;

const server = await serveFamilies();
const runtime = await Runtime.create();
after(() => server.close());

/** How the parameters are called in the families' own classes, gate first where two are fused. */
const OWN_NAMES = [
  [['gate_proj.weight'], 'gate_proj.weight'],
  [['up_proj.weight'], 'up_proj.weight'],
  [['down_proj.weight'], 'down_proj.weight'],
  [['gate_proj.bias'], 'gate_proj.bias'],
  [['up_proj.bias'], 'up_proj.bias'],
  [['down_proj.bias'], 'down_proj.bias'],
  [['gate_proj.weight', 'up_proj.weight'], 'gate_up_proj.weight'],
  [['gate_proj.weight', 'up_proj.weight'], 'Wi.weight'],
  [['down_proj.weight'], 'Wo.weight'],
  [['gate_proj.weight'], 'wi_0.weight'],
  [['up_proj.weight'], 'wi_1.weight'],
  [['down_proj.weight'], 'wo.weight'],
];

/** @param {string} family @param {Record<string, unknown>} choice */
const load = (family, choice) =>
  GatedMLP.fromPretrained(`${server.origin}/${family}`, { runtime, ...choice });

for (const { family, kind, layers } of goldens) {
  const io = readSafetensors(`${FOLDER}/${family}/mlp_io.safetensors`);
  for (const [layer, key] of layers.entries()) {
    const x = values(io, `${key}/x`);
    if (kind !== 'moe') {
      test(`${family}: layer ${layer} from its folder, outputs and gradients as Hugging Face has them`, async () => {
        const mlp = await load(family, key.includes('block') ? { prefix: key } : { layer });
        assertClose(mlp.forward(x), values(io, `${key}/y`), 'y');
        const gradients = /** @type {Record<string, Float32Array>} */ (
          mlp.backward(x, values(io, `${key}/gy`))
        );
        assertClose(gradients.x, values(io, `${key}/x.grad`), 'x.grad');
        let compared = 0;
        for (const [ours, theirs] of /** @type {[string[], string][]} */ (OWN_NAMES)) {
          if (!io.has(`${key}/${theirs}.grad`)) continue;
          const ourGradient = ours.flatMap((name) => [...gradients[name]]);
          assertClose(ourGradient, values(io, `${key}/${theirs}.grad`), theirs);
          compared += ours.length;
        }
        assert.equal(compared, mlp.bias ? 6 : 3);
        mlp.dispose();
      });
      continue;
    }
    for (let expert = 0; expert < EXPERTS; expert++) {
      test(`${family}: layer ${layer}, expert ${expert} from its folder`, async () => {
        const mlp = await load(family, { layer, expert });
        assertClose(mlp.forward(x), values(io, `${key}/expert.${expert}.y`), 'y');
        // So large that gpt-oss clamps both gate and up.
        const large = `${key}/expert.${expert}.y_for_12x`;
        if (family === 'gpt_oss') {
          assertClose(mlp.forward(x.map((each) => 12 * each)), values(io, large), large);
        }
        mlp.dispose();
      });
    }
    if (!io.has(`${key}/shared_expert.y`)) continue;
    test(`${family}: layer ${layer}, shared expert by its prefix`, async () => {
      const mlp = await load(family, { prefix: `${key}.shared_expert` });
      assertClose(mlp.forward(x), values(io, `${key}/shared_expert.y`), 'y');
      mlp.dispose();
    });
  }
}

for (const { family, mlps } of rows) {
  const io = readSafetensors(`${ROWS}/${family}/mlp_io.safetensors`);
  test(`${family}: every MLP and expert from its folder, by prefix, layer and expert`, async () => {
    for (const { prefix, expert, layer } of mlps) {
      const which = layer === undefined ? { prefix } : { layer };
      const mlp = await load(family, expert === null ? which : { ...which, expert });
      const y = values(io, expert === null ? `${prefix}/y` : `${prefix}/expert.${expert}.y`);
      assertClose(mlp.forward(values(io, `${prefix}/x`)), y, prefix);
      mlp.dispose();
    }
  });
}

test('gpt_oss: every expert is listed as it is stored, with its limit, shift and sigmoid', async () => {
  const { mlps } = await openCheckpoint(`${server.origin}/gpt_oss/`, { runtime });
  assert.equal(mlps.length, 2 * EXPERTS);
  for (const { fused, transposed, bias, act, actSource, variant, refusal } of mlps) {
    assert.deepEqual([fused, transposed, bias], ['interleaved', true, true]);
    // Its config's hidden_act says silu, and its code knows better.
    assert.deepEqual([act, actSource], ['quick_gelu', 'family']);
    assert.deepEqual(variant, { limit: 7, upShift: 1 });
    assert.equal(refusal, null);
  }
});

test('a checkpoint of two requests says every gated MLP that is in it', async () => {
  server.reset();
  const { mlps } = await openCheckpoint(`${server.origin}/llama4/`, { runtime });
  assert.equal(server.log.length, 2);
  assert.deepEqual(
    mlps.map(({ layer, expert, prefix, fused, transposed }) => [
      layer,
      expert,
      prefix,
      fused,
      transposed,
    ]),
    [0, 1].flatMap((layer) => [
      ...[0, 1, 2].map((expert) => [
        layer,
        expert,
        `model.layers.${layer}.feed_forward.experts`,
        'gate-up',
        true,
      ]),
      [layer, null, `model.layers.${layer}.feed_forward.shared_expert`, null, false],
    ]),
  );
});
