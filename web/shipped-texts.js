// What is known of the shipped texts besides the layers: their tokens, and the runs of the whole model that were recorded on
// them. Both are fetched once, when the page, or an embedded map, says so.

import { SHIPPED } from './models.js';
import { recordedGuesses } from './recorded-runs.js';

/** @typedef {import('./state.js').State} State */

export class ShippedTexts {
  /** @type {{ name: string, tokens: string[] }[]} */
  #prompts = [];
  /** @type {import('./recorded-runs.js').RecordedRuns | null} */
  #runs = null;

  /** @param {AbortSignal} [signal] */
  async fetchTokens(signal) {
    const answer = await fetch(SHIPPED.promptsUrl, { signal });
    this.#prompts = (await answer.json()).prompts;
  }

  /** The page does without them where they are not there. */
  async fetchRuns() {
    const answer = await fetch(SHIPPED.whatIfUrl);
    if (answer.ok) this.#runs = await answer.json();
  }

  /** @param {string} prompt its name */
  tokens(prompt) {
    return this.#prompts.find(({ name }) => name === prompt)?.tokens ?? [];
  }

  /** What the whole model says next, as far as that was recorded. @param {State} state */
  guesses({ layer, prompt, unit, token, closed }) {
    if (unit === null) return null;
    const next = this.tokens(prompt)[token + 1] ?? null;
    return recordedGuesses(this.#runs, { prompt, layer, unit, token, next }, closed.includes(unit));
  }
}
