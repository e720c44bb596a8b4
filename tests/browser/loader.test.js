// The loader in Chromium, from a page: every fault of helpers/faults.js on its own origin, alone and in pairs, then what only a
// browser has: CORS with hidden headers, redirects that cannot be seen, its own cache, and the Cache API.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, beforeEach, test } from 'node:test';
import { launchBrowser } from '../helpers/browser.js';
import { FaultServer } from '../helpers/fault-server.js';
import { FAULTS } from '../helpers/faults.js';
import { makeSafetensors, pattern } from '../helpers/make-safetensors.js';
import { randomFrom } from '../helpers/rough-load.js';

const TOKEN = 'hf_secretsecretsecret';
const PAIRS = 60;
const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': 'authorization, x-api-key',
};
const LENGTHS = { first: 90_000, second: 70_001, third: 120_000 };
const file = makeSafetensors(
  Object.fromEntries(
    Object.entries(LENGTHS).map(([name, length], i) => [
      name,
      { dtype: 'U8', shape: [length], data: pattern(length, i) },
    ]),
  ),
);
const binding = new URL('../../src/binding/', import.meta.url);
const scripts = Object.fromEntries(
  readdirSync(binding)
    .filter((name) => /\.(js|wasm)$/.test(name))
    .map((name) => [`/binding/${name}`, readFileSync(new URL(name, binding))]),
);

const home = await FaultServer.start({
  ...scripts,
  '/page.html': '<!doctype html><title>loader</title><link rel="icon" href="data:,">',
  '/f.safetensors': file,
  '/moved/f.safetensors': file,
});
const away = await FaultServer.start({ '/f.safetensors': file });
const browser = await launchBrowser();
const tab = await browser.newPage();
/** @type {string[]} */
const crashes = [];
tab.on('pageerror', (error) => crashes.push(String(error)));
/** Where silence is the fault: told from every other timer by its length, and counted in answers to other requests. */
const SILENCE = { milliseconds: 401, answers: 8 };
await tab.addInitScript(countAnswers, SILENCE);
await tab.goto(`${home.origin}/page.html`);
after(async () => {
  await browser.close();
  await Promise.all([home.close(), away.close()]);
});
beforeEach(() => {
  for (const server of [home, away]) server.reset();
  crashes.length = 0;
});

/**
 * In the page: lets the timer of patience count what the server answers meanwhile, not time. A server or a page that a busy
 * machine holds up is not taken for a silent one.
 * @param {typeof SILENCE} silence
 */
function countAnswers({ milliseconds, answers }) {
  const { setTimeout, clearTimeout } = globalThis;
  /** @type {Set<number>} */
  const counting = new Set();
  let last = 0;
  /** @param {(() => void)} onSilence @param {number} id */
  const count = async (onSilence, id) => {
    for (let n = 0; n < answers && counting.has(id); n++) {
      await new Promise((resolve) => setTimeout(resolve, milliseconds / answers));
      await fetch('/turn', { cache: 'no-store' }).catch(() => {});
    }
    if (counting.delete(id)) onSilence();
  };
  Object.assign(globalThis, {
    setTimeout: (/** @type {[() => void, number?]} */ ...timer) => {
      if (timer[1] !== milliseconds) return setTimeout(...timer);
      // No timer of the page's own has a number below 0.
      counting.add(--last);
      count(timer[0], last);
      return last;
    },
    clearTimeout: (/** @type {number} */ id) => {
      if (!counting.delete(id)) clearTimeout(id);
    },
  });
}

/**
 * Opens a file in the page and reads three of its tensors at once. 'right', or the error's code and message.
 * @param {string} url
 * @param {Record<string, unknown>} [options]
 * @returns {Promise<string>}
 */
