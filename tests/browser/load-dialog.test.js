// "Load another model" in Chromium: files of this computer with captured hidden states, a foreign server with and without
// what a loader needs of it, and every error in its own words.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually, settledBadge } from '../helpers/browser.js';
import { FaultServer } from '../helpers/fault-server.js';
import {
  ask,
  CORS,
  chooseFiles,
  errorOf,
  loadChosen,
  openDialog,
  pressLoad,
  startPageAndServer,
} from '../helpers/load-dialog.js';
import { llamaTensors, makeSafetensors } from '../helpers/make-safetensors.js';

const CAPTURE = fileURLToPath(new URL('./capture/', import.meta.url));
const MODEL = [`${CAPTURE}model.safetensors`, `${CAPTURE}config.json`];
const small = makeSafetensors(llamaTensors('model.layers.0.mlp', 8, 24));
/** 7.2 MB of one layer's zeros: less than may wait for a slow cache. */
const medium = makeSafetensors(zeros('model.layers.0.mlp', 600, 1000));
/** 60 MB of them. */
const large = makeSafetensors(zeros('model.layers.0.mlp', 1000, 5000));

const { server, browser, site } = await startPageAndServer({
  '/small.safetensors': small,
  '/large.safetensors': large,
  '/medium.safetensors': medium,
  '/page.safetensors': '<!doctype html><title>Sign in</title>',
  '/integers.safetensors': makeSafetensors(
    Object.fromEntries(
      Object.entries(llamaTensors('model.layers.0.mlp', 8, 24)).map(([name, tensor]) => [
        name,
        { ...tensor, dtype: 'I32' },
      ]),
    ),
  ),
  '/no-mlp.safetensors': makeSafetensors({
    'wte.weight': { dtype: 'F32', shape: [2, 2], data: new Uint8Array(16) },
  }),
  '/misfit.safetensors': makeSafetensors({
    ...llamaTensors('model.layers.0.mlp', 8, 24),
    'model.layers.0.mlp.up_proj.weight': {
      dtype: 'F32',
      shape: [23, 8],
      data: new Uint8Array(736),
    },
  }),
});

/** @param {string} prefix @param {number} d @param {number} dFf */
function zeros(prefix, d, dFf) {
  const matrix = (/** @type {number[]} */ shape) => ({
    dtype: 'F32',
    shape,
    data: new Uint8Array(4 * shape[0] * shape[1]),
  });
  return {
    [`${prefix}.down_proj.weight`]: matrix([d, dFf]),
    [`${prefix}.gate_proj.weight`]: matrix([dFf, d]),
    [`${prefix}.up_proj.weight`]: matrix([dFf, d]),
  };
}

const opened = async () => (await openDialog(browser, site)).tab;

test('a model and states captured from it are shown, checked against the model’s own output', async () => {
  const tab = await opened();
  await tab.setInputFiles('#load-file', MODEL);
  await tab.locator('#load-status').filter({ hasText: '2 gated MLPs' }).waitFor();
  await tab.setInputFiles('#load-states', `${CAPTURE}hidden.safetensors`);
  await tab.locator('#load-states-status').filter({ hasText: '8 tokens of 16 channels' }).waitFor();
  const chosen = await tab.locator('#load-list option:checked').textContent();
  assert.match(String(chosen), /^model\.layers\.1\.mlp/);
  const badge = await loadChosen(tab);
  assert.equal(badge.state, 'ok', badge.words);
  assert.match(badge.words, /from your file.*all 8 tokens/s);
  assert.deepEqual(
    await tab.locator('.token .piece').allTextContents(),
    'which gates are closed here and how far'.split(' '),
  );
  const sentence = await tab.locator('.sentence').textContent();
  assert.match(String(sentence).replace(/\s+/g, ' '), /model\.safetensors, reading your own text/);
  await tab.context().close();
});

