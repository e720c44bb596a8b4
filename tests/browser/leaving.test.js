// Back from a model of the reader's own to the shipped ones: whichever way is taken, the numbers belong to the name above
// them, and what the page holds and says fits what it shows. Expected counts are Python's (make_expected.py).

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { addressOf, eventually, openTab, settledBadge, startPage } from '../helpers/browser.js';
import { chooseFiles, pressLoad } from '../helpers/load-dialog.js';

/** @typedef {import('playwright-core').Page} Page */
const CAPTURE = fileURLToPath(new URL('./capture/', import.meta.url));
const OWN_FILES = [`${CAPTURE}model.safetensors`, `${CAPTURE}config.json`];
const expected = JSON.parse(readFileSync(new URL('./expected.json', import.meta.url), 'utf8'));

const { browser, site } = await startPage();

/**
 * A layer of 8 tokens and few units, loaded from this computer.
 * @param {(tab: Page) => Promise<void>} [prepare]
 */
async function withOwnModel(prepare) {
  const { tab, complaints } = await openTab(browser);
  await prepare?.(tab);
  await tab.goto(site.page);
  await checked(tab, 'all 45 tokens');
  await pressLoad(tab);
  await chooseFiles(tab, '#load-file', OWN_FILES);
  await tab.locator('#load-status').filter({ hasText: '2 gated MLPs' }).waitFor();
  await tab.setInputFiles('#load-states', `${CAPTURE}hidden.safetensors`);
  await tab.locator('#load-states-status').filter({ hasText: '8 tokens' }).waitFor();
  await tab.click('#load-layer');
  await tab.locator('#load-dialog').waitFor({ state: 'hidden' });
  await checked(tab, 'all 8 tokens');
  assert.equal(await tab.locator('#model-name').textContent(), 'model.safetensors');
  return { tab, complaints };
}

/** @param {Page} tab @param {string} words */
const checked = (tab, words) =>
  tab.locator('#badge[data-state="ok"]').filter({ hasText: words }).waitFor();

/** The opening place, its numbers Python's and its name SmolLM2's. @param {Page} tab */
async function isShippedAgain(tab) {
  await checked(tab, 'all 45 tokens');
  await eventually(async () => {
    assert.equal(await tab.locator('#model-name').textContent(), 'SmolLM2-135M-Instruct');
    assert.equal(await tab.locator('.token').count(), 45);
    assert.equal(await tab.locator('#unit-count').textContent(), '1536');
  });
}

/** @param {Page} tab */
async function countsAreOfTheOpening(tab) {
  const { counts } = expected[0];
  await eventually(async () => {
    for (const [name, count] of Object.entries(counts)) {
      const shown = await tab.locator(`#class-counts [data-class="${name}"] b`).textContent();
      assert.equal(Number(shown), count, name);
    }
  });
}

test('the tour leaves a loaded model, and draws while its first stop is on the way', async () => {
  const { tab, complaints } = await withOwnModel();
  await tab.click('#tour-start');
  await isShippedAgain(tab);
  await countsAreOfTheOpening(tab);
  assert.equal(await tab.locator('#inspector-title').textContent(), 'Unit 1005');
  assert.equal(await tab.locator('#notice').isVisible(), false);
  assert.deepEqual(complaints, []);
  await tab.context().close();
});

test('choosing the layer that was there before brings its own numbers back', async () => {
  const { tab, complaints } = await withOwnModel();
  // Choosing what is chosen already is no change, so nothing may be.
  assert.equal(await tab.locator('#layer-select').inputValue(), '');
  await tab.selectOption('#layer-select', '24');
  await isShippedAgain(tab);
  await tab.selectOption('#token-select', '41');
  await countsAreOfTheOpening(tab);
  assert.deepEqual(complaints, []);
  await tab.context().close();
});

test('the name goes with the numbers while others are on their way', async () => {
  const { tab } = await withOwnModel();
  /** @type {() => void} */
  let release = () => {};
  const held = new Promise((resolve) => {
    release = () => resolve(undefined);
  });
  await tab.context().route('**/*layer05*', async (route) => {
    await held;
    await route.continue();
  });
  await tab.selectOption('#layer-select', '5');
  await tab.locator('#badge[data-state="pending"]').waitFor();
  assert.equal(await tab.locator('.token').count(), 8);
  assert.equal(await tab.locator('#model-name').textContent(), 'model.safetensors');
  release();
  await isShippedAgain(tab);
  assert.equal(await tab.locator('#layer-value').textContent(), '5');
  await tab.context().close();
});

/**
 * Lets the page draw only when it may, and counts the outputs that were checked.
 * @param {Page} tab
 */
