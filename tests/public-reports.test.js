// Faults that users of other loaders have reported in public and that no other test file here is about: each test's title is
// the symptom. Where the tests of all reports are is in helpers/reports.js, which is held to the titles here.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { GatedMLP, openCheckpoint, Runtime } from '../src/binding/index.js';
import { wasmOf } from '../src/binding/runtime.js';
import { failure } from './helpers/failure.js';
import { llamaTensors, makeSafetensors, pattern } from './helpers/make-safetensors.js';
import { REPORTS } from './helpers/reports.js';
import { startLoading } from './helpers/small-checkpoint.js';

const { runtime, server } = await startLoading();

/** A file of exactly this header. @param {string} header @param {number} [dataBytes] */
function fileOf(header, dataBytes = 0) {
  const text = Buffer.from(header);
  const prefix = Buffer.alloc(8);
  prefix.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([prefix, text, Buffer.alloc(dataBytes)]);
}

/** A cache that has nothing, and what it has been given whole so far. */
function recordingCache() {
  /** @type {Promise<Uint8Array | null>[]} */
  const puts = [];
  const cache = {
    match: async () => undefined,
    async put(/** @type {string} */ _, /** @type {Response} */ response) {
      puts.push(
        response.arrayBuffer().then(
          (buffer) => new Uint8Array(buffer),
          () => null,
        ),
      );
      await puts.at(-1);
    },
  };
  const stored = async () => (await Promise.all(puts)).filter((bytes) => bytes !== null);
  return { cache, stored };
}

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
  const { cache, stored } = recordingCache();
  const retry = { baseDelay: 1, maxDelay: 5 };
  const checkpoint = await openCheckpoint(`${server.origin}/f.safetensors`, {
    runtime,
    cache,
    retry,
  });
  server.fault = (x) =>
    x.server.serve({ ...x, ranged: false }, { body: Buffer.alloc(400_000, '<p>') });
  await failure(checkpoint.read('t'));
  assert.deepEqual(await stored(), []);
});

test('a server that refuses HEAD, or leaves it without a length, is read by GET alone (huggingface.js #2366, #2118)', async () => {
  const layer = llamaTensors('model.layers.0.mlp', 8, 12);
  server.files.set('/m/model.safetensors', makeSafetensors(layer));
  server.files.set('/m/config.json', Buffer.from('{"model_type":"llama","hidden_act":"silu"}'));
  server.fault = ({ request, response }) => {
    if (request.method === 'GET') return false;
    response.writeHead(405).end();
    return true;
  };
  (await GatedMLP.fromPretrained(`${server.origin}/m/`, { runtime, layer: 0 })).dispose();
  assert.ok(server.log.length > 1);
  assert.ok(server.log.every(({ method }) => method === 'GET'));
});

test('a config behind gzip, without a length, is read whole (duckdb-wasm, zarrita.js)', async () => {
  const config = Buffer.from(JSON.stringify({ model_type: 'llama', hidden_act: 'relu' }));
  const layer = llamaTensors('model.layers.0.mlp', 8, 12);
  server.files.set('/m/model.safetensors', makeSafetensors(layer));
  server.files.set('/m/config.json', config);
  server.fault = (x) =>
    x.path.endsWith('.json') &&
    x.server.serve(
      { ...x, ranged: false },
      {
        headers: { 'content-encoding': 'gzip' },
        body: gzipSync(config),
        drop: ['content-length'],
      },
    );
  const { mlps } = await openCheckpoint(`${server.origin}/m/`, { runtime });
  assert.deepEqual([mlps[0].act, mlps[0].actSource], ['relu', 'hidden_act']);
});

test('no range goes past the end of the file once that is known (geotiff.js, modelscope_hub)', async () => {
  const data = pattern(1000);
  const file = makeSafetensors({ t: { dtype: 'U8', shape: [1000], data } });
  server.files.set('/short.safetensors', file);
  const url = `${server.origin}/short.safetensors`;
  const checkpoint = await openCheckpoint(url, { runtime, firstBytes: 8 });
  assert.deepEqual((await checkpoint.read('t')).data, data);
  const ends = server.log.map(({ range }) => Number(range?.split('-')[1]));
  assert.ok(ends.length >= 2);
  assert.ok(ends.every((end) => end < file.length));
});

