// What is found in a checkpoint: shards, configs, which MLP is meant, widths and activations. What a source may be is in
// sources.test.js, what is refused by name in refusals.test.js, the families' values in families.test.js and adapters.test.js.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatedMLP } from '../src/binding/index.js';
import { failure } from './helpers/failure.js';
import { llamaTensors, makeSafetensors } from './helpers/make-safetensors.js';
import { CONFIG, json, layer, RETRY, single, startLoading } from './helpers/small-checkpoint.js';

/** @typedef {Record<string, import('./helpers/make-safetensors.js').FileTensor>} Tensors */

const { runtime, server, open } = await startLoading();

/** Puts a folder of shards on the server: tensor -> shard by `place`. @param {Tensors} tensors @param {(name: string) => string} place */
function shard(tensors, place) {
  /** @type {Record<string, Tensors>} */
  const shards = {};
  /** @type {Record<string, string>} */
  const map = {};
  for (const [name, tensor] of Object.entries(tensors)) {
    map[name] = place(name);
    shards[map[name]] = { ...shards[map[name]], [name]: tensor };
  }
  for (const [name, content] of Object.entries(shards))
    server.files.set(`/m/${name}`, makeSafetensors(content));
  server.files.set('/m/model.safetensors.index.json', json({ metadata: {}, weight_map: map }));
  server.files.set('/m/config.json', json(CONFIG));
  return map;
}

test('a sharded folder opens by its URL or its index, and only the shards that a layer needs', async () => {
  const tensors = { ...layer(0), ...layer(1), ...layer(2) };
  shard(tensors, (name) => `model-${name.split('.')[2]}.safetensors`);
  for (const source of ['/m', '/m/model.safetensors.index.json']) {
    server.log = [];
    const mlp = await GatedMLP.fromPretrained(server.origin + source, {
      runtime,
      layer: 1,
      retry: RETRY,
    });
    assert.deepEqual(
      mlp.stateDict().get('up_proj.weight')?.data,
      layer(1)['model.layers.1.mlp.up_proj.weight'].data,
    );
    const shards = server.log.map(({ path }) => path).filter((path) => path.includes('model-'));
    assert.deepEqual([...new Set(shards)], ['/m/model-1.safetensors']);
  }
  const whole = await open(`${server.origin}/m/`);
  assert.deepEqual(
    whole.mlps.map((m) => m.layer),
    [0, 1, 2],
  );
});

test('MLPs are listed layer by layer, whatever order the files have them in', async () => {
  const tensors = Object.assign(
    {},
    ...[0, 10, 11, 2, 1].map(layer),
    llamaTensors('vision.mlp', 8, 12),
  );
  const { mlps } = await open(makeSafetensors(tensors));
  assert.deepEqual(
    mlps.map((m) => m.layer),
    [0, 1, 2, 10, 11, null],
  );
});

test('a layer split across two shards loads whole', async () => {
  shard(layer(0), (name) => (name.includes('down') ? 'b.safetensors' : 'a.safetensors'));
  const mlp = await GatedMLP.fromPretrained(`${server.origin}/m`, {
    runtime,
    layer: 0,
    retry: RETRY,
  });
  for (const part of ['gate_proj', 'up_proj', 'down_proj']) {
    const { data } = layer(0)[`model.layers.0.mlp.${part}.weight`];
    assert.deepEqual(mlp.stateDict().get(`${part}.weight`)?.data, data);
  }
});

test('an index and shards that disagree: an error that names both', async () => {
  const map = shard(
    { ...layer(0), ...layer(1) },
    (name) => `model-${name.split('.')[2]}.safetensors`,
  );
  server.files.delete('/m/model-1.safetensors');
  const missing = await failure(open(`${server.origin}/m`));
  assert.equal(missing.code, 'ERR_TENSOR_MISSING');
  assert.match(
    missing.message,
    /index\.json names a shard that is not there: .*model-1\.safetensors, for "model\.layers\.1/,
  );

  map['lm_head.weight'] = 'model-0.safetensors';
  server.files.set('/m/model-1.safetensors', makeSafetensors(layer(1)));
  server.files.set('/m/model.safetensors.index.json', json({ weight_map: map }));
  const lacking = await failure(open(`${server.origin}/m`));
  assert.equal(lacking.code, 'ERR_TENSOR_MISSING');
  assert.match(
    lacking.message,
    /says that "lm_head\.weight" is in model-0\.safetensors, and it is not/,
  );
});

