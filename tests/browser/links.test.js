// Links and files that leave the page: what a link's bad values come to, a link for a class, and what exports say, above all
// that they never name a place they are not of.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openChecked, settledBadge, startPage } from '../helpers/browser.js';
import { pressLoad } from '../helpers/load-dialog.js';

const CAPTURE = fileURLToPath(new URL('./capture/', import.meta.url));
const expected = JSON.parse(readFileSync(new URL('./expected.json', import.meta.url), 'utf8'));
const { browser, site } = await startPage();

/** @param {string} hash */
const opened = (hash) =>
  openChecked(browser, `${site.page}${hash}`, {
    permissions: ['clipboard-read', 'clipboard-write'],
  });

/** @param {import('playwright-core').Page} tab @param {string} button */
async function download(tab, button) {
  const [file] = await Promise.all([tab.waitForEvent('download'), tab.click(button)]);
  await tab
    .locator('#export-status')
    .filter({ hasText: `Saved: ${file.suggestedFilename()}` })
    .waitFor();
  return readFileSync(await file.path());
}

test('a token and a unit that are not there are told, when the page opens and when its address changes', async () => {
  const { tab, complaints } = await opened('#v=1&l=24&p=chat&t=999&u=99999');
  const notice = tab.locator('#notice');
  await notice.filter({ hasText: '(t; u)' }).waitFor();
  assert.equal(await tab.locator('.token[aria-pressed="true"]').count(), 1);
  await tab.evaluate(() => {
    location.hash = '#v=1&l=24&p=chat&t=41&u=1005';
  });
  await notice.waitFor({ state: 'hidden' });
  await tab.evaluate(() => {
    location.hash = '#v=1&l=24&p=chat&t=998&u=1005';
  });
  await notice.filter({ hasText: '(t)' }).waitFor();
  assert.deepEqual(complaints, []);
  await tab.context().close();
});

test('one bad part of hide leaves the others in force, and the notice names what it may be', async () => {
  const { tab } = await opened('#v=1&hide=theme,moon');
  const words = (await tab.locator('#notice').textContent()) ?? '';
  assert.match(words, /hide: not moon, but load, theme, .*map/);
  assert.equal(await tab.locator('#theme').isVisible(), false);
  assert.equal(await tab.locator('#load-open').isVisible(), true);
  await tab.context().close();
});

test('the title of the inspector is the address of its gate', async () => {
  const { tab } = await opened('#v=1&l=24&p=chat&t=41&u=1005&sort=index');
  const title = tab.locator('#inspector-title a');
  const address = () => title.evaluate((node) => /** @type {HTMLAnchorElement} */ (node).hash);
  assert.match(await address(), /^#v=1&l=24&p=chat&t=41&u=1005&.*sort=index/);
  await tab.fill('#unit-box', '7');
  await tab.press('#unit-box', 'Enter');
  await title.filter({ hasText: 'Unit 7' }).waitFor();
  assert.match(await address(), /t=41&u=7&/);
  await title.click();
  assert.equal(await tab.evaluate(() => location.hash), await address());
  assert.equal(await title.textContent(), 'Unit 7');
  await tab.context().close();
});

test('a link for a class leaves out what was ticked, and nothing here', async () => {
  const { tab } = await opened('');
  await tab.click('#class-link summary');
  await tab.check('#class-link-parts input[value="load"]');
  await tab.check('#class-link-parts input[value="lesson"]');
  await tab.click('#class-link-copy');
  await tab.locator('#export-status').filter({ hasText: 'copied' }).waitFor();
  const link = await tab.evaluate(() => navigator.clipboard.readText());
  assert.match(link, /l=24&p=chat&t=41&u=1005.*hide=load,lesson/);
  assert.equal(await tab.locator('#load-open').isVisible(), true);
  await tab.goto('about:blank');
  await tab.goto(link);
  await settledBadge(tab);
  assert.equal(await tab.locator('#load-open').isVisible(), false);
  assert.equal(await tab.locator('#lesson-start').isVisible(), false);
  assert.equal(await tab.locator('#tour-start').isVisible(), true);
  await tab.context().close();
});

test('JSON has the pinned gate in numbers, and every file says that it was saved', async () => {
  const { tab } = await opened('');
  const { pinned, link, source, computed } = JSON.parse(
    (await download(tab, '#export-json')).toString(),
  );
  const sums = readFileSync(new URL('../../fixtures/SHA256SUMS', import.meta.url), 'utf8');
  assert.match(sums, new RegExp(`^${source.sha256}\\s+\\*?smollm2.*layer24`, 'm'));
  assert.deepEqual(computed, { by: 'gated-mlp', build: 'simd128', format: 1 });
  for (const name of ['g', 'a', 'u', 'h', 'c', 'pi']) {
    const value = expected[0].pinned[name === 'pi' ? 'along' : name];
    assert.ok(Math.abs(pinned[name] - value) < 1e-5 * Math.abs(value), `${name}: ${pinned[name]}`);
  }
  assert.deepEqual([pinned.unit, pinned.class, pinned.rank], [1005, 'open', 1]);
  // The address bar names no state yet; what leaves the page does.
  assert.equal(await tab.evaluate(() => location.hash), '');
  assert.match(link, /#v=1&l=24&p=chat&t=41&u=1005&tau=0\.05&/);
  await tab.click('#export-link');
  await tab.locator('#export-status').filter({ hasText: 'copied' }).waitFor();
  assert.equal(await tab.evaluate(() => navigator.clipboard.readText()), link);
  await download(tab, '#export-csv');
  await download(tab, '#export-png');
  await tab.context().close();
});

test('what leaves the page of a loaded model names no place of SmolLM2', async () => {
  const { tab } = await opened('');
  await pressLoad(tab);
  await tab.setInputFiles('#load-file', [`${CAPTURE}model.safetensors`, `${CAPTURE}config.json`]);
  await tab.click('#load-layer');
  await tab.locator('#load-dialog').waitFor({ state: 'hidden' });
  await tab.locator('#badge[data-state="warning"]').waitFor();
  assert.equal(await tab.locator('#notice').isVisible(), false);
  const { state, source, link } = JSON.parse((await download(tab, '#export-json')).toString());
  assert.deepEqual([source.model, source.layer], ['model.safetensors', '0']);
  assert.match(link, /#v=1&m=file%3Amodel\.safetensors&mlp=model\.layers\.0\.mlp&/);
  assert.doesNotMatch(link, /[&#][lp]=/);
  assert.ok(!('layer' in state) && !('prompt' in state), JSON.stringify(state));
  await tab.click('#export-link');
  await tab
    .locator('#export-status')
    .filter({ hasText: 'copied. The link needs the file model.safetensors' })
    .waitFor();
  assert.equal(await tab.evaluate(() => navigator.clipboard.readText()), link);
  await tab.context().close();
});
