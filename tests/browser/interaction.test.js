// What can be done on the page, and the numbers that come of it, against float64 Python (make_expected.py): classes, the
// pinned unit, sets of gates closed by hand, what-if, error curves, exports, colours, the tour, links.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { addressOf, openChecked, settledBadge, startPage } from '../helpers/browser.js';

const expected = JSON.parse(readFileSync(new URL('./expected.json', import.meta.url), 'utf8'));
/** The page shows three digits, and two of a share. */
const SHOWN = 0.0051;
const SHOWN_SHARE = 0.051;

const { browser, site } = await startPage();

/** @param {string} hash @param {import('playwright-core').BrowserContextOptions} [options] */
const opened = (hash, options) => openChecked(browser, `${site.page}${hash}`, options);

/** A number as the page writes it. @param {string | null} shown */
const parse = (shown) =>
  Number(
    (shown ?? '')
      .replace('\u2212', '-')
      .replace(/[\u202f\s%]/g, '')
      .replace('\u2212', '-'),
  );

/**
 * @param {string | null} shown
 * @param {number} value
 * @param {number} tolerance relative
 * @param {string} what
 */
function near(shown, value, tolerance, what) {
  const error = Math.abs(parse(shown) - value);
  assert.ok(error <= tolerance * Math.abs(value), `${what}: ${shown} for ${value}`);
}

for (const place of expected) {
  const { layer, prompt, token, unit, counts, pinned, sets, curves } = place;
  const link = `#v=1&l=${layer}&p=${prompt}&t=${token}&u=${unit}`;
  const where = `layer ${layer}, ${prompt}, token ${token}`;

  test(`${where}: counts, the pinned unit and the error curves are Python's`, async () => {
    const { tab, complaints } = await opened(link);
    for (const [name, count] of Object.entries(counts)) {
      const shown = await tab.locator(`#class-counts [data-class="${name}"] b`).textContent();
      assert.equal(Number(shown), count, name);
    }
    const { g, a, u, h, d, c } = pinned;
    const shown = await tab.locator('.product dd').allTextContents();
    [g, a, u, h, d, c].forEach((value, i) => {
      near(shown[i], value, SHOWN, 'guahdc'[i]);
    });
    const rank = await tab.locator('.rank').textContent();
    assert.equal(rank, `rank ${pinned.rank} of 1536 here`);
    await tab.locator('#effect').filter({ hasText: '%' }).waitFor();
    const [alone, along] = [
      .../[\d.\u2212]+\u202f%/g[Symbol.matchAll](
        (await tab.locator('#effect').textContent()) ?? '',
      ),
    ];
    near(alone[0], 100 * pinned.alone, SHOWN_SHARE, 'closing it alone');
    near(along[0], 100 * pinned.along, SHOWN_SHARE, 'along y');
    await comparePaths(tab, curves);
    assert.deepEqual(complaints, []);
    await tab.context().close();
  });

  test(`${where}: closing a whole set moves the output as far as Python says`, async () => {
    const { tab } = await opened(link);
    near(
      await tab.locator('#cost').filter({ hasText: '%' }).textContent(),
      100 * sets.closed,
      SHOWN_SHARE,
      'the cost in the sentence',
    );
    for (const [set, moved] of Object.entries(sets)) {
      await tab.goto(`${site.page}${link}&set=${set}`);
      const order = ['closed', 'leaking', 'negative', 'least'].indexOf(set);
      await tab
        .locator(`#hand-sets button:nth-of-type(${order + 1})[aria-pressed="true"]`)
        .waitFor();
      const result = tab.locator('#hand-result').filter({ hasText: 'moved' });
      await result.waitFor();
      const [, share] = /moved by ([^%]+%)/.exec((await result.textContent()) ?? '') ?? [];
      near(share, 100 * moved, SHOWN_SHARE, set);
    }
    await tab.context().close();
  });
}

/**
 * Reads points of the drawn curves back through the chart's axes (0 to 100 % lie between y = 178 and y = 10).
 * @param {import('playwright-core').Page} tab
 * @param {Record<string, Record<string, number>>} curves
 */
