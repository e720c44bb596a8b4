// Families whose weights something is done to once they are there: Zamba 2's adapters of shared blocks, Falcon-H1's multipliers,
// Inkling's learned scale. Their outputs as such are in families; here is how they are listed, held, opened and given up.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { GatedMLP, openCheckpoint, Runtime } from '../src/binding/index.js';
import { ROWS, serveFamilies } from './helpers/family-goldens.js';
import { assertClose, readJson, readSafetensors, values } from './helpers/goldens.js';
import { makeSafetensors } from './helpers/make-safetensors.js';
import { float64Runtime } from './helpers/numbers.js';

const server = await serveFamilies();
const runtime = await Runtime.create();
after(() => server.close());

/** @param {string} family @param {Record<string, unknown>} choice */
const load = (family, choice) =>
  GatedMLP.fromPretrained(`${server.origin}/${family}`, { runtime, ...choice });

// What arguments and results take in the runtime's memory stays there: from here on it is as much as any load below needs.
for (const layer of [1, 3, 4]) (await load('zamba2', { layer })).dispose();

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
  let reports = 0;
  const onProgress = () => reports++;
  await assert.rejects(load('zamba2', { ...odd, onProgress }), { code: 'ERR_DTYPE' });
  assert.equal(reports, 0, 'refused before anything is fetched');
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
  for (const dtype of /** @type {const} */ ([undefined, 'q8_0'])) {
    const controller = new AbortController();
    const aborted = GatedMLP.fromCheckpoint(checkpoint, {
      layer: 4,
      dtype,
      runtime: double,
      signal: controller.signal,
      onProgress({ received, wanted }) {
        if (received === wanted) controller.abort(new Error('enough'));
      },
    });
    await assert.rejects(aborted, { message: 'enough' });
    assert.equal(double.bytesUsed, used);
  }
});

test('an adapter of integers is refused, and keeps no memory', async (t) => {
  const tensors = readSafetensors(`${ROWS}/zamba2/model.safetensors`);
  const config = readJson(`${ROWS}/zamba2/config.json`);
  const own = await Runtime.create();
  t.after(() => own.dispose());
  const file = (/** @type {string} */ suffix) =>
    makeSafetensors(
      Object.fromEntries(
        [...tensors].map(([name, { dtype, shape, data }]) => [
          name,
          {
            dtype: name.endsWith(suffix) ? 'I32' : dtype,
            shape,
            data: new Uint8Array(data.buffer),
          },
        ]),
      ),
    );
  (await GatedMLP.fromPretrained(file('?'), { runtime: own, config, layer: 4 })).dispose();
  const used = own.bytesUsed;
  for (const which of ['2.0.weight', '2.1.weight']) {
    await assert.rejects(GatedMLP.fromPretrained(file(which), { runtime: own, config, layer: 4 }), {
      name: 'GatedMLPError',
      message: /dtype I32/,
    });
    assert.equal(own.bytesUsed, used);
  }
});