const load = (url, options = {}) =>
  tab.evaluate(
    async ({ url, options, lengths }) => {
      const { openCheckpoint, Runtime } = await import(/** @type {string} */ ('/binding/index.js'));
      const page = /** @type {{ runtime?: any }} */ (globalThis);
      page.runtime ??= await Runtime.create();
      const { runtime } = page;
      const used = runtime.bytesUsed;
      const outcome = async () => {
        const retry = { baseDelay: 1, maxDelay: 5 };
        const checkpoint = await openCheckpoint(url, { retry, runtime, ...options });
        await fetch('/opened').catch(() => {});
        const names = ['third', 'first', 'second'];
        const reads = await Promise.allSettled(names.map((name) => checkpoint.read(name)));
        const failed = reads.find(({ status }) => status === 'rejected');
        if (failed) throw /** @type {PromiseRejectedResult} */ (failed).reason;
        const read = reads.map((each) => /** @type {PromiseFulfilledResult<any>} */ (each).value);
        for (const [n, i] of [2, 0, 1].entries()) {
          const [name, { data }] = [names[n], read[n]];
          if (data.length !== lengths[name]) return `${name}: ${data.length} bytes`;
          for (let k = 0; k < data.length; k++) {
            if (data[k] !== (k * 7 + (k >> 8) * 13 + i * 31) % 251)
              return `${name}: byte ${k} is wrong`;
          }
        }
        return 'right';
      };
      const ended = await outcome().catch(({ code, message }) => `${code}: ${message}`);
      return runtime.bytesUsed === used ? ended : `memory: ${runtime.bytesUsed - used} bytes kept`;
    },
    { url, options, lengths: /** @type {Record<string, number>} */ (LENGTHS) },
  );

/** Only the checkpoint's file is treated badly. @param {import('../helpers/fault-server.js').Fault} fault @returns {import('../helpers/fault-server.js').Fault} */
const onFile = (fault) => (exchange) => exchange.path.endsWith('.safetensors') && fault(exchange);

/** After the page has opened the file, one request is answered badly. @param {import('../helpers/fault-server.js').Fault} fault @returns {import('../helpers/fault-server.js').Fault} */
function onceWhileReading(fault) {
  let met = false;
  return onFile((exchange) => {
    const opened = home.log.some(({ path }) => path === '/opened');
    if (!opened || (met && !exchange.path.startsWith('/moved'))) return false;
    met = true;
    return fault(exchange);
  });
}

/** Chromium asks again without a range where it cannot take the answer to one, and then gets the whole file. */
const RIGHT_IN_CHROMIUM = new Set(['a part of the compressed file']);

/** Chromium drops what it has not handed over yet when a body breaks off, so that it is luck whether all of it arrives before that. */
const LUCK_IN_CHROMIUM = new Set(['a chunked body without its last chunk']);

const SHORT_PATIENCE = { retry: { baseDelay: 1, maxDelay: 5, idleTimeout: SILENCE.milliseconds } };

for (const { name, answer, once, silent, ...fault } of FAULTS) {
  const options = silent ? SHORT_PATIENCE : {};
  const always = RIGHT_IN_CHROMIUM.has(name) ? 'right' : fault.always;
  test(`in Chromium, ${name}: once gives ${once}, always ${always}`, async () => {
    for (const concurrency of [4, 1]) {
      home.log = [];
      home.fault = onceWhileReading(answer);
      const first = await load(`${home.origin}/f.safetensors`, { ...options, concurrency });
      assert.equal(first.split(':')[0], once, `once, ${concurrency} in flight: ${first}`);
    }
    home.log = [];
    home.fault = onFile(answer);
    const outcome = await load(`${home.origin}/f.safetensors`, options);
    const ended = outcome.split(':')[0];
    const isUnlucky = LUCK_IN_CHROMIUM.has(name) && ended === 'ERR_HTTP';
    if (!isUnlucky) assert.equal(ended, always, `always: ${outcome}`);
    assert.deepEqual(crashes, []);
  });
}

test('in Chromium, random pairs of faults, each at a random request: right or one clear error', async () => {
  const random = randomFrom(20_261_130);
  let right = 0;
  for (let i = 0; i < PAIRS; i++) {
    const [a, b] = [FAULTS[random(FAULTS.length)], FAULTS[random(FAULTS.length)]];
    const [atA, atB] = [random(4), random(4)];
    let seen = 0;
    home.log = [];
    home.fault = onFile((exchange) => {
      if (exchange.path.startsWith('/moved')) return false;
      const now = seen++;
      return now === atA ? a.answer(exchange) : now === atB ? b.answer(exchange) : false;
    });
    const patience = a.silent || b.silent ? SHORT_PATIENCE : {};
    const options = { ...patience, concurrency: i % 2 === 0 ? 4 : 1 };
    const outcome = await load(`${home.origin}/f.safetensors`, options);
    assert.match(outcome, /^(right$|ERR_HTTP: |ERR_SAFETENSORS: )/, `${a.name}, ${b.name}`);
    if (outcome === 'right') right += 1;
  }
  assert.deepEqual(crashes, []);
  assert.ok(right > PAIRS / 2, `${right} of ${PAIRS} ridden out`);
});

