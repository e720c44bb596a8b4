// <gate-map> from the built site in a page of another origin under a strict policy: the numbers are Python's, attributes and
// keys change what is shown, and nothing is left behind when it is removed.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { buildSite } from '../../web/bundle/build-site.js';
import { listen } from '../../web/serve.js';
import { eventually, launchBrowser, openTab } from '../helpers/browser.js';
import { startStaticHost } from '../helpers/static-host.js';

/** @typedef {import('playwright-core').Page} Page */
const expected = JSON.parse(readFileSync(new URL('./expected.json', import.meta.url), 'utf8'));
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'gated-mlp-embedded-'));
await buildSite(folder);
// As the common hosts of static pages answer.
const site = await startStaticHost(folder, { 'access-control-allow-origin': '*' });
const siteOrigin = new URL(site.address).origin;
const SCRIPTS = `script-src 'self' 'wasm-unsafe-eval' ${siteOrigin}`;
/** What a page lets a map have; one without workers has it compute in the page. */
const POLICIES = { '/page': `${SCRIPTS}; worker-src blob:`, '/strict': SCRIPTS };
const foreign = createServer((request, response) => {
  const [path, query = ''] = (request.url ?? '').split('?');
  const policy = POLICIES[/** @type {'/page'} */ (path)];
  const body = policy === undefined ? '' : decodeURIComponent(query);
  const isPlain = body === PLAIN;
  const script = `<script type="module" src="${site.address}gate-map.js"></script>`;
  const head = `<title>Somebody else</title><link rel="icon" href="data:,">${isPlain ? '' : script}`;
  response.writeHead(body === '' ? 404 : 200, {
    'content-type': 'text/html',
    'content-security-policy': policy ?? SCRIPTS,
  });
  response.end(`<!doctype html><html lang="en"><head>${head}</head><body>${body}</body></html>`);
});
const foreignAddress = await listen(foreign, 0);
const browser = await launchBrowser();
after(async () => {
  await browser.close();
  site.close();
  foreign.closeAllConnections();
  foreign.close();
  rmSync(folder, { recursive: true });
});

const MAIN = '<main><h1>Mine</h1>';
const PLAIN = '<p>Nothing here.</p>';
const MAP = '<gate-map layer="24" prompt="chat" token="41" unit="1005"></gate-map>';

/** @param {string} body @param {keyof typeof POLICIES} [path] */
async function opened(body, path = '/page') {
  const { tab, complaints } = await openTab(browser);
  await tab.goto(`${foreignAddress}${path.slice(1)}?${encodeURIComponent(body)}`);
  return { tab, complaints };
}

/** @param {Page} tab @param {number} [index] */
async function settled(tab, index = 0) {
  const badge = tab.locator('gate-map').nth(index).locator('.badge[data-state="ok"]');
  await badge.waitFor();
  return String(await badge.textContent());
}

/** Counts by class, as the legend has them. @param {Page} tab @param {number} [index] */
async function legend(tab, index = 0) {
  const items = tab.locator('gate-map').nth(index).locator('.class-counts li');
  const texts = await items.evaluateAll((nodes) =>
    nodes.map((node) => [
      node.getAttribute('data-class'),
      Number(node.querySelector('b')?.textContent),
    ]),
  );
  return Object.fromEntries(texts);
}

/** @param {(typeof expected)[0]} place */
const countsOf = ({ counts: { negative: _, ...classes } }) => classes;

