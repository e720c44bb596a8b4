// What a source may be: bytes, blobs, files on disk, Responses, URLs, Hub ids; what has no end, no bytes or no budget. What is
// found in a source is checkpoint.test.js's matter, the network's misbehaviour that of faults.test.js and network.test.js.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { runInNewContext } from 'node:vm';
import { failure } from './helpers/failure.js';
import { makeSafetensors, pattern } from './helpers/make-safetensors.js';
import { CONFIG, json, layer, single, startLoading } from './helpers/small-checkpoint.js';

const { server, open } = await startLoading();
const folder = mkdtempSync(join(tmpdir(), 'gated-mlp-'));
writeFileSync(join(folder, 'model.safetensors'), single);
writeFileSync(join(folder, 'config.json'), json(CONFIG));
after(() => rmSync(folder, { recursive: true }));

/** A fetch that answers for the Hub, and says what it was asked. @param {string[]} asked */
function hub(asked) {
  /** @param {string | URL | Request} url @param {RequestInit} [init] */
  return async (url, init) => {
    asked.push(String(url));
    const { pathname } = new URL(String(url));
    if (pathname.endsWith('config.json')) return new Response(JSON.stringify(CONFIG));
    if (!pathname.endsWith('/model.safetensors')) return new Response('', { status: 404 });
    const range = /bytes=(\d+)-(\d+)/.exec(new Headers(init?.headers).get('range') ?? '') ?? [];
    const [begin, end] = [Number(range[1]), Math.min(Number(range[2]) + 1, single.length)];
    const headers = { 'content-range': `bytes ${begin}-${end - 1}/${single.length}` };
    return new Response(single.subarray(begin, end), { status: 206, headers });
  };
}

test('bytes, views of bytes, blobs, files and responses are the same reader with another source', async () => {
  const odd = new Uint8Array(single.length + 3);
  odd.set(single, 3);
  const sources = {
    buffer: new Uint8Array(single).buffer,
    view: odd.subarray(3),
    'data view': new DataView(odd.buffer, 3),
    blob: new Blob([single]),
    file: new File([single], 'model.safetensors'),
    response: new Response(single),
    'data URL': `data:application/octet-stream;base64,${single.toString('base64')}`,
    'blob URL': URL.createObjectURL(new Blob([single])),
  };
  for (const [what, source] of Object.entries(sources)) {
    const checkpoint = await open(source);
    assert.equal(checkpoint.mlps.length, 1, what);
    assert.deepEqual(checkpoint.metadata, { format: 'pt' }, what);
    for (const [name, { data }] of Object.entries(layer(0))) {
      assert.deepEqual((await checkpoint.read(name)).data, data, `${what}: ${name}`);
    }
  }
});

test('paths, file: URLs and folders on disk are read by position', async () => {
  const path = join(folder, 'model.safetensors');
  for (const source of [
    path,
    pathToFileURL(path),
    pathToFileURL(path).href,
    folder,
    `${folder}/`,
    pathToFileURL(`${folder}/`),
  ]) {
    const checkpoint = await open(source);
    assert.deepEqual(checkpoint.config, CONFIG);
    const name = 'model.layers.0.mlp.up_proj.weight';
    assert.deepEqual((await checkpoint.read(name)).data, layer(0)[name].data);
  }
});

