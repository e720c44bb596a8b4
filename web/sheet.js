// The inspector on a narrow screen: a sheet at the bottom that shows one line until it is opened, by hand or by a stop of the
// tour that speaks of it. It traps nothing: the page behind goes on, Escape and leaving it by keyboard close it, and what has
// the focus is never under it, since the page keeps as much room below as the sheet takes (styles/phone.css).

import { el } from './dom.js';
import { text } from './text.js';

export class Sheet {
  #host;
  #handle = el('button', { type: 'button', class: 'sheet-handle', id: 'sheet-handle' });

  /** @param {HTMLElement} host */
  constructor(host) {
    this.#host = host;
    host.prepend(this.#handle);
    this.#handle.addEventListener('click', () => this.open(!this.#isOpen));
    host.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || !this.#isOpen) return;
      this.open(false);
      this.#handle.focus();
    });
    document.addEventListener('focusin', ({ target }) => {
      const to = /** @type {Element} */ (target);
      if (this.#isOpen && !host.contains(to) && to.matches(':focus-visible')) this.open(false);
    });
    new ResizeObserver(() => this.#makeRoom()).observe(host);
    this.open(false);
  }

  get #isOpen() {
    return this.#host.classList.contains('is-open');
  }

  /** @param {boolean} open */
  open(open) {
    // Of one that was folded it would only have the page laid out, at the start for nothing.
    if (!open && this.#isOpen) this.#host.scrollTop = 0;
    this.#host.classList.toggle('is-open', open);
    this.#handle.setAttribute('aria-expanded', String(open));
    this.#handle.textContent = open ? text.sheet.close : text.sheet.open;
  }

  #makeRoom() {
    const { style } = document.documentElement;
    style.setProperty(
      '--sheet-height',
      `${Math.ceil(this.#host.getBoundingClientRect().height)}px`,
    );
  }
}
