// Holds the page's state and keeps the address bar in step with it: a slide replaces the entry, a step adds one to come
// back to. What a change means for what is loaded is the listener's business (main.js).

import { AddressBar } from './address-bar.js';
import { formatHash, NOTHING_HELD, parseHash } from './state.js';

/** @typedef {import('./state.js').State} State */

/** What a layer may not have, by its key in a link. */
const PLACES = /** @type {const} */ ([
  ['t', 'token'],
  ['u', 'unit'],
  ['vs', 'versus'],
  ['closed', 'closed'],
]);

export class StateStore {
  /** @type {State} */
  state;
  /** What of the last link meant nothing. @type {import('./state.js').Notice[]} */
  notices;
  /** @type {[string, string][]} */
  #unknown;
  #onChange;
  #address = new AddressBar();

  /** @param {(before: State) => void} onChange */
  constructor(onChange) {
    this.#onChange = onChange;
    const { state, notices, unknown } = parseHash(location.hash);
    this.state = state;
    this.#unknown = unknown;
    this.notices = notices;
    window.addEventListener('popstate', () => this.#adopt());
  }

  /**
   * @param {Partial<State>} patch
   * @param {boolean} [isStep] a step to come back to, not a slide
   */
  change(patch, isStep = false) {
    const before = this.state;
    this.state = { ...before, ...patch };
    const elsewhere = patch.token !== undefined && patch.token !== before.token;
    if (elsewhere && patch.closed === undefined) Object.assign(this.state, NOTHING_HELD);
    const address = formatHash(this.state, this.#unknown);
    if (isStep) this.#address.push(address);
    else this.#address.replace(address);
    this.#onChange(before);
  }

  /**
   * Brings the state within the layer on show and notes what is not there; the address keeps what was asked for.
   * @param {number} tokens
   * @param {number} units
   * @param {boolean} isOfLink whether the layer is one that a link can name
   */
  fit(tokens, units, isOfLink) {
    const asked = this.state;
    this.state = within(asked, tokens, units);
    if (!isOfLink || this.state === asked) return;
    for (const [key, field] of PLACES) {
      const isNoted = this.notices.some((notice) => notice.key === key);
      if (isNoted || this.state[field] === asked[field]) continue;
      this.notices = [...this.notices, { key, value: String(asked[field]) }];
    }
  }

  #adopt() {
    // A jump within the page, such as the skip link's, names no state: it must not lose the one that is there.
    if (location.hash !== '' && !location.hash.includes('=')) {
      history.replaceState(null, '', formatHash(this.state, this.#unknown));
      return;
    }
    const before = this.state;
    const { state, notices } = parseHash(location.hash);
    this.state = state;
    this.notices = notices;
    this.#onChange(before);
  }
}

/**
 * The state as far as a layer has it; the very same object where all of it is there.
 * @param {State} state
 * @param {number} tokens
 * @param {number} units
 * @returns {State}
 */
export function within(state, tokens, units) {
  const { token, unit, closed, versus } = state;
  const fits = {
    token: Math.min(token, tokens - 1),
    unit: unit !== null && unit >= units ? null : unit,
    closed: closed.every((other) => other < units)
      ? closed
      : closed.filter((other) => other < units),
    versus: versus !== null && (versus.token >= tokens || versus.unit >= units) ? null : versus,
  };
  const keys = /** @type {(keyof typeof fits)[]} */ (Object.keys(fits));
  return keys.every((key) => fits[key] === state[key]) ? state : { ...state, ...fits };
}
