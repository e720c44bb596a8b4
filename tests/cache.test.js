// The optional cache of verified tensor bytes: what it keeps, and that nothing it does or leaves undone can hold up, spoil or end
// a load. That Chromium's own Cache API serves is tried in browser/loader.test.js.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { GatedMLP, openCheckpoint, Runtime } from '../src/binding/index.js';
import { failure } from './helpers/failure.js';
import { FaultServer } from './helpers/fault-server.js';
import { makeSafetensors, pattern } from './helpers/make-safetensors.js';
import { startOtherwise } from './helpers/timers.js';

const RETRY = { baseDelay: 1, maxDelay: 20 };
const BIG = pattern(300_000, 1);
/** @param {Uint8Array} big */
const fileOf = (big) =>
  makeSafetensors({
    small: { dtype: 'U8', shape: [70_000], data: pattern(70_000, 2) },
    big: { dtype: 'U8', shape: [big.length], data: big },
  });

/** @type {FaultServer} */
let home;
/** @type {Runtime} */
let runtime;

before(async () => {
  runtime = await Runtime.create();
  home = await FaultServer.start({});
});
after(() => home.close());
beforeEach(() => {
  home.reset();
  home.files.set('/f.safetensors', fileOf(BIG));
});

/** @param {import('../src/binding/checkpoint.js').OpenOptions} [options] */
const open = (options = {}) =>
  openCheckpoint(`${home.origin}/f.safetensors`, { runtime, retry: RETRY, ...options });

/** As much of the Cache API as the loader uses: a put that fails keeps nothing. */
class FakeCache {
  /** @type {Map<string, { bytes: ArrayBuffer, length: string }>} */
  entries = new Map();
  full = false;
  /** @type {Promise<void>[]} */
  #puts = [];
  /** @param {string} key */
  async match(key) {
    const entry = this.entries.get(key);
    return entry && new Response(entry.bytes, { headers: { 'content-length': entry.length } });
  }
  /** @param {string} key @param {Response} response */
  put(key, response) {
    const stored = this.#store(key, response);
    this.#puts.push(stored.catch(() => {}));
    return stored;
  }
  /** No load waits for it. */
  async settled() {
    await Promise.all(this.#puts);
  }
  /** @param {string} key @param {Response} response */
  async #store(key, response) {
    if (this.full) throw new DOMException('full', 'QuotaExceededError');
    const bytes = await response.arrayBuffer();
    this.entries.set(key, { bytes, length: String(response.headers.get('content-length')) });
  }
}

test('cached bytes are not fetched again, and a replaced file is', async () => {
  const cache = new FakeCache();
  assert.deepEqual((await (await open({ cache })).read('big')).data, BIG);
  await cache.settled();
  assert.equal(cache.entries.size, 1);
  home.log = [];
  assert.deepEqual((await (await open({ cache })).read('big')).data, BIG);
  assert.equal(home.log.length, 1, 'only the header');
  const next = pattern(300_000, 5);
  home.files.set('/f.safetensors', fileOf(next));
  assert.deepEqual((await (await open({ cache })).read('big')).data, next);
});

test('a full cache, a damaged entry and a failed load cost nothing but the cache', async () => {
  const cache = new FakeCache();
  cache.full = true;
  assert.deepEqual((await (await open({ cache })).read('big')).data, BIG);
  cache.full = false;
  await (await open({ cache })).read('big');
  await cache.settled();
  const [[key, entry]] = cache.entries;
  cache.entries.set(key, { ...entry, bytes: entry.bytes.slice(0, 1000) });
  assert.deepEqual((await (await open({ cache })).read('big')).data, BIG);

  await cache.settled();
  cache.entries.clear();
  const checkpoint = await open({ cache, retry: { ...RETRY, tries: 1 } });
  home.fault = ({ response, file, begin, end }) => {
    response.writeHead(206, {
      'content-length': end - begin,
      'content-range': `bytes ${begin}-${end - 1}/${file.length}`,
    });
    response.write(file.subarray(begin, begin + 1000), () => response.destroy());
    return true;
  };
  await failure(checkpoint.read('big'));
  await cache.settled();
  assert.equal(cache.entries.size, 0, 'half a tensor is not kept');
});

/** A cache that is silent where it is not told otherwise. @param {Partial<import('../src/binding/cache.js').CacheLike>} [ways] */
const silentCache = (ways) => ({
  match: async () => undefined,
  put: () => /** @type {Promise<void>} */ (new Promise(() => {})),
  ...ways,
});

