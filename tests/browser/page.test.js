// The page in Chromium, on the real layers: what it shows against the fixtures, how it loads, and that it is used by
// keyboard. Expected numbers are Hugging Face's (prompts.json), never the page's own.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import {
  addressOf,
  alterableRepository,
  eventually,
  openTab,
  servePage,
  settledBadge,
  startPage,
} from '../helpers/browser.js';
import { readJson } from '../helpers/goldens.js';
import { pressLoad } from '../helpers/load-dialog.js';

const LAYER_24 = 'smollm2-135m-instruct-layer24.safetensors';
const FIRST_VIEW_BYTES = 6_000_000;

const { layers, prompts } = readJson('smollm2-135m-instruct-prompts.json');
const { browser, site } = await startPage();

/** @param {string} label of a token button */
function countsIn(label) {
  const [, closed, leaking, open, negative] =
    /: (\d+) closed, (\d+) leaking, (\d+) open; (\d+) gates negative$/.exec(label) ?? [];
  return [closed, leaking, open, negative].map(Number);
}

/** @param {import('playwright-core').Page} tab @param {string} selector */
async function textOf(tab, selector) {
  return String(await tab.locator(selector).textContent());
}

/** A share as the page writes it, to two digits. @param {string} shown @param {number} value */
function near(shown, value) {
  const error = Math.abs(parseFloat(shown) - value);
  assert.ok(error <= 0.051 * value, `${shown} for ${value}`);
}

/** @param {import('playwright-core').Page} tab */
async function labelsOfStrip(tab) {
  return tab.locator('.token').evaluateAll((nodes) => nodes.map((node) => node.ariaLabel ?? ''));
}

test('it opens on the capital-city gate, checked and without a complaint', async () => {
  const { tab, complaints } = await openTab(browser);
  await tab.goto(site.page);
  const badge = await settledBadge(tab);
  assert.equal(badge.state, 'ok', badge.words);
  assert.match(badge.words, /all 45 tokens.*weights file intact/s);
  assert.equal(await tab.locator('#layer-select').inputValue(), '24');
  assert.equal(await tab.locator('#prompt-select').inputValue(), 'chat');
  assert.equal(await tab.locator('#token-value').textContent(), '“ is”');
  assert.equal(await tab.locator('#inspector-title').textContent(), 'Unit 1005');
  assert.deepEqual(complaints, []);
  await tab.context().close();
});

test('counts of closed units and negative gates are those of prompts.json, for every token', async () => {
  const { tab } = await openTab(browser);
  await tab.goto(site.page);
  await settledBadge(tab);
  for (const layer of layers) {
    for (const { name, closure } of prompts) {
      await tab.selectOption('#layer-select', String(layer));
      await tab.selectOption('#prompt-select', name);
      await tab.waitForFunction(() => document.body.dataset.status === 'ready');
      const expected = closure[String(layer)];
      for (const tau of Object.keys(expected.closed_per_token)) {
        await tab.fill('#tau', tau);
        await tab.locator('#tau').blur();
        const where = `layer ${layer}, ${name}, ${tau}`;
        await eventually(async () => compareCounts(await labelsOfStrip(tab), expected, tau, where));
      }
    }
  }
  await tab.context().close();
});

/**
 * @param {string[]} labels
 * @param {Record<string, any>} expected
 * @param {string} tau
 * @param {string} where
 */
function compareCounts(labels, expected, tau, where) {
  const closed = expected.closed_per_token[tau];
  assert.equal(labels.length, closed.length, where);
  let undecided = 0;
  labels.forEach((label, token) => {
    const [shownClosed, leaking, open, negative] = countsIn(label);
    undecided += Math.abs(shownClosed - closed[token]);
    assert.equal(negative, expected.negative_gates_per_token[token], `${where}: ${label}`);
    assert.equal(shownClosed + leaking + open, 1536, label);
  });
  assert.ok(undecided <= expected.within_1e_5_of_threshold[tau], `${where}: ${undecided} differ`);
}

