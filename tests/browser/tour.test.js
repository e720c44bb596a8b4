// The tour's card beside what it speaks of: on a laptop and on a phone no stop lies under the card, the keyboard finds its way
// from the card into the page, and who hears the page hears where the tour is.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually, openTab, settledBadge, startPage } from '../helpers/browser.js';

const { browser, site } = await startPage();

const STOPS = 6;
/** What each stop speaks of. */
const SUBJECTS = ['inspector', 'inspector', 'tile', 'tile', 'errors', 'inspector'];
const SCREENS = {
  'a laptop': { viewport: { width: 1280, height: 720 } },
  'a phone': { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
};

/**
 * How many pixels of the subject's height can be seen, and how many could be at best; and how far down it begins.
 * @param {import('playwright-core').Page} tab
 * @param {string} subject
 */
const seen = (tab, subject) =>
  tab.evaluate((id) => {
    const boxOf = (/** @type {string} */ name) =>
      /** @type {HTMLElement} */ (document.getElementById(name)).getBoundingClientRect();
    const [box, card] = [boxOf(id), boxOf('tour')];
    const isBeside = box.left >= card.right || box.right <= card.left;
    const [top, bottom] = isBeside
      ? [0, innerHeight]
      : card.top > innerHeight - card.bottom
        ? [0, card.top]
        : [card.bottom, innerHeight];
    const shown = Math.min(bottom, box.bottom) - Math.max(top, box.top);
    const isSheet = getComputedStyle(document.getElementById(id) ?? document.body).position;
    const gates = boxOf('gates').top;
    return {
      shown,
      most: Math.min(box.height, bottom - top),
      // What is taller than the room begins in it; behind a sheet the gates begin under the card.
      beginsAt: isSheet === 'fixed' ? gates - card.bottom : box.top - top,
    };
  }, subject);

for (const [name, screen] of Object.entries(SCREENS)) {
  test(`on ${name} every stop shows what it speaks of beside the card`, async () => {
    const { tab, complaints } = await openTab(browser, screen);
    await tab.goto(site.page);
    await settledBadge(tab);
    await tab.click('#tour-start');
    for (let stop = 1; stop <= STOPS; stop++) {
      await tab
        .locator('#tour-place')
        .filter({ hasText: `${stop} of ${STOPS}` })
        .waitFor();
      await settledBadge(tab);
      await eventually(async () => {
        const { shown, most, beginsAt } = await seen(tab, SUBJECTS[stop - 1]);
        assert.ok(shown > 0.8 * most, `stop ${stop}: ${shown} of ${most}`);
        assert.ok(beginsAt >= -1 && beginsAt < 420, `stop ${stop} begins at ${beginsAt}`);
      });
      // On a phone the sheet is open where the stop speaks of what is in it, and out of the way where not.
      const isInside = await tab.locator('#inspector .act-curve').isVisible();
      const isWanted = name === 'a laptop' || SUBJECTS[stop - 1] === 'inspector';
      assert.equal(isInside, isWanted, `stop ${stop}: the inspector's inside`);
      await tab.click('#tour-next');
    }
    assert.deepEqual(complaints, []);
    await tab.context().close();
  });
}

test('a stop stays in place when the page around it moves late, and gives way to a reader who scrolls', async () => {
  const { tab } = await openTab(browser, SCREENS['a laptop']);
  /** @type {string[]} */
  const errors = [];
  tab.on('pageerror', ({ message }) => errors.push(message));
  await tab.goto(`${site.page}#tour=5`);
  await settledBadge(tab);
  await tab.click('#tour-next');
  await settledBadge(tab);
  const top = () =>
    tab.evaluate(() => document.getElementById('inspector')?.getBoundingClientRect().top);
  /** @param {number} height of something that comes above the maps, px */
  const widen = (height) =>
    tab.evaluate((px) => {
      const stage = /** @type {HTMLElement} */ (document.querySelector('.stage'));
      // The browser's own anchoring of what is in view would hide what the page does.
      document.documentElement.style.overflowAnchor = 'none';
      stage.style.marginTop = `${px}px`;
    }, height);
  for (const height of [300, 0, 41]) {
    await widen(height);
    await eventually(async () => assert.ok(Math.abs(Number(await top())) <= 1, `${await top()}`));
  }
  /** What the page would do when it has changed, it has done. @param {number} height */
  const widenAndWait = async (height) => {
    await widen(height);
    for (let turn = 0; turn < 2; turn++) {
      await tab.evaluate(
        () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50))),
      );
    }
  };
  await tab.mouse.move(900, 300);
  const scrolled = () => tab.evaluate(() => scrollY);
  // A wheel, and what scrolls without one, as a screen reader does.
  for (const move of [() => tab.mouse.wheel(0, -2000), () => tab.evaluate(() => scrollTo(0, 0))]) {
    await widenAndWait(41);
    await tab.click('#tour-back');
    await tab.click('#tour-next');
    await eventually(async () => assert.ok(Math.abs(Number(await top())) <= 1, `${await top()}`));
    assert.ok((await scrolled()) > 50);
    // Again, as what comes while the page is being put in place is undone.
    await eventually(async () => {
      await move();
      assert.equal(await scrolled(), 0);
    });
    await widenAndWait(300);
    assert.equal(await scrolled(), 0);
  }
  // Left without a click or a key of the reader's: nothing is shown any more.
  await tab.evaluate(() => document.getElementById('tour-close')?.click());
  await tab.locator('#tour').waitFor({ state: 'hidden' });
  await widenAndWait(100);
  assert.deepEqual(errors, []);
  await tab.context().close();
});

test('the card says where it is, and Tab leads from it into the page', async () => {
  const { tab } = await openTab(browser);
  await tab.goto(site.page);
  await settledBadge(tab);
  await tab.locator('#tour-start').focus();
  await tab.keyboard.press('Enter');
  await tab.locator('#tour-next:focus').waitFor();
  await tab.keyboard.press('Enter');
  await eventually(async () => {
    const [title, words, heard] = await Promise.all(
      ['title', 'words', 'live'].map((part) => tab.locator(`#tour-${part}`).textContent()),
    );
    assert.equal(heard, `${title}, 2 of 6. ${words}`);
  });
  /** @type {string[]} */
  const order = [];
  for (let i = 0; i < 3; i++) {
    await tab.keyboard.press('Tab');
    order.push(await tab.evaluate(() => document.activeElement?.id ?? ''));
  }
  assert.deepEqual(order, ['tour-back', 'tour-close', 'layer-select']);
  await tab.keyboard.press('Shift+Tab');
  await tab.keyboard.press('Escape');
  await tab.locator('#tour-start:focus').waitFor();
  await tab.locator('#tour').waitFor({ state: 'hidden' });
  await tab.context().close();
});