test('shards lie below the index on its own origin, whatever it says', async () => {
  for (const name of [
    '../a.safetensors',
    '/a.safetensors',
    '//host/a.safetensors',
    'http://host/a.safetensors',
    'x/../../a',
    '%2e%2e/a',
    'x\\..\\a',
    'file:a',
    '',
    'a//b',
    './a',
  ]) {
    server.files.set('/m/model.safetensors.index.json', json({ weight_map: { t: name } }));
    const error = await failure(open(`${server.origin}/m`));
    assert.equal(error.code, 'ERR_UNSUPPORTED', name);
    assert.match(error.message, /is not the name of a file below/);
  }
  assert.ok(server.log.every(({ path }) => path.startsWith('/m/')));
  const odd = 'sub dir/a#1?b%41.safetensors';
  shard(layer(0), () => odd);
  assert.equal((await open(`${server.origin}/m`)).mlps.length, 1);
  assert.ok(server.log.some(({ path }) => path === `/m/${odd}`));
});

test('an index that is no index is refused', async () => {
  for (const index of [
    {},
    { weight_map: null },
    { weight_map: {} },
    { weight_map: [] },
    { weight_map: { t: 5 } },
  ]) {
    server.files.set('/m/model.safetensors.index.json', json(index));
    assert.equal((await failure(open(`${server.origin}/m`))).code, 'ERR_SAFETENSORS');
  }
  server.files.set('/m/model.safetensors.index.json', Buffer.from('{"weight_map":'));
  assert.match((await failure(open(`${server.origin}/m`))).message, /not a JSON object/);
});

test('an index of 500,000 names, more than 25 MB of them, opens', async () => {
  const map = shard(layer(3), () => 'a.safetensors');
  for (let i = 0; i < 500_000; i++)
    map[`model.layers.${i}.self_attn.q_proj.weight`] = 'b.safetensors';
  server.files.set('/m/model.safetensors.index.json', json({ weight_map: map }));
  const checkpoint = await open(`${server.origin}/m`, { layer: 3 });
  assert.deepEqual(
    checkpoint.mlps.map((m) => m.layer),
    [3],
  );
});

test('a folder with nothing in it is an error that says what was looked for', async () => {
  const error = await failure(open(`${server.origin}/empty`));
  assert.equal(error.status, 404);
  assert.match(
    error.message,
    /no model\.safetensors, model\.safetensors\.index\.json or consolidated\.safetensors/,
  );
});

test('a missing index, and a shard or file that the server fails on, keep their status', async () => {
  const missing = await failure(open(`${server.origin}/m/other.index.json`));
  assert.deepEqual([missing.code, missing.status], ['ERR_HTTP', 404]);
  assert.match(missing.message, /other\.index\.json: there is no such file/);
  for (const failing of ['a.safetensors', 'consolidated.safetensors']) {
    server.files.clear();
    if (failing === 'a.safetensors') shard(layer(0), () => failing);
    server.fault = (x) =>
      x.path.endsWith(failing) && x.server.serve(x, { status: 500, body: Buffer.alloc(0) });
    const error = await failure(open(`${server.origin}/m`));
    assert.deepEqual([error.code, error.status], ['ERR_HTTP', 500], failing);
  }
});

test('a site that answers every path with its page is no checkpoint', async () => {
  server.fault = (x) =>
    x.server.serve(
      { ...x, ranged: false },
      { status: 200, body: Buffer.from('<!doctype html><p>app') },
    );
  const error = await failure(open(`${server.origin}/app`));
  assert.equal(error.code, 'ERR_HTTP');
  assert.match(error.message, /no model\.safetensors/);
});

test('without layer, expert or prefix there must be exactly one MLP; else the error lists them', async () => {
  const one = await open(single);
  assert.equal((await GatedMLP.fromCheckpoint(one)).dFf, 12);
  const two = await open(makeSafetensors({ ...layer(0), ...layer(1) }));
  const error = await failure(GatedMLP.fromCheckpoint(two));
  assert.equal(error.code, 'ERR_TENSOR_MISSING');
  assert.match(error.message, /2 gated MLPs.*model\.layers\.0\.mlp, model\.layers\.1\.mlp/);
  const none = await failure(GatedMLP.fromCheckpoint(two, { layer: 7 }));
  assert.match(none.message, /no gated MLP is at layer 7; there are: model\.layers\.0\.mlp/);
  const byPrefix = await GatedMLP.fromCheckpoint(two, { prefix: 'model.layers.1' });
  assert.deepEqual(
    byPrefix.stateDict().get('gate_proj.weight')?.data,
    layer(1)['model.layers.1.mlp.gate_proj.weight'].data,
  );
});

