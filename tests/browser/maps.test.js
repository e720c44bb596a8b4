// What the maps show and in which order: every filter and every order of the units, against the page's own CSV, whose numbers
// are held to Python elsewhere (interaction.test.js), and against counts worked out here from it.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { addressOf, launchBrowser, openTab, servePage, settledBadge } from '../helpers/browser.js';

const expected = JSON.parse(readFileSync(new URL('./expected.json', import.meta.url), 'utf8'));
const TOKEN = 41;
const browser = await launchBrowser();
const site = await servePage();
/** @type {{ tab: import('playwright-core').Page, complaints: string[] }} */
let page;
/** @typedef {{ unit: number, g: number, a: number, u: number, c: number, pi: number, name: string }} Row */
/** @type {Row[]} */
let rows;

before(async () => {
  page = await openTab(browser);
  await page.tab.goto(`${site.page}#v=1&l=24&p=chat&t=${TOKEN}&u=1005`);
  assert.equal((await settledBadge(page.tab)).state, 'ok');
  const [file] = await Promise.all([
    page.tab.waitForEvent('download'),
    page.tab.click('#export-csv'),
  ]);
  const [head, ...lines] = readFileSync(await file.path(), 'utf8')
    .trim()
    .split('\r\n');
  const at = (/** @type {string} */ name) => head.split(',').indexOf(name);
  rows = lines.map((line) => {
    const cells = line.split(',');
    const [unit, g, a, u, c, pi] = ['unit', 'g', 'a', 'u', 'c', 'pi'].map((name) =>
      Number(cells[at(name)]),
    );
    return { unit, g, a, u, c, pi, name: cells[at('class')] };
  });
});
after(async () => {
  await browser.close();
  site.close();
});

/** A change is drawn in the next frame. */
async function drawn() {
  await page.tab.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  );
}

/** How many cells of the selected token's row are not blank. */
async function cellsShown() {
  return page.tab.evaluate((token) => {
    const map = /** @type {HTMLCanvasElement} */ (document.querySelector('#map canvas'));
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [map.width, map.height];
    const context = /** @type {CanvasRenderingContext2D} */ (
      canvas.getContext('2d', { willReadFrequently: true })
    );
    context.drawImage(map, 0, 0);
    const row = Math.floor(((token + 0.5) * canvas.height) / 45);
    const pixels = new Uint32Array(context.getImageData(0, row, canvas.width, 1).data.buffer);
    const [blank] = new Uint32Array(
      context.getImageData(0, Math.ceil(canvas.height / 45) - 1, 1, 1).data.buffer,
    );
    return pixels.filter((pixel) => pixel !== blank).length;
  }, TOKEN);
}

/** The units in the map's order, from the left: the first few and the last. */
async function ends() {
  const { tab } = page;
  const unit = () =>
    tab.evaluate(() => {
      const id = document.querySelector('.cell-grid')?.getAttribute('aria-activedescendant');
      return Number(id?.split('-')[2]);
    });
  await tab.locator('.cell-grid').focus();
  await tab.keyboard.press('Home');
  await drawn();
  const first = await unit();
  await tab.keyboard.press('End');
  await drawn();
  const last = await unit();
  await tab.locator('.cell-grid').blur();
  return [first, last];
}

test('each filter leaves as many cells of the token as have the property', async () => {
  const count = (/** @type {(row: Row) => boolean} */ property) => rows.filter(property).length;
  const wanted = {
    shut: count(({ name }) => name === 'shut'),
    crossing: count(({ name }) => name === 'crossing'),
    leaking: count(({ name }) => name === 'leaking'),
    open: count(({ name }) => name === 'open'),
    closed: count(({ a }) => Math.abs(a) < 0.05),
    top100: 100,
    pp: count(({ g, u }) => g >= 0 && u >= 0),
    pm: count(({ g, u }) => g >= 0 && u < 0),
    mp: count(({ g, u }) => g < 0 && u >= 0),
    mm: count(({ g, u }) => g < 0 && u < 0),
  };
  for (const [only, cells] of Object.entries(wanted)) {
    await page.tab.selectOption('#only-select', only);
    await drawn();
    assert.equal(await cellsShown(), cells, only);
    assert.match(await addressOf(page.tab), new RegExp(`only=${only}`));
  }
  for (const [habit, units] of Object.entries(expected[0].habits)) {
    await page.tab.selectOption('#only-select', `always-${habit}`);
    await drawn();
    assert.equal(await cellsShown(), units, habit);
  }
  await page.tab.selectOption('#only-select', '');
  await drawn();
  assert.equal(await cellsShown(), 1536);
});

