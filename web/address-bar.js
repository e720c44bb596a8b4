// Keeps the address bar in step with the state: a step makes an entry to come back to, a slide replaces the entry it is in.
// Browsers refuse entries that are replaced hundreds of times in half a minute, and each costs milliseconds, so that of a slide
// only the first is written at once and the last when it rests, or when the address is about to be read.

const REST_MS = 150;

export class AddressBar {
  /** What is to be written once the slide rests. @type {string | null} */
  #late = null;
  /** Runs while something slides. */
  #timer = 0;

  constructor() {
    // Whoever presses something, or leaves, may take the address along.
    for (const event of ['pointerdown', 'click', 'pagehide']) {
      window.addEventListener(event, () => this.#settle(), { capture: true });
    }
    // The entry that the slide was in is not the one that is shown now.
    window.addEventListener('popstate', () => {
      this.#late = null;
    });
  }

  /** @param {string} address */
  push(address) {
    this.#settle();
    if (address === location.hash) return;
    history.pushState(null, '', address);
  }

  /** @param {string} address */
  replace(address) {
    this.#late = address;
    if (this.#timer === 0) this.#settle();
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => {
      this.#timer = 0;
      this.#settle();
    }, REST_MS);
  }

  #settle() {
    if (this.#late !== null) history.replaceState(null, '', this.#late);
    this.#late = null;
  }
}
