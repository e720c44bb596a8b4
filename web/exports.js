// Numbers and pictures out of the page: the selected token's units as CSV, the state with definitions and sources as JSON,
// map and tile as PNG (picture.js), and the link. Files are made here and saved by the browser; nothing is sent.

import { CLASS_NAMES } from './definitions.js';
import { byId, el } from './dom.js';
import { ownFileOf } from './model-link.js';
import { rankOf } from './orders.js';
import { fullLink, HIDEABLE, VERSION } from './state.js';
import { text } from './text.js';

/** @typedef {import('./scene.js').Scene} Scene */

/** What a file has besides what the scene knows: pi [tokens, dFf], and the hash of the weights' file. @typedef {{ along: Float32Array, digest: string | null }} Besides */

/** What made the numbers, and the version of the links and keys. */
const COMPUTED = { by: 'gated-mlp', build: 'simd128', format: Number(VERSION) };

/** A field of a CSV file: quoted where it has to be. @param {string | number} value */
const field = (value) =>
  /[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value);

/**
 * One row a unit of the selected token, in full precision.
 * @param {Scene} scene
 * @param {Float32Array} along  pi, [tokens, dFf]
 */
export function csvOf(scene, along) {
  const { gate, activated, up, hidden, contribution, dFf, pieces } = scene.numbers;
  const { token } = scene.state;
  const rows = [['token', 'piece', 'unit', 'g', 'a', 'u', 'h', 'c', 'pi', 'class']];
  for (let unit = 0; unit < dFf; unit++) {
    const i = token * dFf + unit;
    const numbers = [gate, activated, up, hidden, contribution, along].map((array) =>
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
 * @param {Besides} besides
 */
export function jsonOf(scene, seal, { along, digest }) {
  const { state, numbers, counts } = scene;
  const here = counts[state.token];
  const classes = Object.fromEntries(CLASS_NAMES.map((name, i) => [name, here.counts[i]]));
  const { origin, model, layer } = numbers;
  const { layer: _layer, prompt: _prompt, ...elsewhere } = state;
  const source = scene.isShipped
    ? { model, layer: state.layer, prompt: state.prompt, x: 'captured' }
    : { model, layer, x: origin === 'probe' ? 'synthetic probe' : 'captured by the reader' };
  return JSON.stringify(
    {
      source: {
        ...source,
        act: numbers.act,
        units: numbers.dFf,
        sha256: digest,
        tokens: numbers.pieces,
      },
      computed: COMPUTED,
      check: seal,
      // The shipped place that the state still names is not where these numbers are from.
      state: scene.isShipped ? state : elsewhere,
      token: { ...classes, negative: here.negative },
      pinned: pinnedOf(scene, along),
      definitions: text.definitions,
      link: fullLink(),
    },
    null,
    2,
  );
}

/**
 * The pinned gate at the selected token, in full precision.
 * @param {Scene} scene
 * @param {Float32Array} along
 */
function pinnedOf(scene, along) {
  const { token, unit } = scene.state;
  if (unit === null) return null;
  const { gate, activated, up, hidden, contribution, dFf, pieces } = scene.numbers;
  const i = token * dFf + unit;
  return {
    token,
    piece: pieces[token],
    unit,
    class: CLASS_NAMES[scene.classAt({ token, unit })],
    g: gate[i],
    a: activated[i],
    u: up?.[i] ?? null,
    h: hidden?.[i] ?? null,
    c: contribution?.[i] ?? null,
    pi: along[i],
    rank: contribution === null ? null : rankOf(contribution, token, dFf, unit),
  };
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
 * What the picture's caption says: the finding, the place and its threshold, the sources, the link.
 * @param {Scene} scene
 * @param {string} sentence
 */
function captionOf(scene, sentence) {
  const { state, numbers } = scene;
  const words = text.exports;
  const file = ownFileOf(state.model);
  const place = words.place({
    model: numbers.model,
    layer: numbers.layer,
    reading: numbers.reading.label,
    piece: numbers.pieces[state.token],
    tau: String(state.tau),
    unit: state.unit === null ? '' : String(state.unit),
  });
  return [sentence, place, sourceOf(scene), file === null ? fullLink() : words.ownFile(file)];
}

/**
 * @param {() => Scene | null} scene what is on show when a button is pressed
 * @param {() => Promise<Besides | null>} askBesides null: something else is on show by now
 */
export function bindExports(scene, askBesides) {
  const status = byId('export-status');
  const name = (/** @type {Scene} */ { state, numbers: { origin } }, /** @type {string} */ end) =>
    `gates-${origin === 'shipped' ? `layer${state.layer}-${state.prompt}` : origin}-token${state.token}.${end}`;
  const seal = () => byId('badge-words').textContent ?? '';
  /** @type {Record<string, (shown: Scene, besides: Besides) => Blob | Promise<Blob>>} */
  const makers = {
    csv: (shown, { along }) => new Blob([csvOf(shown, along)], { type: 'text/csv' }),
    json: (shown, besides) =>
      new Blob([jsonOf(shown, seal(), besides)], { type: 'application/json' }),
    png: async (shown) => {
      const { pictureOf } = await import('./picture.js');
      return pictureOf(shown, captionOf(shown, byId('live').textContent ?? ''));
    },
  };
  for (const [end, make] of Object.entries(makers)) {
    byId(`export-${end}`).addEventListener('click', async () => {
      const shown = scene();
      if (!shown?.isWhole) return;
      try {
        const besides = await askBesides();
        if (besides === null) return;
        save(name(shown, end), await make(shown, besides));
        status.textContent = text.exports.saved(name(shown, end));
      } catch (error) {
        status.textContent = text.exports.notSaved(String(error));
      }
    });
  }
  byId('export-link').addEventListener('click', () => copyLink(scene(), fullLink()));
  bindClassLink(scene);
}

/**
 * @param {Scene | null} shown
 * @param {string} link
 */
async function copyLink(shown, link) {
  const status = byId('export-status');
  const file = ownFileOf(shown?.state.model ?? null);
  const hasText = shown?.numbers.origin === 'captured';
  try {
    await navigator.clipboard.writeText(link);
    const what = text.exports.copied;
    status.textContent =
      file !== null
        ? `${what} ${text.exports.ownFile(file)}`
        : hasText
          ? text.exports.copiedNoText
          : what;
  } catch {
    status.textContent = text.exports.notCopied;
  }
}

/**
 * A link for a class: what is ticked is left out where it is opened.
 * @param {() => Scene | null} scene
 */
function bindClassLink(scene) {
  const boxes = HIDEABLE.map((part) => el('input', { type: 'checkbox', value: part }));
  byId('class-link-parts').append(
    ...boxes.map((box) => el('label', {}, box, ` ${text.hideable[box.value]}`)),
  );
  byId('class-link-copy').addEventListener('click', () => {
    const hide = boxes.filter(({ checked }) => checked).map(({ value }) => value);
    copyLink(scene(), fullLink({ hide }));
  });
}
