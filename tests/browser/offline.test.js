// The page as one file in Chromium: opened from disk, with no server and no network.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { dataFiles } from '../../web/bundle/data-files.js';
import { offlineFile } from '../../web/bundle/offline-file.js';
import { addressOf, launchBrowser, openTab, settledBadge } from '../helpers/browser.js';

const folder = mkdtempSync(join(tmpdir(), 'gated-mlp-offline-'));
const path = join(folder, 'page.html');
writeFileSync(path, await offlineFile(dataFiles()));
const page = pathToFileURL(path).href;
const browser = await launchBrowser();
after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true });
});

/** @param {string} hash */
async function opened(hash) {
  const { tab, complaints } = await openTab(browser, { offline: true });
  /** @type {string[]} */
  const asked = [];
  tab.context().on('request', (request) => {
    if (!/^(blob|data):/.test(request.url())) asked.push(request.url());
  });
  await tab.goto(page + hash);
  const badge = await settledBadge(tab);
  assert.equal(badge.state, 'ok', badge.words);
  return { tab, complaints, asked };
}

test('it opens from disk, computes and checks every token without a request', async () => {
  const { tab, complaints, asked } = await opened('');
  assert.equal(await tab.locator('#inspector-title').textContent(), 'Unit 1005');
  assert.match(String(await tab.locator('#badge').textContent()), /all 45 tokens.*intact/s);
  await tab.locator('.next-tokens').waitFor();
  await tab.click('#close-gate');
  await tab.locator('#effect').filter({ hasText: 'Closed by hand' }).waitFor();
  assert.match(await addressOf(tab), /closed=1005/);
  assert.deepEqual(complaints, []);
  assert.deepEqual(asked, [page]);
  await tab.context().close();
});

test('every layer and every text of the tour is inside', async () => {
  for (const layer of [5, 11]) {
    for (const prompt of ['english', 'code']) {
      const { tab } = await opened(`#v=1&l=${layer}&p=${prompt}`);
      assert.equal(await tab.locator('#layer-select').inputValue(), String(layer));
      await tab.context().close();
    }
  }
});

test('the script that captures hidden states can be saved out of the file', async () => {
  const { tab } = await opened('');
  const link = await tab.locator('a[download="capture_hidden.py"]').getAttribute('href');
  const script = await (await fetch(String(link))).text();
  assert.equal(
    script,
    readFileSync(new URL('../../web/capture_hidden.py', import.meta.url), 'utf8'),
  );
  await tab.context().close();
});

test('the file brings its licences', async () => {
  const { tab } = await opened('');
  const licences = String(await tab.locator('script[data-licences]').textContent());
  for (const name of ['Apache License', 'SIL Open Font License', 'MIT License']) {
    assert.ok(licences.toUpperCase().includes(name.toUpperCase()), name);
  }
  await tab.context().close();
});
