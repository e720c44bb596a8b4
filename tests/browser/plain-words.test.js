// Words for who is new here, and nothing said twice or silently undone: short names explain themselves, wrong input says what
// would be right, few units are drawn sharp, Escape keeps what was closed by hand.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { addressOf, openChecked, startPage } from '../helpers/browser.js';
import { pressLoad } from '../helpers/load-dialog.js';

const CAPTURE = fileURLToPath(new URL('./capture/', import.meta.url));
const { browser, site } = await startPage();

const opened = () => openChecked(browser, site.page);

test('short names say what they mean', async () => {
  const { tab } = await opened();
  const titles = await tab
    .locator('.product div, .rank, #effect, .signs, #class-counts .legend')
    .evaluateAll((nodes) => nodes.map((node) => /** @type {HTMLElement} */ (node).title));
  assert.ok(titles.every((title) => title !== ''));
  const all = titles.join('\n');
  for (const part of [
    /column of W_down/,
    /‖y‖²/,
    /by contribution c/,
    /near 0/,
    /gate positive, up negative/,
  ]) {
    assert.match(all, part);
  }
  await tab.context().close();
});

test('a unit that is not there is refused in words, and a right one takes them away', async () => {
  const { tab } = await opened();
  const box = tab.locator('#unit-box');
  await box.fill('1536');
  await box.press('Enter');
  await tab.locator('#unit-error').filter({ hasText: 'units 0 to 1535' }).waitFor();
  assert.equal(await box.getAttribute('aria-invalid'), 'true');
  assert.match(await addressOf(tab), /u=1005|\/web\/$/);
  await box.fill('276');
  await box.press('Enter');
  await tab.locator('#inspector-title').filter({ hasText: 'Unit 276' }).waitFor();
  assert.equal(await tab.locator('#unit-error').textContent(), '');
  assert.notEqual(await box.getAttribute('aria-invalid'), 'true');
  await tab.context().close();
});

test('Escape lets go of the pin and keeps the gates closed by hand', async () => {
  const { tab } = await opened();
  await tab.click('#close-gate');
  const result = tab.locator('#hand-result').filter({ hasText: 'One gate closed' });
  await result.waitFor();
  await tab.locator('.cell-grid').focus();
  await tab.keyboard.press('Escape');
  await tab.waitForFunction(() => !/[&#]u=/.test(location.hash));
  await result.waitFor();
  assert.match(await addressOf(tab), /closed=1005/);
  await tab.context().close();
});

test('results are written when they change, and a slider does not chatter', async () => {
  const { tab } = await opened();
  assert.equal(await tab.locator('output[for="what-if"]').getAttribute('aria-live'), 'off');
  await tab.click('#close-gate');
  await tab.locator('#hand-result').filter({ hasText: 'One gate closed' }).waitFor();
  const writes = await tab.evaluate(async () => {
    const result = /** @type {HTMLElement} */ (document.getElementById('hand-result'));
    let count = 0;
    new MutationObserver((records) => {
      count += records.length;
    }).observe(result, { childList: true, characterData: true, subtree: true });
    const grid = /** @type {HTMLElement} */ (document.querySelector('.cell-grid'));
    const { left, top } = grid.getBoundingClientRect();
    for (let step = 0; step < 5; step++) {
      const place = { clientX: left + 20 + 40 * step, clientY: top + 20, bubbles: true };
      grid.dispatchEvent(new PointerEvent('pointermove', place));
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    }
    return count;
  });
  assert.equal(writes, 0);
  await tab.context().close();
});

test('a layer of few units is drawn sharp and is offered no set that is larger than it', async () => {
  const { tab } = await opened();
  const least = tab.locator('#hand-sets button').filter({ hasText: 'all but the largest' });
  const kept = tab.locator('#hand-kept');
  assert.equal(await least.isVisible(), true);
  assert.equal(await kept.inputValue(), '512');
  await pressLoad(tab);
  await tab.setInputFiles('#load-file', [`${CAPTURE}model.safetensors`, `${CAPTURE}config.json`]);
  await tab.click('#load-layer');
  await tab.locator('#load-dialog').waitFor({ state: 'hidden' });
  await tab.locator('#badge[data-state="warning"]').waitFor();
  await least.waitFor({ state: 'hidden' });
  await kept.waitFor({ state: 'hidden' });
  const rendering = await tab
    .locator('#map canvas')
    .evaluate((canvas) => getComputedStyle(canvas).imageRendering);
  assert.equal(rendering, 'pixelated');
  await tab.context().close();
});

test('what is no address, and what is a web page, is diagnosed first', async () => {
  const { tab } = await opened();
  await pressLoad(tab);
  /** @param {string} typed @param {RegExp} words */
  const refused = async (typed, words) => {
    await tab.fill('#load-url', typed);
    await tab.press('#load-url', 'Enter');
    await tab.locator('#load-error').filter({ hasText: words }).waitFor();
  };
  await refused('not a url', /^This is no address: “not a url”/);
  await refused('https://', /^This is no address/);
  await refused(`${site.address}web/index.html`, /^This is a web page, not a safetensors file/);
  await tab.context().close();
});
