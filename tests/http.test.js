// Ranges, economy, progress, abort and errors of the loader against a real local server that counts bytes.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, beforeEach, test } from 'node:test';
import { streamTensors } from '../src/binding/checkpoint.js';
import { GatedMLP, openCheckpoint, Runtime } from '../src/binding/index.js';
import { FaultServer } from './helpers/fault-server.js';
import { fixture, parseSafetensors } from './helpers/goldens.js';
import { llamaTensors, makeSafetensors, pattern } from './helpers/make-safetensors.js';

/** @typedef {import('../src/binding/errors.js').GatedMLPError} GatedMLPError */

const QUICK = { baseDelay: 1, maxDelay: 20 };
const LAYERS = ['05', '11', '24'];
const KIB = 1024;

/** @type {FaultServer} */
let server;
/** @type {Runtime} */
let runtime;
/** @type {Buffer} three layers of the real model in one file */
let merged;

before(async () => {
  runtime = await Runtime.create();
  /** @type {Record<string, import('./helpers/make-safetensors.js').FileTensor>} */
  const tensors = {};
  for (const layer of LAYERS) {
    const file = readFileSync(fixture(`smollm2-135m-instruct-layer${layer}.safetensors`));
    for (const [name, { dtype, shape, data }] of parseSafetensors(file)) {
      tensors[name] = {
        dtype,
        shape,
        data: new Uint8Array(data.buffer, data.byteOffset, data.byteLength),
      };
    }
  }
  merged = makeSafetensors(tensors, { metadata: { format: 'pt' } });
  server = await FaultServer.start({
    '/merged.safetensors': merged,
    '/page.safetensors': '<!doctype html><title>Sign in</title>',
    '/empty.safetensors': '',
  });
});
after(() => server.close());
beforeEach(() => server.reset());

/** @param {string} path @param {import('../src/binding/checkpoint.js').OpenOptions} [options] */
const open = (path, options = {}) =>
  openCheckpoint(server.origin + path, { runtime, retry: QUICK, ...options });

/** @param {Promise<unknown>} promise @returns {Promise<GatedMLPError & Record<string, unknown>>} */
async function failure(promise) {
  const error = await promise.then(
    () => assert.fail('resolved'),
    (reason) => reason,
  );
  return error;
}

test('one layer of three costs its three matrices, the header and at most 64 KiB', async () => {
  const checkpoint = await open('/merged.safetensors');
  assert.deepEqual(
    checkpoint.mlps.map(({ layer, d, dFf, dtype }) => [layer, d, dFf, dtype]),
    [5, 11, 24].map((layer) => [layer, 576, 1536, 'BF16']),
  );
  const mlp = await GatedMLP.fromCheckpoint(checkpoint, { layer: 11 });
  const header = 8 + Number(merged.readBigUInt64LE(0));
  assert.ok(server.sent <= 3 * 576 * 1536 * 2 + header + 64 * KIB, `sent ${server.sent}`);
  const alone = await GatedMLP.fromPretrained(
    readFileSync(fixture('smollm2-135m-instruct-layer11.safetensors')),
    { runtime },
  );
  const weights = [...alone.stateDict()].map(([name, { data }]) => [name, Buffer.from(data)]);
  assert.deepEqual(
    [...mlp.stateDict()].map(([name, { data }]) => [name, Buffer.from(data)]),
    weights,
  );
});

test('firstBytes is what the first request asks for; a header that is longer costs one more', async () => {
  const whole = (await open('/merged.safetensors')).tensors;
  const header = 8 + Number(merged.readBigUInt64LE(0));
  for (const [firstBytes, requests] of [
    [header, 1],
    [header - 1, 2],
    [8, 2],
  ]) {
    server.reset();
    const checkpoint = await open('/merged.safetensors', { firstBytes });
    assert.equal(server.log[0].range, `bytes=0-${firstBytes - 1}`);
    assert.equal(server.log.length, requests, `${firstBytes}`);
    assert.deepEqual(checkpoint.tensors, whole);
  }
  for (const firstBytes of [7, 1.5, -1]) {
    assert.equal((await failure(open('/merged.safetensors', { firstBytes }))).code, 'ERR_SHAPE');
  }
});

test('every request is a GET of a closed range, and at most four are in flight', async () => {
  const checkpoint = await open('/merged.safetensors');
  const wanted = [...checkpoint.tensors.keys()].map((name) => ({ name, end: 100_000, sink() {} }));
  await streamTensors(checkpoint, wanted);
  assert.ok(server.log.length > 5);
  for (const { method, range } of server.log) {
    assert.equal(method, 'GET');
    assert.match(String(range), /^bytes=\d+-\d+$/);
  }
  assert.ok(server.mostActive <= 4, `${server.mostActive} at once`);
});

