// The lesson: its figures against closed forms in float64, its eight steps by keyboard alone and by link, its benches, and
// axe on all of them.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { addressOf, openTab, servePage, startPage } from '../helpers/browser.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Half a unit of the last digit where three or seven are shown, and float32's own error. */
const THREE_DIGITS = 0.0051;
const SEVEN_DIGITS = 6e-7;
const STEPS = 8;
const RIGHT = [1, 2, 0, 1, 2, 0, 2, 1];
const PHONE = { viewport: { width: 390, height: 844 } };

const { browser, site } = await startPage();

/** The oracle: the activations as they are defined, in float64. @type {Record<string, (z: number) => number>} */
const ACTS = {
  silu: (z) => z / (1 + Math.exp(-z)),
  // z sigmoid(2 t) is z (1 + tanh(t)) / 2, and does not cancel where tanh is near -1.
  gelu_tanh: (z) => z / (1 + Math.exp(-2 * Math.sqrt(2 / Math.PI) * (z + 0.044715 * z ** 3))),
  relu: (z) => Math.max(0, z),
  sigmoid: (z) => 1 / (1 + Math.exp(-z)),
  none: (z) => z,
};

/** What the bench calls them. @type {Record<string, string>} */
const NAMES = { silu: 'SiLU', gelu_tanh: 'GELU', relu: 'ReLU', sigmoid: '\u03c3', none: 'id' };

/** @param {{ x: number, gate: number, up: number, down: number, act: string }} setting */
function unit({ x, gate, up, down, act }) {
  const [g, u] = [gate * x, up * x];
  const a = ACTS[act](g);
  return { g, u, a, h: a * u, y: down * a * u };
}

/** A number as the page writes it. @param {string | null} shown */
const parse = (shown) => Number((shown ?? '').replace('= ', '').replaceAll('\u2212', '-'));

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

/**
 * @param {number} step
 * @param {import('playwright-core').BrowserContextOptions} [options]
 */
async function opened(step, options) {
  const { tab, complaints } = await openTab(browser, options);
  await tab.goto(`${site.page}#v=1&lesson=${step}`);
  await atStep(tab, step);
  return { tab, complaints };
}

/** The step is on view, and its figures have come. @param {import('playwright-core').Page} tab @param {number} step */
async function atStep(tab, step) {
  await tab.locator(`.steps li:nth-child(${step}) [aria-current="step"]`).waitFor();
  await tab.locator('#lesson-question').filter({ hasText: '?' }).waitFor();
}

/** @param {import('playwright-core').Page} tab @param {number} step */
async function answer(tab, step) {
  await tab.click(`button.answer >> nth=${RIGHT[step - 1]}`);
  await tab.locator('.reveal p').first().waitFor();
  return (await tab.locator('.reveal').textContent()) ?? '';
}

/** Every number in a text, in its order. @param {string} words */
const numbersIn = (words) => words.match(/\u2212?\d+(\.\d+)?(e\u2212?\d+)?/g) ?? [];

/** The figure is among the numbers of the text. @param {string} words @param {number} value @param {string} what */
function says(words, value, what) {
  const found = numbersIn(words).some(
    (shown) => Math.abs(parse(shown) - value) <= THREE_DIGITS * Math.abs(value),
  );
  assert.ok(found, `${what}: no ${value} in "${words}"`);
}

/** The five results of the bench with one unit. @param {import('playwright-core').Page} tab */
const results = (tab) => tab.locator('.written .result').allTextContents();

/**
 * Waits until the lines of the bench begin as they must with the settings wanted.
 * @param {import('playwright-core').Page} tab
 * @param {string[]} beginnings
 */
async function shownWith(tab, beginnings) {
  await tab.waitForFunction((wanted) => {
    const lines = [...document.querySelectorAll('.written dd:nth-of-type(2)')];
    return lines.every((line, i) =>
      line.textContent?.replaceAll('\u2212', '-').startsWith(wanted[i]),
    );
  }, beginnings);
}

test('by hand, SwiGLU says 4.386352 and GeGLU 5.047152, and no answer shows before the guess', async () => {
  const { tab, complaints } = await opened(1);
  await tab.locator('.written .result').first().waitFor();
  assert.deepEqual(await results(tab), ['= ?', '= ?', '= ?', '= ?', '= ?']);
  assert.equal(await tab.locator('.unit-bench .dot').isVisible(), false);
  assert.match((await tab.locator('#lesson-question').textContent()) ?? '', /would be 6\./);
  const words = await answer(tab, 1);
  assert.match(words, /4\.386352.*5\.047152/);
  await tab.locator('.written .result').filter({ hasText: '4.386352' }).waitFor();
  assert.equal(await tab.locator('.unit-bench .dot').isVisible(), true);
  await tab.selectOption('#lesson-act', 'gelu_tanh');
  await tab.locator('.written .result').filter({ hasText: '5.047152' }).waitFor();
  assert.deepEqual(complaints, []);
  await tab.context().close();
});