test('what opening has fetched is not cached as if it were a tensor (web-llm, transformers.js, wllama)', async () => {
  const tensors = {
    small: { dtype: 'U8', shape: [100], data: pattern(100) },
    t: { dtype: 'U8', shape: [200_000], data: pattern(200_000, 2) },
  };
  server.files.set('/f.safetensors', makeSafetensors(tensors));
  const { cache, stored } = recordingCache();
  const checkpoint = await openCheckpoint(`${server.origin}/f.safetensors`, { runtime, cache });
  assert.deepEqual(await stored(), []);
  await checkpoint.read('t');
  assert.deepEqual(await stored(), [tensors.t.data]);
});

test('a layer larger than memory is an error with its bytes, not "unreachable", and the next one loads (candle #968, #1695)', async () => {
  const [d, dFf] = [20_000, 20_000];
  const bytes = 2 * d * dFf;
  const entry = (/** @type {number} */ i) =>
    `{"dtype":"BF16","shape":[${d},${dFf}],"data_offsets":[${i * bytes},${(i + 1) * bytes}]}`;
  const names = ['gate_proj', 'up_proj', 'down_proj'];
  const head = fileOf(`{${names.map((name, i) => `"mlp.${name}.weight":${entry(i)}`)}}`);
  const first = Buffer.alloc(64 * 1024);
  head.copy(first);
  let requests = 0;
  const fetch = async () => {
    requests += 1;
    const range = `bytes 0-${first.length - 1}/${head.length + 3 * bytes}`;
    return new Response(first, { status: 206, headers: { 'content-range': range } });
  };
  const url = 'https://example.org/huge.safetensors';
  const used = runtime.bytesUsed;
  const error = await failure(GatedMLP.fromPretrained(url, { runtime, fetch }));
  assert.equal(error.code, 'ERR_OUT_OF_MEMORY');
  assert.ok(Number(error.bytes) >= 3 * bytes);
  assert.equal(requests, 1, 'no weight was asked for');
  assert.equal(runtime.bytesUsed, used);
  const file = makeSafetensors(llamaTensors('mlp', 8, 12));
  (await GatedMLP.fromPretrained(file, { runtime })).dispose();
});

test('weights above 2 GiB of memory are read from there, not from a negative address (wllama #204, llama.cpp #22497)', async () => {
  const file = makeSafetensors(llamaTensors('mlp', 8, 12));
  const low = await GatedMLP.fromPretrained(file, { runtime });
  const full = await Runtime.create();
  const GIB = 2 ** 30;
  const fillers = [];
  // Memory that is never written to costs nothing: pages of zeros.
  for (let gib = 0; gib < 2; gib++) fillers.push(wasmOf(full).alloc(GIB, 'filler'));
  const high = await GatedMLP.fromPretrained(file, { runtime: full });
  assert.ok(full.memory.buffer.byteLength > 2 * GIB);
  const x = Float32Array.from({ length: 3 * 8 }, (_, i) => Math.sin(i));
  assert.deepEqual(high.forward(x), low.forward(x));
  assert.deepEqual(new Map(high.stateDict()), new Map(low.stateDict()));
  for (const filler of fillers) wasmOf(full).free(filler);
  low.dispose();
  full.dispose();
});

test('every report has a test whose title says its symptom', () => {
  for (const { reports, tests } of REPORTS) {
    assert.ok(tests.length > 0);
    for (const [file, symptom] of tests) {
      const source = readFileSync(new URL(file, import.meta.url), 'utf8');
      assert.ok(source.includes(symptom), `${reports}: ${file} has no test "${symptom}"`);
    }
  }
});

test('names such as __proto__, 10 and length are names (huggingface.js)', async () => {
  const names = ['__proto__', '10', 'length', 'constructor', ''];
  const header = names.map(
    (name, i) => `"${name}":{"dtype":"U8","shape":[1],"data_offsets":[${i},${i + 1}]}`,
  );
  const checkpoint = await openCheckpoint(fileOf(`{${header}}`, names.length), { runtime });
  assert.deepEqual([...checkpoint.tensors.keys()], names);
});
