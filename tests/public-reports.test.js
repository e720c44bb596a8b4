// Faults that users of other loaders have reported in public and that no other test file here is about: each test's title is
// the symptom. The rest are in http, network, faults, checkpoint, refusals and ranges.test.js.

import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { GatedMLP, openCheckpoint, Runtime } from '../src/binding/index.js';
import { FaultServer } from './helpers/fault-server.js';
import { llamaTensors, makeSafetensors, pattern } from './helpers/make-safetensors.js';

/** @typedef {import('../src/binding/index.js').GatedMLPError & Record<string, unknown>} LoadError */

const runtime = await Runtime.create();
const server = await FaultServer.start({});
after(() => server.close());
beforeEach(() => {
  server.reset();
  server.files.clear();
});

/** A file of exactly this header. @param {string} header @param {number} [dataBytes] */
function fileOf(header, dataBytes = 0) {
  const text = Buffer.from(header);
  const prefix = Buffer.alloc(8);
  prefix.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([prefix, text, Buffer.alloc(dataBytes)]);
}

/** @param {Promise<unknown>} promise @returns {Promise<LoadError>} */
const failure = (promise) =>
  promise.then(
    () => assert.fail('opened'),
    (reason) => reason,
  );
const T = '{"dtype":"U8","shape":[1],"data_offsets":[0,1]}';

test('duplicate keys are blamed on the key, not on an offset (safetensors #401)', async () => {
  const error = await failure(openCheckpoint(fileOf(`{"a":${T},"a":${T}}`, 1), { runtime }));
  assert.equal(error.kind, 'duplicate');
  assert.equal(error.tensor, 'a');
});

test('a number in the metadata is named by its key (safetensors #278)', async () => {
  const error = await failure(openCheckpoint(fileOf('{"__metadata__":{"step":5}}'), { runtime }));
  assert.equal(error.kind, 'json');
  assert.match(error.message, /"step".*must be a string/);
});

test('a second document after the header is told with its position (safetensors #466)', async () => {
  const error = await failure(openCheckpoint(fileOf('{}{}'), { runtime }));
  assert.equal(error.kind, 'json');
  assert.equal(error.position, 10n);
});

test('a header of 126 MB is refused by the cap before it is read (safetensors #668)', async () => {
  const file = Buffer.alloc(64 * 1024 + 10);
  file.writeBigUInt64LE(126_000_000n);
  server.files.set('/long.safetensors', file);
  const error = await failure(openCheckpoint(`${server.origin}/long.safetensors`, { runtime }));
  assert.equal(error.kind, 'too-large');
  assert.match(error.message, /100000000/);
  assert.equal(server.log.length, 1);
});

test('a tensor called __metadata__ is an error about metadata (safetensors #849)', async () => {
  const error = await failure(openCheckpoint(fileOf(`{"__metadata__":${T}}`, 1), { runtime }));
  assert.equal(error.kind, 'json');
  assert.match(error.message, /__metadata__/);
});

test('empty and null metadata are accepted (fastsafetensors #89, #96)', async () => {
  for (const metadata of ['{}', 'null']) {
    const file = fileOf(`{"__metadata__":${metadata},"t":${T}}`, 1);
    assert.deepEqual((await openCheckpoint(file, { runtime })).metadata, {});
  }
});

test('data that is not aligned is copied, never viewed (safetensors #231, llama.cpp #18291)', async () => {
  const layer = llamaTensors('mlp', 8, 12);
  for (let shift = 0; shift < 8; shift++) {
    const tensors = { shift: { dtype: 'U8', shape: [shift], data: pattern(shift) }, ...layer };
    const mlp = await GatedMLP.fromPretrained(makeSafetensors(tensors), { runtime });
    for (const [name, { data }] of mlp.stateDict())
      assert.deepEqual(data, layer[`mlp.${name}`].data);
    mlp.dispose();
  }
});

test('progress stays below 100 % behind gzip and ends at it (ffmpeg.wasm #803)', async () => {
  const file = makeSafetensors({ t: { dtype: 'U8', shape: [200_000], data: pattern(200_000) } });
  server.files.set('/z.safetensors', file);
  server.fault = (x) =>
    x.server.serve(
      { ...x, ranged: false },
      { headers: { 'content-encoding': 'gzip' }, body: gzipSync(file), drop: ['content-length'] },
    );
  const checkpoint = await openCheckpoint(`${server.origin}/z.safetensors`, { runtime });
  /** @type {number[]} */
  const seen = [];
  await checkpoint.read('t', {
    onProgress: ({ wanted, received }) => {
      assert.equal(wanted, 200_000);
      seen.push(received);
    },
  });
  assert.equal(Math.max(...seen), 200_000);
});

test('an HTML page in place of weights is neither loaded nor cached (web-llm #313)', async () => {
  const file = makeSafetensors({ t: { dtype: 'U8', shape: [200_000], data: pattern(200_000) } });
  server.files.set('/f.safetensors', file);
  /** @type {string[]} */
  const stored = [];
  const cache = {
    match: async () => undefined,
    async put(/** @type {string} */ key, /** @type {Response} */ response) {
      await response.arrayBuffer();
      stored.push(key);
    },
  };
  const retry = { baseDelay: 1, maxDelay: 5 };
  const checkpoint = await openCheckpoint(`${server.origin}/f.safetensors`, {
    runtime,
    cache,
    retry,
  });
  server.fault = (x) =>
    x.server.serve({ ...x, ranged: false }, { body: Buffer.alloc(400_000, '<p>') });
  await failure(checkpoint.read('t'));
  assert.deepEqual(stored, []);
});

test('names such as __proto__, 10 and length are names (huggingface.js)', async () => {
  const names = ['__proto__', '10', 'length', 'constructor', ''];
  const header = names.map(
    (name, i) => `"${name}":{"dtype":"U8","shape":[1],"data_offsets":[${i},${i + 1}]}`,
  );
  const checkpoint = await openCheckpoint(fileOf(`{${header}}`, names.length), { runtime });
  assert.deepEqual([...checkpoint.tensors.keys()], names);
});
