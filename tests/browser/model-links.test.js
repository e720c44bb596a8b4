// Links to a loaded model: what is in them and what never is, and that opening one asks before anything is fetched from
// another site. A foreign server and an intercepted Hub stand in for the world.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { addressOf, eventually, openTab, settledBadge } from '../helpers/browser.js';
import { CORS, pressLoad, startPageAndServer } from '../helpers/load-dialog.js';

const CAPTURE = fileURLToPath(new URL('./capture/', import.meta.url));
const weights = readFileSync(`${CAPTURE}model.safetensors`);
const config = readFileSync(`${CAPTURE}config.json`);
const COMMIT = '0123456789abcdef0123456789abcdef01234567';
const { server, browser, site } = await startPageAndServer({
  '/m/model.safetensors': weights,
  '/m/config.json': config,
});

/** @typedef {import('playwright-core').Page} Page */

/** @param {string} [hash] */
async function opened(hash = '') {
  const { tab, complaints } = await openTab(browser);
  await tab.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  /** What left the page's origin. @type {string[]} */
  const foreign = [];
  tab.context().on('request', (request) => {
    const url = request.url();
    if (/^https?:/.test(url) && !url.startsWith(site.address)) foreign.push(url);
  });
  await tab.goto(`${site.page}${hash}`);
  return { tab, complaints, foreign };
}

/** @param {Page} tab @param {string} address */
async function load(tab, address) {
  await settledBadge(tab);
  await pressLoad(tab);
  await tab.fill('#load-url', address);
  await tab.press('#load-url', 'Enter');
  await tab.locator('#load-choice').waitFor();
  await tab.selectOption('#load-list', '1');
  await tab.click('#load-layer');
  await tab.locator('#load-dialog').waitFor({ state: 'hidden' });
  await tab.locator('#badge[data-state="warning"]').waitFor();
}

/** @param {Page} tab */
const unitsShown = (tab) => tab.locator('#unit-count').textContent();

test('a link to a loaded layer asks first, says what and how much, and then shows the same', async () => {
  const { tab } = await opened();
  await load(tab, `${server.origin}/m/model.safetensors`);
  await tab.fill('#unit-box', '7');
  await tab.press('#unit-box', 'Enter');
  await tab.selectOption('#sort-select', 'index');
  await eventually(async () => assert.match(await addressOf(tab), /u=7.*sort=index/));
  await tab.click('#export-link');
  await tab.locator('#export-status').filter({ hasText: 'copied' }).waitFor();
  const link = await tab.evaluate(() => navigator.clipboard.readText());
  const units = await unitsShown(tab);
  await tab.context().close();

  const other = await opened(new URL(link).hash);
  await other.tab.locator('#load-offer').waitFor();
  const words = (await other.tab.locator('#load-offer-words').textContent()) ?? '';
  assert.ok(words.includes(`model.layers.1.mlp of ${server.origin}/m/model.safetensors`), words);
  assert.match(words, /from 127\.0\.0\.1:\d+: load \d+ kB\?.*Nothing has been asked/);
  assert.equal(await other.tab.evaluate(() => document.activeElement?.id), 'load-offered');
  assert.deepEqual(other.foreign, []);
  await other.tab.keyboard.press('Enter');
  await other.tab.locator('#load-dialog').waitFor({ state: 'hidden' });
  await other.tab.locator('#badge[data-state="warning"]').waitFor();
  assert.ok(other.foreign.length > 0);
  assert.equal(await unitsShown(other.tab), units);
  assert.equal(await other.tab.locator('#inspector-title').textContent(), 'Unit 7');
  assert.equal(await other.tab.locator('#sort-select').inputValue(), 'index');
  await eventually(async () => {
    assert.equal(new URL(await addressOf(other.tab)).hash, new URL(link).hash);
  });
  assert.deepEqual(other.complaints, []);
  await other.tab.context().close();
});

test('who does not agree gets the shipped layer, told that it is another, and nothing was asked', async () => {
  const { tab, foreign } = await opened(
    '#v=1&m=example-org%2Fmodel%40main&mlp=model.layers.3.mlp&size=5308416&t=3&u=9',
  );
  const words = tab.locator('#load-offer-words');
  await words
    .filter({
      hasText: 'model.layers.3.mlp of example-org/model@main, from huggingface.co: load 5.3 MB?',
    })
    .waitFor();
  await tab.keyboard.press('Escape');
  assert.equal((await settledBadge(tab)).state, 'ok');
  await tab
    .locator('#notice')
    .filter({ hasText: 'example-org/model@main, which was not loaded' })
    .waitFor();
  assert.equal(await tab.locator('#model-name').textContent(), 'SmolLM2-135M-Instruct');
  assert.equal(await tab.locator('#inspector-title').textContent(), 'Unit 1005');
  assert.deepEqual(foreign, []);
  await tab.context().close();
});

test('a Hub model is linked at the commit that answered', async () => {
  const { tab } = await opened();
  await tab.context().route('https://huggingface.co/**', async (route) => {
    const path = new URL(route.request().url()).pathname;
    const body = path.endsWith('/model.safetensors')
      ? weights
      : path.endsWith('/config.json')
        ? config
        : null;
    const headers = {
      ...CORS,
      'access-control-expose-headers': 'x-repo-commit, content-range',
      'x-repo-commit': COMMIT,
    };
    if (body === null) return route.fulfill({ status: 404, headers });
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(route.request().headers().range ?? '') ?? [];
    if (first === undefined) return route.fulfill({ status: 200, headers, body });
    const part = body.subarray(Number(first), Number(last) + 1);
    const place = `bytes ${first}-${Number(first) + part.length - 1}/${body.length}`;
    return route.fulfill({
      status: 206,
      headers: { ...headers, 'content-range': place },
      body: part,
    });
  });
  await load(tab, 'example-org/model');
  await eventually(async () => {
    const { hash } = new URL(await addressOf(tab));
    assert.equal(new URLSearchParams(hash.slice(1)).get('m'), `example-org/model@${COMMIT}`);
  });
  await tab.context().close();
});

