// The built site in Chromium: under a sub-path of a host that sets no header of its own and compresses text as hosts do.
// What a first visit costs is counted on the wire.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { buildSite } from '../../web/bundle/build-site.js';
import { launchBrowser, openTab, settledBadge } from '../helpers/browser.js';
import { pressLoad } from '../helpers/load-dialog.js';
import { startStaticHost } from '../helpers/static-host.js';

const FIRST_VIEW_BYTES = 6_000_000;
const BEFORE_WEIGHTS_BYTES = 350_000;
const folder = mkdtempSync(join(tmpdir(), 'gated-mlp-site-'));
await buildSite(folder);
const host = await startStaticHost(folder);
const browser = await launchBrowser();
after(async () => {
  await browser.close();
  host.close();
  rmSync(folder, { recursive: true });
});

test('the first view works under a sub-path, within its bytes, and asks nobody else', async (t) => {
  const { tab, complaints } = await openTab(browser);
  /** @type {string[]} */
  const foreign = [];
  tab.context().on('request', (request) => {
    if (!request.url().startsWith(host.address)) foreign.push(request.url());
  });
  await tab.goto(host.address);
  const badge = await settledBadge(tab);
  assert.equal(badge.state, 'ok', badge.words);
  assert.equal(await tab.locator('#inspector-title').textContent(), 'Unit 1005');
  await tab.locator('.next-tokens').waitFor();
  assert.deepEqual(complaints, []);
  assert.deepEqual(foreign, []);
  assert.deepEqual(
    host.log.filter(({ status }) => status === 404),
    [],
  );
  const weights = host.log.find(({ url }) => url.includes('layer24'));
  t.diagnostic(`${weights?.sentBefore} bytes before any weight, ${host.sent} bytes in all`);
  assert.ok(
    weights !== undefined && weights.sentBefore <= BEFORE_WEIGHTS_BYTES,
    `${weights?.sentBefore} bytes before weights`,
  );
  assert.ok(host.sent <= FIRST_VIEW_BYTES, `${host.sent} bytes in all`);
  await tab.context().close();
});

test('another layer, the dialog and the fonts work there too', async () => {
  const { tab, complaints } = await openTab(browser);
  await tab.goto(`${host.address}#v=1&l=11&p=english&t=0&u=1229`);
  assert.equal((await settledBadge(tab)).state, 'ok');
  const script = readFileSync(new URL('../../web/capture_hidden.py', import.meta.url), 'utf8');
  assert.equal(readFileSync(join(folder, 'capture_hidden.py'), 'utf8'), script);
  assert.equal(await tab.locator('a[href="capture_hidden.py"][download]').count(), 1);
  const fonts = await tab.evaluate(async () => {
    await document.fonts.ready;
    return [...document.fonts].filter(({ status }) => status === 'loaded').length;
  });
  assert.equal(fonts, 2);
  await pressLoad(tab);
  await tab.fill('#load-url', 'nowhere.safetensors');
  await tab.keyboard.press('Enter');
  await tab.locator('#load-error').filter({ hasText: '404' }).waitFor();
  assert.deepEqual(
    complaints.filter((text) => !/404|nowhere/.test(text)),
    [],
  );
  await tab.context().close();
});

test('every file but the pages, what is saved from them, what others embed and the licences has a hash in its name', () => {
  const plain = readdirSync(folder).filter(
    (name) => !/-[0-9a-f]{10}(\.|$)|-[0-9A-Z]{8}\./.test(name),
  );
  assert.deepEqual(plain.sort(), [
    'LICENSE-smollm2.txt',
    'LICENSE-source-sans-3.txt',
    'LICENSE-source-serif-4.txt',
    'LICENSE.txt',
    'capture_hidden.py',
    'embed.html',
    'gate-map.js',
    'gated-mlp-offline.html',
    'index.html',
  ]);
});

test('the content security policy is the one of the page in the repository', () => {
  const policyOf = (/** @type {string | URL} */ path) =>
    /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(readFileSync(path, 'utf8'))?.[1];
  const policy = policyOf(join(folder, 'index.html'));
  assert.match(String(policy), /script-src 'self' 'wasm-unsafe-eval';/);
  assert.equal(policy, policyOf(new URL('../../web/index.html', import.meta.url)));
});
