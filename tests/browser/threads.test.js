// Threads in Chromium, on pages of their own: isolated, every thread takes part, whether the page's main thread asks with
// forwardAsync or a worker with forward, and the bits are those of one thread; not isolated, there is one thread.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname } from 'node:path';
import { after, test } from 'node:test';
import { launchBrowser } from '../helpers/browser.js';

const THREADS = 3;
const TYPES = /** @type {Record<string, string>} */ ({
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.wasm': 'application/wasm',
});
const ISOLATION = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
};

/** What page and worker run: [threads, how many of them computed, whether the bits are those of one]. */
const AT_WORK = `
  import { GatedMLP, PCG32, Runtime } from './binding/index.js';
  import { markedInput, threadsAtWork } from './team-work.js';
  export async function atWork(method) {
    const [D, D_FF] = [96, 1024];
    const x = markedInput(D);
    const results = [];
    const layer = (runtime) => GatedMLP.create(D, D_FF, { rng: new PCG32(4), runtime });
    const [one, several] = [await Runtime.create(), await Runtime.create({ threads: ${THREADS} })];
    const expected = (await layer(one)).forward(x);
    const mlp = await layer(several);
    let same = true;
    const call = async () => {
      const y = await mlp[method](x);
      same &&= y.every((value, i) => value === expected[i]);
    };
    if (several.threads === 1) await call();
    const count = several.threads === 1 ? 1 : await threadsAtWork(several.memory, D, ${THREADS}, call);
    return [several.threads, count, same];
  }`;
const WORKER = `
  import { atWork } from './at-work.js';
  atWork('forward').then(postMessage, (error) => postMessage(String(error)));`;

const binding = new URL('../../src/binding/', import.meta.url);
const files = new Map(
  readdirSync(binding)
    .filter((name) => /\.(js|wasm)$/.test(name))
    .map((name) => [`/binding/${name}`, readFileSync(new URL(name, binding))]),
);
for (const [path, text] of [
  ['/page.html', '<!doctype html><title>threads</title><link rel="icon" href="data:,">'],
  ['/at-work.js', AT_WORK],
  ['/worker.js', WORKER],
  ['/team-work.js', readFileSync(new URL('../helpers/team-work.js', import.meta.url))],
])
  files.set(String(path), Buffer.from(text));

/** @param {Record<string, string>} headers @returns {Promise<string>} the page's address */
async function serve(headers) {
  const server = createServer(({ url }, response) => {
    const body = files.get(url ?? '');
    const type = { 'content-type': TYPES[extname(url ?? '')] ?? '' };
    response.writeHead(body ? 200 : 404, { ...headers, ...type }).end(body);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  after(() => server.close());
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return `http://127.0.0.1:${port}/page.html`;
}

const browser = await launchBrowser();
after(() => browser.close());

/** @param {Record<string, string>} headers */
async function openPage(headers) {
  const page = await browser.newPage();
  await page.goto(await serve(headers));
  return page;
}

/** @param {import('playwright-core').Page} page @param {string} method */
const onMainThread = (page, method) =>
  page.evaluate(async (name) => {
    const { atWork } = await import(/** @type {string} */ ('/at-work.js'));
    return atWork(name);
  }, method);

/** @param {import('playwright-core').Page} page */
const inWorker = (page) =>
  page.evaluate(
    () =>
      new Promise((resolve, reject) => {
        const worker = new Worker('/worker.js', { type: 'module' });
        worker.addEventListener('message', ({ data }) => resolve(data));
        worker.addEventListener('error', ({ message }) => reject(new Error(message)));
      }),
  );

test("a page's main thread and its workers share a forwardAsync", async () => {
  const page = await openPage(ISOLATION);
  assert.deepEqual(await onMainThread(page, 'forwardAsync'), [THREADS, THREADS, true]);
});

test('a worker of the page shares a forward with workers of its own', async () => {
  const page = await openPage(ISOLATION);
  assert.deepEqual(await inWorker(page), [THREADS, THREADS, true]);
});

test('forward on the main thread of a page with threads gives the same', async () => {
  const page = await openPage(ISOLATION);
  const same = await page.evaluate(async () => {
    const { GatedMLP, PCG32, Runtime } = await import(/** @type {string} */ ('/binding/index.js'));
    const x = new Float32Array(64 * 96).fill(0.5);
    const [one, two] = [await Runtime.create(), await Runtime.create({ threads: 2 })];
    const [a, b] = await Promise.all(
      [one, two].map((runtime) => GatedMLP.create(96, 1024, { rng: new PCG32(1), runtime })),
    );
    const expected = a.forward(x);
    const y = /** @type {Float32Array} */ (b.forward(x));
    return y.every((value, i) => value === expected[i]);
  });
  assert.ok(same);
});

test('a page that is not isolated has one thread and nothing fails', async () => {
  const page = await openPage({});
  assert.deepEqual(await onMainThread(page, 'forwardAsync'), [1, 1, true]);
  assert.deepEqual(await inWorker(page), [1, 1, true]);
});
