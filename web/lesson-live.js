// What a bench says aloud: one line for those who do not see it, spoken once the last change has come to rest.

import { el } from './dom.js';

const REST_MS = 300;

export class RestingLine {
  node = el('p', { class: 'visually-hidden', 'aria-live': 'polite' });
  #timer = 0;

  /** @param {string} words empty: nothing, at once */
  say(words) {
    clearTimeout(this.#timer);
    if (words === '') this.node.textContent = '';
    else {
      this.#timer = window.setTimeout(() => {
        this.node.textContent = words;
      }, REST_MS);
    }
  }
}
