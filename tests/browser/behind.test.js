// The page in a tab behind another, where the browser gives no frames: it is drawn and checked there, so that who turns to it
// finds it ready, and its seal still speaks of nothing that was not drawn.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { eventually, servePage } from '../helpers/browser.js';
import { startTabs } from '../helpers/tabs-behind.js';

const site = await servePage();
const tabs = startTabs();
after(async () => {
  await tabs.close();
  site.close();
});

/** What a page says of itself, at one moment. */
function glance() {
  const textOf = (/** @type {string} */ id) => document.getElementById(id)?.textContent ?? '';
  return {
    isHidden: document.hidden,
    seal: document.getElementById('badge')?.dataset.state,
    words: textOf('badge-words'),
    layer: textOf('layer-value'),
    cost: textOf('cost'),
    unit: textOf('inspector-title'),
    hasGuesses: document.querySelector('.next-tokens') !== null,
  };
}

/** How many colours are painted on each canvas of the maps. */
function paintedColours() {
  return ['.map-canvas', '.tile-canvas'].map((name) => {
    const canvas = /** @type {HTMLCanvasElement} */ (document.querySelector(name));
    const { width, height } = canvas;
    const image = canvas.getContext('2d')?.getImageData(0, 0, width, height);
    return new Set(new Uint32Array(image?.data.buffer ?? new ArrayBuffer(0))).size;
  });
}

test('a page that is opened behind another is drawn and checked there', async () => {
  const tab = await tabs.open(site.page);
  await eventually(async () => {
    const { seal, cost, hasGuesses } = await tab.run(glance);
    assert.equal(seal, 'ok');
    assert.match(cost, /^\d.*%$/);
    assert.ok(hasGuesses);
  });
  const { isHidden, words, unit } = await tab.run(glance);
  assert.ok(isHidden);
  assert.match(words, /all 45 tokens/);
  assert.equal(unit, 'Unit 1005');
  for (const colours of await tab.run(paintedColours))
    assert.ok(colours >= 4, `${colours} colours`);
});

test('there, too, what could not be drawn gets no seal', async () => {
  const tab = await tabs.open(
    site.page,
    `CanvasRenderingContext2D.prototype.putImageData = () => { throw new Error('no canvas'); };`,
  );
  await eventually(async () => assert.equal((await tab.run(glance)).seal, 'bad'));
  const { isHidden, words } = await tab.run(glance);
  assert.ok(isHidden);
  assert.match(words, /Not drawn/);
});

test('what waits for a frame when the page goes behind another is drawn without it', async () => {
  const tab = await tabs.open(site.page);
  await tab.show();
  await eventually(async () => {
    const { isHidden, seal } = await tab.run(glance);
    assert.deepEqual([isHidden, seal], [false, 'ok']);
  });
  await tab.run(() => {
    // The frame that was asked for does not come any more.
    window.requestAnimationFrame = () => 1;
    const layers = /** @type {HTMLSelectElement} */ (document.getElementById('layer-select'));
    layers.value = '5';
    layers.dispatchEvent(new Event('change', { bubbles: true }));
  });
  const other = await tabs.open('about:blank');
  await other.show();
  await eventually(async () => {
    const { isHidden, seal, layer } = await tab.run(glance);
    assert.deepEqual([isHidden, seal, layer], [true, 'ok', '5']);
  });
});

test('a map in a page behind another is drawn and checked there', async () => {
  const tab = await tabs.open(`${site.page}embed.html`);
  await eventually(async () => {
    const { isHidden, seal, widths } = await tab.run(() => {
      const root = document.querySelector('gate-map')?.shadowRoot;
      const canvases = [...(root?.querySelectorAll('canvas') ?? [])];
      return {
        isHidden: document.hidden,
        seal: root?.querySelector('.badge')?.getAttribute('data-state'),
        widths: canvases.map(({ width }) => width),
      };
    });
    assert.deepEqual([isHidden, seal], [true, 'ok']);
    assert.ok(widths.includes(1536), String(widths));
  });
});
