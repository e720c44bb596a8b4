// The panels that look closer, against float64 Python (make_expected.py): named thresholds, the layer in numbers, the weights of
// a unit, two units compared, gradients. Also what they say in words, and that they are reached by keyboard.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { addressOf, eventually, openChecked, settledBadge, startPage } from '../helpers/browser.js';

const expected = JSON.parse(readFileSync(new URL('./expected.json', import.meta.url), 'utf8'));
/** The page shows three digits, and two of a share. */
const SHOWN = 0.0051;
const SHOWN_SHARE = 0.051;
/** Terms of a sum are float32 products shown to three digits; a share of nothing may be off by its last bits. */
const NOTHING = 1e-6;

const { browser, site } = await startPage();

/** @typedef {import('playwright-core').Page} Page */

/** @param {string} hash */
const opened = (hash) => openChecked(browser, `${site.page}${hash}`);

/** A number as the page writes it. @param {string | null | undefined} shown */
const parse = (shown) =>
  Number((shown ?? '').replaceAll('\u2212', '-').replace(/[\u202f\s%]/g, ''));

/**
 * @param {string | null | undefined} shown
 * @param {number} value
 * @param {number} tolerance relative
 * @param {string} what
 */
function near(shown, value, tolerance, what) {
  const error = Math.abs(parse(shown) - value);
  assert.ok(error <= tolerance * Math.abs(value) + NOTHING, `${what}: ${shown} for ${value}`);
}

/** @param {{ layer: number, prompt: string, token: number, unit: number }} place */
const linkTo = ({ layer, prompt, token, unit }) =>
  `#v=1&l=${layer}&p=${prompt}&t=${token}&u=${unit}`;