async function comparePaths(tab, curves) {
  await tab.locator('#chart-errors path.score-c').waitFor();
  for (const [score, points] of Object.entries(curves)) {
    const d = (await tab.locator(`#chart-errors path.score-${score}`).getAttribute('d')) ?? '';
    const drawn = d
      .slice(1)
      .split('L')
      .map((pair) => pair.split(' ').map(Number));
    assert.equal(drawn.length, 33);
    for (const [dropped, error] of Object.entries(points)) {
      const [, y] = drawn[Number(dropped) / 48];
      const shown = (178 - y) / 168;
      assert.ok(Math.abs(shown - Math.min(1, error)) < 1e-4, `${score} ${dropped}: ${shown}`);
    }
  }
  const reading = (await tab.locator('#errors-reading').textContent()) ?? '';
  const shares = [...reading.matchAll(/([\d.]+)\u202f%/g)].map(([, share]) => Number(share));
  assert.equal(shares.length, 9, reading);
  // Of a unit's three rows |a| and |u| take one to compute, |h| and c two.
  [2 / 3, 2 / 3, 1 / 3, 1 / 3].forEach((part, i) => {
    const wanted = shares[1 + i] * part;
    assert.ok(Math.abs(shares[5 + i] - wanted) <= 0.06 * wanted, reading);
  });
}

test('every activation on the same weights: its classes and the change of the output are Python\u2019s', async () => {
  const { tab, complaints } = await opened('');
  for (const { layer, prompt, token, unit, acts } of expected) {
    for (const [act, { change, ...counts }] of Object.entries(acts)) {
      await tab.goto(`${site.page}#v=1&l=${layer}&p=${prompt}&t=${token}&u=${unit}&act=${act}`);
      await settledBadge(tab);
      await tab.waitForFunction(() => document.body.dataset.status === 'ready');
      await tab.locator('#cost').filter({ hasText: '%' }).waitFor();
      assert.equal(await tab.locator('#act-select').inputValue(), act);
      for (const [name, count] of Object.entries(counts)) {
        const shown = await tab.locator(`#class-counts [data-class="${name}"] b`).textContent();
        assert.equal(Number(shown), count, `layer ${layer}, ${act}: ${name}`);
      }
      assert.equal(await tab.locator('#act-banner').isVisible(), act !== 'silu');
      if (act === 'silu') continue;
      const words = (await tab.locator('#act-banner-words').textContent()) ?? '';
      assert.match(words, /This model was trained with SwiGLU, not with /);
      const [, share] = /output by ([^%]+%)/.exec(words) ?? [];
      near(share, 100 * change, SHOWN_SHARE, `layer ${layer}, ${act}`);
    }
  }
  await tab.click('#act-back');
  await tab.locator('#act-banner').waitFor({ state: 'hidden' });
  assert.doesNotMatch(await addressOf(tab), /act=/);
  assert.deepEqual(complaints, []);
  await tab.context().close();
});

test('gates held by hand add up and are undone step by step; a what-if far below shuts the gate', async () => {
  const { tab } = await opened('');
  await tab.click('#hand-sets button >> nth=0');
  await tab.locator('#hand-result').filter({ hasText: '141 gates closed' }).waitFor();
  await tab.click('#close-gate');
  await tab.locator('#hand-result').filter({ hasText: '142 gates closed' }).waitFor();
  await tab.click('#hand-undo');
  await tab.locator('#hand-result').filter({ hasText: '141 gates closed' }).waitFor();
  await tab.click('#hand-undo');
  await tab.waitForFunction(() => document.getElementById('hand-result')?.textContent === '');
  await tab.locator('#what-if').focus();
  await tab.keyboard.press('Home');
  await tab.locator('#hand-result').filter({ hasText: 'set to \u221212.0' }).waitFor();
  // silu(-12) is -7e-5: as good as closed.
  const [, share] =
    /moved by ([^%]+%)/.exec((await tab.locator('#hand-result').textContent()) ?? '') ?? [];
  near(share, 100 * expected[0].pinned.alone, SHOWN_SHARE, 'shut by g');
  await tab.context().close();
});