test('in a foreign page under a strict policy it computes Python’s numbers and checks its output', async () => {
  const { tab, complaints } = await opened(`${MAIN}${MAP}</main>`);
  const policy = await tab.evaluate(() => location.origin);
  assert.notEqual(policy, siteOrigin);
  assert.match(await settled(tab), /all 45 tokens.*weights file intact/s);
  assert.equal(tab.workers().length, 1);
  assert.deepEqual(await legend(tab), countsOf(expected[0]));
  const words = String(await tab.locator('gate-map .sentence').textContent());
  assert.match(words, /layer 24, token 41 “ is”: 141 of 1536 gates are closed/);
  const cost = expected[0].sets.closed;
  await eventually(async () => {
    const [, shown] =
      /output by ([\d.]+)/.exec(String(await tab.locator('gate-map .sentence').textContent())) ??
      [];
    assert.ok(Math.abs(Number(shown) - 100 * cost) < 0.0051, `${shown} for ${100 * cost}`);
  });
  assert.match(String(await tab.locator('gate-map .readout').textContent()), /unit 1005 · open/);
  const link = String(await tab.locator('gate-map .page-link').getAttribute('href'));
  assert.ok(link.startsWith(`${site.address}#v=1&l=24&p=chat&t=41&u=1005`), link);
  await tab.evaluate(axe);
  const { violations } = await tab.evaluate('axe.run()');
  assert.deepEqual(
    violations.map((/** @type {any} */ { id, nodes }) => `${id}: ${nodes[0].html}`),
    [],
  );
  assert.deepEqual(complaints, []);
  await tab.context().close();
});

test('where the policy lets it have no worker it computes in the page, and gives all back', async () => {
  const { tab, complaints } = await opened(`${MAIN}${MAP}</main>`, '/strict');
  assert.match(await settled(tab), /all 45 tokens.*weights file intact/s);
  assert.deepEqual(await legend(tab), countsOf(expected[0]));
  assert.equal(tab.workers().length, 0);
  await tab.evaluate(() => {
    const map = /** @type {HTMLElement} */ (document.querySelector('gate-map'));
    map.remove();
    map.setAttribute('layer', '5');
    document.body.append(map);
  });
  await eventually(async () => assert.match(await settled(tab), /all 45 tokens/));
  assert.match(
    String(await tab.locator('gate-map .sentence').textContent()),
    /^In layer 5, token 41/,
  );
  // The browser tells the page's author; nobody else does.
  assert.ok(
    complaints.every((words) => /Content Security Policy/.test(words)),
    complaints.join(),
  );
  await tab.context().close();
});

test('where nobody can be had to compute, it says so', async () => {
  const { tab } = await openTab(browser);
  await tab.context().route('**/embedded-answers-*', (route) => route.abort());
  await tab.goto(`${foreignAddress}page?${encodeURIComponent(`${MAIN}${MAP}</main>`)}`);
  await tab.locator('gate-map .badge[data-state="bad"]').waitFor();
  await tab.context().close();
});

test('attributes, a hash and keys change what is shown, and it tells so', async () => {
  const { tab, complaints } = await opened(
    `${MAIN}<gate-map hash="#v=1&l=11&p=english&t=0&u=1229"></gate-map></main>`,
  );
  await settled(tab);
  assert.deepEqual(await legend(tab), countsOf(expected[2]));
  await tab.evaluate(() => {
    const told = /** @type {string[]} */ ([]);
    const said = /** @type {string[]} */ ([]);
    Object.assign(document, { told, said });
    document.addEventListener('gate-map-change', (event) => {
      told.push(/** @type {CustomEvent} */ (event).detail.hash);
    });
    const map = /** @type {HTMLElement} */ (document.querySelector('gate-map'));
    const sentence = /** @type {Node} */ (map.shadowRoot?.querySelector('.sentence'));
    new MutationObserver(() => said.push(String(sentence.textContent))).observe(sentence, {
      childList: true,
      characterData: true,
    });
    map.setAttribute('layer', '5');
    map.setAttribute('prompt', 'code');
    map.setAttribute('token', '10');
    map.setAttribute('sort', 'index');
  });
  await eventually(async () => assert.deepEqual(await legend(tab), countsOf(expected[1])));
  await settled(tab);
  // What dropping the closed gates costs is never told of the layer before under the name of this one.
  const cost = `output by ${(100 * expected[1].sets.closed).toPrecision(2)}`;
  await tab.locator('gate-map .sentence').filter({ hasText: cost }).waitFor();
  const said = await tab.evaluate(() => /** @type {any} */ (document).said);
  for (const words of said.filter((/** @type {string} */ line) => line.includes('layer 5, '))) {
    assert.match(words, new RegExp(`output by \u2026|${cost}`));
  }
  await tab.locator('gate-map .cell-grid').focus();
  for (const key of ['Home', 'ArrowRight', 'ArrowRight', 'Enter']) {
    await tab.keyboard.press(key);
    await tab.evaluate(
      () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
    );
  }
  const told = await tab.evaluate(() => /** @type {any} */ (document).told);
  assert.equal(told.length, 1);
  assert.match(told[0], /l=5&p=code&t=10&u=2&.*sort=index/);
  assert.equal(
    await tab.evaluate(() => /** @type {any} */ (document.querySelector('gate-map')).hash),
    told[0],
  );
  await tab.keyboard.press(' ');
  await tab
    .locator('gate-map .by-hand')
    .filter({ hasText: 'One gate closed: the output moved by' })
    .waitFor();
  await tab.locator('gate-map .token').nth(3).click();
  await tab.locator('gate-map .sentence').filter({ hasText: 'token 3 ' }).waitFor();
  assert.match(await tab.url(), /page\?/);
  assert.equal(await tab.evaluate(() => location.hash), '');
  assert.deepEqual(complaints, []);
  await tab.context().close();
});