test('files that are chosen again are read again', async () => {
  const tab = await opened();
  const isRead = () => tab.locator('#load-status').filter({ hasText: '2 gated MLPs' }).waitFor();
  await chooseFiles(tab, '#load-file', MODEL);
  await isRead();
  await chooseFiles(tab, '#load-states', [`${CAPTURE}hidden.safetensors`]);
  await tab.locator('#load-states-status').filter({ hasText: '8 tokens' }).waitFor();
  assert.equal((await loadChosen(tab)).state, 'ok');
  await pressLoad(tab);
  await chooseFiles(tab, '#load-file', MODEL);
  await isRead();
  await tab.selectOption('#load-list', '0');
  // They say which layer they are of, when they are read.
  await chooseFiles(tab, '#load-states', [`${CAPTURE}hidden.safetensors`]);
  await eventually(async () => assert.equal(await tab.locator('#load-list').inputValue(), '1'));
  // Whoever goes back from choosing others has none.
  await Promise.all([tab.waitForEvent('filechooser'), tab.click('#load-states')]);
  await tab.dispatchEvent('#load-states', 'cancel', { bubbles: true });
  await tab.locator('#load-states-status').filter({ hasText: 'None' }).waitFor();
  assert.equal((await loadChosen(tab)).state, 'warning');
  await tab.context().close();
});

test('states of another layer turn the badge red', async () => {
  const tab = await opened();
  await tab.setInputFiles('#load-file', MODEL);
  await tab.setInputFiles('#load-states', `${CAPTURE}hidden.safetensors`);
  await tab.locator('#load-states-status').filter({ hasText: '8 tokens' }).waitFor();
  await tab.selectOption('#load-list', '0');
  const badge = await loadChosen(tab);
  assert.equal(badge.state, 'bad');
  assert.match(badge.words, /not this layer/);
  await tab.context().close();
});

test('a dropped file without a config asks for its activation, is a probe, and exports say so', async () => {
  const tab = await opened();
  await tab.keyboard.press('Escape');
  await tab.evaluate(
    (bytes) => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(bytes)], 'mine.safetensors'));
      document.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true }));
    },
    [...small],
  );
  await tab.locator('#load-status').filter({ hasText: 'One gated MLP' }).waitFor();
  await tab.selectOption('#load-act', 'gelu_tanh');
  const badge = await loadChosen(tab);
  assert.equal(badge.state, 'warning');
  assert.match(badge.words, /Synthetic probe.*you chose GeGLU/s);
  const [download] = await Promise.all([tab.waitForEvent('download'), tab.click('#export-json')]);
  const { source } = JSON.parse(readFileSync(await download.path(), 'utf8'));
  assert.deepEqual([source.model, source.x], ['mine.safetensors', 'synthetic probe']);
  const [csv] = await Promise.all([tab.waitForEvent('download'), tab.click('#export-csv')]);
  assert.match(csv.suggestedFilename(), /^gates-probe-/);
  await tab.context().close();
});

test('a large layer says what it costs before it can be loaded, and the load can be cancelled', async () => {
  const tab = await opened();
  await ask(tab, `${server.origin}/large.safetensors`);
  await tab.locator('#load-question').filter({ hasText: '60.0 MB to fetch' }).waitFor();
  assert.ok(server.sent < 200_000, `${server.sent} bytes before the answer`);
  server.fault = () => new Promise(() => {});
  await tab.click('text=Load 60.0 MB');
  await tab.click('#load-cancel');
  await tab.locator('#load-status').filter({ hasText: 'Cancelled' }).waitFor();
  assert.match((await settledBadge(tab)).words, /Checked/);
  await tab.context().close();
});

test('a server that ignores ranges is named, and what it would have to send', async () => {
  const tab = await opened();
  server.fault = (exchange) => server.serve({ ...exchange, ranged: false });
  await ask(tab, `${server.origin}/large.safetensors`);
  await tab.locator('#load-question').filter({ hasText: '200 instead of 206' }).waitFor();
  await tab.context().close();
});

test('a token opens a gated model, goes to its own site only, and is kept nowhere', async () => {
  const tab = await opened();
  server.fault = ({ request, response }) => {
    if (request.headers.authorization === 'Bearer secret-token') return false;
    response.writeHead(401, CORS).end();
    return true;
  };
  await ask(tab, `${server.origin}/small.safetensors`);
  await errorOf(tab, /login|who asks/);
  assert.equal(await tab.evaluate(() => document.activeElement?.id), 'load-token');
  await tab.keyboard.type('secret-token');
  await tab.press('#load-url', 'Enter');
  await tab.locator('#load-status').filter({ hasText: 'One gated MLP' }).waitFor();
  await loadChosen(tab);
  const kept = await tab.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }));
  assert.doesNotMatch(kept + tab.url(), /secret-token/);
  assert.ok(site.requests.every(({ url }) => !url.includes('secret-token')));
  await tab.context().close();
});