test('a path with nothing behind it, or that cannot be read, is an error of a file that names the path', async () => {
  const empty = join(folder, 'empty');
  const odd = join(folder, 'odd');
  const odder = join(folder, 'odder');
  mkdirSync(empty);
  mkdirSync(join(odd, 'config.json'), { recursive: true });
  writeFileSync(join(odd, 'model.safetensors'), single);
  mkdirSync(join(odder, 'model.safetensors'), { recursive: true });
  for (const [source, words, file] of /** @type {[string, RegExp, string?][]} */ ([
    [join(folder, 'nowhere.safetensors'), /cannot be read \(ENOENT/],
    [join(folder, 'nowhere'), /cannot be read \(ENOENT/],
    [join(folder, 'nowhere.index.json'), /there is no such file/],
    [empty, /no model\.safetensors, .* here/],
    [odd, /cannot be read \(EISDIR/, join(odd, 'config.json')],
    [odder, /cannot be read \(EISDIR/, join(odder, 'model.safetensors')],
  ])) {
    const error = await failure(open(source));
    assert.deepEqual([error.code, error.kind], ['ERR_SAFETENSORS', 'io'], source);
    assert.match(error.message, words);
    assert.ok(error.message.startsWith(`${file ?? source}: `), error.message);
    assert.equal(error.file, file ?? source);
  }
});

test('a file on disk that is replaced between reads is read anew or refused, never mixed', async () => {
  const path = join(folder, 'changing.safetensors');
  const version = (/** @type {number} */ seed) =>
    makeSafetensors({ t: { dtype: 'U8', shape: [100_000], data: pattern(100_000, seed) } });
  writeFileSync(path, version(1));
  utimesSync(path, 1000, 1000); // else the second may be written within the same tick of the file system's clock
  const checkpoint = await open(path);
  writeFileSync(path, version(2));
  assert.deepEqual((await checkpoint.read('t')).data, pattern(100_000, 2));
});

test('a file on disk that has grown is read anew also where its date says nothing of it', async () => {
  const path = join(folder, 'growing.safetensors');
  const version = (/** @type {number} */ length) =>
    makeSafetensors({ t: { dtype: 'U8', shape: [length], data: pattern(length, length) } });
  const write = (/** @type {number} */ length) => {
    writeFileSync(path, version(length));
    utimesSync(path, 1000, 1000);
  };
  write(100_000);
  const checkpoint = await open(path);
  write(100_001);
  const error = await failure(checkpoint.read('t'));
  assert.match(error.message, /replaced while it was read, and t is another tensor now/);
});

test('a file that turns out shorter than it said is begun anew, and is an error if that goes on', async () => {
  class Shrinking extends Blob {
    left = 1;
    /** @override @param {number} [begin] @param {number} [end] */
    slice(begin, end) {
      return this.left-- > 0 ? super.slice(begin, Number(end) - 1) : super.slice(begin, end);
    }
  }
  const blob = new Shrinking([single]);
  assert.equal((await open(blob)).mlps.length, 1);
  blob.left = Infinity;
  const error = await failure(open(blob));
  assert.match(error.message, /has become shorter; it changed again after a fresh start/);
});

test('org/name and org/name@revision are Hub ids; a dot in a name is no file extension', async () => {
  for (const [id, prefix, revision] of [
    ['HuggingFaceTB/SmolLM2-1.7B', '/HuggingFaceTB/SmolLM2-1.7B/resolve/main/', 'main'],
    ['org/name@v1.0', '/org/name/resolve/v1.0/', 'v1.0'],
    ['org/name@refs/pr/1', '/org/name/resolve/refs%2Fpr%2F1/', 'refs/pr/1'],
  ]) {
    /** @type {string[]} */
    const asked = [];
    const checkpoint = await open(id, { fetch: hub(asked) });
    assert.deepEqual(
      asked.sort(),
      ['config.json', 'model.safetensors'].map((f) => `https://huggingface.co${prefix}${f}`),
    );
    assert.equal(checkpoint.revision, revision);
    assert.equal(checkpoint.mlps.length, 1);
  }
});

test('pages of the Hub become the files behind them', async () => {
  for (const [page, file] of [
    [
      'https://huggingface.co/o/n/blob/main/sub/model.safetensors',
      '/o/n/resolve/main/sub/model.safetensors',
    ],
    [
      'https://huggingface.co/o/n/raw/main/model.safetensors',
      '/o/n/resolve/main/model.safetensors',
    ],
    ['https://huggingface.co/o/n/tree/dev', '/o/n/resolve/dev/model.safetensors'],
    ['https://huggingface.co/o/n', '/o/n/resolve/main/model.safetensors'],
    [
      'https://hf.co/o/n/resolve/main/model.safetensors?download=true',
      '/o/n/resolve/main/model.safetensors',
    ],
  ]) {
    /** @type {string[]} */
    const asked = [];
    await open(page, { fetch: hub(asked) });
    assert.ok(asked.map((url) => new URL(url).pathname).includes(file), `${page}: ${asked}`);
  }
});

test('./org/name is a folder, not a Hub id', async () => {
  const error = await failure(
    open('./org/name', { fetch: () => assert.fail('asked the network') }),
  );
  assert.deepEqual([error.code, error.kind], ['ERR_SAFETENSORS', 'io']);
});

test('what is no source is refused in words', async () => {
  for (const source of ['', 5, null, {}, 'ftp://x/y.safetensors', 'mailto:me', 'http://[']) {
    const error = await failure(open(/** @type {string} */ (source)));
    assert.equal(error.code, 'ERR_UNSUPPORTED', String(source));
  }
  const used = new Response(single);
  await used.arrayBuffer();
  assert.match((await failure(open(used))).message, /has been read before/);
  assert.match((await failure(open(new Response('', { status: 404 })))).message, /status 404/);
});

test('a Response is read within the budget, breaks off in words, and heeds an abort', async () => {
  const large = await failure(open(new Response(single), { maxBytes: 100 }));
  assert.match(large.message, /^Response: passes the budget of 100 bytes/);
  const broken = new ReadableStream({
    pull: (controller) => controller.error(new Error('cable cut')),
  });
  const error = await failure(open(new Response(broken)));
  assert.deepEqual([error.code, error.attempts], ['ERR_HTTP', 1]);
  assert.match(error.message, /broke off \(cable cut\)/);
  const controller = new AbortController();
  const silent = new ReadableStream(
    {
      pull() {
        controller.abort('enough');
        return new Promise(() => {});
      },
    },
    { highWaterMark: 0 },
  );
  assert.equal(await failure(open(new Response(silent), { signal: controller.signal })), 'enough');
});

/** A body that never ends, of pieces that take no memory of their own. @param {number} bytes of a piece */
function endless(bytes) {
  const piece = new Uint8Array(bytes).fill(0x20);
  return new Response(new ReadableStream({ pull: (controller) => controller.enqueue(piece) }));
}

test('a Response without end is given up at 2 GiB where no budget is set', async () => {
  const error = await failure(open(endless(2 ** 28)));
  assert.equal(error.code, 'ERR_HTTP');
  assert.match(error.message, /passes the budget of 2147483648 bytes\. Raise maxBytes/);
});

test('a config and an index without end are given up in words', async () => {
  for (const name of ['config.json', 'model.safetensors.index.json']) {
    /** @param {string | URL | Request} url */
    const fetch = async (url) => {
      const isIt = String(url).endsWith(`/${name}`);
      return isIt ? endless(2 ** 26) : new Response(null, { status: 404 });
    };
    const error = await failure(open('http://127.0.0.1/m/', { fetch }));
    assert.equal(error.code, 'ERR_HTTP', name);
    assert.match(error.message, /: longer than 268435456 characters/);
    assert.equal(error.url, `http://127.0.0.1/m/${name}`);
  }
});

test('a tensor that no array can hold is an error with its bytes, told before they are asked for', async () => {
  const bytes = 2 ** 50;
  const whole = makeSafetensors({ t: { dtype: 'U8', shape: [bytes], data: new Uint8Array(0) } });
  const text = whole.subarray(8).toString().replace('[0,0]', `[0,${bytes}]`);
  const head = Buffer.concat([Buffer.alloc(8), Buffer.from(text)]);
  head.writeBigUInt64LE(BigInt(text.length));
  let requests = 0;
  const fetch = async () => {
    requests += 1;
    const headers = { 'content-range': `bytes 0-${head.length - 1}/${head.length + bytes}` };
    return new Response(head, { status: 206, headers });
  };
  const firstBytes = head.length;
  const checkpoint = await open('https://example.org/t.safetensors', { fetch, firstBytes });
  const error = await failure(checkpoint.read('t'));
  assert.deepEqual([error.code, error.bytes], ['ERR_OUT_OF_MEMORY', bytes]);
  assert.match(error.message, /^t: an array of 1125899906842624 bytes could not be had$/);
  assert.equal(requests, 1);
});

test('a maxBytes that is no number of bytes is refused by name before any request', async () => {
  for (const maxBytes of [NaN, -1, '5', null, 5n]) {
    const options = { maxBytes: /** @type {number} */ (maxBytes) };
    const error = await failure(open(`${server.origin}/m/`, options));
    assert.equal(error.code, 'ERR_SHAPE', String(maxBytes));
    assert.match(error.message, new RegExp(`maxBytes is ${maxBytes}; it must be a number`));
  }
  assert.equal(server.log.length, 0);
  assert.equal((await open(single, { maxBytes: Infinity })).mlps.length, 1);
  await failure(open(single, { maxBytes: 0 }));
});

test('bytes, blobs and URLs of another realm, such as a frame or a node:vm context, are sources', async () => {
  const buffer = runInNewContext('new ArrayBuffer(n)', { n: single.length });
  new Uint8Array(buffer).set(single);
  for (const source of [
    buffer,
    runInNewContext('new Uint8Array(b)', { b: buffer }),
    runInNewContext('new DataView(b)', { b: buffer }),
  ]) {
    assert.ok(!(source instanceof Object));
    assert.equal((await open(source)).mlps.length, 1);
  }
});
