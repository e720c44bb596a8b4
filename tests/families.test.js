// Whole tiny models, saved by each family's own class in transformers, and MLPs after published code where there is no class:
// every gated MLP and expert in them loads from the folder's URL plus layer, expert or prefix, and computes what that code
// computes. What must be refused by name is in refusals.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { configFor, modelTypes } from '../src/binding/config.js';
import { orderOf } from '../src/binding/describe.js';
import { NAMINGS } from '../src/binding/families.js';
import { GatedMLP, openCheckpoint, Runtime } from '../src/binding/index.js';
import { findGroups } from '../src/binding/scan.js';
import { FaultServer } from './helpers/fault-server.js';
import {
  assertClose,
  fixture,
  parseSafetensors,
  readJson,
  readSafetensors,
  tensor,
  values,
} from './helpers/goldens.js';
import { makeSafetensors } from './helpers/make-safetensors.js';
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
  const odd = { layer: 4, dtype: /** @type {any} */ (8) };
  await assert.rejects(load('zamba2', odd), { code: 'ERR_DTYPE' });
  assert.equal(runtime.bytesUsed, used);
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

for (const [family, layer] of /** @type {const} */ ([
  ['zamba2', 4],
  ['falcon_h1', 1],
  ['inkling', 0],
])) {
  for (const dtype of /** @type {const} */ (['q8_0', 'q4_1', 'bfloat16'])) {
    test(`${family} held as ${dtype}: what is done to its weights is done before they are rounded, once`, async (t) => {
      const wide = await load(family, { layer, dtype: 'float32' });
      t.after(() => wide.dispose());
      const { d, dFf, act, bias } = wide;
      const once = await GatedMLP.create(d, dFf, { act, bias, dtype, runtime });
      t.after(() => once.dispose());
      once.loadStateDict(Object.fromEntries(wide.namedParameters()));
      const used = runtime.bytesUsed;
      const held = await load(family, { layer, dtype });
      assert.deepEqual([held.dtype, held.source?.actSource], [dtype, wide.source?.actSource]);
      assert.deepEqual(held.stateDict(), once.stateDict());
      held.dispose();
      assert.equal(runtime.bytesUsed, used);
    });
  }
}

test('inkling: the learned scale is read with the matrices, whatever its dtype, also without a config', async () => {
  const name = 'model.llm.layers.0.mlp.global_scale';
  const io = readSafetensors(`${ROWS}/inkling/mlp_io.safetensors`);
  const [x, y] = ['x', 'y'].map((key) => values(io, `model.llm.layers.0.mlp/${key}`));
  const tensors = readSafetensors(`${ROWS}/inkling/model.safetensors`);
  const scale = values(tensors, name)[0];
  for (const [dtype, value, data] of /** @type {const} */ ([
    ['F32', scale, Float32Array.of(scale)],
    ['F64', -1.5, Float64Array.of(-1.5)],
    ['BF16', 0.5, Uint16Array.of(0x3f00)],
  ])) {
    /** @type {Record<string, import('./helpers/make-safetensors.js').FileTensor>} */
    const file = { [name]: { dtype, shape: [1], data: new Uint8Array(data.buffer) } };
    for (const [key, { shape, data }] of tensors) {
      if (key.startsWith('model.llm.layers.0') && key !== name)
        file[key] = { dtype: 'F32', shape, data: new Uint8Array(data.buffer) };
    }
    const mlp = await GatedMLP.fromPretrained(makeSafetensors(file), { runtime });
    assert.ok(/** @type {{ tensors: string[] }} */ (mlp.source).tensors.includes(name));
    const expected = y.map((each) => (each / scale) * value);
    assertClose(mlp.forward(x), expected, dtype);
    mlp.dispose();
  }
});

