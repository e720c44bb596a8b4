// <gate-map>: the map of gates as an element for any page, by one script tag from the built site:
//   <script type="module" src="https://…/gate-map.js"></script>
//   <gate-map layer="24" prompt="chat" token="41" unit="1005"></gate-map>
// Its attributes are the state, each under a name of its own or all in `hash`, as a link to the page has it. It lives in a
// shadow root, leaves nothing behind when it is removed, and tells `gate-map-change` with the hash of what is shown.

import { EmbeddedMap } from './embedded-map.js';

/** Attribute and key in a link. */
const KEYS = /** @type {const} */ ({
  layer: 'l',
  prompt: 'p',
  token: 't',
  unit: 'u',
  tau: 'tau',
  act: 'act',
  sort: 'sort',
  by: 'by',
  only: 'only',
  closed: 'closed',
});

export class GateMap extends HTMLElement {
  static observedAttributes = ['hash', ...Object.keys(KEYS)];

  #root = this.attachShadow({ mode: 'open' });
  /** @type {EmbeddedMap | null} */
  #map = null;
  #isDue = false;

  connectedCallback() {
    this.#map = new EmbeddedMap(this.#root, this.#asked(), (hash) => {
      const detail = { hash };
      this.dispatchEvent(new CustomEvent('gate-map-change', { detail, bubbles: true }));
    });
  }

  disconnectedCallback() {
    this.#map?.end();
    this.#map = null;
  }

  /** Attributes that change together are one change. */
  attributeChangedCallback() {
    if (this.#map === null || this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      this.#map?.adopt(this.#asked());
    });
  }

  /** What is shown, as the hash of a link to the page; '' while it is not in a page. */
  get hash() {
    return this.#map?.hash ?? '';
  }

  /** What the attributes ask for, as a hash. */
  #asked() {
    const asked = new URLSearchParams((this.getAttribute('hash') ?? '').replace(/^#/, ''));
    for (const [name, key] of Object.entries(KEYS)) {
      const value = this.getAttribute(name);
      if (value !== null) asked.set(key, value);
    }
    return `#${asked}`;
  }
}

// The script may be on a page twice.
if (customElements.get('gate-map') === undefined) customElements.define('gate-map', GateMap);