for (const place of expected) {
  const { layer, prompt, token, quantiles, measures, weights, gradients } = place;
  const where = `layer ${layer}, ${prompt}, token ${token}`;

  test(`${where}: the marked thresholds are the layer's quantiles, and choosing one closes that share`, async () => {
    const { tab } = await opened(linkTo(place));
    const options = await tab.locator('#tau-mark option').allTextContents();
    assert.ok(options.includes('0.278: the dip of act'), String(options));
    for (const [i, share] of ['50', '70', '90'].entries()) {
      const option = options.find((name) => name.includes(`closes ${share}`)) ?? '';
      near(option.split(':')[0], quantiles[i], SHOWN, option);
    }
    await tab
      .locator('#tau-mark')
      .selectOption({ label: options.find((o) => /closes 50/.test(o)) });
    const closed = tab
      .locator('[data-measure="closed"] td >> nth=1')
      .filter({ hasText: /^(49|50|51)/ });
    await closed.waitFor();
    await tab.context().close();
  });

  test(`${where}: the layer in numbers is Python's`, async () => {
    const { tab } = await opened(linkTo(place));
    await tab
      .locator('[data-measure="errorClosed"] td >> nth=1')
      .filter({ hasText: '%' })
      .waitFor();
    for (const [column, values] of [measures.token, measures.layer].entries()) {
      for (const [name, value] of Object.entries(values)) {
        const shown = await tab
          .locator(`[data-measure="${name}"] td >> nth=${column}`)
          .textContent();
        const isCount = name === 'spread' || name === 'half';
        const what = `${name}, ${column === 0 ? 'token' : 'layer'}`;
        near(shown, isCount ? value : 100 * value, isCount ? SHOWN : SHOWN_SHARE, what);
      }
    }
    await tab.context().close();
  });

  test(`${where}: what the unit's weights read and write is Python's`, async () => {
    const { tab, complaints } = await opened(linkTo(place));
    await tab.click('#unit-parts summary');
    for (const part of ['gate', 'up', 'outputs']) {
      const shown = await tab
        .locator(`[data-part-of="${part}"] g`)
        .evaluateAll((rows) =>
          rows.map((row) => [...row.querySelectorAll('text')].map((t) => t.textContent)),
        );
      assert.equal(shown.length, 8);
      weights[part].forEach(
        (/** @type {[number, number]} */ [dimension, value], /** @type {number} */ i) => {
          assert.equal(shown[i][0], String(dimension), `${part} ${i}`);
          near(shown[i][1], value, SHOWN, `${part} ${dimension}`);
        },
      );
    }
    for (const [name, value] of Object.entries(weights.cosines)) {
      const shown = await tab.locator(`[data-cosine="${name}"] dd`).textContent();
      near(shown, value, SHOWN_SHARE, name);
    }
    const sum = await tab.locator('[data-part-of="gate"] .sum').first().textContent();
    near(/g = (\S+)$/.exec(sum ?? '')?.[1], place.pinned.g, SHOWN, 'the sum of all is g');
    assert.deepEqual(complaints, []);
    await tab.context().close();
  });

  test(`${where}: gradients by class and of the unit are Python's`, async () => {
    const { tab } = await opened('');
    for (const [direction, { sums, unit }] of Object.entries(gradients)) {
      await tab.goto(`${site.page}${linkTo(place)}&grad=${direction}`);
      await settledBadge(tab);
      await tab.locator('#gradient').scrollIntoViewIfNeeded();
      const name = direction === 'y' ? 'the output itself' : 'channel 507';
      const line = tab.locator('#backward').filter({ hasText: name });
      await line.waitFor();
      const [h, u, g] =
        /: (\S+) arrives at h; (\S+) gets to u, through the gate; (\S+) to g/
          .exec((await line.textContent()) ?? '')
          ?.slice(1) ?? [];
      [h, u, g].forEach((shown, i) => {
        near(shown, unit[i], SHOWN, `${direction} ${'hug'[i]}`);
      });
      for (const [stage, parts] of Object.entries(sums)) {
        const whole = parts.reduce((/** @type {number} */ p, /** @type {number} */ q) => p + q, 0);
        // The shares are drawn after the line, and until then those of another direction may stand there.
        await eventually(async () => {
          const shares = await tab.locator(`[data-stage="${stage}"] .stage-shares`).textContent();
          const figures = (shares ?? '').split(', ').map((part) => part.split(' ')[1]);
          parts.forEach((/** @type {number} */ part, /** @type {number} */ i) => {
            near(figures[i], (100 * part) / whole, SHOWN_SHARE, `${direction} ${stage} ${i}`);
          });
        });
      }
    }
    await tab.context().close();
  });
}

test('a closed gate lets at most the threshold of what arrives through to up, in every direction', async () => {
  const { tab } = await opened('');
  await tab.locator('#gradient').scrollIntoViewIfNeeded();
  for (const kind of ['y', 'c', 't']) {
    await tab.selectOption('#gradient-kind', kind);
    const words = tab
      .locator('#gradient-words')
      .filter({ hasText: 'of that through to the up row' });
    await words.waitFor();
    const passed = /The gate lets ([^%]+%)/.exec((await words.textContent()) ?? '')?.[1];
    assert.ok(parse(passed) <= 5, `${kind}: ${passed}`);
  }
  assert.match(await addressOf(tab), /grad=t0/);
  await tab.context().close();
});

test('the map is coloured by the gradients of every token', async () => {
  const { tab, complaints } = await opened('#v=1&l=24&p=chat&t=41&u=1005&by=du');
  await tab.locator('#scale').waitFor();
  const limit = () => tab.locator('#scale span').last().textContent();
  // The scale's end is the largest over the tokens but the first: at this token unit 1005 has it, or a token has more.
  await tab.waitForFunction(
    (least) => {
      const shown = document.querySelectorAll('#scale span')[1]?.textContent ?? '';
      return Number(shown) >= least;
    },
    Math.abs(expected[0].gradients.y.unit[1]) * (1 - SHOWN),
  );
  assert.ok(parse(await limit()) > 0);
  assert.deepEqual(complaints, []);
  await tab.context().close();
});