test('the most urgent tensor is asked for first, its neighbours in one request', async () => {
  // In the order in which they are made: connections may reach the server in another one.
  /** @type {(string | null)[]} */
  let asked = [];
  /** @type {typeof fetch} */
  const noting = (url, options) => {
    asked.push(new Headers(options?.headers).get('range'));
    return fetch(url, options);
  };
  const checkpoint = await open('/merged.safetensors', { fetch: noting });
  asked = [];
  const parts = ['gate_proj', 'up_proj', 'down_proj'].map((p) => `model.layers.11.mlp.${p}.weight`);
  await streamTensors(
    checkpoint,
    parts.map((name) => ({ name, sink() {} })),
  );
  const gate = checkpoint.tensors.get(parts[0]);
  assert.equal(
    asked[0],
    `bytes=${gate?.byteOffset}-${Number(gate?.byteOffset) + Number(gate?.byteLength) - 1}`,
  );
  asked = [];
  await streamTensors(
    checkpoint,
    [...checkpoint.tensors.keys()].slice(3).map((name) => ({ name, end: 10, sink() {} })),
  );
  assert.equal(asked.length, 6);
});

test('tensors come back byte for byte, wherever they begin and end', async () => {
  const tensors = {
    a: pattern(70_001, 1),
    b: pattern(1, 2),
    c: pattern(130_000, 3),
    d: pattern(0),
    e: pattern(5, 4),
  };
  const entries = Object.entries(tensors).map(([name, data]) => [
    name,
    { dtype: 'U8', shape: [data.length], data },
  ]);
  for (const pad of [0, 1, 40_000, 65_520 - 300, 70_000, 200_000]) {
    server.files.set('/odd.safetensors', makeSafetensors(Object.fromEntries(entries), { pad }));
    const checkpoint = await open('/odd.safetensors');
    for (const [name, data] of Object.entries(tensors)) {
      assert.deepEqual((await checkpoint.read(name)).data, data);
    }
  }
});

test('parts that a tensor does not have are a mistake of the caller, told before any request', async () => {
  const checkpoint = await open('/merged.safetensors');
  server.log = [];
  const name = 'model.layers.5.mlp.up_proj.weight';
  const length = 576 * 1536 * 2;
  for (const [begin, end] of [
    [0, length + 1],
    [5, 4],
    [-1, 4],
  ]) {
    await assert.rejects(streamTensors(checkpoint, [{ name, begin, end, sink() {} }]), RangeError);
  }
  assert.equal(server.log.length, 0);
});

test('headers that end at the edge of the first request, or one byte off, are read whole', async () => {
  const data = pattern(1000);
  const bare = makeSafetensors({ t: { dtype: 'U8', shape: [1000], data } });
  const header = bare.length - 1000;
  for (const off of [-2, -1, 0, 1, 2, 8, 9]) {
    const pad = 64 * KIB - header + off;
    server.files.set(
      '/edge.safetensors',
      makeSafetensors({ t: { dtype: 'U8', shape: [1000], data } }, { pad }),
    );
    const checkpoint = await open('/edge.safetensors');
    assert.deepEqual((await checkpoint.read('t')).data, data, `${off} from the edge`);
  }
});

test('a server that ignores ranges is read in one pass, and the slices are cut out', async () => {
  server.fault = ({ server: s, ...x }) => s.serve({ ...x, server: s, ranged: false });
  const checkpoint = await open('/merged.safetensors');
  const name = 'model.layers.24.mlp.up_proj.weight';
  const { data } = await checkpoint.read(name);
  const { byteOffset, byteLength } =
    /** @type {import('../src/binding/checkpoint.js').TensorInfo} */ (checkpoint.tensors.get(name));
  assert.ok(merged.subarray(Number(byteOffset), Number(byteOffset) + byteLength).equals(data));
  server.log = [];
  await GatedMLP.fromCheckpoint(checkpoint, { layer: 5 });
  assert.equal(server.log.length, 1, 'three matrices, one pass');
});

test('a budget stops a server that ignores ranges before its bytes are read', async () => {
  server.fault = ({ server: s, ...x }) => s.serve({ ...x, server: s, ranged: false });
  const checkpoint = await open('/merged.safetensors', { maxBytes: 4e6 });
  const error = await failure(checkpoint.read('model.layers.24.mlp.up_proj.weight'));
  assert.equal(error.code, 'ERR_HTTP');
  assert.match(error.message, /budget of 4000000 bytes.*ignores ranges.*maxBytes/s);
  const first = await checkpoint.read('model.layers.5.mlp.down_proj.weight');
  assert.equal(first.data.length, 576 * 1536 * 2);
});

