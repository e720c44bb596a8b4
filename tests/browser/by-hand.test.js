// A gate that is closed by hand says so everywhere: its line, its product, its point on the curve, its what-if slider; and
// what was recorded with the model's own activation is not shown for another. The model's own values are Python's.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { addressOf, eventually, openChecked, startPage } from '../helpers/browser.js';
import { pressLoad } from '../helpers/load-dialog.js';

const expected = JSON.parse(readFileSync(new URL('./expected.json', import.meta.url), 'utf8'));
const { browser, site } = await startPage();

/** @param {string} hash */
const opened = (hash) => openChecked(browser, `${site.page}${hash}`);

/** Waits for such words of what closing by hand did. @param {import('playwright-core').Page} tab */
const sayingOf = (tab) => (/** @type {RegExp} */ words) =>
  tab.locator('#hand-result').filter({ hasText: words }).waitFor();

test('a gate closed by hand is closed in words, numbers and picture, beside what the model has', async () => {
  const { tab, complaints } = await opened('');
  const { a, c } = expected[0].pinned;
  const dot = tab.locator('.act-curve .dot');
  const height = await dot.getAttribute('cy');
  await tab.click('#close-gate');
  await tab.locator('.class-line').filter({ hasText: 'Closed by hand' }).waitFor();
  assert.equal(
    await tab.locator('.class-line').textContent(),
    `Closed by hand (the model itself: open, × ${a.toFixed(2)}).`,
  );
  const values = await tab.locator('.product dd:not(.own)').allTextContents();
  assert.deepEqual([values[1], values[3], values[5]], ['0', '0', '0']);
  const own = await tab.locator('.product dd.own').allTextContents();
  assert.deepEqual([own[0], own[2]], [`itself ${a.toFixed(2)}`, `itself ${c.toPrecision(3)}`]);
  assert.ok(Number(await dot.getAttribute('cy')) > Number(height), 'the point lies on the axis');
  assert.equal(await tab.locator('.act-curve .own-dot').getAttribute('cy'), height);
  assert.match(String(await tab.locator('.act-curve').getAttribute('aria-label')), /a = 0\./);
  assert.equal(await tab.locator('#what-if').isDisabled(), true);
  await tab.click('#close-gate');
  await tab.locator('.class-line').filter({ hasText: 'Open:' }).waitFor();
  assert.equal(await tab.locator('#what-if').isDisabled(), false);
  assert.equal(await tab.locator('.product dd.own').count(), 0);
  assert.deepEqual(complaints, []);
  await tab.context().close();
});

test('a g that is set by hand moves the point and the whole equation, beside what the model has', async () => {
  const { tab, complaints } = await opened('');
  const { g, u } = expected[0].pinned;
  const dot = tab.locator('.act-curve .dot');
  const ownDot = tab.locator('.act-curve .own-dot');
  const place = await dot.getAttribute('cx');
  await tab.locator('#what-if').fill('-1.25');
  await tab.locator('.class-line').filter({ hasText: 'by hand' }).waitFor();
  const values = (await tab.locator('.product dd:not(.own)').allTextContents()).map((value) =>
    Number(value.replace('\u2212', '-')),
  );
  const act = -1.25 / (1 + Math.exp(1.25));
  const norm = values[4];
  const wanted = [-1.25, act, u, act * u, norm, Math.abs(act * u) * norm];
  wanted.forEach((value, i) => {
    assert.ok(Math.abs(values[i] - value) <= 0.006 * Math.abs(value), `${values[i]}: ${value}`);
  });
  const own = await tab.locator('.product dd.own').allTextContents();
  assert.equal(own[0], `itself ${g.toPrecision(3)}`);
  assert.equal(own.length, 4);
  assert.ok(Number(await dot.getAttribute('cx')) < Number(await ownDot.getAttribute('cx')));
  assert.match(String(await tab.locator('.class-line').textContent()), /^With g = −1\.25 by hand/);
  await tab.locator('.what-if-row button').click();
  await eventually(async () => assert.equal(await dot.getAttribute('cx'), place));
  assert.equal(await ownDot.isVisible(), false);
  assert.deepEqual(complaints, []);
  await tab.context().close();
});

test('a gate that a whole set closes waits for the set, whose effect comes into a low window', async () => {
  const { tab, complaints } = await opened('#v=1&l=24&p=chat&t=41&u=380');
  await tab.setViewportSize({ width: 1280, height: 720 });
  const negative = tab.locator('#hand-sets button').filter({ hasText: 'negative' });
  await negative.click();
  await tab.locator('#hand-result').filter({ hasText: '931 gates closed' }).waitFor();
  const low = await tab.evaluate(
    () =>
      innerHeight - Number(document.getElementById('hand-result')?.getBoundingClientRect().bottom),
  );
  assert.ok(low >= 0, `${-low} px below the window`);
  assert.equal(await tab.locator('#close-gate').isDisabled(), true);
  await negative.click();
  await tab.locator('.class-line').filter({ hasText: 'Not closed but leaking' }).waitFor();
  await tab.locator('#close-gate:enabled').waitFor();
  assert.deepEqual(complaints, []);
  await tab.context().close();
});

