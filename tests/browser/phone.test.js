// The page on a phone: one map at a time behind two tabs, a tile of 48 x 32 with a strip that a finger can hit, and the inspector
// as a sheet that covers nothing that has the focus. By touch and by keyboard.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually, openChecked, startPage } from '../helpers/browser.js';

/** @typedef {import('playwright-core').Page} Page */
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true };
const SMALLEST = { viewport: { width: 320, height: 640 }, hasTouch: true };
const { browser, site } = await startPage();

/**
 * A tab on which all has come: an answer that comes later is of another length than the ellipsis before it, and what stands
 * below moves from under a finger.
 * @param {import('playwright-core').BrowserContextOptions} options
 * @param {string} [hash]
 */
async function opened(options, hash = '#v=1&l=24&p=chat&t=41&u=1005&sort=index') {
  const { tab, complaints } = await openChecked(browser, `${site.page}${hash}`, options);
  await tab.locator('#cost').filter({ hasText: '%' }).waitFor();
  await tab.locator('#effect').filter({ hasText: '%' }).waitFor({ state: 'attached' });
  await tab.locator('#errors-reading').filter({ hasText: '%' }).waitFor();
  await tab.locator('[data-measure="spread"] td').first().filter({ hasText: /\d/ }).waitFor();
  return { tab, complaints };
}

/** Width and height of one square of the tile, of which `columns` fill its width. @param {Page} tab @param {number} columns */
async function squares(tab, columns) {
  const box = await tab.locator('.tile-canvas').boundingBox();
  assert.ok(box !== null);
  return { width: box.width / columns, height: box.height / (1536 / columns), box };
}

/** @param {Page} tab */
const pinned = async (tab) =>
  Number((await tab.locator('#inspector-title').textContent())?.replace(/\D/g, ''));

/** @param {Page} tab @param {number} unit */
const isPinned = (tab, unit) => eventually(async () => assert.equal(await pinned(tab), unit));

/** The units on the strip, and the one that is pressed. @param {Page} tab */
async function strip(tab) {
  const cells = tab.locator('.zoom-cell:visible');
  const units = (
    await cells.evaluateAll((nodes) => nodes.map((node) => node.getAttribute('aria-label')))
  ).map((name) => Number(/unit (\d+)/.exec(name ?? '')?.[1]));
  const name = await tab.locator('.zoom-cell[aria-pressed="true"]').getAttribute('aria-label');
  return { units, pressed: Number(/unit (\d+)/.exec(name ?? '')?.[1]) };
}

test('the tile is 48 x 32, a tap pins, and the strip beside it takes a finger', async () => {
  const { tab, complaints } = await opened(PHONE);
  await tab.locator('#tile').scrollIntoViewIfNeeded();
  const { width, height, box } = await squares(tab, 48);
  assert.equal(height, 7);
  assert.ok(width >= 7 && width < 8, `${width}`);
  // The third square of the second row.
  await tab.touchscreen.tap(box.x + 2.5 * width, box.y + 1.5 * height);
  await isPinned(tab, 50);
  assert.deepEqual(await strip(tab), { units: [46, 47, 48, 49, 50, 51, 52, 53, 54], pressed: 50 });
  const cell = tab.locator('.zoom-cell').nth(6);
  const target = await cell.boundingBox();
  assert.ok(target !== null && target.width >= 24 && target.height >= 24, 'a finger');
  await cell.tap();
  await isPinned(tab, 52);
  assert.deepEqual(complaints, []);
  await tab.context().close();
});