test('every step, written out, is the closed form of its activation', async () => {
  const { tab } = await opened(1);
  const settings = [
    { x: 1, gate: -10, up: 3, down: 3 },
    { x: 1, gate: -1.278, up: 2, down: 3 },
    { x: -0.75, gate: 5, up: -2.5, down: 0.125 },
    { x: 3, gate: 2, up: 100, down: -7 },
  ];
  for (const act of Object.keys(ACTS)) {
    await tab.selectOption('#lesson-act', act);
    for (const setting of settings) {
      for (const [key, value] of Object.entries(setting)) {
        await tab.fill(`#lesson-${key}`, String(value));
      }
      const wanted = unit({ ...setting, act });
      const { gate, up, down } = setting;
      await shownWith(tab, [`= ${gate} `, `= ${up} `, `= ${NAMES[act]}(`, '= ', `= ${down} `]);
      const shown = await results(tab);
      for (const [i, key] of /** @type {const} */ (['g', 'u', 'a', 'h', 'y']).entries()) {
        near(shown[i], wanted[key], SEVEN_DIGITS, `${act} ${JSON.stringify(setting)} ${key}`);
      }
    }
  }
  await tab.context().close();
});

test('the figures in the words of steps 2 to 5 are the closed forms', async () => {
  const { tab } = await opened(2);
  const shut = { x: 1, gate: -10, up: 3, down: 3, act: 'silu' };
  const closed = await answer(tab, 2);
  says(closed, unit(shut).a, 'a at g = -10');
  says(closed, unit(shut).h, 'h with u = 3');
  says(closed, -unit(shut).h, 'h with u = -3');
  await tab.click('#lesson-next');
  await atStep(tab, 3);
  says(await answer(tab, 3), unit({ ...shut, up: 1000 }).h, 'h with u = 1000');
  await tab.click('#lesson-next');
  await atStep(tab, 4);
  const curve = tab.locator('.unit-bench .curve');
  await tab.locator('.hides-curve').waitFor();
  assert.equal(await curve.isVisible(), false);
  const dip = await answer(tab, 4);
  await curve.waitFor();
  says(dip, -1.278, 'where SiLU is lowest');
  says(dip, ACTS.silu(-1.278464542761074), 'how low it gets');
  says(dip, 2 * ACTS.silu(-1.278), 'h in the dip');
  says(dip, ACTS.silu(-6), 'a at g = -6');
  assert.match((await tab.locator('.unit-bench .class-line').textContent()) ?? '', /leaking/);
  await tab.click('#lesson-next');
  await atStep(tab, 5);
  says((await tab.locator('.step-words').first().textContent()) ?? '', ACTS.silu(-6), 'SiLU');
  const good = await answer(tab, 5);
  says(good, ACTS.gelu_tanh(-6), 'GELU at g = -6');
  says(good, 1000 * ACTS.gelu_tanh(-6), 'that, a thousandfold');
  await tab.context().close();
});

test('two open units cancel; closing one makes the output longer', async () => {
  const { tab } = await opened(6);
  const h = 2 * ACTS.silu(1);
  const close = (/** @type {number} */ one) =>
    tab.click(`.pair-bench button:text-is("Close unit ${one}")`);
  const output = tab.locator('#pair-output');
  await output.filter({ hasText: '?' }).waitFor();
  const words = await answer(tab, 6);
  says(words, 0.1 * h, 'both');
  says(words, 3 * h, 'one alone');
  says(words, 30, 'how many times');
  near(await output.filter({ hasText: '0.1' }).textContent(), 0.1 * h, THREE_DIGITS, 'y');
  await close(2);
  near(await output.filter({ hasText: '4.' }).textContent(), 3 * h, THREE_DIGITS, 'unit 1');
  await close(1);
  await output.filter({ hasText: /^0$/ }).waitFor();
  await close(2);
  near(await output.filter({ hasText: '4.' }).textContent(), -2.9 * h, THREE_DIGITS, 'unit 2');
  await close(1);
  await tab.fill('#lesson-down-2', '-3');
  await output.filter({ hasText: /^0$/ }).waitFor();
  await tab.context().close();
});