test('a login, a query and an access token never get into a link', async () => {
  const { tab } = await opened();
  await settledBadge(tab);
  await pressLoad(tab);
  await tab.click('#load-more summary');
  await tab.fill('#load-token', 'secret-token');
  await tab.fill('#load-url', `${server.origin}/m/model.safetensors?key=secret-key`);
  await tab.press('#load-url', 'Enter');
  await tab.locator('#load-choice').waitFor();
  await tab.click('#load-layer');
  await tab.locator('#load-dialog').waitFor({ state: 'hidden' });
  await eventually(async () => assert.match(await addressOf(tab), /m=file%3Amodel\.safetensors/));
  assert.doesNotMatch(await addressOf(tab), /secret/);
  await tab.click('#export-link');
  await tab
    .locator('#export-status')
    .filter({ hasText: 'needs the file model.safetensors' })
    .waitFor();
  await tab.context().close();
});

test('a link to a file of somebody’s computer names it, and its layer is chosen once it is there', async () => {
  const { tab, foreign } = await opened(
    '#v=1&m=file%3Amodel.safetensors&mlp=model.layers.1.mlp&u=3',
  );
  await tab
    .locator('#load-offer-words')
    .filter({ hasText: 'model.layers.1.mlp of model.safetensors, a file of the computer' })
    .waitFor();
  assert.equal(await tab.evaluate(() => document.activeElement?.id), 'load-file');
  await tab.setInputFiles('#load-file', [`${CAPTURE}model.safetensors`, `${CAPTURE}config.json`]);
  await tab.locator('#load-choice').waitFor();
  assert.equal(await tab.locator('#load-list').inputValue(), '1');
  await tab.click('#load-layer');
  await tab.locator('#load-dialog').waitFor({ state: 'hidden' });
  await tab.locator('#badge[data-state="warning"]').waitFor();
  assert.equal(await tab.locator('#inspector-title').textContent(), 'Unit 3');
  assert.deepEqual(foreign, []);
  await tab.context().close();
});

test('back and forward pass between a shipped layer and a loaded one without fetching it again', async () => {
  const { tab, complaints } = await opened();
  await load(tab, `${server.origin}/m/model.safetensors`);
  await eventually(async () => assert.match(await addressOf(tab), /[#&]m=http/));
  const sent = server.sent;
  await tab.goBack();
  await tab.locator('#badge[data-state="ok"]').waitFor();
  assert.equal(await tab.locator('#model-name').textContent(), 'SmolLM2-135M-Instruct');
  await tab.goForward();
  await tab.locator('#badge[data-state="warning"]').waitFor();
  assert.equal(
    await tab.locator('#model-name').textContent(),
    `${server.origin}/m/model.safetensors`,
  );
  assert.equal(server.sent, sent);
  assert.deepEqual(complaints, []);
  await tab.context().close();
});

test('what is no model’s address is told and not offered', async () => {
  for (const m of [
    'javascript:alert(1)',
    'https://user:pass@example.org/a.safetensors',
    'file:a/b',
    'x',
  ]) {
    const { tab, foreign } = await opened(`#v=1&m=${encodeURIComponent(m)}`);
    assert.equal((await settledBadge(tab)).state, 'ok');
    await tab.locator('#notice').filter({ hasText: '(m)' }).waitFor();
    assert.equal(await tab.locator('#load-dialog').isVisible(), false);
    assert.deepEqual(foreign, []);
    await tab.context().close();
  }
});

test('a link whose layer is not in the model lets the reader choose another', async () => {
  const address = encodeURIComponent(`${server.origin}/m/model.safetensors`);
  const { tab } = await opened(`#v=1&m=${address}&mlp=model.layers.7.mlp`);
  await tab.click('#load-offered');
  await tab.locator('#load-status').filter({ hasText: 'is not in this model' }).waitFor();
  await tab.click('#load-layer');
  await tab.locator('#load-dialog').waitFor({ state: 'hidden' });
  await eventually(async () => assert.match(await addressOf(tab), /mlp=model\.layers\.0\.mlp/));
  await tab.context().close();
});

test('where the dialog cannot be fetched a link to a loaded layer shows the shipped one and says why; the next try can do better', async () => {
  const { tab, foreign } = await opened();
  await load(tab, `${server.origin}/m/model.safetensors`);
  const link = await addressOf(tab);
  await tab.goto('about:blank');
  foreign.length = 0;
  await tab.route('**/load-dialog.js', (route) => route.abort());
  await tab.goto(link);
  await tab.locator('#notice').filter({ hasText: 'could not be fetched' }).waitFor();
  assert.equal((await settledBadge(tab)).state, 'ok');
  assert.equal(await unitsShown(tab), '1536');
  assert.equal(await tab.locator('#load-dialog').isVisible(), false);
  assert.deepEqual(foreign, []);
  await tab.unroute('**/load-dialog.js');
  await pressLoad(tab);
  await tab.context().close();
});
