// The page's main flows in three engines: what it shows on the real layer, a threshold, a closed gate, another layer, the
// keyboard, a checkpoint by its address, the file that opens from disk. `npm run test:browsers` runs it.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { dataFiles } from '../../../web/bundle/data-files.js';
import { offlineFile } from '../../../web/bundle/offline-file.js';
import { servePage } from '../../helpers/browser.js';
import { readJson } from '../../helpers/goldens.js';
import { startChromium, startFirefox, startWebKit } from './drivers.js';

/** @typedef {import('./drivers.js').Driver} Driver */
const { prompts } = readJson('smollm2-135m-instruct-prompts.json');
const chat = prompts.find((/** @type {{ name: string }} */ { name }) => name === 'chat');
const WAIT_MS = 60_000;

const folder = mkdtempSync(join(tmpdir(), 'gated-mlp-engines-'));
const offline = join(folder, 'page.html');
writeFileSync(offline, await offlineFile(dataFiles()));
const site = await servePage();
after(() => {
  site.close();
  rmSync(folder, { recursive: true });
});

/**
 * What a piece of JavaScript returns, once that is neither null nor false nor ''.
 * @param {Driver} driver
 * @param {string} code
 * @returns {Promise<any>}
 */
async function until(driver, code) {
  const end = Date.now() + WAIT_MS;
  for (;;) {
    const value = await driver.run(code);
    if (value) return value;
    if (Date.now() > end) {
      const badge = await driver.run(`return document.getElementById('badge')?.textContent ?? ''`);
      throw new Error(`${driver.name}: waited in vain for ${code}; the badge says ${badge}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const SETTLED = `const badge = document.getElementById('badge');
  return badge && badge.dataset.state !== 'pending' && document.body.dataset.status === 'ready'
    ? [badge.dataset.state, badge.textContent] : null;`;
const LABEL = `return document.querySelectorAll('.token')[41]?.ariaLabel
  ?? document.querySelectorAll('.token')[41]?.getAttribute('aria-label')`;

/** @param {Driver} driver */
async function opensChecked(driver) {
  const [state, words] = await until(driver, SETTLED);
  assert.equal(state, 'ok', words);
  assert.match(words, /all 45 tokens.*weights file intact/s);
  assert.equal(
    await driver.run(`return document.getElementById('inspector-title').textContent`),
    'Unit 1005',
  );
}

/** @param {Driver} driver @param {string} tau */
async function countsAt(driver, tau) {
  await driver.run(`const box = document.getElementById('tau'); box.value = '${tau}';
    for (const type of ['input', 'change']) box.dispatchEvent(new Event(type, { bubbles: true }));`);
  const { closed_per_token, negative_gates_per_token } = chat.closure['24'];
  const start = `: ${closed_per_token[tau][41]} closed, `;
  const label = await until(
    driver,
    `const label = (() => { ${LABEL} })(); return label.includes('${start}') && label`,
  );
  assert.match(label, new RegExp(`${negative_gates_per_token[41]} gates negative$`));
}

/** @param {Driver} driver */
async function closesTheGate(driver) {
  await driver.run(`document.getElementById('close-gate').click()`);
  await until(
    driver,
    `return document.getElementById('effect').textContent.includes('Closed by hand')`,
  );
  assert.match(await driver.run('return location.hash'), /closed=1005/);
}

/** @param {Driver} driver */
async function walksByKeyboard(driver) {
  await driver.run(`const grid = document.querySelector('.cell-grid'); grid.focus();
    for (const key of ['n', 'Enter'])
      grid.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));`);
  await until(driver, `return /u=\\d+/.test(location.hash) && !location.hash.includes('u=1005')`);
}

/** @param {Driver} driver */
async function showsAnotherLayer(driver) {
  await driver.run(`const select = document.getElementById('layer-select'); select.value = '11';
    select.dispatchEvent(new Event('change', { bubbles: true }));`);
  assert.match(await driver.run('return location.hash'), /l=11/);
  const [state, words] = await until(driver, SETTLED);
  assert.equal(state, 'ok', words);
}

/** Whatever the browser's clock is like. @param {Driver} driver */
async function timesTheLayer(driver) {
  await until(driver, `return document.getElementById('errors-reading').textContent`);
  await driver.run(`document.getElementById('timing-start').click()`);
  const words = await until(driver, `return document.getElementById('timing-result').textContent`);
  const [, all, kept] = /all 1536 units ([\d.]+) ms, the \d+ kept ([\d.]+) ms/.exec(words) ?? [];
  assert.ok(Number(all) > 0 && Number(kept) > 0, words);
}

/** @param {Driver} driver */
async function loadsByAddress(driver) {
  const address = `${site.address}fixtures/smollm2-135m-instruct-layer05.safetensors`;
  await driver.run(`document.getElementById('load-open').click()`);
  await until(driver, `return document.getElementById('load-dialog').open`);
  await driver.run(`document.getElementById('load-url').value = '${address}';
    document.querySelector('#load-form button').click();`);
  await until(driver, `return !document.getElementById('load-choice').hidden`);
  await driver.run(`document.getElementById('load-layer').click()`);
  await until(driver, `return !document.getElementById('load-dialog').open`);
  const [state, words] = await until(driver, SETTLED);
  assert.equal(state, 'warning');
  assert.match(words, /Synthetic probe/);
}

/** The address of the loaded model is in the page's own; opening it asks first. @param {Driver} driver */
async function linksToAModel(driver) {
  const link = await driver.run('return location.href');
  assert.match(link, /m=http.*layer05\.safetensors&mlp=model\.layers\.5\.mlp/);
  await driver.open(site.page);
  await opensChecked(driver);
  await driver.run(`location.href = ${JSON.stringify(link)}`);
  const words = await until(
    driver,
    `return !document.getElementById('load-offer').hidden && document.getElementById('load-offer-words').textContent`,
  );
  assert.match(words, /model\.layers\.5\.mlp.*load 5\.3 MB\?/);
  await driver.run(`document.getElementById('load-offered').click()`);
  await until(driver, `return !document.getElementById('load-dialog').open`);
  const [state] = await until(driver, SETTLED);
  assert.equal(state, 'warning');
}

/** @param {Driver} driver */
async function embedsAMap(driver) {
  await driver.open(`${site.page}embed.html`);
  const words = await until(
    driver,
    `return document.querySelector('gate-map')?.shadowRoot?.querySelector('.badge[data-state="ok"]')?.textContent`,
  );
  assert.match(words, /all 45 tokens.*weights file intact/s);
}

for (const [engine, start] of Object.entries({
  Chromium: startChromium,
  Firefox: startFirefox,
  WebKit: startWebKit,
})) {
  test(`${engine}: the main flows`, async (t) => {
    const driver = await start();
    t.diagnostic(driver.name);
    try {
      await driver.open(site.page);
      await t.test('it opens, every token checked', () => opensChecked(driver));
      await t.test('counts follow the threshold', async () => {
        for (const tau of Object.keys(chat.closure['24'].closed_per_token))
          await countsAt(driver, tau);
      });
      await t.test('a gate is closed by hand', () => closesTheGate(driver));
      await t.test('the map is walked by keyboard', () => walksByKeyboard(driver));
      await t.test('another layer is shown and checked', () => showsAnotherLayer(driver));
      await t.test('the layer is timed', () => timesTheLayer(driver));
      await t.test('a checkpoint is loaded by its address', () => loadsByAddress(driver));
      await t.test('the model is in the link, which asks first', () => linksToAModel(driver));
      await t.test('a map is embedded in a page', () => embedsAMap(driver));
      await t.test('the offline file opens from disk', async () => {
        await driver.open(pathToFileURL(offline).href);
        await opensChecked(driver);
      });
    } finally {
      await driver.close();
    }
  });
}