test('CSV has one row a unit with full numbers, JSON the state and the definitions', async () => {
  const { tab } = await opened('');
  const download = async (/** @type {string} */ button) => {
    const [file] = await Promise.all([tab.waitForEvent('download'), tab.click(button)]);
    return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
  };
  const csv = await download('#export-csv');
  assert.equal(csv.name, 'gates-layer24-chat-token41.csv');
  const rows = csv.bytes.toString().trim().split('\r\n');
  assert.equal(rows.length, 1537);
  const [, , unit, g, , , , c, pi, name] = rows[1006].split(',');
  assert.deepEqual([unit, name], ['1005', 'open']);
  assert.ok(Math.abs(Number(g) - expected[0].pinned.g) < 1e-5 * expected[0].pinned.g);
  assert.ok(Math.abs(Number(c) - expected[0].pinned.c) < 1e-5 * expected[0].pinned.c);
  assert.ok(Math.abs(Number(pi) - expected[0].pinned.along) < 1e-5 * expected[0].pinned.along);
  const json = JSON.parse((await download('#export-json')).bytes.toString());
  assert.equal(json.state.unit, 1005);
  assert.equal(json.token.leaking, expected[0].counts.leaking);
  assert.match(json.check, /weights file intact/);
  const png = await download('#export-png');
  assert.equal(png.bytes.subarray(1, 4).toString(), 'PNG');
  await tab.context().close();
});

test('a picture that cannot be drawn is said to be not saved', async () => {
  const { tab } = await opened('');
  await tab.route('**/picture.js', (route) => route.abort());
  await tab.click('#export-png');
  await tab.locator('#export-status').filter({ hasText: 'Nothing was saved' }).waitFor();
  await tab.context().close();
});

test('each pixel of the map is the colour of its class', async () => {
  const { tab } = await opened('#v=1&l=24&p=chat&t=41&sort=index');
  const counts = await tab.evaluate(() => {
    const canvas = /** @type {HTMLCanvasElement} */ (document.querySelector('#map canvas'));
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
    const row = Math.floor((41.5 * canvas.height) / 45);
    const { data } = context.getImageData(0, row, canvas.width, 1);
    /** @type {Record<string, number>} */
    const seen = {};
    for (let i = 0; i < data.length; i += 4) {
      const colour = [...data.subarray(i, i + 3)].map((byte) => byte.toString(16)).join('');
      seen[colour] = (seen[colour] ?? 0) + 1;
    }
    return seen;
  });
  const { shut, crossing, leaking, open } = expected[0].counts;
  assert.deepEqual(counts, { f1efe9: shut + crossing, '4b8bbd': leaking, '6a250': open });
  await tab.context().close();
});

test('every key of a link is kept in the page and comes back', async () => {
  const link =
    '#v=1&l=5&p=code&t=3&u=77&vs=4.12&grad=c507&tau=0.1&act=gelu&sort=c&closed=5,77&by=g&only=open&first=1&tour=2&hide=load,theme&set=closed&keep=100&g=-3.5&x=y';
  const { tab } = await opened(link);
  await tab.click('.token >> nth=3');
  const kept = new URL(await addressOf(tab)).hash;
  assert.equal(kept, link);
  assert.equal(await tab.locator('#load-open').isVisible(), false);
  assert.equal(await tab.locator('#notice').isVisible(), false);
  await tab.context().close();
});

test('the tour leads through six live states by keyboard and can be left', async () => {
  const { tab, complaints } = await opened('');
  await tab.locator('#tour-start').focus();
  for (let stop = 1; stop <= 6; stop++) {
    await tab.keyboard.press('Enter');
    await tab
      .locator('#tour-place')
      .filter({ hasText: `${stop} of 6` })
      .waitFor();
    await settledBadge(tab);
  }
  assert.equal(await tab.locator('#layer-select').inputValue(), '11');
  assert.equal(await tab.locator('#inspector-title').textContent(), 'Unit 1229');
  await tab.keyboard.press('Enter');
  await tab.locator('#tour').waitFor({ state: 'hidden' });
  assert.deepEqual(complaints, []);
  await tab.context().close();
});

test('the tables give the same finding as the map', async () => {
  const { tab } = await opened('');
  await tab.click('#units-details summary');
  await tab.locator('#units-table tr').first().waitFor();
  const first = await tab.locator('#units-table tr').first().locator('td').allTextContents();
  assert.deepEqual([first[0], first[1], first[2]], ['1', '1005', 'open']);
  near(first[7], expected[0].pinned.c, SHOWN, 'c');
  await tab.click('#tokens-details summary');
  await tab.locator('#tokens-table tr >> nth=41').waitFor();
  const row = await tab.locator('#tokens-table tr >> nth=41').locator('td').allTextContents();
  const { shut, crossing, leaking, open, negative } = expected[0].counts;
  assert.deepEqual(row.map(Number), [shut, crossing, leaking, open, negative]);
  await tab.context().close();
});