test('a second pin compares two gates; Escape first ends the comparison, then the pin', async () => {
  const { tab, complaints } = await opened('');
  await tab.locator('#compare-keep').click();
  assert.match(await addressOf(tab), /vs=41\.1005/);
  await tab.locator('#compare-keep').filter({ hasText: 'Kept: now pin another gate' }).waitFor();
  await tab.fill('#unit-box', '276');
  await tab.locator('#unit-box').blur();
  const cells = tab.locator('#compare [data-row="c"] td');
  await cells.first().waitFor();
  const [here, there] = await cells.allTextContents();
  near(there, expected[0].pinned.c, SHOWN, 'c of the kept one');
  assert.ok(parse(here) < parse(there));
  assert.equal(await tab.locator('#compare [data-row="rank"] td >> nth=0').textContent(), '2');
  await tab.locator('.cell-grid').focus();
  await tab.keyboard.press('Escape');
  await tab.locator('#compare').waitFor({ state: 'hidden' });
  assert.match(await addressOf(tab), /u=276/);
  await tab.keyboard.press('ArrowRight');
  await tab.keyboard.press('Shift+Enter');
  assert.match(await addressOf(tab), /vs=41\.276/);
  await tab.locator('#compare').waitFor();
  await tab.keyboard.press('Escape');
  await tab.keyboard.press('Escape');
  assert.doesNotMatch(await addressOf(tab), /[&#](u|vs)=/);
  assert.deepEqual(complaints, []);
  await tab.context().close();
});

test('a unit is copied as JSON with all its numbers', async () => {
  const { tab } = await opened('');
  await tab.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await tab.locator('[data-cosine]').first().waitFor({ state: 'attached' });
  await tab.click('#copy-unit');
  await tab.locator('.unit-actions output').filter({ hasText: 'Copied' }).waitFor();
  const record = JSON.parse(await tab.evaluate(() => navigator.clipboard.readText()));
  const { pinned, weights } = expected[0];
  assert.deepEqual([record.unit, record.token, record.class, record.rank], [1005, 41, 'open', 1]);
  for (const name of ['g', 'a', 'u', 'h', 'c']) {
    assert.ok(Math.abs(record[name] - pinned[name]) < 1e-5 * Math.abs(pinned[name]), name);
  }
  assert.ok(Math.abs(record.cosines.upDown - weights.cosines.upDown) < 1e-6);
  assert.equal(record.ioClass, 'orthogonal');
  assert.equal(record.overTokens.habit, 'mixed');
  await tab.context().close();
});

test('counting the first token changes the layer\u2019s figures and is part of the link', async () => {
  const { tab } = await opened('#v=1&l=11&p=english&t=3');
  const cell = tab.locator('[data-measure="spread"] td >> nth=1');
  // The measures come after the badge has settled: until then the cell holds an ellipsis.
  const figure = async () => {
    await cell.filter({ hasText: /\d/ }).waitFor();
    return String(await cell.textContent());
  };
  const before = await figure();
  await tab.check('#include-first');
  await eventually(async () => assert.notEqual(await figure(), before));
  assert.match(await addressOf(tab), /first=1/);
  await tab.goBack();
  await eventually(async () => assert.equal(await figure(), before));
  await tab.context().close();
});

test('the first screen says what a gate is and whether the pinned one is closed', async () => {
  const { tab } = await opened('');
  const seen = async (/** @type {string} */ selector) => {
    const box = await tab.locator(selector).boundingBox();
    assert.ok(
      box !== null && box.y >= 0 && box.y + box.height <= 720,
      `${selector} lies at ${box?.y}`,
    );
    return (await tab.locator(selector).textContent()) ?? '';
  };
  assert.match(await seen('.tagline'), /multiplies.*its gate\. At 0 the gate is closed/s);
  assert.match(
    await seen('.class-line'),
    /^Open: what up says, \u22125\.78, is multiplied by 5\.98/,
  );
  assert.match(await seen('.sentence'), /9\.2\u202f% of 1536.*are closed.*leak.*are open/s);
  await seen('#close-gate');
  await seen('.product');
  await tab.context().close();
});
