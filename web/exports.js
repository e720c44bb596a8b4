// The ways out of the page: buttons that save numbers and pictures (export-files.js makes them) or copy a link, also one for
// a class. Files are saved by the browser; nothing is sent.

import { byId, el } from './dom.js';
import { ownFileOf } from './model-link.js';
import { fullLink, HIDEABLE } from './state.js';
import { text } from './text.js';

/** @typedef {import('./scene.js').Scene} Scene */

const FILES = /** @type {const} */ (['csv', 'json', 'png']);

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
 * @param {() => Scene | null} scene what is on show when a button is pressed
 * @param {() => Promise<import('./export-files.js').Besides | null>} askBesides null: something else is on show by now
 */
export function bindExports(scene, askBesides) {
  const status = byId('export-status');
  const name = (/** @type {Scene} */ { state, numbers: { origin } }, /** @type {string} */ end) =>
    `gates-${origin === 'shipped' ? `layer${state.layer}-${state.prompt}` : origin}-token${state.token}.${end}`;
  for (const end of FILES) {
    byId(`export-${end}`).addEventListener('click', async () => {
      const shown = scene();
      if (!shown?.isWhole) return;
      try {
        const besides = await askBesides();
        if (besides === null) return;
        const { fileOf } = await import('./export-files.js');
        save(name(shown, end), await fileOf(end, shown, besides));
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