test('the map begins on the first screen, above the controls, in the document as on the screen', async () => {
  const { tab } = await opened(PHONE);
  const tops = await tab.evaluate(() => {
    const ids = ['token-strip', 'tab-token', 'tile', 'tile-caption', 'tau-slider', 'sort-select'];
    const nodes = ids.map((id) => /** @type {HTMLElement} */ (document.getElementById(id)));
    const inOrder = nodes.every(
      (node, i) =>
        i === 0 || nodes[i - 1].compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING,
    );
    const sheet = document.getElementById('inspector')?.getBoundingClientRect().top ?? 0;
    return { inOrder, sheet, tops: nodes.map((node) => node.getBoundingClientRect().top) };
  });
  assert.equal(tops.inOrder, true);
  assert.deepEqual(
    tops.tops,
    [...tops.tops].sort((p, q) => p - q),
  );
  // Nine tenths of the tile's 32 rows of 7 pixels.
  assert.ok(tops.tops[2] + 0.85 * 224 < tops.sheet, `tile at ${tops.tops[2]}, ${tops.sheet}`);
  await tab.setViewportSize({ width: 1280, height: 720 });
  const isAbove = () =>
    tab.evaluate(() => {
      const top = (/** @type {string} */ id) =>
        document.getElementById(id)?.getBoundingClientRect().top ?? Number.NaN;
      return [top('sort-select') < top('map'), top('class-counts') < top('tile')];
    });
  // The page learns of its new width with the next frame.
  await eventually(async () => assert.deepEqual(await isAbove(), [true, true]));
  await tab.context().close();
});

for (const [name, options] of Object.entries({ '390 x 844': PHONE, '320 x 640': SMALLEST })) {
  test(`${name}: what stands around the maps is high enough for a finger`, async () => {
    const { tab } = await opened(options);
    const low = await tab.evaluate(() => {
      const around =
        '.top nav button, #gates :is(button, select, input), .timing :is(button, select), #sheet-handle';
      return [...document.querySelectorAll(around)]
        .filter((node) => node.checkVisibility() && !node.matches('[type="range"]'))
        .map((node) => ({ node, height: node.getBoundingClientRect().height }))
        .filter(({ height }) => height < 44)
        .map(({ node, height }) => `${node.id || node.textContent}: ${height}`);
    });
    assert.deepEqual(low, []);
    await tab.context().close();
  });
}

test('gates are in view above the sheet on a small phone', async () => {
  const { tab } = await opened({ viewport: { width: 360, height: 640 }, hasTouch: true });
  await eventually(async () => {
    const [tile, sheet] = await tab.evaluate(() =>
      ['tile', 'inspector'].map((id) => document.getElementById(id)?.getBoundingClientRect().top),
    );
    assert.ok(Number(tile) + 50 < Number(sheet), `${tile}, ${sheet}`);
  });
  await tab.context().close();
});

