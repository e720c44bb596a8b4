// What goes to the printer: the state as it is, even where the screen has not drawn it yet, in the light colours; and the screen
// as it was once that is done.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTab, settledBadge, startPage } from '../helpers/browser.js';

const { browser, site } = await startPage();

for (const theme of ['auto', 'dark']) {
  test(`a dark page (${theme}) is printed light and as it stands, between two frames of a slide`, async () => {
    const { tab, complaints } = await openTab(browser, { colorScheme: 'dark' });
    await tab.goto(site.page);
    await settledBadge(tab);
    // Auto, light, dark.
    for (let press = 0; theme === 'dark' && press < 2; press++) await tab.click('#theme');
    const seen = await tab.evaluate(() => {
      const map = /** @type {HTMLCanvasElement} */ (document.querySelector('#map canvas'));
      const paper = () => getComputedStyle(document.body).backgroundColor;
      const state = () => ({
        map: map.toDataURL(),
        paper: paper(),
        leaking: document.querySelector('[data-class="leaking"] b')?.textContent,
        reading: document.querySelector('#histogram-reading')?.textContent,
        theme: document.documentElement.dataset.theme,
      });
      const before = state();
      const slider = /** @type {HTMLInputElement} */ (document.querySelector('#tau-slider'));
      slider.value = '480';
      slider.dispatchEvent(new Event('input', { bubbles: true }));
      const slid = state();
      window.dispatchEvent(new Event('beforeprint'));
      const printed = state();
      window.dispatchEvent(new Event('afterprint'));
      return { before, slid, printed, after: state() };
    });
    const { before, slid, printed } = seen;
    assert.deepEqual(slid, before, 'nothing is drawn yet');
    assert.notEqual(printed.leaking, before.leaking);
    assert.ok(printed.reading?.includes(`${printed.leaking} gates leak`), printed.reading ?? '');
    assert.notEqual(printed.map, before.map);
    assert.notEqual(printed.paper, before.paper);
    assert.equal(seen.after.paper, before.paper);
    assert.equal(seen.after.theme, before.theme);
    assert.equal(seen.after.leaking, printed.leaking);
    assert.notEqual(seen.after.map, printed.map);
    assert.deepEqual(complaints, []);
    await tab.context().close();
  });
}