test('the numbers of the pinned unit are those of the fixtures', async () => {
  const { tab } = await openTab(browser);
  await tab.goto(site.page);
  await settledBadge(tab);
  const chat = prompts.find((/** @type {{ name: string }} */ { name }) => name === 'chat');
  const [unit, contribution] = chat.closure['24'].largest_contributions[41][0];
  assert.equal(await tab.locator('#inspector-title').textContent(), `Unit ${unit}`);
  const shown = await tab.locator('.product dd').allTextContents();
  assert.equal(shown.at(-1), contribution.toPrecision(3));
  await tab.locator('#effect').filter({ hasText: '%' }).waitFor();
  const share = (100 * contribution) / chat.closure['24'].y_norm_per_token[41];
  assert.match(await textOf(tab, '#effect'), new RegExp(` ${share.toFixed(0)}\\s%`));
  await tab.context().close();
});

test('closing the gate recomputes the output and shows the recorded run', async () => {
  const { tab } = await openTab(browser);
  await tab.goto(site.page);
  await settledBadge(tab);
  await tab.locator('.next-tokens').waitFor();
  const { prompts: runs } = readJson('smollm2-135m-instruct-whatif.json');
  const run = runs.chat.shut.find(
    (/** @type {any} */ { layer, unit }) => layer === 24 && unit === 1005,
  );
  const guesses = async () =>
    (await tab.locator('.next-tokens li').allTextContents()).map((row) => row.replace(/\s/g, ' '));
  // As it is: the model's own three, and no word that only the other run has.
  const own = runs.chat.base.top3[41];
  const before = await guesses();
  assert.equal(before.length, own.length);
  own.forEach((/** @type {[string, number]} */ [piece, p], /** @type {number} */ i) => {
    assert.ok(before[i].startsWith(piece), before[i]);
    near(before[i].slice(piece.length), 100 * p);
  });
  await tab.click('#close-gate');
  await tab.locator('#effect').filter({ hasText: 'Closed by hand' }).waitFor();
  await tab.locator('.next-tokens li').filter({ hasText: '→' }).first().waitFor();
  const after = await guesses();
  const shut = run.top3[41];
  shut.forEach((/** @type {[string, number]} */ [piece, p], /** @type {number} */ i) => {
    assert.ok(after[i].startsWith(piece), after[i]);
    near(after[i].split('→')[1], 100 * p);
  });
  const paris = after.find((row) => row.startsWith(' Paris')) ?? '';
  near(paris.slice(' Paris'.length).split('→')[0], 100 * own[0][1]);
  const likely = after.map((row) => parseFloat(row.split('→')[1].replace('<', '')));
  assert.deepEqual(
    likely,
    [...likely].sort((p, q) => q - p),
  );
  assert.match(await addressOf(tab), /closed=1005/);
  await tab.context().close();
});

test('one flipped bit anywhere in the layer file turns the badge red', async () => {
  const original = readFileSync(new URL(`../../fixtures/${LAYER_24}`, import.meta.url));
  const headerEnd = 8 + Number(original.readBigUInt64LE(0));
  const places = {
    'a name in the header': 60,
    padding: headerEnd - 1,
    'the lowest bit of a weight': headerEnd + 2_000_000,
    'the last byte': original.length - 2,
  };
  const copy = alterableRepository([LAYER_24]);
  const altered = await servePage({ root: copy.root });
  try {
    for (const [what, place] of Object.entries(places)) {
      const bytes = Buffer.from(original);
      bytes[place] ^= 1;
      writeFileSync(copy.paths[0], bytes);
      const { tab } = await openTab(browser);
      await tab.goto(altered.page);
      const badge = await settledBadge(tab);
      assert.equal(badge.state, 'bad', `${what}: ${badge.words}`);
      await tab.context().close();
    }
  } finally {
    altered.close();
    copy.remove();
  }
});