test('the strip is one tab stop, and its arrow keys walk in the order of the map', async () => {
  const { tab } = await opened(PHONE, '#v=1&l=24&p=chat&t=41&u=0&sort=index');
  assert.deepEqual((await strip(tab)).units, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
  assert.equal(await tab.locator('.zoom-cell[tabindex="0"]').count(), 1);
  await tab.locator('.zoom-cell[tabindex="0"]').focus();
  for (let unit = 1; unit <= 6; unit++) {
    await tab.keyboard.press('ArrowRight');
    await isPinned(tab, unit);
  }
  await eventually(async () => {
    const name = await tab.evaluate(() => document.activeElement?.getAttribute('aria-label'));
    assert.match(String(name), /unit 6,/);
  });
  await tab.context().close();
});

test('two tabs change the map by touch and by arrow keys', async () => {
  const { tab } = await opened(PHONE);
  /** Of the tile and the map. A tap is a click, and a new width known, only some time later. @param {boolean[]} wanted */
  const sees = (wanted) =>
    eventually(async () => {
      const seen = ['#tile', '#map'].map((map) => tab.locator(map).isVisible());
      assert.deepEqual(await Promise.all(seen), wanted);
    });
  await sees([true, false]);
  await tab.locator('#tab-tokens').tap();
  await sees([false, true]);
  await tab.locator('#tab-tokens').focus();
  await tab.keyboard.press('ArrowLeft');
  await sees([true, false]);
  assert.equal(await tab.evaluate(() => document.activeElement?.id), 'tab-token');
  await tab.keyboard.press('ArrowRight');
  await sees([false, true]);
  assert.equal(await tab.locator('#panel-tokens').getAttribute('role'), 'tabpanel');
  // The grid of cells is there for the keyboard.
  await tab.locator('.cell-grid').focus();
  await tab.keyboard.press('ArrowRight');
  await tab.keyboard.press('Enter');
  await isPinned(tab, 1006);
  await tab.setViewportSize({ width: 1280, height: 720 });
  await sees([true, true]);
  assert.equal(await tab.locator('#tab-token').isVisible(), false);
  await eventually(async () =>
    assert.equal(await tab.locator('#panel-tokens').getAttribute('role'), null),
  );
  await tab.context().close();
});

test('the sheet opens, folds away on Escape, and lets the keyboard out', async () => {
  const { tab } = await opened(PHONE);
  const handle = tab.locator('#sheet-handle');
  assert.equal(await tab.locator('#close-gate').isVisible(), false);
  await handle.tap();
  await tab.locator('#close-gate').waitFor();
  assert.equal(await handle.getAttribute('aria-expanded'), 'true');
  const box = await tab.locator('#inspector').boundingBox();
  assert.ok(box !== null && box.height <= 0.71 * 844, `${box?.height}`);
  await tab.keyboard.press('Escape');
  assert.equal(await handle.getAttribute('aria-expanded'), 'false');
  assert.equal(await tab.evaluate(() => document.activeElement?.id), 'sheet-handle');
  await tab.keyboard.press('Enter');
  assert.equal(await handle.getAttribute('aria-expanded'), 'true');
  const isInside = () =>
    tab.evaluate(() => document.getElementById('inspector')?.contains(document.activeElement));
  for (let i = 0; i < 30 && (await isInside()); i++) await tab.keyboard.press('Tab');
  assert.equal(await isInside(), false);
  assert.equal(await handle.getAttribute('aria-expanded'), 'false');
  await tab.context().close();
});

for (const [name, options] of Object.entries({ '390 x 844': PHONE, '320 x 640': SMALLEST })) {
  test(`${name}: what has the focus is never under the sheet, and nothing is wider than the screen`, async () => {
    const { tab } = await opened(options);
    await tab.locator('.skip').focus();
    const seen = new Set();
    for (let i = 0; i < 120; i++) {
      const stop = await tab.evaluate(() => {
        const node = document.activeElement;
        const sheet = document.getElementById('inspector');
        if (node === null || node === document.body || sheet === null) return null;
        const inside = sheet.contains(node);
        const [a, b] = [node, sheet].map((element) => element.getBoundingClientRect());
        const label = `${node.tagName} ${node.id} ${node.textContent?.trim().slice(0, 30)}`;
        const isCovered = !inside && a.bottom > b.top + 1 && a.top < b.bottom;
        return { label, isCovered, top: a.top, bottom: a.bottom, sheet: b.top };
      });
      if (stop === null) break;
      assert.equal(stop.isCovered, false, JSON.stringify(stop));
      seen.add(stop.label);
      await tab.keyboard.press('Tab');
    }
    assert.ok(seen.size > 30, `${seen.size} stops`);
    await tab.click('#timing-start');
    await tab.locator('#timing-result p').first().waitFor();
    for (const press of ['#tab-tokens', '#tab-token', '#sheet-handle']) {
      await tab.click(press);
      const overflow = await tab.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      assert.equal(overflow, 0, press);
    }
    await tab.context().close();
  });
}

test('the skip link leads past the header and loses nothing of the state', async () => {
  const { tab } = await opened(PHONE, '#v=1&l=24&p=chat&t=3&u=7&sort=index');
  const before = await tab.evaluate(() => location.hash);
  await tab.locator('.skip').focus();
  await tab.keyboard.press('Enter');
  await isPinned(tab, 7);
  await eventually(async () => {
    const hash = new URLSearchParams((await tab.evaluate(() => location.hash)).replace(/^#/, ''));
    for (const [key, value] of new URLSearchParams(before.slice(1))) {
      assert.equal(hash.get(key), value, key);
    }
  });
  await tab.keyboard.press('Tab');
  const inMaps = await tab.evaluate(() =>
    document.getElementById('gates')?.contains(document.activeElement),
  );
  assert.equal(inMaps, true);
  await tab.context().close();
});