test('another origin that hides Content-Range, ETag and length from scripts is read right', async () => {
  away.headers = CORS;
  assert.equal(await load(`${away.origin}/f.safetensors`), 'right');
  assert.ok(
    away.log.every(({ method }) => method === 'GET'),
    'no preflight',
  );
});

test('another origin without CORS headers is one clear error that speaks of CORS', async () => {
  assert.match(
    await load(`${away.origin}/f.safetensors`, { retry: { tries: 2, baseDelay: 1 } }),
    /^ERR_HTTP: .*CORS.*2 attempts/,
  );
});

test('a token and headers do not travel along a redirect that the page cannot see', async () => {
  away.headers = CORS;
  home.fault = onFile(({ response }) => {
    response.writeHead(302, { location: `${away.origin}/f.safetensors` }).end();
    return true;
  });
  const options = { token: TOKEN, headers: { 'x-api-key': TOKEN } };
  assert.equal(await load(`${home.origin}/f.safetensors`, options), 'right');
  assert.ok(home.log.some(({ headers }) => headers.authorization === `Bearer ${TOKEN}`));
  assert.ok(away.log.length > 0);
  for (const { headers } of away.log) assert.ok(!JSON.stringify(headers).includes(TOKEN));
});

test("the browser's own cache never mixes two versions of a file", async () => {
  home.headers = { 'cache-control': 'public, max-age=3600' };
  assert.equal(await load(`${home.origin}/f.safetensors`), 'right');
  home.files.set(
    '/f.safetensors',
    makeSafetensors({ other: { dtype: 'U8', shape: [3], data: pattern(3) } }),
  );
  assert.match(await load(`${home.origin}/f.safetensors`), /ERR_TENSOR_MISSING/);
  home.files.set('/f.safetensors', file);
});

test('with cache: true a second visit fetches only the header', async () => {
  assert.equal(await load(`${home.origin}/f.safetensors`, { cache: true }), 'right');
  // No load waits until the cache has stored what it was given.
  await tab.evaluate(async (count) => {
    const cache = await caches.open('gated-mlp');
    while ((await cache.keys()).length < count) await new Promise(requestAnimationFrame);
  }, Object.keys(LENGTHS).length);
  home.log = [];
  assert.equal(await load(`${home.origin}/f.safetensors`, { cache: true }), 'right');
  const ranges = home.log.filter(({ path }) => path === '/f.safetensors').map(({ range }) => range);
  assert.deepEqual(ranges, ['bytes=0-65535']);
  await tab.evaluate(() => caches.delete('gated-mlp'));
});

test("arrays, bytes and a File of a frame's own classes are taken for what they are", async () => {
  const found = await tab.evaluate(async () => {
    const { GatedMLP, openCheckpoint } = await import(/** @type {string} */ ('/binding/index.js'));
    const frame = document.createElement('iframe');
    document.body.append(frame);
    const inner = /** @type {typeof globalThis} */ (/** @type {unknown} */ (frame.contentWindow));
    const mlp = await GatedMLP.create(4, 6);
    const x = inner.Float32Array.of(1, 2, 3, 4);
    const y = mlp.forward(x, { out: new inner.Float32Array(4) });
    const same = mlp
      .forward(Float32Array.from(x))
      .every((/** @type {number} */ value, /** @type {number} */ i) => value === y[i]);
    const bytes = await (await fetch('/f.safetensors')).arrayBuffer();
    const copy = new inner.ArrayBuffer(bytes.byteLength);
    new Uint8Array(copy).set(new Uint8Array(bytes));
    const sources = [copy, new inner.File([bytes], 'x.safetensors'), new inner.Response(bytes)];
    const sizes = [];
    for (const source of sources) sizes.push((await openCheckpoint(source)).tensors.size);
    mlp.dispose();
    frame.remove();
    return { foreign: !(x instanceof Float32Array), same, sizes };
  });
  assert.deepEqual(found, { foreign: true, same: true, sizes: [3, 3, 3] });
});

test('a File dropped on the page, a blob: URL and a relative URL are sources', async () => {
  const found = await tab.evaluate(async () => {
    const { openCheckpoint } = await import(/** @type {string} */ ('/binding/index.js'));
    const blob = await (await fetch('/f.safetensors')).blob();
    const sources = [
      new File([blob], 'x.safetensors'),
      URL.createObjectURL(blob),
      'f.safetensors',
      './f.safetensors',
    ];
    const sizes = [];
    for (const source of sources) sizes.push((await openCheckpoint(source)).tensors.size);
    return sizes;
  });
  assert.deepEqual(found, [3, 3, 3, 3]);
});
