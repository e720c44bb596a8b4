// axe-core on the page in the states that people meet: no violation in any of them.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { eventually, openTab, servePage, settledBadge, startPage } from '../helpers/browser.js';
import { pressLoad } from '../helpers/load-dialog.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const { browser, site } = await startPage();

/** @typedef {import('playwright-core').Page} Page */
const PHONE = { viewport: { width: 390, height: 844 } };

/** @type {Record<string, { options?: import('playwright-core').BrowserContextOptions, hash?: string,
 *   act?: (tab: Page) => Promise<void> }>} */
const STATES = {
  light: {},
  dark: { options: { colorScheme: 'dark' } },
  'on a phone': { options: PHONE },
  'on a phone, dark': { options: { ...PHONE, colorScheme: 'dark' } },
  'on a phone, all tokens': { options: PHONE, act: async (tab) => tab.click('#tab-tokens') },
  'on a phone, the sheet open': {
    options: PHONE,
    act: async (tab) => tab.click('#sheet-handle'),
  },
  'on a phone, with forced colours': { options: { ...PHONE, forcedColors: 'active' } },
  'with forced colours': { options: { forcedColors: 'active' } },
  'pinned, a set closed, a what-if': { hash: '#v=1&l=5&p=code&t=10&u=588&set=negative&g=-3' },
  'coloured by a number, in the tour': { hash: '#v=1&by=h&tour=5' },
  'sorted into groups, coloured by pi': { hash: '#v=1&by=pi&sort=cosine' },
  'with another activation': { hash: '#v=1&act=relu' },
  'with no activation, dark': { hash: '#v=1&act=none', options: { colorScheme: 'dark' } },
  'compared, its weights open, coloured by a gradient': {
    hash: '#v=1&vs=41.276&by=dg&grad=c507',
    act: async (tab) => {
      await tab.click('#unit-parts summary');
      await tab.locator('#compare').waitFor();
      await tab.locator('#gradient').scrollIntoViewIfNeeded();
      await tab.locator('.stage-row').first().waitFor();
    },
  },
  'tables open': {
    act: async (tab) => {
      await tab.click('#units-details summary');
      await tab.click('#tokens-details summary');
    },
  },
  'timed, on a phone, dark': {
    options: { ...PHONE, colorScheme: 'dark' },
    act: async (tab) => {
      await tab.locator('#errors-reading:not(:empty)').waitFor();
      await tab.click('#timing-start');
      await tab.locator('#timing-result p').first().waitFor();
    },
  },
  'an error in the load dialog': {
    act: async (tab) => {
      await pressLoad(tab);
      await tab.fill('#load-url', `${site.address}fixtures/no-such-file.safetensors`);
      await tab.keyboard.press('Enter');
      await tab.locator('#load-error').filter({ hasText: '404' }).waitFor();
    },
  },
  'a model opened, its layers to choose from': {
    act: async (tab) => {
      await pressLoad(tab);
      await tab.click('#load-more summary');
      await tab.fill('#load-url', `${site.address}tests/browser/capture/model.safetensors`);
      await tab.keyboard.press('Enter');
      await tab.locator('#load-choice').waitFor();
    },
  },
  'a link with a bad value': { hash: '#v=1&tau=9' },
};

/** @param {Page} tab */
async function violations(tab) {
  await tab.evaluate(axe);
  const { violations: found } = await tab.evaluate('axe.run()');
  return found.map((/** @type {any} */ { id, nodes }) => `${id}: ${nodes[0].html}`);
}

for (const [name, { options, hash = '', act }] of Object.entries(STATES)) {
  test(`${name}: axe finds nothing`, async () => {
    const { tab } = await openTab(browser, options);
    await tab.goto(`${site.page}${hash}`);
    await settledBadge(tab);
    await tab.locator('#cost').filter({ hasText: '%' }).waitFor();
    await act?.(tab);
    assert.deepEqual(await violations(tab), []);
    await tab.context().close();
  });
}

test('a link to a loaded model, before the reader agrees: axe finds nothing', async () => {
  for (const options of [{}, PHONE]) {
    const { tab } = await openTab(browser, options);
    await tab.goto(`${site.page}#v=1&m=example-org%2Fmodel&mlp=model.layers.3.mlp&size=5308416`);
    await tab.locator('#load-offer').waitFor();
    assert.deepEqual(await violations(tab), []);
    await tab.context().close();
  }
});

test('while the layer is loading: axe finds nothing', async () => {
  let asked = 0;
  const held = await servePage({
    before: ({ url = '', headers }) => {
      if (!url.includes('layer24') || headers.range?.startsWith('bytes=0-')) return;
      asked++;
      return new Promise(() => {});
    },
  });
  const { tab } = await openTab(browser);
  await tab.goto(held.page);
  await eventually(async () => assert.ok(asked > 0));
  assert.equal(await tab.locator('#badge').getAttribute('data-state'), 'pending');
  assert.deepEqual(await violations(tab), []);
  await tab.context().close();
  held.close();
});

test('where colours are forced the classes keep three patterns in the legend and three tones in the map', async () => {
  const { tab } = await openTab(browser, { forcedColors: 'active' });
  await tab.goto(site.page);
  await settledBadge(tab);
  const seen = await tab.evaluate(() => {
    const canvas = /** @type {HTMLCanvasElement} */ (document.querySelector('#map canvas'));
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    const tones = new Set(new Uint32Array(data.buffer));
    const patterns = [...document.querySelectorAll('.legend .swatch')].map((node) => {
      const { backgroundImage, backgroundColor } = getComputedStyle(node);
      return `${backgroundImage} ${backgroundColor}`;
    });
    return { tones: tones.size, patterns: new Set(patterns).size };
  });
  assert.deepEqual(seen, { tones: 3, patterns: 4 });
  await tab.context().close();
});

test('on paper the controls are gone and the finding, the map and the prose are there', async () => {
  const { tab } = await openTab(browser);
  await tab.goto(site.page);
  await settledBadge(tab);
  await tab.emulateMedia({ media: 'print' });
  for (const control of ['.top nav', '.hand', '.exports', '#what-if']) {
    assert.equal(await tab.locator(control).isVisible(), false, control);
  }
  for (const part of ['.sentence', '#map canvas', '#inspector-title', '.prose']) {
    assert.equal(await tab.locator(part).isVisible(), true, part);
  }
  await tab.context().close();
});

test('with reduced motion nothing moves by itself', async () => {
  const { tab } = await openTab(browser, { reducedMotion: 'reduce' });
  await tab.goto(site.page);
  await settledBadge(tab);
  const moving = await tab.evaluate(
    () =>
      [...document.querySelectorAll('*')].filter((node) => {
        const { transitionDuration, animationName } = getComputedStyle(node);
        return transitionDuration !== '0s' || animationName !== 'none';
      }).length,
  );
  assert.equal(moving, 0);
  await tab.context().close();
});

test('nothing is wider than the screen at 320 pixels', async () => {
  const { tab } = await openTab(browser, { viewport: { width: 320, height: 640 } });
  await tab.goto(site.page);
  await settledBadge(tab);
  const overflow = await tab.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  assert.equal(overflow, 0);
  await tab.context().close();
});
