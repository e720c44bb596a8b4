// The tour: a few stops, each a state of the page and two or three sentences about what is to be seen there. It changes the
// live page, never shows a picture of it; every stop is a link (tour=N in the hash), and it can be left at any time.

import { byId, el } from './dom.js';
import { NOTHING_HELD } from './state.js';
import { text } from './text.js';

/** @typedef {import('./state.js').State} State */

const PLAIN = {
  ...NOTHING_HELD,
  tau: 0.05,
  act: null,
  versus: null,
  sort: /** @type {const} */ ('mean'),
  by: /** @type {const} */ ('class'),
  only: null,
};
const CAPITAL = { ...PLAIN, layer: 24, prompt: 'chat', token: 41, unit: 1005 };
const LEAKY = { ...PLAIN, layer: 5, prompt: 'code', token: 10, unit: 588 };

/**
 * The state of each stop, and what of the page it speaks of; the words are text.tour.stops, in the same order.
 * @type {{ state: Partial<State>, subject: string }[]}
 */
const STOPS = [
  { state: CAPITAL, subject: 'inspector' },
  { state: { ...CAPITAL, closed: [1005] }, subject: 'inspector' },
  { state: { ...LEAKY, set: 'negative' }, subject: 'tile' },
  { state: { ...LEAKY, set: 'closed' }, subject: 'tile' },
  { state: { ...LEAKY, by: 'c', sort: 'c' }, subject: 'errors' },
  {
    state: { ...PLAIN, layer: 11, prompt: 'english', token: 0, unit: 1229 },
    subject: 'inspector',
  },
];

export class Tour {
  #card = byId('tour');
  #title = byId('tour-title');
  #words = byId('tour-words');
  #result = byId('tour-result');
  #place = byId('tour-place');
  #live = byId('tour-live');
  #next = /** @type {HTMLButtonElement} */ (byId('tour-next'));
  #back = /** @type {HTMLButtonElement} */ (byId('tour-back'));
  #onChange;
  #onSubject;
  #stop = 0;
  /** Set when the tour is begun by hand: a link that opens at a stop does not move the focus. */
  #takesFocus = false;
  /** Whether the page is where the stop has put it: not since the reader moved it. */
  #isLed = false;
  /** How many times it is about to be put there, and how far down it was put last, px. */
  #pending = 0;
  #putAt = 0;

  /** @param {{ onChange: (patch: Partial<State>) => void, onSubject: (subject: string | null) => void }} actions */
  constructor({ onChange, onSubject }) {
    this.#onChange = onChange;
    this.#onSubject = onSubject;
    byId('tour-start').addEventListener('click', () => {
      this.#takesFocus = true;
      this.#go(1);
    });
    byId('tour-close').addEventListener('click', () => this.#leave());
    this.#next.addEventListener('click', () =>
      this.#stop === STOPS.length ? this.#leave() : this.#go(this.#stop + 1),
    );
    this.#back.addEventListener('click', () => this.#go(this.#stop - 1));
    this.#card.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.#leave();
    });
    new ResizeObserver(() => {
      const { style } = document.documentElement;
      style.setProperty('--tour-height', `${this.#card.offsetHeight}px`);
    }).observe(this.#card);
    // What comes late, as rows and their words do, moves what the stop speaks of; a reader who has moved on is not fetched back.
    const moves = new ResizeObserver(() => this.#isLed && this.#revealSoon());
    const subjects = new Set(STOPS.map(({ subject }) => subject));
    for (const part of [document.body, this.#card, ...[...subjects].map(byId)]) moves.observe(part);
    for (const type of ['wheel', 'touchmove', 'keydown', 'pointerdown', 'scroll']) {
      window.addEventListener(type, (event) => this.#moved(event), {
        capture: true,
        passive: true,
      });
    }
  }

  /**
   * @param {State} state
   * @param {string} result what the gates held by hand do, in words
   */
  update({ tour }, result) {
    const stop = tour !== null && tour >= 1 && tour <= STOPS.length ? tour : 0;
    this.#card.hidden = stop === 0;
    this.#result.textContent = result;
    if (stop === this.#stop) return;
    this.#stop = stop;
    this.#onSubject(stop === 0 ? null : STOPS[stop - 1].subject);
    this.#isLed = stop > 0;
    if (stop === 0) return;
    const { title, words } = text.tour.stops[stop - 1];
    const place = text.tour.place(stop, STOPS.length);
    this.#title.textContent = title;
    this.#words.replaceChildren(...words.map((paragraph) => el('p', {}, paragraph)));
    this.#place.textContent = place;
    this.#live.textContent = `${title}, ${place}. ${words.join(' ')}`;
    this.#revealSoon();
    this.#next.textContent = stop === STOPS.length ? text.tour.end : text.tour.next;
    this.#back.disabled = stop === 1;
    if (this.#takesFocus) this.#next.focus({ preventScroll: true });
    this.#takesFocus = false;
  }

  /** Shows what the stop speaks of when it and the card have their places. */
  #revealSoon() {
    this.#pending++;
    requestAnimationFrame(() =>
      setTimeout(() => {
        this.#pending--;
        if (this.#isLed) this.#reveal();
      }),
    );
  }

  /**
   * The reader moves the page; but it also scrolls because a stop puts it somewhere, or because something has grown.
   * @param {Event} event
   */
  #moved({ type, target }) {
    const isOurs = target !== document || this.#pending > 0 || window.scrollY === this.#putAt;
    if (type !== 'scroll' || !isOurs) this.#isLed = false;
  }

  #reveal() {
    const subject = byId(STOPS[this.#stop - 1].subject);
    // The inspector's sheet is there wherever the page is scrolled to; behind it belong the gates that it looks into.
    const isSheet = getComputedStyle(subject).position === 'fixed';
    const shown = isSheet ? byId('gates') : subject;
    // What is taller than the room beside the card is shown from its beginning.
    const isTall = shown.offsetHeight > window.innerHeight - this.#card.offsetHeight;
    shown.scrollIntoView({ block: isTall || isSheet ? 'start' : 'nearest' });
    this.#putAt = window.scrollY;
  }

  /** @param {number} stop */
  #go(stop) {
    this.#onChange({ ...STOPS[stop - 1].state, tour: stop });
  }

  #leave() {
    this.#onChange({ tour: null });
    byId('tour-start').focus();
  }
}
