// The page's one line for what went wrong: values of a link that mean nothing, a layer that could not be loaded, a view that
// could not be drawn. main.js says when.

import { byId } from './dom.js';
import { HIDEABLE } from './state.js';
import { text } from './text.js';

export class NoticeLine {
  #line = byId('notice');
  /** What was last said of a link. @type {import('./state.js').Notice[]} */
  #told = [];

  /** @param {string} words */
  say(words) {
    this.#line.textContent = words;
    this.#line.hidden = words === '';
  }

  /** Of a link, once for each list of notices. @param {import('./state.js').Notice[]} notices */
  tell(notices) {
    if (notices === this.#told) return;
    this.#told = notices;
    const words = notices.map(({ key, value }) =>
      key === 'hide' ? text.badHide(value, HIDEABLE.join(', ')) : key,
    );
    this.say(words.length === 0 ? '' : text.badHash(words.join('; ')));
  }
}
