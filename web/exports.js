// Numbers and pictures out of the page: the selected token's units as CSV, the state with definitions and sources as JSON,
// map and tile as PNG with a caption, and the link. Files are made here and saved by the browser; nothing is sent.

import { CLASS_NAMES } from './definitions.js';
import { byId, el } from './dom.js';
import { text } from './text.js';

/** @typedef {import('./scene.js').Scene} Scene */

const PNG_SCALE = 2;
const CAPTION_LINE = 20;
const MARGIN = 16;

/** A field of a CSV file: quoted where it has to be. @param {string | number} value */
const field = (value) =>
  /[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value);

/**
 * One row a unit of the selected token, in full precision.
 * @param {Scene} scene
 */
export function csvOf(scene) {
  const { gate, activated, up, hidden, contribution, dFf, pieces } = scene.numbers;
  const { token } = scene.state;
  const rows = [['token', 'piece', 'unit', 'g', 'a', 'u', 'h', 'c', 'class']];
  for (let unit = 0; unit < dFf; unit++) {
    const i = token * dFf + unit;
    const numbers = [gate, activated, up, hidden, contribution].map((array) =>
      array === null ? '' : String(array[i]),
    );
    const name = CLASS_NAMES[scene.classAt({ token, unit })];
    rows.push([String(token), pieces[token], String(unit), ...numbers, name]);
  }
  return `${rows.map((row) => row.map(field).join(',')).join('\r\n')}\r\n`;
}

/**
 * @param {Scene} scene
 * @param {string} seal what the badge says
 */
export function jsonOf(scene, seal) {
  const { state, numbers, counts } = scene;
  const here = counts[state.token];
  const classes = Object.fromEntries(CLASS_NAMES.map((name, i) => [name, here.counts[i]]));
  const { origin, model } = numbers;
  const source = scene.isShipped
    ? { model, layer: state.layer, prompt: state.prompt, x: 'captured' }
    : { model, x: origin === 'probe' ? 'synthetic probe' : 'captured by the reader' };
  return JSON.stringify(
    {
      source: { ...source, act: numbers.act, units: numbers.dFf, tokens: numbers.pieces },
      check: seal,
      state,
      token: { ...classes, negative: here.negative },
      pinned: scene.focus === null ? null : scene.describe(scene.focus),
      definitions: text.definitions,
      link: location.href,
    },
    null,
    2,
  );
}

/** Weights and hidden states in one sentence. @param {Scene} scene */
function sourceOf({ numbers: { origin, model } }) {
  return origin === 'shipped' ? text.exports.shipped : text.exports[origin](model);
}

/**
 * @param {string} name
 * @param {Blob} blob
 */
function save(name, blob) {
  const url = URL.createObjectURL(blob);
  el('a', { href: url, download: name }).click();
  // The download has begun by the next task; the address is not needed after that.
  setTimeout(() => URL.revokeObjectURL(url));
}

/**
 * Map, tile and a caption on one canvas.
 * @param {Scene} scene
 * @param {string} sentence
 * @returns {Promise<Blob>}
 */
async function pngOf(scene, sentence) {
  const pictures = /** @type {HTMLCanvasElement[]} */ ([
    ...document.querySelectorAll('#map canvas, #tile canvas'),
  ]);
  const sizes = pictures.map((picture) => picture.getBoundingClientRect());
  const width = Math.max(...sizes.map((size) => size.width)) + 2 * MARGIN;
  const canvas = document.createElement('canvas');
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  const { color, backgroundColor } = getComputedStyle(document.body);
  const font = `15px ${getComputedStyle(document.body).fontFamily}`;
  context.font = font;
  const lines = wrap(context, [sentence, sourceOf(scene)], width - 2 * MARGIN);
  const pictureHeight = sizes.reduce((sum, size) => sum + size.height + MARGIN, MARGIN);
  canvas.width = width * PNG_SCALE;
  canvas.height = (pictureHeight + lines.length * CAPTION_LINE + MARGIN) * PNG_SCALE;
  context.scale(PNG_SCALE, PNG_SCALE);
  context.fillStyle = backgroundColor;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = color;
  context.font = font;
  let top = MARGIN;
  pictures.forEach((picture, i) => {
    context.drawImage(picture, MARGIN, top, sizes[i].width, sizes[i].height);
    top += sizes[i].height + MARGIN;
  });
  for (const line of lines) {
    context.fillText(line, MARGIN, top + CAPTION_LINE * 0.7);
    top += CAPTION_LINE;
  }
  return new Promise((resolve, reject) =>
    canvas.toBlob(
      (blob) => (blob === null ? reject(new Error('PNG')) : resolve(blob)),
      'image/png',
    ),
  );
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {string[]} paragraphs
 * @param {number} width
 */
function wrap(context, paragraphs, width) {
  const lines = [];
  for (const paragraph of paragraphs) {
    let line = '';
    for (const word of paragraph.split(' ')) {
      const longer = line === '' ? word : `${line} ${word}`;
      if (line !== '' && context.measureText(longer).width > width) {
        lines.push(line);
        line = word;
      } else line = longer;
    }
    lines.push(line);
  }
  return lines;
}

/** @param {() => Scene | null} scene what is on show when a button is pressed */
export function bindExports(scene) {
  const whenReady = (/** @type {(scene: Scene) => void | Promise<void>} */ action) => () => {
    const shown = scene();
    if (shown?.isWhole) return action(shown);
  };
  const name = (/** @type {Scene} */ { state, numbers: { origin } }, /** @type {string} */ end) =>
    `gates-${origin === 'shipped' ? `layer${state.layer}-${state.prompt}` : origin}-token${state.token}.${end}`;
  const seal = () => byId('badge-words').textContent ?? '';
  byId('export-csv').addEventListener(
    'click',
    whenReady((shown) => save(name(shown, 'csv'), new Blob([csvOf(shown)], { type: 'text/csv' }))),
  );
  byId('export-json').addEventListener(
    'click',
    whenReady((shown) =>
      save(name(shown, 'json'), new Blob([jsonOf(shown, seal())], { type: 'application/json' })),
    ),
  );
  byId('export-png').addEventListener(
    'click',
    whenReady(async (shown) => {
      save(name(shown, 'png'), await pngOf(shown, byId('live').textContent ?? ''));
    }),
  );
  byId('export-link').addEventListener('click', async () => {
    const status = byId('export-status');
    try {
      await navigator.clipboard.writeText(location.href);
      status.textContent = text.exports.copied;
    } catch {
      status.textContent = text.exports.notCopied;
    }
  });
}