test('all but as many gates as one says are closed, and undo goes back through it', async () => {
  const { tab, complaints } = await opened('');
  const said = sayingOf(tab);
  await tab.locator('#hand-kept').fill('1535');
  await tab.locator('#hand-kept').press('Enter');
  await said(/^One gate closed/);
  await tab.locator('#hand-kept').fill('0');
  await tab.locator('#hand-kept').press('Enter');
  await said(/^1536 gates closed: the output moved by 100\s%/);
  assert.match(await addressOf(tab), /&set=least&keep=0(&|$)/);
  await tab.locator('#hand-channels svg').waitFor();
  await tab.locator('#hand-kept').blur();
  await tab.click('#hand-undo');
  await said(/^One gate closed/);
  await tab.click('#hand-undo');
  await tab.locator('#hand-channels').waitFor({ state: 'hidden' });
  assert.equal(await tab.locator('#hand-kept').inputValue(), '512');
  assert.deepEqual(complaints, []);
  await tab.context().close();
});

test('Ctrl+Z and Ctrl+Shift+Z go through what was closed, but not while somebody types', async () => {
  const { tab, complaints } = await opened('#v=1&l=24&p=chat&t=41&u=1005');
  const said = sayingOf(tab);
  const [undo, redo] = ['undo', 'redo'].map((name) => tab.locator(`#hand-${name}`));
  await tab.locator('.cell-grid').focus();
  await tab.keyboard.press(' ');
  await said(/^One gate closed/);
  await tab.keyboard.press('ArrowRight');
  await tab.keyboard.press(' ');
  await said(/^2 gates closed/);
  assert.equal(await redo.isDisabled(), true);
  await tab.keyboard.press('Control+z');
  await said(/^One gate closed/);
  await tab.keyboard.press('Control+z');
  await tab.locator('#hand-result:empty').waitFor();
  await eventually(async () => assert.equal(await undo.isDisabled(), true));
  assert.doesNotMatch(await addressOf(tab), /closed=/);
  await tab.keyboard.press('Control+Shift+Z');
  await said(/^One gate closed/);
  await redo.click();
  await said(/^2 gates closed/);
  // In a field the keys are the field's; in a dialog there is nothing to undo.
  await tab.locator('#unit-box').focus();
  await tab.keyboard.press('Control+z');
  await pressLoad(tab);
  await tab.locator('#load-close').focus();
  await tab.keyboard.press('Control+z');
  await tab.keyboard.press('Escape');
  await tab.locator('#load-dialog').waitFor({ state: 'hidden' });
  assert.match(await addressOf(tab), /closed=1005%2C|closed=1005,/);
  // Another step: what was undone before is not to be redone on top of it.
  await tab.locator('.cell-grid').focus();
  await tab.keyboard.press('Control+z');
  await said(/^One gate closed/);
  await tab.keyboard.press('ArrowRight');
  await tab.keyboard.press(' ');
  await said(/^2 gates closed/);
  await eventually(async () => assert.equal(await redo.isDisabled(), true));
  assert.deepEqual(complaints, []);
  await tab.context().close();
});

test('a g that is dragged is one step of undo', async () => {
  const { tab } = await opened('');
  const slider = tab.locator('#what-if');
  for (const value of ['1', '0.5', '0', '-0.5']) await slider.fill(value);
  await tab.locator('#hand-result').filter({ hasText: 'set to' }).waitFor();
  await slider.focus();
  await tab.keyboard.press('Control+z');
  await tab.locator('#hand-result:empty').waitFor();
  await eventually(async () => assert.equal(await tab.locator('#hand-undo').isDisabled(), true));
  await tab.keyboard.press('Control+Shift+Z');
  await tab.locator('#hand-result').filter({ hasText: 'set to \u22120.5' }).waitFor();
  await tab.context().close();
});

test('a g that is dragged twice is two steps of undo', async () => {
  const { tab } = await opened('');
  // What stands above the slider must have come, or the slider moves from under the pointer.
  await tab.locator('#effect').filter({ hasText: '%' }).waitFor();
  const slider = tab.locator('#what-if');
  const drag = async (/** @type {number[]} */ shares) => {
    // What the page says of the drag before has moved the slider.
    await slider.scrollIntoViewIfNeeded();
    await slider.hover();
    const box = await slider.boundingBox();
    assert.ok(box);
    await tab.mouse.down();
    for (const share of shares) {
      await tab.mouse.move(box.x + share * box.width, box.y + box.height / 2);
    }
    await tab.mouse.up();
    const words = `set to ${await shown()}`;
    await tab.locator('#hand-result').filter({ hasText: words }).waitFor();
    return words;
  };
  const shown = async () =>
    (await import('../../web/format.js')).number(Number(await slider.inputValue()));
  const first = await drag([0.3, 0.35, 0.4]);
  const second = await drag([0.6, 0.65, 0.7]);
  assert.notEqual(first, second);
  await tab.keyboard.press('Control+z');
  await tab.locator('#hand-result').filter({ hasText: first }).waitFor();
  await tab.keyboard.press('Control+z');
  await tab.locator('#hand-result:empty').waitFor();
  await tab.context().close();
});

test('recorded runs are not shown for another activation, and the page says why', async () => {
  const { tab } = await opened('#v=1&l=24&p=chat&t=41&u=1005&act=relu');
  await tab.locator('.recorded').filter({ hasText: 'recorded for SwiGLU only' }).waitFor();
  assert.equal(await tab.locator('.next-tokens').count(), 0);
  await tab.click('#act-back');
  await tab.locator('.next-tokens').waitFor();
  await tab.context().close();
});