test('kept weights are not fetched twice, are counted, and can be forgotten', async () => {
  // What tells one version of a file from another must be readable, or nothing may be kept.
  server.headers = { ...CORS, 'access-control-expose-headers': 'etag' };
  const tab = await opened();
  await tab.click('#load-more summary');
  await tab.check('#load-keep');
  await ask(tab, `${server.origin}/medium.safetensors`);
  await loadChosen(tab);
  // What is kept is written beside what is shown.
  await eventually(async () => assert.equal(await keptTensors(tab), 3));
  await tab.reload();
  // The address names the model; this time it is refused.
  await tab.locator('#load-offer').waitFor();
  await tab.keyboard.press('Escape');
  await settledBadge(tab);
  await pressLoad(tab);
  await tab.click('#load-more summary');
  await tab.locator('#load-kept').filter({ hasText: '7.2 MB kept' }).waitFor();
  await tab.check('#load-keep');
  const before = server.sent;
  await ask(tab, `${server.origin}/medium.safetensors`);
  await loadChosen(tab);
  assert.ok(server.sent - before < 200_000, `${server.sent - before} bytes again`);
  await pressLoad(tab);
  await tab.click('#load-forget');
  await tab.locator('#load-kept').filter({ hasText: 'nothing kept' }).waitFor();
  await tab.context().close();
});

/** @param {import('playwright-core').Page} tab */
const keptTensors = (tab) =>
  tab.evaluate(async () => (await (await caches.open('gated-mlp')).keys()).length);

test('every error has its own words and a way out', async () => {
  const tab = await opened();
  const answer = (/** @type {number} */ status) => () => {
    server.fault = ({ response }) => {
      response.writeHead(status, CORS).end();
      return true;
    };
  };
  const honest = () => {};
  /** @type {[string, string, () => void, RegExp][]} */
  const cases = [
    ['403', '/small.safetensors', answer(403), /gated or private.*token/s],
    ['404', '/small.safetensors', answer(404), /no such file.*should end in \.safetensors/s],
    ['402', '/small.safetensors', answer(402), /status 402/],
    ['a web page', '/page.safetensors', honest, /not a safetensors file.*HTML/s],
    ['no MLP', '/no-mlp.safetensors', honest, /No gated MLP is in this file/],
    [
      'no CORS',
      '/small.safetensors',
      () => {
        server.headers = {};
      },
      /does not let pages of other sites read.*drop it here/s,
    ],
  ];
  for (const [what, path, arrange, words] of cases) {
    server.reset();
    server.headers = { ...CORS };
    arrange();
    await ask(tab, server.origin + path);
    await errorOf(tab, words).catch(async () => {
      assert.fail(`${what}: ${await tab.locator('#load-error').textContent()}`);
    });
  }
  server.reset();
  const closed = await FaultServer.start({});
  const { origin } = closed;
  await closed.close();
  await ask(tab, `${origin}/small.safetensors`);
  await errorOf(tab, /no answer from this address/);
  await tab.context().setOffline(true);
  await ask(tab, `${server.origin}/small.safetensors`);
  await errorOf(tab, /You are offline/);
  await tab.context().close();
});

test('layers that cannot be shown say why, before they are loaded where headers tell it', async () => {
  const tab = await opened();
  await ask(tab, `${server.origin}/misfit.safetensors`);
  await tab
    .locator('#load-question')
    .filter({ hasText: /cannot be shown.*\[23,8\]/s })
    .waitFor();
  assert.equal(await tab.locator('#load-layer').isDisabled(), true);
  await ask(tab, `${server.origin}/integers.safetensors`);
  await tab.locator('#load-layer:enabled').click();
  await errorOf(tab, /cannot compute from.*I32/s);
  await tab.context().close();
});

test('files that are no hidden states, or of another width, say what is wrong', async () => {
  const tab = await opened();
  await ask(tab, `${server.origin}/small.safetensors`);
  await tab.locator('#load-choice').waitFor();
  await tab.setInputFiles('#load-states', `${CAPTURE}model.safetensors`);
  await errorOf(tab, /no tensor called x.*capture_hidden\.py/s);
  await tab.setInputFiles('#load-states', `${CAPTURE}hidden.safetensors`);
  await tab.locator('#load-states-status').filter({ hasText: '8 tokens' }).waitFor();
  await tab.click('#load-layer');
  await errorOf(tab, /x has 16 channels, and this layer takes 8/);
  assert.match((await settledBadge(tab)).words, /Checked/);
  await tab.setInputFiles('#load-file', `${CAPTURE}config.json`);
  await errorOf(tab, /None of these files ends in \.safetensors/);
  await tab.context().close();
});