test('an open unit multiplies; a ReLU layer of any width runs straight on past its last knee', async () => {
  const { tab } = await opened(7);
  const square = (/** @type {number} */ x) => x * ACTS.silu(x);
  const words = await answer(tab, 7);
  says(words, square(10), 'y at 10');
  says(words, square(10) / square(5), 'how many times');
  for (const units of [1, 4, 12]) {
    await tab.fill('#lesson-relu-units', String(units));
    await tab
      .locator('.reading-plain')
      .filter({ hasText: units === 1 ? 'one ReLU unit' : `of ${units} ReLU units` })
      .waitFor();
    assert.equal(await tab.locator('.product-chart .knee').count(), units + 1);
    const last = 6 - 6 / units;
    const slope = (square(6) - square(last)) / (6 - last);
    const plain = square(6) + 4 * slope;
    const [gated, straight, apart] = await tab.locator('.readings dd').allTextContents();
    near(gated, square(10), THREE_DIGITS, 'gated');
    near(straight, plain, THREE_DIGITS, `${units} ReLU units`);
    near(apart, square(10) - plain, THREE_DIGITS, 'apart');
  }
  await tab.context().close();
});

test('the width calculator gives the published widths, and says what is no width', async () => {
  const { tab } = await opened(8);
  const width = tab.locator('.widths .is-width dd');
  await width.filter({ hasText: '?' }).waitFor();
  const words = await answer(tab, 8);
  assert.match(words, /11008/);
  says(words, (100 * 3 * 11008) / (8 * 4096), 'cost');
  const published = {
    'Llama 3 8B': 14336,
    'Llama 3.2 1B': 8192,
    'SmolLM2-135M': 1536,
    'Llama 7B': 11008,
  };
  for (const [model, dFf] of Object.entries(published)) {
    await tab.click(`.width-bench button:text-is("${model}")`);
    await tab.locator(`.width-bench button[aria-pressed="true"]:text-is("${model}")`).waitFor();
    assert.equal(Number((await width.textContent())?.replace(/\s/g, '')), dFf, model);
  }
  await tab.fill('#lesson-d', '100');
  await tab.fill('#lesson-multiple', '7');
  // int(2/3 * 400) = 266 is 38 times 7.
  await width.filter({ hasText: /^266$/ }).waitFor();
  await tab.fill('#lesson-d', '1.5');
  await tab.locator('.width-bench [role="status"]').filter({ hasText: 'whole numbers' }).waitFor();
  assert.equal(await width.count(), 0);
  await tab.context().close();
});

test('all eight steps by keyboard alone, from the real model and back to it', async () => {
  const { tab, complaints } = await openTab(browser);
  await tab.goto(site.page);
  await tab.locator('#lesson-start').focus();
  await tab.keyboard.press('Enter');
  for (let step = 1; step <= STEPS; step++) {
    await atStep(tab, step);
    await tab.locator('.step-title:focus').waitFor();
    assert.match(await addressOf(tab), new RegExp(`lesson=${step}(&|$)`));
    // The first answer is the next stop; the right one so many further on.
    for (let i = 0; i <= RIGHT[step - 1]; i++) await tab.keyboard.press('Tab');
    await tab.keyboard.press('Enter');
    await tab.locator('.verdict:focus').filter({ hasText: 'That is how it is.' }).waitFor();
    assert.equal(await tab.locator('.answer.is-so .answer-mark').count(), 2);
    await tab.keyboard.press('Tab');
    if (step > 1) await tab.keyboard.press('Tab');
    await tab.locator('#lesson-next:focus').waitFor();
    await tab.keyboard.press('Enter');
  }
  await tab.locator('#lesson-start:focus').waitFor();
  assert.equal(await tab.locator('#lesson').isVisible(), false);
  assert.equal(await tab.locator('#map').isVisible(), true);
  assert.doesNotMatch(await addressOf(tab), /lesson/);
  assert.deepEqual(complaints, []);
  await tab.context().close();
});

test('the sliders move by arrow keys and the bench follows; Escape leaves', async () => {
  const { tab } = await opened(1);
  await tab.locator('#lesson-gate-slider').focus();
  await tab.keyboard.press('ArrowLeft');
  await tab
    .locator('.written .result')
    .filter({ hasText: /^= 0\.9$/ })
    .waitFor();
  assert.equal(await tab.locator('#lesson-gate').inputValue(), '0.9');
  await tab.fill('#lesson-up', '1000');
  await tab
    .locator('.written .result')
    .filter({ hasText: /^= 1000$/ })
    .waitFor();
  assert.equal(await tab.locator('#lesson-up-slider').inputValue(), '1000');
  const { y } = unit({ x: 1, gate: 0.9, up: 1000, down: 3, act: 'silu' });
  await tab.locator('.unit-bench [aria-live]').filter({ hasText: 'output' }).waitFor();
  near((await results(tab))[4], y, SEVEN_DIGITS, 'y');
  await tab.click('.reset');
  await tab.locator('.written .result').filter({ hasText: '?' }).first().waitFor();
  assert.equal(await tab.locator('#lesson-gate').inputValue(), '1');
  await tab.keyboard.press('Escape');
  await tab.locator('#lesson').waitFor({ state: 'hidden' });
  await tab.context().close();
});