test('the first view fits its budget although nothing is bundled, gate_proj comes first, and only this origin is asked', async () => {
  const fresh = await servePage();
  const { tab } = await openTab(browser);
  /** @type {string[]} */
  const foreign = [];
  /** In the order in which they are made; they may arrive in another. @type {string[]} */
  const ranges = [];
  tab.context().on('request', (request) => {
    if (!request.url().startsWith(fresh.address)) foreign.push(request.url());
    if (request.url().endsWith(LAYER_24)) ranges.push(request.headers().range ?? '');
  });
  await tab.goto(fresh.page);
  await settledBadge(tab);
  await tab.locator('.next-tokens').waitFor();
  const sent = fresh.bytesSent();
  assert.ok(sent <= FIRST_VIEW_BYTES, `${sent} bytes`);
  // The first request is the header's; the first after it is the gate's rows.
  assert.match(ranges[1], new RegExp(`^bytes=${gateBegin()}-`));
  assert.deepEqual(foreign, []);
  const late =
    /load-dialog|load-offer|brought|opened-model|export-files|forward-timing|lesson-bench/;
  assert.deepEqual(
    fresh.requests.map(({ url }) => url).filter((url) => late.test(url)),
    [],
    'code that is fetched when it is wanted',
  );
  await tab.context().close();
  fresh.close();
});

/** Where gate_proj's bytes begin in the layer file. */
function gateBegin() {
  const file = readFileSync(new URL(`../../fixtures/${LAYER_24}`, import.meta.url));
  const length = Number(file.readBigUInt64LE(0));
  const header = JSON.parse(file.subarray(8, 8 + length).toString());
  return 8 + length + header['model.layers.24.mlp.gate_proj.weight'].data_offsets[0];
}

test('classes appear while the gate rows land, before up and down are here', async () => {
  const begin = gateBegin();
  /** @type {() => void} */
  let release = () => {};
  const held = new Promise((resolve) => {
    release = () => resolve(undefined);
  });
  const slow = await servePage({
    before: async ({ url = '', headers }) => {
      const range = headers.range ?? '';
      const isHeader = range.startsWith('bytes=0-');
      if (url.endsWith(LAYER_24) && !isHeader && !range.startsWith(`bytes=${begin}-`)) await held;
    },
  });
  const { tab } = await openTab(browser);
  await tab.goto(slow.page);
  await tab.locator('#partial').filter({ hasText: 'of 1536 gates have arrived' }).waitFor();
  // More rows may come at any time: both are read at one.
  const seen = await tab.evaluate(() => ({
    partial: document.querySelector('#partial')?.textContent ?? '',
    label: document.querySelectorAll('.token')[41].ariaLabel ?? '',
  }));
  const rows = Number(/^\d+/.exec(seen.partial));
  const [closed, leaking, open] = countsIn(seen.label);
  assert.ok(rows > 0, `${rows} rows`);
  assert.equal(closed + leaking + open, rows);
  assert.equal(await tab.locator('#badge').getAttribute('data-state'), 'pending');
  assert.equal(await tab.locator('#cost').textContent(), '…');
  release();
  assert.equal((await settledBadge(tab)).state, 'ok');
  const whole = countsIn((await labelsOfStrip(tab))[41]);
  assert.ok(whole[0] >= closed && whole[1] >= leaking && whole[2] >= open, String(whole));
  assert.equal(await tab.locator('#partial').isVisible(), false);
  await tab.context().close();
  slow.close();
});

