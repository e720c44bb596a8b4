// "Is skipping worth it?": what the page says it timed is what it timed, by keyboard, and gone when it is of something else.
// How long anything took is nobody's business here.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually, openChecked, openTab, settledBadge, startPage } from '../helpers/browser.js';
import { readJson } from '../helpers/goldens.js';

const { prompts } = readJson('smollm2-135m-instruct-prompts.json');
const chat = prompts.find((/** @type {{ name: string }} */ { name }) => name === 'chat');
const TOKEN = 41;
const CLOSED = chat.closure['24'].closed_per_token['0.05'][TOKEN];
const { browser, site } = await startPage();

/** @param {import('playwright-core').Page} tab */
async function resultOf(tab) {
  await tab.locator('#timing-result p').first().waitFor();
  return String(await tab.locator('#timing-result').textContent());
}

/** @param {string} words */
function figures(words) {
  const [, all, allMs, kept, keptMs, share, ideal] =
    /^This token: all (\d+) units ([\d.]+) ms, the (\d+) kept ([\d.]+) ms\. That is ([\d.]+)\s% of the time for ([\d.]+)\s% of the weights/.exec(
      // From 10,000 on, digits stand in groups.
      words.replace(/(?<=\d)\u202f(?=\d)/g, ''),
    ) ?? [];
  return [all, allMs, kept, keptMs, share, ideal].map(Number);
}

/** @param {number} shown @param {number} value @param {number} rounding of what it was made of */
const isNear = (shown, value, rounding) =>
  assert.ok(Math.abs(shown - value) <= rounding * value, `${shown} for ${value}`);

test('by keyboard alone: the closed units are left out, as many as numpy counts, and all is said', async () => {
  const { tab, complaints } = await openChecked(browser, site.page);
  await tab.locator('#errors-reading:not(:empty)').waitFor();
  await tab.locator('#timing-rule').focus();
  // From the first rule to the last but one; letters typed too slowly would each begin a search anew.
  await tab.keyboard.press('End');
  await tab.keyboard.press('ArrowUp');
  assert.equal(await tab.locator('#timing-rule').inputValue(), 'closed');
  await tab.keyboard.press('Tab');
  await tab.keyboard.press('Enter');
  const words = await resultOf(tab);
  const [all, allMs, kept, keptMs, share, ideal] = figures(words);
  assert.deepEqual([all, kept], [1536, 1536 - CLOSED]);
  isNear(share, (100 * keptMs) / allMs, 0.06);
  isNear(ideal, (100 * kept) / all, 0.06);
  assert.match(words, /All 45 tokens at once, with these units for each: [\d.]+ ms and [\d.]+ ms/);
  assert.match(words, /simd128 build, 1 thread, bfloat16 weights; medians over \d+ and \d+ rep/);
  assert.match(words, /The clock moves in steps of [\d.]+ ms/);
  assert.match(words, /Finding out which units to skip is not in these times/);
  // Two ways to one output; and how far that is off is what the sentence says of the closed ones.
  const [, difference, moved] = /\(to ([^ ]+) of its length\) and ([\d.]+\s%)/.exec(words) ?? [];
  assert.ok(Number(difference.replace('\u2212', '-')) < 1e-5, difference);
  assert.equal(moved, await tab.locator('#cost').textContent());
  assert.equal(await tab.locator('#timing-result').getAttribute('role'), 'status');
  assert.equal(await tab.evaluate(() => document.activeElement?.id), 'timing-start');
  assert.deepEqual(complaints, []);
  await tab.context().close();
});

test('the least by a score are left out up to an error of 20 %, and what is held by hand', async () => {
  const { tab } = await openChecked(browser, `${site.page}#v=1&l=24&p=chat&t=41&closed=7,9`);
  await tab.locator('#errors-reading').filter({ hasText: 'by |a|' }).waitFor();
  const reading = String(await tab.locator('#errors-reading').textContent());
  const [, dropped] = /, c (\d+)\s%\./.exec(reading) ?? [];
  await tab.click('#timing-start');
  const words = await resultOf(tab);
  const [, , kept] = figures(words);
  assert.ok(Math.abs(100 - (100 * kept) / 1536 - Number(dropped)) <= 0.6, `${kept}: ${dropped}`);
  const moved = Number(/and ([\d.]+)\s% off/.exec(words)?.[1]);
  assert.ok(moved > 17 && moved < 21, `${moved}`);
  await tab.selectOption('#timing-rule', 'shut');
  assert.equal(await tab.locator('#timing-result').textContent(), '');
  await tab.click('#timing-start');
  assert.equal(figures(await resultOf(tab))[2], 1534);
  await tab.click('#hand-sets button >> nth=0');
  await eventually(async () => assert.equal(await tab.locator('#timing-result').textContent(), ''));
  await tab.context().close();
});

