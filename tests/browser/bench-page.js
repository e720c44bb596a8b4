// npm run bench:page: every budget of the page beside its limit, in Chromium, at 64 x 1536 and at 64 x 16384 cells of made-up
// weights. Prints, asserts nothing. Times are those of the scripts by Chromium's own count; bytes are the built site's.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSite } from '../../web/bundle/build-site.js';
import { launchBrowser, openTab, servePage, settledBadge } from '../helpers/browser.js';
import { makeSafetensors } from '../helpers/make-safetensors.js';
import { startStaticHost } from '../helpers/static-host.js';

/** @typedef {import('playwright-core').Page} Page */
/** @typedef {import('playwright-core').CDPSession} Session */

const TOKENS = 64;
const SIZES = [
  { d: 576, dFf: 1536 },
  { d: 256, dFf: 16384 },
];
const REPEATS = 40;

/** @param {string} what @param {number} value @param {number} limit @param {string} unit */
function print(what, value, limit, unit) {
  const verdict = value <= limit ? 'ok' : 'OVER';
  const figure = unit === 'ms' ? value.toFixed(2) : value.toLocaleString('en');
  console.log(
    `${verdict.padEnd(5)}${what.padEnd(58)}${`${figure} ${unit}`.padStart(16)}   limit ${limit.toLocaleString('en')}`,
  );
}

/** Numbers about as large as a trained layer's, the same on every run. @param {number} length @param {number} scale */
function noise(length, scale) {
  let state = 1;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state / 2 ** 31 - 1) * scale;
  };
  return new Uint8Array(Float32Array.from({ length }, next).buffer);
}

/** A layer and 64 tokens for it. @param {string} folder @param {{ d: number, dFf: number }} size */
function writeModel(folder, { d, dFf }) {
  const tensor = (/** @type {[number, number]} */ shape, /** @type {number} */ scale) => ({
    dtype: 'F32',
    shape,
    data: noise(shape[0] * shape[1], scale),
  });
  const weights = makeSafetensors({
    'model.layers.0.mlp.down_proj.weight': tensor([d, dFf], 1.7 / Math.sqrt(dFf)),
    'model.layers.0.mlp.gate_proj.weight': tensor([dFf, d], 1.7 / Math.sqrt(d)),
    'model.layers.0.mlp.up_proj.weight': tensor([dFf, d], 1.7 / Math.sqrt(d)),
  });
  writeFileSync(join(folder, `${dFf}.safetensors`), weights);
  const states = makeSafetensors({ x: tensor([TOKENS, d], 1.7) });
  writeFileSync(join(folder, `${dFf}-x.safetensors`), states);
}

/**
 * Milliseconds of scripting that one action of the page costs, its frame included.
 * @param {Session} session
 * @param {Page} tab
 * @param {(index: number) => void} action runs in the page
 */
async function scripting(session, tab, action) {
  const script = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return 1000 * (metrics.find(({ name }) => name === 'ScriptDuration')?.value ?? 0);
  };
  await tab.evaluate(`globalThis.benched = ${action}`);
  const before = await script();
  await tab.evaluate(async (count) => {
    const { benched } = /** @type {{ benched: (index: number) => void }} */ (
      /** @type {unknown} */ (globalThis)
    );
    for (let i = 0; i < count; i++) {
      benched(i);
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    }
  }, REPEATS);
  return ((await script()) - before) / REPEATS;
}

/** @param {number} index */
function hover(index) {
  const map = /** @type {HTMLElement} */ (document.querySelector('.cell-grid'));
  const box = map.getBoundingClientRect();
  const clientX = box.left + ((index * 37) % 97) * 0.01 * box.width;
  const clientY = box.top + ((index * 11) % 31) * 0.03 * box.height;
  map.dispatchEvent(new PointerEvent('pointermove', { clientX, clientY, bubbles: true }));
}

/** @param {number} index */
function slide(index) {
  const slider = /** @type {HTMLInputElement} */ (document.querySelector('#tau-slider'));
  slider.value = String(200 + ((index * 53) % 300));
  slider.dispatchEvent(new Event('input', { bubbles: true }));
}

/** The longest task of the page's main thread since it was asked last. @param {Page} tab */
const longestTask = (tab) =>
  tab.evaluate(() => {
    const { tasks } = /** @type {{ tasks: number[] }} */ (/** @type {unknown} */ (globalThis));
    return Math.max(0, ...tasks.splice(0));
  });