test('a token, unit or gate that the text or the layer does not have is the last one, or none', async () => {
  const { tab, complaints } = await opened(
    `${MAIN}<gate-map layer="24" prompt="chat" token="900" unit="99999" closed="3,99999"></gate-map></main>`,
  );
  await settled(tab);
  await tab
    .locator('gate-map .by-hand')
    .filter({ hasText: /^One gate closed: the output moved by [\d.]+/ })
    .waitFor();
  await tab
    .locator('gate-map .sentence')
    .filter({ hasText: /layer 24, token 44 .*output by [\d.]+/s })
    .waitFor();
  await settled(tab);
  assert.deepEqual(complaints, []);
  await tab.context().close();
});

test('what cannot be drawn is said, and never gets a seal', async () => {
  const { tab } = await openTab(browser);
  await tab.addInitScript(() => {
    CanvasRenderingContext2D.prototype.putImageData = () => {
      throw new Error('no canvas');
    };
    const page = { isChecked: false, states: /** @type {(string | undefined)[]} */ ([]) };
    Object.assign(document, page);
    const add = MessagePort.prototype.addEventListener;
    MessagePort.prototype.addEventListener = function (
      /** @type {string} */ type,
      /** @type {any} */ listener,
    ) {
      const noted = (/** @type {any} */ event) => {
        listener(event);
        if (event.data.result?.worst === undefined) return;
        const badge = document.querySelector('gate-map')?.shadowRoot?.querySelector('.badge');
        const { dataset } = /** @type {HTMLElement} */ (badge);
        const note = () => page.states.push(dataset.state);
        new MutationObserver(note).observe(/** @type {Node} */ (badge), { attributes: true });
        Object.assign(document, { isChecked: true });
      };
      add.call(this, type, type === 'message' ? noted : listener);
    };
  });
  await tab.goto(`${foreignAddress}page?${encodeURIComponent(`${MAIN}${MAP}</main>`)}`);
  const badge = tab.locator('gate-map .badge[data-state="bad"]');
  await badge.filter({ hasText: 'no canvas' }).waitFor();
  await eventually(async () => {
    assert.ok(await tab.evaluate(() => /** @type {any} */ (document).isChecked));
  });
  // A seal would be set with the next frame.
  await tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
  const states = await tab.evaluate(() => /** @type {any} */ (document).states);
  assert.deepEqual(
    [...new Set(states)].filter((state) => state !== 'bad'),
    [],
  );
  await tab.context().close();
});

