// What the files hold that leave the page: the selected token's units as CSV, the state with definitions and sources as JSON,
// map and tile as PNG (picture.js). exports.js fetches this when the first is wanted, and saves them.

import { CLASS_NAMES } from './definitions.js';
import { byId } from './dom.js';
import { ownFileOf } from './model-link.js';
import { rankOf } from './orders.js';
import { pictureOf } from './picture.js';
import { fullLink, VERSION } from './state.js';
import { text } from './text.js';

/** @typedef {import('./scene.js').Scene} Scene */

/** What a file has besides what the scene knows: pi [tokens, dFf], and the hash of the weights' file. @typedef {{ along: Float32Array, digest: string | null }} Besides */

/** What made the numbers, and the version of the links and keys. */
const COMPUTED = { by: 'gated-mlp', build: 'simd128', format: Number(VERSION) };

/**
 * A file of one kind, of what is on show.
 * @param {'csv' | 'json' | 'png'} kind
 * @param {Scene} scene
 * @param {Besides} besides
 */
export async function fileOf(kind, scene, besides) {
  const wordsOf = (/** @type {string} */ id) => byId(id).textContent ?? '';
  if (kind === 'png') return pictureOf(scene, captionOf(scene, wordsOf('live')));
  return kind === 'csv'
    ? new Blob([csvOf(scene, besides.along)], { type: 'text/csv' })
    : new Blob([jsonOf(scene, wordsOf('badge-words'), besides)], { type: 'application/json' });
}

/** A field of a CSV file: quoted where it has to be. @param {string | number} value */
const field = (value) =>
  /[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value);

/**
 * One row a unit of the selected token, in full precision.
 * @param {Scene} scene
 * @param {Float32Array} along  pi, [tokens, dFf]
 */
function csvOf(scene, along) {
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
function jsonOf(scene, seal, { along, digest }) {
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