test('the map is walked, pinned, closed and left with the keyboard alone', async () => {
  const { tab, complaints } = await openTab(browser);
  await tab.goto(site.page);
  await settledBadge(tab);
  await tab.locator('.token[aria-pressed="true"]').focus();
  await tab.keyboard.press('ArrowLeft');
  await tab.locator('#token-value').filter({ hasText: '“ France”' }).waitFor();
  await tab.keyboard.press('ArrowRight');
  await tab.locator('#token-value').filter({ hasText: '“ is”' }).waitFor();
  await tab.locator('.skip').focus();
  await tab.keyboard.press('Enter');
  await tab.locator('.cell-grid:focus-visible').waitFor();
  const active = () =>
    tab.evaluate(() => {
      const grid = document.querySelector('.cell-grid');
      const id = grid?.getAttribute('aria-activedescendant') ?? '';
      return document.getElementById(id)?.textContent ?? '';
    });
  assert.match(await active(), /token “ is”, unit 1005, open, act 5\.98, rank 1 of 1536/);
  /** The active cell, once it is another than before. @param {string} before */
  const activeAfter = async (before) => {
    for (;;) {
      const now = await active();
      if (now !== before) return now;
    }
  };
  const pinned = await active();
  await tab.keyboard.press('ArrowUp');
  const above = await activeAfter(pinned);
  assert.match(above, /token “ France”, unit 1005/);
  await tab.keyboard.press('ArrowDown');
  assert.equal(await activeAfter(above), pinned);
  await tab.keyboard.press('n');
  const next = await activeAfter(pinned);
  assert.match(next, /token “ is”, unit \d+, open/);
  assert.doesNotMatch(next, /unit 1005/);
  await tab.keyboard.press('Enter');
  const unit = /unit (\d+)/.exec(next)?.[1];
  assert.match(await addressOf(tab), new RegExp(`u=${unit}\\b`));
  await tab.keyboard.press(' ');
  await tab.locator('#effect').filter({ hasText: 'Closed by hand' }).waitFor();
  assert.match(await active(), new RegExp(`unit ${unit}, open \\(closed by hand\\)`));
  await tab.keyboard.press('Escape');
  assert.doesNotMatch(await addressOf(tab), /[&#]u=/);
  assert.deepEqual(complaints, []);
  await tab.context().close();
});

test('a link opens what it names, and a bad value is told and replaced', async () => {
  const { tab } = await openTab(browser);
  await tab.goto(`${site.page}#v=1&l=11&p=english&t=0&u=1229&tau=9&later=kept`);
  assert.equal((await settledBadge(tab)).state, 'ok');
  assert.equal(await tab.locator('#inspector-title').textContent(), 'Unit 1229');
  assert.equal(await tab.locator('#layer-select').inputValue(), '11');
  assert.equal(await tab.locator('#tau').inputValue(), '0.05');
  assert.match(await textOf(tab, '#notice'), /\(tau\)/);
  await tab.click('.token >> nth=3');
  assert.match(await addressOf(tab), /l=11&p=english&t=3&u=1229&.*later=kept/);
  await tab.context().close();
});

test('another checkpoint is opened by its address and shown as a synthetic probe', async () => {
  const { tab, complaints } = await openTab(browser);
  await tab.goto(site.page);
  await settledBadge(tab);
  await pressLoad(tab);
  await tab.fill('#load-url', `${site.address}fixtures/no-such-file.safetensors`);
  await tab.keyboard.press('Enter');
  await tab.locator('#load-error').filter({ hasText: '404' }).waitFor();
  await tab.fill('#load-url', `${site.address}web/index.html`);
  await tab.keyboard.press('Enter');
  await tab.locator('#load-error').filter({ hasText: 'not a safetensors file' }).waitFor();
  await tab.fill('#load-url', `${site.address}fixtures/smollm2-135m-instruct-layer05.safetensors`);
  await tab.keyboard.press('Enter');
  await tab.locator('#load-status').filter({ hasText: 'One gated MLP' }).waitFor();
  await tab.click('#load-layer');
  await tab.locator('#load-dialog').waitFor({ state: 'hidden' });
  const badge = await settledBadge(tab);
  assert.equal(badge.state, 'warning');
  assert.match(badge.words, /Synthetic probe/);
  assert.equal(await tab.locator('.token').count(), 8);
  assert.deepEqual(
    complaints.filter((text) => !/404|no-such-file/.test(text)),
    [],
  );
  await tab.context().close();
});
