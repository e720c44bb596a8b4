// npm run bench:page: every budget of the page beside its limit, in Chromium, at 64 x 1536 and at 64 x 16384 cells of made-up
// weights. Prints, asserts nothing. Times are by Chromium's own count, of the processor's time and not the clock's, so that
// other programs of the machine inflate them less; medians, with the 95th percentile behind. Bytes are the built site's.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSite } from '../../web/bundle/build-site.js';
import { launchBrowser, openTab, servePage, settledBadge } from '../helpers/browser.js';
import { pressLoad } from '../helpers/load-dialog.js';
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

/**
 * @param {string} what
 * @param {number} value
 * @param {number} limit
 * @param {string} unit
 * @param {string} [more] said behind the figure
 */
function print(what, value, limit, unit, more = '') {
  const verdict = value <= limit ? 'ok' : 'OVER';
  const figure = unit === 'ms' ? value.toFixed(2) : value.toLocaleString('en');
  console.log(
    `${verdict.padEnd(5)}${what.padEnd(42)}${`${figure} ${unit}`.padStart(16)}   limit ${limit.toLocaleString('en').padEnd(9)} ${more}`,
  );
}

/** @param {number[]} values @param {number} share */
function quantile(values, share) {
  const sorted = [...values].sort((p, q) => p - q);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

/** @param {string} what @param {number[]} values @param {number} limit */
function printTimes(what, values, limit) {
  const tail = `95th percentile ${quantile(values, 0.95).toFixed(2)} ms`;
  print(what, quantile(values, 0.5), limit, 'ms', tail);
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
 * Milliseconds of scripting that an action of the page costs each time, its frame included.
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
  const times = [];
  for (let index = 0; index < REPEATS; index++) {
    const before = await script();
    await tab.evaluate(async (at) => {
      const { benched } = /** @type {{ benched: (index: number) => void }} */ (
        /** @type {unknown} */ (globalThis)
      );
      // Scripts of a task of their own are counted; what a driver runs is not.
      await new Promise((resolve) => setTimeout(resolve));
      benched(at);
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    }, index);
    times.push((await script()) - before);
  }
  return times;
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

/**
 * What is done meanwhile, and how long the longest task of the page's main thread took.
 * @param {import('playwright-core').Browser} browser
 * @param {Page} tab
 * @param {string} what
 * @param {() => Promise<void>} act
 */
async function longestTask(browser, tab, what, act) {
  const path = join(folder, 'trace.json');
  await browser.startTracing(tab, { path, categories: ['toplevel', 'devtools.timeline'] });
  await act();
  await browser.stopTracing();
  /** @typedef {{ name: string, pid: number, tid: number, dur?: number, tdur?: number, args: any }} TraceEvent */
  const events = /** @type {TraceEvent[]} */ (JSON.parse(readFileSync(path, 'utf8')).traceEvents);
  // The whole browser is traced, a page of its own included: ours is in the process whose scripts are ours.
  const { origin } = new URL(tab.url());
  const ours = new Set(
    events.filter(({ args }) => args.data?.url?.startsWith(origin)).map(({ pid }) => pid),
  );
  const threads = new Set(
    events
      .filter(({ name, pid, args }) => {
        return name === 'thread_name' && args.name === 'CrRendererMain' && ours.has(pid);
      })
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  let longest = { dur: 0, tdur: 0 };
  for (const { name, pid, tid, dur = 0, tdur = 0 } of events) {
    if (!name.endsWith('RunTask') || !threads.has(`${pid} ${tid}`)) continue;
    if (tdur > longest.tdur) longest = { dur, tdur };
  }
  const byClock = `${(longest.dur / 1000).toFixed(0)} ms by the clock`;
  print(`${what}, longest task`, longest.tdur / 1000, 50, 'ms', byClock);
}

/** E(S) of a hundred closed gates at one token: what the worker computes for one answer. @param {Page} tab @param {{ d: number, dFf: number }} size */
const costOfSet = (tab, size) =>
  tab.evaluate(
    async ({ d, dFf, repeats }) => {
      const { GatedMLP } = await import(new URL('../src/binding/index.js', location.href).href);
      const mlp = await GatedMLP.create(d, dFf);
      const x = new Float32Array(d).fill(1);
      const hold = Array.from({ length: 100 }, (_, unit) => ({ unit, value: 0 }));
      return Array.from({ length: repeats }, () => {
        const began = performance.now();
        const trace = mlp.trace(x, { hold });
        trace.output.at(0);
        trace.dispose();
        return performance.now() - began;
      });
    },
    { ...size, repeats: REPEATS },
  );

/**
 * @param {import('playwright-core').Browser} browser
 * @param {string} page
 * @param {{ d: number, dFf: number }} size
 */
async function benchSize(browser, page, size) {
  const { tab } = await openTab(browser);
  const session = await tab.context().newCDPSession(tab);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const open = async () => {
    await tab.goto(page);
    await settledBadge(tab);
    await tab.locator('.next-tokens').waitFor();
  };
  if (size.dFf === 1536) await longestTask(browser, tab, 'first view', open);
  else await open();
  const cells = `${TOKENS} x ${size.dFf}`;
  await pressLoad(tab);
  await tab.setInputFiles('#load-file', join(folder, `${size.dFf}.safetensors`));
  await tab.setInputFiles('#load-states', join(folder, `${size.dFf}-x.safetensors`));
  await tab
    .locator('#load-states-status')
    .filter({ hasText: `${TOKENS} tokens` })
    .waitFor();
  await longestTask(browser, tab, `${cells}: loading`, async () => {
    await tab.click('#load-layer');
    await tab.locator('#load-dialog').waitFor({ state: 'hidden' });
    await settledBadge(tab);
    await tab.locator('#cost').filter({ hasText: '%' }).waitFor();
    await tab.waitForTimeout(1000);
  });
  printTimes(`${cells}: hover, scripting`, await scripting(session, tab, hover), 4);
  printTimes(`${cells}: slide and repaint, scripting`, await scripting(session, tab, slide), 8);
  await longestTask(browser, tab, `${cells}: hover and slides`, async () => {
    await scripting(session, tab, hover);
    await scripting(session, tab, slide);
    await tab.waitForTimeout(500);
  });
  if (size.dFf === 1536) printTimes(`${cells}: E(S) of 100 gates`, await costOfSet(tab, size), 2);
  await tab.context().close();
}

/** @param {import('playwright-core').Browser} browser */
async function countBytes(browser) {
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
  await countBytes(browser);
  for (const size of SIZES) {
    writeModel(folder, size);
    await benchSize(browser, pages.page, size);
  }
} finally {
  await browser.close();
  pages.close();
  rmSync(folder, { recursive: true });
}