test('a cache that never stores neither holds up a load nor takes more than 8 MiB of it', async () => {
  const piece = pattern(1 << 20, 3);
  const [kept, large] = [6, 20].map((pieces) => pieces * piece.length);
  const file = makeSafetensors({
    kept: { dtype: 'U8', shape: [kept], data: Buffer.concat(Array(6).fill(piece)) },
    large: { dtype: 'U8', shape: [large], data: Buffer.concat(Array(20).fill(piece)) },
  });
  home.files.set('/f.safetensors', file);
  /** @type {Response[]} */
  const given = [];
  const cache = silentCache({
    put(_, response) {
      given.push(response);
      return new Promise(() => {});
    },
  });
  const checkpoint = await open({ cache });
  const wanted = await checkpoint.read('large');
  assert.ok(piece.every((byte, i) => byte === wanted.data[large - piece.length + i]));
  await assert.rejects(given[0].arrayBuffer(), 'what did not fit is not kept');
  // What fits is whole, whenever the cache comes round to it.
  const { data } = await checkpoint.read('kept');
  assert.deepEqual(new Uint8Array(await given[1].arrayBuffer()), data);
});

/**
 * Caches that say nothing when they are opened, asked, or read from.
 * @param {() => void} onSilence
 * @returns {[string, import('../src/binding/checkpoint.js').OpenOptions['cache']][]}
 */
function stuckCaches(onSilence) {
  const stuck = () => {
    setImmediate(onSilence);
    return /** @type {Promise<never>} */ (new Promise(() => {}));
  };
  const headers = { 'content-length': String(BIG.length) };
  const half = new ReadableStream({
    start: (controller) => controller.enqueue(BIG.slice(0, 9)),
    pull: stuck,
  });
  Object.assign(globalThis, { caches: { open: stuck } });
  return [
    ['opened', true],
    ['asked', silentCache({ match: stuck })],
    ['read', silentCache({ match: async () => new Response(half, { headers }) })],
  ];
}

test('a cache that falls silent while it is opened, asked or read heeds an abort', async (t) => {
  t.after(() => Reflect.deleteProperty(globalThis, 'caches'));
  let controller = new AbortController();
  for (const [when, cache] of stuckCaches(() => controller.abort('enough'))) {
    controller = new AbortController();
    const checkpoint = await open({ cache });
    const { signal } = controller;
    assert.equal(await failure(checkpoint.read('big', { signal })), 'enough', when);
  }
});

/** @param {import('node:test').TestContext} t */
const tenSecondsAtOnce = (t) =>
  t.after(startOtherwise(10_000, (onSilence, setTimeout) => setTimeout(onSilence)));

test('a cache that falls silent while it is opened, asked or read is given up after ten seconds', async (t) => {
  t.after(() => Reflect.deleteProperty(globalThis, 'caches'));
  tenSecondsAtOnce(t);
  for (const [when, cache] of stuckCaches(() => {})) {
    const checkpoint = await open({ cache });
    assert.deepEqual((await checkpoint.read('big')).data, BIG, when);
  }
});

test('a load asks a silent cache once, however many tensors it is for', async (t) => {
  const shape = [4, 4];
  const names = ['gate_proj', 'up_proj', 'down_proj'].map((n) => `model.layers.0.mlp.${n}.weight`);
  const tensor = { dtype: /** @type {const} */ ('F32'), shape, data: Buffer.alloc(64) };
  home.files.set(
    '/f.safetensors',
    makeSafetensors(Object.fromEntries(names.map((n) => [n, tensor]))),
  );
  let asked = 0;
  const cache = silentCache({
    match() {
      asked += 1;
      return new Promise(() => {});
    },
  });
  tenSecondsAtOnce(t);
  const checkpoint = await open({ cache });
  const mlp = await GatedMLP.fromCheckpoint(checkpoint, { layer: 0 });
  mlp.dispose();
  assert.equal(asked, 1);
});

test('a cache that throws at once, or has nothing to say, costs a load nothing', async () => {
  const thrown = () => {
    throw new Error('no cache today');
  };
  for (const cache of [
    silentCache({ match: thrown, put: thrown }),
    silentCache({ match: async () => Response.error() }),
  ]) {
    assert.deepEqual((await (await open({ cache })).read('big')).data, BIG);
  }
});