test('inkling: a scale in another shard than its matrices is opened with them, and a third shard is not', async () => {
  const module = 'model.llm.layers.0.mlp';
  const tensors = readSafetensors(`${ROWS}/inkling/model.safetensors`);
  /** @param {(key: string) => boolean} fits */
  const shard = (fits) =>
    Buffer.from(
      makeSafetensors(
        Object.fromEntries(
          [...tensors]
            .filter(([key]) => fits(key))
            .map(([key, { dtype, shape, data }]) => [
              key,
              { dtype, shape, data: new Uint8Array(data.buffer) },
            ]),
        ),
      ),
    );
  const scale = `${module}.global_scale`;
  const shards = {
    'a.safetensors': (/** @type {string} */ key) => key.startsWith(module) && key !== scale,
    'b.safetensors': (/** @type {string} */ key) => key === scale,
    'c.safetensors': (/** @type {string} */ key) => key.includes('experts'),
  };
  const map = Object.fromEntries(
    [...tensors.keys()].map((key) => [
      key,
      Object.entries(shards).find(([, has]) => has(key))?.[0],
    ]),
  );
  for (const [name, has] of Object.entries(shards)) server.files.set(`/split/${name}`, shard(has));
  const index = JSON.stringify({ weight_map: map });
  server.files.set('/split/model.safetensors.index.json', Buffer.from(index));
  server.reset();
  const mlp = await load('split', { layer: 0 });
  const io = readSafetensors(`${ROWS}/inkling/mlp_io.safetensors`);
  assertClose(mlp.forward(values(io, `${module}/x`)), values(io, `${module}/y`), 'y');
  mlp.dispose();
  const asked = new Set(server.log.map(({ path }) => path));
  assert.deepEqual(
    Object.keys(shards).map((name) => asked.has(`/split/${name}`)),
    [true, true, false],
  );
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

/** Types that a table row names and no golden has: the same body under another name, inside a larger model, or in an older file. */
const SAME_BODY = new Map([
  ['aria', 'aria_text'],
  ['clvp', 'clvp_encoder'],
  ['gemma4', 'gemma4_text'],
  ['glm4v', 'glm4'],
  ['glm4v_text', 'glm4'],
  ['glm_ocr', 'glm_ocr_text'],
  ['inkling_text', 'inkling_mm_model'],
  ['llama4', 'llama4_text'],
  ['minimax_m3_vl', 'minimax_m3_vl_text'],
  ['molmo2_text', 'molmo2'],
  ['olmo', 'hf_olmo'],
  ['phi3_v', 'phi3'],
  ['phi4mm', 'phi4_multimodal'],
  ['phi4_multimodal_audio', 'phi4_multimodal'],
]);

/** Every group of tensors in the goldens that is a gated MLP, with its config. */
function* groupsOfGoldens() {
  for (const { family } of [...goldens, ...rows]) {
    const bytes = files[`/${family}/config.json`];
    const config = bytes ? JSON.parse(bytes.toString()) : null;
    const tensors = parseSafetensors(files[`/${family}/model.safetensors`]);
    for (const group of findGroups(tensors.keys(), modelTypes(config))) {
      const { types } = configFor(config, group.module);
      const order = orderOf(group.naming, types, group.module);
      yield {
        ...group,
        tensors,
        types,
        order: order && (group.naming.orders ?? []).indexOf(order),
      };
    }
  }
}

/** @typedef {import('../src/binding/families.js').Naming} Naming */
/** @param {Naming} naming @param {number} [order] @param {string} [type] */
const rowName = ({ family, names }, order = 0, type = '') =>
  [family, names.down, order, SAME_BODY.get(type) ?? type].join();

test('every row of the table, every order in it and every model type it names has a golden of its own', () => {
  const rest = new Set(
    NAMINGS.flatMap((naming) =>
      (naming.orders ?? [{ types: null }]).flatMap(({ types }, order) =>
        (types ?? ['']).map((type) => rowName(naming, order, type)),
      ),
    ),
  );
  for (const { naming, order, types } of groupsOfGoldens()) {
    const named = naming.orders?.[order ?? 0].types;
    for (const type of named ? types : ['']) rest.delete(rowName(naming, order, type));
  }
  assert.deepEqual([...rest], []);
});

test('every order of a fused matrix has a golden whose d is twice its dFf, where no shape tells halves or axes', () => {
  const rest = new Set(
    NAMINGS.flatMap((naming) => (naming.orders ?? []).map((_, order) => rowName(naming, order))),
  );
  // Its hidden width is at least two thirds of d.
  rest.delete(rowName(/** @type {Naming} */ (NAMINGS.find((n) => /DINOv2/.test(n.family)))));
  for (const { naming, order, names, tensors } of groupsOfGoldens()) {
    if (order === undefined) continue;
    const [rows, columns] = tensor(tensors, names.gateUp).shape.slice(-2);
    if (rows === columns) rest.delete(rowName(naming, order));
  }
  assert.deepEqual([...rest], []);
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
