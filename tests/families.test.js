// Whole tiny models, saved by each family's own class in transformers: every gated MLP and expert in them loads from the
// folder's URL plus layer, expert or prefix, and computes what Hugging Face computes. Then what must be refused by name.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { NAMINGS } from '../src/binding/families.js';
import { GatedMLP, openCheckpoint, Runtime } from '../src/binding/index.js';
import { FaultServer } from './helpers/fault-server.js';
import { assertClose, fixture, readJson, readSafetensors, values } from './helpers/goldens.js';
import { float64Runtime } from './helpers/numbers.js';

/** @typedef {{ family: string, kind: 'split' | 'fused' | 'moe', layers: string[] }} FamilyGolden */

const FOLDER = 'goldens/families';
const ROWS = 'goldens/family-rows';
const EXPERTS = 3;

/** @type {FamilyGolden[]} */
const goldens = readJson('goldens/index.json').families;
/** @type {{ family: string, mlps: { prefix: string, expert: number | null, layer?: number }[] }[]} */
const rows = readJson('goldens/family-rows.json').rows;
/** @type {Record<string, Buffer>} */
const files = {};
for (const folder of [
  ...goldens.map((g) => `${FOLDER}/${g.family}`),
  ...rows.map((r) => `${ROWS}/${r.family}`),
]) {
  for (const name of readdirSync(fixture(folder))) {
    files[`/${folder.split('/').at(-1)}/${name}`] = readFileSync(fixture(`${folder}/${name}`));
  }
}
const server = await FaultServer.start(files);
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

test('zamba2: a block that layers share is listed once for each of them, and loads with the adapter of that layer', async () => {
  const url = `${server.origin}/zamba2/`;
  const { mlps } = await openCheckpoint(url, { runtime });
  const blocks = [1, 3].map((n) => `model.layers.${n}.shared_transformer.feed_forward`);
  assert.deepEqual(
    mlps.map(({ layer, prefix, refusal }) => [layer, prefix, refusal]),
    [
      [1, blocks[0], null],
      [4, blocks[0], null],
      [3, blocks[1], null],
    ],
  );
  const used = runtime.bytesUsed;
  const mlp = await load('zamba2', { layer: 4 });
  const { tensors } = /** @type {{ tensors: string[] }} */ (mlp.source);
  assert.ok(tensors.includes(`${blocks[0]}.gate_up_proj_adapter_list.2.1.weight`));
  mlp.dispose();
  assert.equal(runtime.bytesUsed, used);
  await assert.rejects(load('zamba2', { layer: 4, dtype: 'q8_0' }), {
    code: 'ERR_UNSUPPORTED',
    message: /rounded to q8_0 twice/,
  });
  const odd = { layer: 4, dtype: /** @type {any} */ (8) };
  await assert.rejects(load('zamba2', odd), { code: 'ERR_DTYPE' });
  // Another adapter is another MLP, and no adapter at all is none of the model's.
  const unconfigured = openCheckpoint(`${server.origin}/zamba2/model.safetensors`, {
    runtime,
    config: {},
  });
  const plain = { prefix: blocks[0], fused: /** @type {const} */ ('gate-up'), transposed: false };
  await assert.rejects(GatedMLP.fromCheckpoint(await unconfigured, plain), {
    code: 'ERR_UNSUPPORTED',
    message: /gate_up_proj_adapter_list\.0\.0\.weight, adapters of each layer/,
  });
});

test("zamba2: an MLP whose runtime is not its checkpoint's is adapted there, and an abort before the adapter keeps nothing", async (t) => {
  const double = await float64Runtime();
  t.after(() => double.dispose());
  const checkpoint = await openCheckpoint(`${server.origin}/zamba2/`, { runtime });
  const io = readSafetensors(`${ROWS}/zamba2/mlp_io.safetensors`);
  for (const { layer, prefix } of checkpoint.mlps) {
    const mlp = await GatedMLP.fromCheckpoint(checkpoint, {
      prefix,
      layer: Number(layer),
      runtime: double,
    });
    const key = layer === 4 ? prefix.replace('layers.1', 'layers.4') : prefix;
    const y = mlp.forward(Float64Array.from(values(io, `${key}/x`)));
    assertClose(y, values(io, `${key}/y`), `layer ${layer}`);
    mlp.dispose();
  }
  const used = double.bytesUsed;
  const controller = new AbortController();
  const aborted = GatedMLP.fromCheckpoint(checkpoint, {
    layer: 4,
    runtime: double,
    signal: controller.signal,
    onProgress({ received, wanted }) {
      if (received === wanted) controller.abort(new Error('enough'));
    },
  });
  await assert.rejects(aborted, { message: 'enough' });
  assert.equal(double.bytesUsed, used);
});

test('every naming that is claimed as supported has a golden of the family itself', () => {
  const made = new Set([...goldens, ...rows].map(({ family }) => family));
  for (const { golden, orders = [] } of NAMINGS) {
    for (const folder of [golden, ...orders.map((o) => o.golden)]) {
      if (folder) assert.ok(made.has(folder), `${folder} is not in fixtures/goldens`);
    }
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