test('each step is a link, the browser goes back over them, and a step that is not there is named', async () => {
  const { tab } = await opened(3);
  await tab.click('.steps button >> nth=6');
  await atStep(tab, 7);
  await tab.goBack();
  await atStep(tab, 3);
  assert.equal(await tab.locator('.step-title').textContent(), 'Closed is relative');
  const other = await openTab(browser);
  await other.tab.goto(`${site.page}#v=1&lesson=9`);
  await other.tab.locator('#notice').filter({ hasText: 'lesson' }).waitFor();
  assert.equal(await other.tab.locator('#lesson').isVisible(), false);
  await other.tab.context().close();
  await tab.context().close();
});

test('a guess can be left out, and it stays when one comes back to its step', async () => {
  const { tab } = await opened(2);
  await tab.click('.just-show');
  assert.equal(await tab.locator('.verdict').textContent(), 'This is how it is.');
  assert.equal(await tab.locator('.answer.is-so').count(), 1);
  await tab.click('#lesson-next');
  await atStep(tab, 3);
  assert.equal(await tab.locator('button.answer').count(), 3);
  await tab.click('#lesson-back');
  await atStep(tab, 2);
  assert.equal(await tab.locator('.answer.is-so').count(), 1);
  await tab.context().close();
});

const LOOKS = {
  light: {},
  dark: { colorScheme: /** @type {const} */ ('dark') },
  'on a phone': PHONE,
  'with forced colours': { forcedColors: /** @type {const} */ ('active') },
};
for (const [name, options] of Object.entries(LOOKS)) {
  test(`${name}: axe finds nothing in any step, asked or answered`, async () => {
    const { tab } = await opened(1, options);
    await tab.evaluate(axe);
    for (let step = 1; step <= STEPS; step++) {
      if (step > 1) await tab.click(`.steps button >> nth=${step - 1}`);
      await atStep(tab, step);
      for (const answered of [false, true]) {
        if (answered) await answer(tab, step);
        const { violations } = await tab.evaluate('axe.run()');
        const found = violations.map(
          (/** @type {any} */ { id, nodes }) => `${id}: ${nodes[0].html}`,
        );
        assert.deepEqual(found, [], `step ${step}, answered: ${answered}`);
      }
    }
    await tab.context().close();
  });
}

test('at 320 pixels no step is wider than the screen, and nothing moves by itself', async () => {
  const options = {
    viewport: { width: 320, height: 640 },
    reducedMotion: /** @type {const} */ ('reduce'),
  };
  const { tab } = await opened(1, options);
  for (let step = 1; step <= STEPS; step++) {
    if (step > 1) await tab.click('#lesson-next');
    await atStep(tab, step);
    await answer(tab, step);
    const [overflow, moving] = await tab.evaluate(() => [
      document.documentElement.scrollWidth - document.documentElement.clientWidth,
      document.getAnimations().length,
    ]);
    assert.equal(overflow, 0, `step ${step}`);
    assert.equal(moving, 0, `step ${step}`);
  }
  await tab.context().close();
});

test('the lesson costs the first view nothing but its stylesheet', async () => {
  const fresh = await servePage();
  const { tab } = await openTab(browser);
  await tab.goto(fresh.page);
  await tab.locator('#cost').filter({ hasText: '%' }).waitFor();
  const asked = fresh.requests.map(({ url }) => url).filter((url) => /lesson/.test(url));
  assert.deepEqual(asked.map((url) => url.split('/').pop()).sort(), [
    'lesson-door.js',
    'lesson.css',
  ]);
  await tab.context().close();
  fresh.close();
});

test('where the lesson cannot be fetched the page says so, and the next try can do better', async () => {
  const { tab } = await openTab(browser);
  await tab.route('**/lesson.js', (route) => route.abort());
  await tab.goto(site.page);
  await tab.click('#lesson-start');
  await tab.locator('#lesson [role="alert"]').filter({ hasText: 'could not be fetched' }).waitFor();
  await tab.click('#lesson button');
  await tab.locator('#map').waitFor();
  await tab.unroute('**/lesson.js');
  await tab.click('#lesson-start');
  await atStep(tab, 1);
  await tab.context().close();
});