test('without a config the activation is silu, and the result says that this is a default', async () => {
  const checkpoint = await open(single);
  assert.deepEqual([checkpoint.mlps[0].act, checkpoint.mlps[0].actSource], ['silu', 'default']);
  for (const [type, act] of [
    ['gemma2', 'gelu_tanh'],
    ['mpt', 'gelu'],
  ]) {
    const [mlp] = (await open(single, { config: { model_type: type } })).mlps;
    assert.deepEqual([mlp.act, mlp.actSource], [act, 'family']);
  }
  const given = await GatedMLP.fromCheckpoint(checkpoint, { act: 'gelu_new' });
  assert.equal(given.act, 'gelu_tanh');
  const configured = await open(single, { config: { model_type: 'gemma', hidden_act: 'gelu' } });
  assert.deepEqual(
    [configured.mlps[0].act, configured.mlps[0].actSource],
    ['gelu_tanh', 'hidden_act'],
  );
});

test('where neither a config nor the family says which activation, it is asked for', async () => {
  const tensors = Object.fromEntries(
    Object.entries(llamaTensors('block.0', 8, 12)).map(([name, t]) => [
      name.replace('gate_proj', 'wi_0').replace('up_proj', 'wi_1').replace('down_proj', 'wo'),
      t,
    ]),
  );
  const file = makeSafetensors(tensors);
  const error = await failure(GatedMLP.fromPretrained(file, { runtime }));
  assert.equal(error.code, 'ERR_ACTIVATION');
  assert.match(error.message, /nothing says which activation; pass \{ act \}/);
  const mlp = await GatedMLP.fromPretrained(file, { runtime, act: 'gelu_new' });
  assert.equal(mlp.act, 'gelu_tanh');
});

test("Meta's params.json is held against the shapes by llama_ffn_dim, and both are shown", async () => {
  const rename = (/** @type {string} */ name) =>
    name
      .replace('model.layers.0.mlp', 'layers.0.feed_forward')
      .replace('gate_proj', 'w1')
      .replace('up_proj', 'w3')
      .replace('down_proj', 'w2');
  const tensors = Object.fromEntries(
    Object.entries(llamaTensors('model.layers.0.mlp', 8, 24)).map(([name, t]) => [rename(name), t]),
  );
  server.files.set('/m/consolidated.safetensors', makeSafetensors(tensors));
  server.files.set('/m/params.json', json({ dim: 8, multiple_of: 8, norm_eps: 1e-5 }));
  const mlp = await GatedMLP.fromPretrained(`${server.origin}/m`, { runtime, retry: RETRY });
  assert.equal(mlp.dFf, 24);
  server.files.set('/m/params.json', json({ dim: 8, multiple_of: 8, ffn_dim_multiplier: 2 }));
  const error = await failure(
    GatedMLP.fromPretrained(`${server.origin}/m`, { runtime, retry: RETRY }),
  );
  assert.equal(error.code, 'ERR_SHAPE');
  assert.match(error.message, /dFf 48.*shapes 8 and 24/);
});

test("Meta's params.json speaks of dense layers: a wrong dim is refused, an expert has a width of its own", async () => {
  const named = (/** @type {string} */ module, /** @type {number} */ dFf) =>
    Object.fromEntries(
      Object.entries(llamaTensors(module, 8, dFf)).map(([name, t]) => [
        name.replace('gate_proj', 'w1').replace('up_proj', 'w3').replace('down_proj', 'w2'),
        t,
      ]),
    );
  server.files.set(
    '/m/consolidated.safetensors',
    makeSafetensors(named('layers.0.feed_forward', 24)),
  );
  server.files.set('/m/params.json', json({ dim: 9, multiple_of: 24 }));
  const error = await failure(open(`${server.origin}/m`).then((c) => GatedMLP.fromCheckpoint(c)));
  assert.match(error.message, /params\.json \(llama_ffn_dim\) d is 9 and dFf 24/);
  const experts = named('model.layers.0.block_sparse_moe.experts.0', 12);
  server.files.set('/m/consolidated.safetensors', makeSafetensors(experts));
  const [mlp] = (await open(`${server.origin}/m`)).mlps;
  assert.deepEqual([mlp.expert, mlp.dFf, mlp.refusal], [0, 12, null]);
});

test('a tensor that is not there is an error that names it', async () => {
  const checkpoint = await open(single);
  const error = await failure(checkpoint.read('model.layers.9.mlp.up_proj.weight'));
  assert.equal(error.code, 'ERR_TENSOR_MISSING');
  assert.match(error.message, /no tensor is called "model\.layers\.9\.mlp\.up_proj\.weight"/);
});

test('widths that the config contradicts are refused, with both figures', async () => {
  const checkpoint = await open(single, { config: { ...CONFIG, intermediate_size: 16 } });
  assert.match(
    String(checkpoint.mlps[0].refusal),
    /dFf is 12 by the tensors' shapes and 16 by config\.json/,
  );
  assert.equal((await failure(GatedMLP.fromCheckpoint(checkpoint))).code, 'ERR_SHAPE');
});