test('progress counts wanted bytes, names the tensor, ends at the whole and never passes it', async () => {
  const checkpoint = await open('/merged.safetensors');
  /** @type {import('../src/binding/checkpoint.js').Progress[]} */
  const seen = [];
  await GatedMLP.fromCheckpoint(checkpoint, { layer: 24, onProgress: (p) => seen.push(p) });
  const whole = 3 * 576 * 1536 * 2;
  assert.ok(seen.every((p) => p.wanted === whole && p.received <= whole));
  assert.ok(seen.every((p, i) => i === 0 || p.received > seen[i - 1].received));
  assert.equal(seen.at(-1)?.received, whole);
  assert.equal(new Set(seen.map((p) => p.tensor)).size, 3);
});

test('an abort rejects with its reason, closes the connections and gives the memory back', async () => {
  // A runtime of its own: what other tests have left to the garbage collector is not counted here.
  const own = await Runtime.create();
  const checkpoint = await open('/merged.safetensors', { runtime: own });
  const used = own.bytesUsed;
  const controller = new AbortController();
  const reason = new Error('enough');
  const loading = GatedMLP.fromCheckpoint(checkpoint, {
    layer: 24,
    signal: controller.signal,
    onProgress: ({ received }) => received > 100_000 && controller.abort(reason),
  });
  assert.equal(await failure(loading), reason);
  assert.equal(own.bytesUsed, used);
  await server.idle();
  const mlp = await GatedMLP.fromCheckpoint(checkpoint, { layer: 24 });
  assert.equal(mlp.dFf, 1536);
  await assert.rejects(
    open('/merged.safetensors', { signal: AbortSignal.abort(reason) }),
    (e) => e === reason,
  );
});

test('a truncated body, a missing file and an HTML page give three different clear errors', async () => {
  const missing = await failure(open('/nowhere.safetensors'));
  assert.equal(missing.code, 'ERR_HTTP');
  assert.equal(missing.status, 404);
  assert.match(missing.message, /nowhere\.safetensors: 404: there is no such file/);

  const page = await failure(open('/page.safetensors'));
  assert.equal(page.code, 'ERR_SAFETENSORS');
  assert.match(page.message, /This is an HTML page/);

  const checkpoint = await open('/merged.safetensors');
  server.fault = ({ response, file, begin, end }) => {
    response.writeHead(206, {
      'content-length': end - begin,
      'content-range': `bytes ${begin}-${end - 1}/${file.length}`,
    });
    response.write(file.subarray(begin, begin + 10), () => response.destroy());
    return true;
  };
  const truncated = await failure(checkpoint.read('model.layers.24.mlp.up_proj.weight'));
  assert.equal(truncated.code, 'ERR_HTTP');
  assert.equal(truncated.attempts, 5);
  assert.match(truncated.message, /broke off.*5 attempts, \d+ of 1769472 bytes/s);
});

test('an empty file is too small, not an endless 416', async () => {
  for (const tries of [5, 1]) {
    server.reset();
    const error = await failure(open('/empty.safetensors', { retry: { ...QUICK, tries } }));
    assert.equal(error.code, 'ERR_SAFETENSORS');
    assert.equal(error.kind, 'too-small');
    assert.equal(server.log.length, 1);
  }
});

test('a file shorter than its header says is refused when it is opened', async () => {
  server.files.set('/short.safetensors', merged.subarray(0, merged.length - 5));
  const error = await failure(open('/short.safetensors'));
  assert.equal(error.code, 'ERR_SAFETENSORS');
  assert.equal(error.kind, 'incomplete');
});

test('Llama names and the activation of the config are found in a folder', async () => {
  const config = {
    model_type: 'gemma2',
    hidden_activation: 'gelu_pytorch_tanh',
    hidden_size: 8,
    intermediate_size: 12,
  };
  server.files.set('/m/config.json', Buffer.from(JSON.stringify(config)));
  server.files.set(
    '/m/model.safetensors',
    makeSafetensors(llamaTensors('model.layers.0.mlp', 8, 12)),
  );
  for (const source of ['/m/', '/m', '/m/model.safetensors']) {
    const checkpoint = await open(source);
    assert.deepEqual(checkpoint.config, config);
    assert.equal(checkpoint.mlps.length, 1);
    const [{ act, actSource, d, dFf }] = checkpoint.mlps;
    assert.deepEqual([act, actSource, d, dFf], ['gelu_tanh', 'hidden_activation', 8, 12]);
  }
});