test('two maps do not disturb each other, one that is removed leaves nothing, and it can come back', async () => {
  const { tab, complaints } = await opened(
    `${MAIN}<script src="/nothing.js"></script>${MAP}<gate-map layer="5" prompt="code" token="10"></gate-map></main>`,
  );
  await settled(tab, 0);
  await settled(tab, 1);
  assert.deepEqual(await legend(tab, 0), countsOf(expected[0]));
  assert.deepEqual(await legend(tab, 1), countsOf(expected[1]));
  const left = await tab.evaluate(() => {
    const map = /** @type {HTMLElement} */ (document.querySelector('gate-map'));
    map.remove();
    Object.assign(document, { removed: map });
    return { inside: map.shadowRoot?.childNodes.length, hash: /** @type {any} */ (map).hash };
  });
  assert.deepEqual(left, { inside: 0, hash: '' });
  await eventually(async () => assert.equal(tab.workers().length, 1));
  assert.deepEqual(await legend(tab, 0), countsOf(expected[1]));
  await tab.evaluate(() =>
    document.querySelector('main')?.append(/** @type {any} */ (document).removed),
  );
  await settled(tab, 1);
  assert.deepEqual(await legend(tab, 1), countsOf(expected[0]));
  assert.deepEqual(
    complaints.filter((words) => !/nothing\.js|404/.test(words)),
    [],
  );
  await tab.context().close();
});

test('it adds no global name, and a map removed while it loads says nothing more', async () => {
  const { tab, complaints } = await opened(MAIN);
  const names = () => tab.evaluate(() => Object.getOwnPropertyNames(window).sort());
  await tab.waitForFunction(() => customElements.get('gate-map') !== undefined);
  const before = await names();
  await tab.evaluate(() => {
    const map = document.createElement('gate-map');
    document.body.append(map);
    setTimeout(() => map.remove(), 60);
    const other = document.createElement('gate-map');
    document.body.append(other);
  });
  await settled(tab);
  assert.deepEqual(await names(), before);
  const other = await opened(PLAIN);
  const plain = await other.tab.evaluate(() => Object.getOwnPropertyNames(window).sort());
  assert.deepEqual(
    before.filter((name) => !plain.includes(name)),
    [],
  );
  // What a map was fetching when it was removed is given up, which the browser calls failed.
  const said = complaints.filter((words) => !words.startsWith('failed: '));
  assert.deepEqual(said, []);
  await other.tab.context().close();
  await tab.context().close();
});

test('it sorts by cosine class and colours by pi, as the page does', async () => {
  const { tab, complaints } = await opened(
    `${MAIN}<gate-map token="41" sort="cosine" by="pi"></gate-map></main>`,
  );
  await settled(tab);
  await tab.locator('gate-map .cell-grid').focus();
  const { first, last } = expected[0].ioClasses;
  // The cosines come after the badge has settled; where a key leads follows their order only from then on.
  for (const [key, unit] of [
    ['Home', first[0]],
    ['End', last[4]],
  ]) {
    await eventually(async () => {
      await tab.keyboard.press(key);
      const shown = String(await tab.locator('gate-map .readout').textContent());
      assert.ok(shown.includes(`unit ${unit} `), shown);
    });
  }
  const colours = () =>
    tab.evaluate(() => {
      const map = document.querySelector('gate-map')?.shadowRoot?.querySelector('.map-canvas');
      const canvas = /** @type {HTMLCanvasElement} */ (map);
      const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
      const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(data.buffer)).size;
    });
  // Classes have three colours and the gaps one; a scale has many.
  await eventually(async () => assert.ok((await colours()) > 20));
  assert.deepEqual(complaints, []);
  await tab.context().close();
});

test('bad attributes are told, and a loaded model is not fetched', async () => {
  const { tab } = await opened(
    `${MAIN}<gate-map tau="9" hash="#m=https%3A%2F%2Fexample.org%2Fa.safetensors"></gate-map></main>`,
  );
  /** @type {string[]} */
  const asked = [];
  tab.on('request', (request) => asked.push(request.url()));
  await settled(tab);
  await tab.locator('gate-map .notice').filter({ hasText: '(tau; m)' }).waitFor();
  assert.ok(asked.every((url) => !url.includes('example.org')));
  await tab.context().close();
});

test('the example page shows one', async () => {
  const { tab, complaints } = await openTab(browser);
  await tab.goto(`${site.address}embed.html`);
  await settled(tab);
  assert.deepEqual(complaints, []);
  await tab.context().close();
});