async function holdFrames(tab) {
  await tab.addInitScript(() => {
    /** @type {FrameRequestCallback[]} */
    const held = [];
    const page = { isHeld: false, checks: 0, let: () => {} };
    const ask = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = (draw) => (page.isHeld ? held.push(draw) : ask(draw));
    page.let = () => {
      page.isHeld = false;
      for (const draw of held.splice(0)) ask(draw);
    };
    const add = Worker.prototype.addEventListener;
    Worker.prototype.addEventListener = function (
      /** @type {string} */ type,
      /** @type {any} */ listener,
    ) {
      const counted = (/** @type {MessageEvent} */ event) => {
        listener(event);
        if (event.data.result?.worst !== undefined) page.checks++;
      };
      add.call(this, type, type === 'message' ? counted : listener);
    };
    Object.assign(window, { frames: page });
  });
  return (/** @type {'hold' | 'let' | 'checks'} */ what) =>
    tab.evaluate((name) => {
      const page = /** @type {any} */ (window).frames;
      if (name === 'hold') page.isHeld = true;
      if (name === 'let') page.let();
      return page.checks;
    }, what);
}

test('the seal is set on what can be seen: not before it is drawn', async () => {
  const { tab, complaints } = await openTab(browser);
  const frames = await holdFrames(tab);
  await tab.goto(site.page);
  await checked(tab, 'all 45 tokens');
  await frames('hold');
  await tab.selectOption('#layer-select', '5');
  await eventually(async () => assert.equal(await frames('checks'), 2));
  const seen = await Promise.all([
    tab.locator('#badge').getAttribute('data-state'),
    tab.locator('#layer-value').textContent(),
  ]);
  assert.deepEqual(seen, ['pending', '24']);
  await frames('let');
  await checked(tab, 'all 45 tokens');
  assert.equal(await tab.locator('#layer-value').textContent(), '5');
  assert.deepEqual(complaints, []);
  await tab.context().close();
});

test('what cannot be drawn is said on the page', async () => {
  const { tab, complaints } = await openTab(browser);
  await tab.goto(site.page);
  await checked(tab, 'all 45 tokens');
  // A page that is missing what the map's scale is written into.
  await tab.evaluate(() => document.querySelector('#scale')?.replaceChildren());
  await tab.selectOption('#colour-select', 'c');
  await tab.locator('#notice').filter({ hasText: 'could not draw' }).waitFor();
  assert.ok(complaints.some((words) => words.includes('TypeError')));
  await tab.context().close();
});

test('what was never drawn gets no seal, however right it is', async () => {
  const { tab } = await openTab(browser);
  await tab.addInitScript(() => {
    CanvasRenderingContext2D.prototype.putImageData = () => {
      throw new Error('no canvas');
    };
  });
  await tab.goto(site.page);
  const { state, words } = await settledBadge(tab);
  assert.deepEqual([state, words.includes('Not drawn')], ['bad', true], words);
  assert.match(String(await tab.locator('#notice').textContent()), /could not draw.*no canvas/);
  await tab.context().close();
});

/**
 * Lets an answer of the worker that is a layer wait, once it is told to, until another one has been asked for.
 * @param {Page} tab
 */
async function holdLayer(tab) {
  await tab.addInitScript(() => {
    const page = { isHeld: false, held: 0, asked: 0, let: () => {} };
    const post = Worker.prototype.postMessage;
    Worker.prototype.postMessage = function (/** @type {any} */ message) {
      if (message.name === 'show') page.asked++;
      post.call(this, message);
    };
    const add = Worker.prototype.addEventListener;
    Worker.prototype.addEventListener = function (
      /** @type {string} */ type,
      /** @type {any} */ listener,
    ) {
      add.call(this, type, (event) => {
        const isLayer = /** @type {MessageEvent} */ (event).data?.result?.contribution;
        if (!page.isHeld || isLayer === undefined) return listener(event);
        page.isHeld = false;
        page.held++;
        page.let = () => listener(event);
      });
    };
    Object.assign(window, { layers: page });
  });
}

test('a layer that is overtaken while it loads leaves no trace: forward leads where it led, and a link to it asks', async () => {
  const { tab, complaints } = await withOwnModel(holdLayer);
  const first = await addressOf(tab);
  await pressLoad(tab);
  await chooseFiles(tab, '#load-file', OWN_FILES);
  await tab.locator('#load-status').filter({ hasText: '2 gated MLPs' }).waitFor();
  await tab.selectOption('#load-list', '0');
  const layers = () => tab.evaluate(() => ({ .../** @type {any} */ (window).layers }));
  await tab.evaluate(() => {
    /** @type {any} */ (window).layers.isHeld = true;
  });
  const { asked } = await layers();
  await tab.click('#load-layer');
  await eventually(async () => assert.equal((await layers()).held, 1));
  await tab.goBack();
  await eventually(async () => assert.equal((await layers()).asked, asked + 2));
  await tab.evaluate(() => /** @type {any} */ (window).layers.let());
  await isShippedAgain(tab);
  await tab.locator('#load-status').filter({ hasText: 'Nothing was kept' }).waitFor();
  assert.equal(await tab.locator('#load-error').textContent(), '');
  await tab.click('#load-close');
  await tab.goForward();
  await checked(tab, 'all 8 tokens');
  assert.equal(await addressOf(tab), first);
  await tab.evaluate(
    (hash) => {
      location.hash = hash;
    },
    new URL(first).hash.replace('layers.1', 'layers.0'),
  );
  await tab.locator('#load-offer-words').filter({ hasText: 'model.layers.0.mlp' }).waitFor();
  assert.deepEqual(complaints, []);
  await tab.context().close();
});