test('each order of this token puts the right units at its ends', async () => {
  const sorted = (/** @type {(row: Row) => number} */ value) =>
    [...rows].sort((p, q) => value(p) - value(q) || p.unit - q.unit).map(({ unit }) => unit);
  const names = ['shut', 'crossing', 'leaking', 'open'];
  const orders = {
    g: sorted(({ g }) => g),
    a: sorted(({ a }) => -Math.abs(a)),
    c: sorted(({ c }) => -c),
    index: sorted(({ unit }) => unit),
    class: [...rows]
      .sort((p, q) => names.indexOf(p.name) - names.indexOf(q.name) || p.g - q.g)
      .map(({ unit }) => unit),
  };
  for (const [sort, order] of Object.entries(orders)) {
    await page.tab.selectOption('#sort-select', sort);
    await drawn();
    assert.deepEqual(await ends(), [order[0], order[1535]], sort);
    const groups = names.map((name) => `${rows.filter((row) => row.name === name).length} ${name}`);
    const axis = page.tab.locator('#group-axis');
    if (sort !== 'class') assert.equal(await axis.isVisible(), false, sort);
    else assert.equal(await axis.textContent(), `From the left: ${groups.join(' \u00b7 ')}.`);
  }
  assert.deepEqual(page.complaints, []);
});

test('sorted by what their weights do, the units stand in Python\u2019s groups, and the cut-off is printed', async () => {
  const { counts, first, last } = expected[0].ioClasses;
  const { tab } = page;
  await tab.selectOption('#sort-select', 'cosine');
  const axis = tab.locator('#group-axis');
  await axis.filter({ hasText: '|cos| = 0.5' }).waitFor();
  const groups = Object.entries(counts).filter(([, count]) => count > 0);
  const wanted = groups.map(([name, count]) => `${count} ${name}`).join(' \u00b7 ');
  assert.equal((await axis.textContent())?.split('.')[0], `From the left: ${wanted}`);
  assert.deepEqual(await ends(), [first[0], last[4]]);
  assert.match(await addressOf(tab), /sort=cosine/);
  assert.deepEqual(page.complaints, []);
});

test('pi of every unit is Python\u2019s, adds up to 1, and colours the map in its order', async () => {
  const { largest, negative, some } = expected[0].pi;
  for (const [unit, value] of some) {
    assert.ok(Math.abs(rows[unit].pi - value) < 2e-6 * largest, `${unit}: ${rows[unit].pi}`);
  }
  const sum = rows.reduce((total, { pi }) => total + pi, 0);
  assert.ok(Math.abs(sum - 1) < 2e-6, `${sum}`);
  assert.equal(rows.filter(({ pi }) => pi < 0).length, negative);
  const { tab } = page;
  await tab.goto(`${site.page}#v=1&l=24&p=chat&t=${TOKEN}&by=pi&sort=index`);
  await tab.locator('#scale').waitFor();
  const row = await tab.evaluate((token) => {
    const canvas = /** @type {HTMLCanvasElement} */ (document.querySelector('#map canvas'));
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
    const y = Math.floor(((token + 0.5) * canvas.height) / 45);
    return [...context.getImageData(0, y, canvas.width, 1).data];
  }, TOKEN);
  // The colours run from blue over the paper to brown; each of their bytes is rounded by itself.
  const rising = [...rows].sort((p, q) => p.pi - q.pi);
  const blueness = rising.map(({ unit }) => row[4 * unit + 2] - row[4 * unit]);
  assert.ok(blueness[0] > blueness[1000] && blueness[1000] > blueness[1535] + 50, `${blueness}`);
  for (let i = 1; i < blueness.length; i++) {
    assert.ok(blueness[i] <= blueness[i - 1] + 1, `unit ${rising[i].unit}`);
  }
  assert.deepEqual(page.complaints, []);
});
