// The text, one button a token, each with a thin bar of its gates: closed, leaking, open. Choosing a token moves the
// sentence, the tile and the inspector there. Arrow keys walk along it (one tab stop).

import { LEAKING, OPEN } from './definitions.js';
import { el } from './dom.js';
import { text } from './text.js';

/** @typedef {import('./scene.js').Scene} Scene */

export class TokenStrip {
  #host;
  /** @type {{ button: HTMLButtonElement, closed: HTMLElement, leaking: HTMLElement, open: HTMLElement }[]} */
  #items = [];
  /** @type {Scene | null} */
  #scene = null;
  #selected = -1;
  /** @type {number | null} */
  #hovered = null;
  #onSelect;

  /**
   * @param {HTMLElement} host
   * @param {{ onSelect: (token: number) => void }} actions
   */
  constructor(host, { onSelect }) {
    this.#host = host;
    this.#onSelect = onSelect;
    host.addEventListener('keydown', (event) => this.#onKey(event));
    host.addEventListener('pointerover', ({ target }) => {
      const button = /** @type {Element} */ (target).closest('button');
      if (button !== null) button.title = button.getAttribute('aria-label') ?? '';
    });
  }

  /** @param {Scene} scene */
  update(scene) {
    const before = this.#scene;
    this.#scene = scene;
    const { pieces } = scene.numbers;
    if (
      before?.numbers !== scene.numbers &&
      pieces.join('\0') !== before?.numbers.pieces.join('\0')
    )
      this.#build(pieces);
    if (before === null || before.counts !== scene.counts) this.#updateBars(scene);
    const hovered = scene.hover?.token ?? null;
    if (hovered !== this.#hovered) {
      this.#items[this.#hovered ?? -1]?.button.classList.remove('is-hover');
      this.#items[hovered ?? -1]?.button.classList.add('is-hover');
      this.#hovered = hovered;
    }
    if (this.#selected !== scene.state.token) this.#select(scene.state.token);
  }

  /** @param {number} token */
  #select(token) {
    const items = [this.#items[this.#selected], this.#items[token]];
    items.forEach((item, i) => {
      item?.button.setAttribute('aria-pressed', String(i === 1));
      if (item !== undefined) item.button.tabIndex = i === 1 ? 0 : -1;
    });
    this.#selected = token;
    // When the frame is laid out; in the middle of changing it, to ask for places is dear.
    setTimeout(() => this.#reveal(token));
  }

  /** @param {string[]} pieces */
  #build(pieces) {
    this.#items = pieces.map((piece, token) => {
      const [closed, leaking, open] = ['closed', 'leaking', 'open'].map((name) =>
        el('i', { class: `bar-${name}` }),
      );
      const bar = el('span', { class: 'bar', 'aria-hidden': 'true' }, closed, leaking, open);
      const label = el('span', { class: 'piece' }, piece);
      const attributes = { type: 'button', class: 'token', tabindex: -1, 'aria-pressed': 'false' };
      const button = el('button', attributes, label, bar);
      button.addEventListener('click', () => this.#onSelect(token));
      return { button, closed, leaking, open };
    });
    this.#host.replaceChildren(...this.#items.map(({ button }) => button));
    [this.#selected, this.#hovered] = [-1, null];
  }

  /** On a phone the strip is one line that scrolls: the selected token is brought to its middle. @param {number} token */
  #reveal(token) {
    const item = this.#items[token];
    if (item === undefined) return;
    const { offsetLeft, offsetWidth } = item.button;
    this.#host.scrollLeft = offsetLeft + offsetWidth / 2 - this.#host.clientWidth / 2;
  }

  /** @param {Scene} scene */
  #updateBars({ counts, numbers }) {
    counts.forEach((count, token) => {
      const shares = [
        count.closed / count.units,
        count.counts[LEAKING] / count.units,
        count.counts[OPEN] / count.units,
      ];
      const item = this.#items[token];
      [item.closed, item.leaking, item.open].forEach((part, i) => {
        part.style.flexGrow = String(shares[i]);
      });
      const label = text.stripLabel(numbers.pieces[token], {
        closed: count.closed,
        leaking: count.counts[LEAKING],
        open: count.counts[OPEN],
        negative: count.negative,
      });
      item.button.setAttribute('aria-label', label);
    });
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const last = this.#items.length - 1;
    const at = this.#scene?.state.token ?? 0;
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: last }[event.key];
    if (to === undefined || to < 0 || to > last) return;
    event.preventDefault();
    this.#onSelect(to);
    this.#items[to].button.focus();
  }
}