/** E(S) of a hundred closed gates at one token: what the worker computes for one answer. @param {Page} tab @param {{ d: number, dFf: number }} size */
const costOfSet = (tab, size) =>
  tab.evaluate(
    async ({ d, dFf, repeats }) => {
      const { GatedMLP } = await import(new URL('../src/binding/index.js', location.href).href);
      const mlp = await GatedMLP.create(d, dFf);
      const x = new Float32Array(d).fill(1);
      const hold = Array.from({ length: 100 }, (_, unit) => ({ unit, value: 0 }));
      const began = performance.now();
      for (let i = 0; i < repeats; i++) {
        const trace = mlp.trace(x, { hold });
        trace.output.at(0);
        trace.dispose();
      }
      return (performance.now() - began) / repeats;
    },
    { ...size, repeats: REPEATS },
  );

/** @param {import('playwright-core').Browser} browser @param {string} page @param {string} folder @param {{ d: number, dFf: number }} size */
async function benchSize(browser, page, folder, size) {
  const { tab } = await openTab(browser);
  await tab.addInitScript(() => {
    const tasks = /** @type {number[]} */ ([]);
    Object.assign(globalThis, { tasks });
    const observer = new PerformanceObserver((list) => {
      tasks.push(...list.getEntries().map(({ duration }) => duration));
    });
    observer.observe({ type: 'longtask', buffered: true });
  });
  const session = await tab.context().newCDPSession(tab);
  await session.send('Performance.enable');
  await tab.goto(page);
  await settledBadge(tab);
  const cells = `${TOKENS} x ${size.dFf}`;
  if (size.dFf === 1536) print('first view: longest task', await longestTask(tab), 50, 'ms');
  await tab.click('#load-open');
  await tab.setInputFiles('#load-file', join(folder, `${size.dFf}.safetensors`));
  await tab.setInputFiles('#load-states', join(folder, `${size.dFf}-x.safetensors`));
  await tab
    .locator('#load-states-status')
    .filter({ hasText: `${TOKENS} tokens` })
    .waitFor();
  await longestTask(tab);
  await tab.click('#load-layer');
  await tab.locator('#load-dialog').waitFor({ state: 'hidden' });
  await settledBadge(tab);
  await tab.locator('#cost').filter({ hasText: '%' }).waitFor();
  await tab.waitForTimeout(1000);
  print(`${cells}: loading, longest task`, await longestTask(tab), 50, 'ms');
  print(`${cells}: hover, scripting`, await scripting(session, tab, hover), 4, 'ms');
  print(
    `${cells}: threshold slides, scripting and repaint`,
    await scripting(session, tab, slide),
    8,
    'ms',
  );
  await tab.waitForTimeout(500);
  print(`${cells}: hover and slides, longest task`, await longestTask(tab), 50, 'ms');
  if (size.dFf === 1536) print(`${cells}: E(S) of 100 gates`, await costOfSet(tab, size), 2, 'ms');
  await tab.context().close();
}

/** @param {import('playwright-core').Browser} browser @param {string} folder */
async function countBytes(browser, folder) {
  const site = join(folder, 'site');
  await buildSite(site);
  const host = await startStaticHost(site);
  const { tab } = await openTab(browser);
  await tab.goto(host.address);
  await settledBadge(tab);
  await tab.locator('.next-tokens').waitFor();
  const weights = host.log.find(({ url }) => url.includes('layer24'));
  print('before any weight, as transferred', weights?.sentBefore ?? Infinity, 350_000, 'bytes');
  print('first view in all', host.sent, 6_000_000, 'bytes');
  await tab.context().close();
  host.close();
}

const folder = mkdtempSync(join(tmpdir(), 'gated-mlp-bench-'));
const browser = await launchBrowser();
const pages = await servePage();
try {
  console.log(
    `load ${loadavg()[0].toFixed(1)} on ${availableParallelism()} cores: times mean something below ${availableParallelism()}`,
  );
  await countBytes(browser, folder);
  for (const size of SIZES) {
    writeModel(folder, size);
    await benchSize(browser, pages.page, folder, size);
  }
} finally {
  await browser.close();
  pages.close();
  rmSync(folder, { recursive: true });
}
