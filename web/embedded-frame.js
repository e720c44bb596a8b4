// The elements of a <gate-map>, in its shadow root, and the words in them. It holds no state; embedded-map.js says what to show.

import { CLASS_NAMES } from './definitions.js';
import { el } from './dom.js';
import { number, percent } from './format.js';
import { pageUrl, styleUrls } from './places.js';
import { text } from './text.js';

/** @typedef {import('./scene.js').Scene} Scene */

const words = text.embedded;

export class EmbeddedFrame {
  #root;
  #sentence = el('p', { class: 'sentence' });
  #badge = el('p', { class: 'badge', role: 'status' });
  #notice = el('p', { class: 'notice', role: 'status', hidden: true });
  #legend = el('ul', { class: 'class-counts', 'aria-label': words.legend });
  #readout = el('p', { class: 'readout' });
  #byHand = el('p', { class: 'by-hand', role: 'status' });
  #link = el('a', { class: 'page-link', target: '_blank', rel: 'noopener' }, words.page);
  #cost = '\u2026';
  strip = el('div', { class: 'strip', role: 'toolbar', 'aria-label': words.strip });
  map = el('div', { class: 'map' });
  tile = el('div', { class: 'tile' });
  node = el(
    'section',
    { class: 'gate-map', 'aria-label': words.name },
    this.#sentence,
    this.#badge,
    this.#notice,
    this.strip,
    this.map,
    this.#legend,
    this.tile,
    this.#readout,
    this.#byHand,
    el('p', { class: 'credit' }, this.#link, ` ${text.exports.shipped}`),
  );

  /** @param {ShadowRoot} root */
  constructor(root) {
    this.#root = root;
    root.replaceChildren(this.node);
    this.#readout.textContent = text.readoutIdle;
  }

  /** Its styles; a policy for inline styles does not hinder sheets that a script makes. */
  async dress() {
    const sheets = await Promise.all(
      styleUrls().map(async (url) => {
        const answer = await fetch(url);
        if (!answer.ok) throw new Error(url);
        return new CSSStyleSheet().replace(await answer.text());
      }),
    );
    this.#root.adoptedStyleSheets = sheets;
  }

  end() {
    this.#root.replaceChildren();
    this.#root.adoptedStyleSheets = [];
  }

  /** @param {string} state @param {string} what */
  badge(state, what) {
    this.#badge.dataset.state = state;
    this.#badge.textContent = what;
  }

  /** @param {string} what '' for nothing */
  notice(what) {
    this.#notice.textContent = what;
    this.#notice.hidden = what === '';
  }

  /**
   * @param {number | null} cost of the closed gates; null: not known
   * @param {number} count of gates closed by hand
   * @param {import('./protocol.js').EffectMessage | null} byHand what they do
   */
  results(cost, count, byHand) {
    this.#cost = cost === null ? '\u2026' : percent(cost);
    this.#byHand.textContent =
      byHand === null
        ? ''
        : text.hand.result(
            [text.hand.closed(count)],
            percent(byHand.relative),
            number(byHand.cosine, 2),
          );
  }

  /**
   * @param {Scene} scene
   * @param {string} hash
   */
  update(scene, hash) {
    const { state, numbers, counts, hover } = scene;
    const { token, unit } = state;
    const { closed, counts: byClass, units } = counts[token];
    const sentence = text.sentencePlain({
      layer: numbers.layer,
      token,
      piece: numbers.pieces[token],
      closed,
      units,
      leaking: byClass[2],
      open: byClass[3],
      cost: this.#cost,
    });
    if (this.#sentence.textContent !== sentence) this.#sentence.textContent = sentence;
    this.#legend.replaceChildren(
      ...CLASS_NAMES.map((name, i) =>
        el(
          'li',
          { 'data-class': name, title: text.meanings.classes[i] },
          el('span', { class: `swatch band-${name}`, 'aria-hidden': 'true' }),
          el('b', {}, String(byClass[i])),
          ` ${text.classes[i]}`,
        ),
      ),
    );
    const cell = hover ?? (unit === null ? null : { token, unit });
    this.#readout.textContent =
      cell === null || !scene.has(cell) ? text.readoutIdle : text.readout(scene.describe(cell));
    this.#link.href = `${pageUrl()}${hash}`;
  }
}
