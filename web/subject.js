// Which layer on which text the page is about: a shipped one, or one of a model that the reader loaded; what it is called, what
// the worker is asked for, and the layers that were loaded, so that the browser's back and forward find them again.

import { keyOfLink } from './model-link.js';
import { SHIPPED } from './models.js';
import { text } from './text.js';

/** @typedef {import('./state.js').State} State */
/** @typedef {import('./load-dialog.js').ForeignLayer} ForeignLayer */

export class Subject {
  /** The layer of a loaded checkpoint; null: a shipped one. @type {ForeignLayer | null} */
  foreign = null;
  /** By what names them in a link. @type {Map<string, ForeignLayer>} */
  #loaded = new Map();

  /** @param {ForeignLayer} layer */
  remember(layer) {
    this.#loaded.set(keyOfLink(layer.link), layer);
  }

  /** The loaded layer that a state names; null: none, or not loaded since the page was opened. @param {State} state */
  loaded(state) {
    return this.#loaded.get(keyOfLink(state)) ?? null;
  }

  /** @param {State} state @returns {import('./protocol.js').Source} */
  source({ layer, prompt }) {
    return this.foreign?.source ?? { kind: 'shipped', layer, prompt };
  }

  /** What `source` is called on the page. @param {State} state @returns {import('./scene.js').About} */
  about({ layer, prompt }) {
    if (this.foreign === null) {
      const reading = text.prompts[/** @type {'chat'} */ (prompt)];
      return { origin: 'shipped', model: SHIPPED.name, layer: String(layer), reading };
    }
    const { source, mlp, name, tokens } = this.foreign;
    const label = tokens === null ? text.readings.probe : text.readings.captured;
    const reading = { label, quote: '' };
    return { origin: source.kind, model: name, layer: String(mlp.layer ?? 0), reading };
  }

  /**
   * Its tokens.
   * @param {number} count
   * @param {string[]} shipped those of the shipped text
   */
  pieces(count, shipped) {
    if (this.foreign === null) return shipped;
    return (
      this.foreign.tokens?.slice(0, count) ??
      Array.from({ length: count }, (_, token) => text.probeToken(token))
    );
  }
}