test('where nothing would be skipped, or nothing be left, nothing is timed', async () => {
  const { tab } = await openChecked(browser, site.page);
  await tab.selectOption('#timing-rule', 'shut');
  await tab.click('#timing-start');
  assert.match(await resultOf(tab), /no unit at all/);
  await tab.fill('#hand-kept', '0');
  await tab.press('#hand-kept', 'Enter');
  await tab.locator('#hand-result').filter({ hasText: '1536 gates closed' }).waitFor();
  await eventually(async () => assert.equal(await tab.locator('#timing-result').textContent(), ''));
  await tab.click('#timing-start');
  assert.match(await resultOf(tab), /nothing would be left/);
  await tab.context().close();
});

/** Has the worker's answers about times wait until the test lets them in. @param {import('playwright-core').Page} tab */
async function holdAnswers(tab) {
  await tab.addInitScript(() => {
    /** @type {(() => void)[]} */
    const held = [];
    Object.assign(window, { held });
    const add = Worker.prototype.addEventListener;
    Worker.prototype.addEventListener = function (
      /** @type {string} */ type,
      /** @type {any} */ listener,
    ) {
      const late = (/** @type {MessageEvent} */ event) => {
        if (event.data.result?.text?.repetitions > 0) held.push(() => listener(event));
        else listener(event);
      };
      add.call(this, type, type === 'message' ? late : listener);
    };
  });
  /** How many came so far. @param {number} count */
  const arrived = (count) =>
    tab.waitForFunction((n) => /** @type {any} */ (window).held.length === n, count);
  const letIn = () => tab.evaluate(() => /** @type {any} */ (window).held.at(-1)());
  return { arrived, letIn };
}

test('a timing that the worker gave up is said to be cancelled', async () => {
  const { tab, complaints } = await openTab(browser);
  await tab.addInitScript(() => {
    const add = Worker.prototype.addEventListener;
    Worker.prototype.addEventListener = function (
      /** @type {string} */ type,
      /** @type {any} */ listener,
    ) {
      const given = (/** @type {MessageEvent} */ event) => {
        const isTiming = event.data.result?.text?.repetitions > 0;
        const data = isTiming ? { ...event.data, result: null } : event.data;
        listener(new MessageEvent('message', { data }));
      };
      add.call(this, type, type === 'message' ? given : listener);
    };
  });
  await tab.goto(site.page);
  await settledBadge(tab);
  await tab.selectOption('#timing-rule', 'closed');
  await tab.click('#timing-start');
  assert.match(await resultOf(tab), /^The timing was cancelled/);
  assert.equal(await tab.locator('#timing-start').getAttribute('aria-busy'), null);
  assert.deepEqual(complaints, []);
  await tab.context().close();
});

test('what was timed of one token, layer or activation is not said of another', async () => {
  const { tab, complaints } = await openTab(browser);
  const answers = await holdAnswers(tab);
  await tab.goto(site.page);
  await settledBadge(tab);
  const button = tab.locator('#timing-start');
  const said = () => tab.locator('#timing-result').textContent();
  /** The curves that say what to leave out may still be on their way. */
  const press = () =>
    eventually(async () => {
      await button.click();
      assert.equal(await button.getAttribute('aria-busy'), 'true');
    });
  let count = 0;
  const change = { '#token-select': '3', '#layer-select': '11', '#act-select': 'relu' };
  for (const [select, value] of Object.entries(change)) {
    await press();
    await answers.arrived(++count);
    await tab.selectOption(select, value);
    await tab.locator('#timing-start:not([aria-busy])').waitFor();
    await answers.letIn();
    assert.equal(await said(), '', select);
    await tab.waitForFunction(() => document.body.dataset.status === 'ready');
  }
  await press();
  await answers.arrived(++count);
  assert.equal(await said(), '');
  await answers.letIn();
  assert.match(await resultOf(tab), /^This token: all 1536 units/);
  assert.deepEqual(complaints, []);
  await tab.context().close();
});
