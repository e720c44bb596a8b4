// The live sentence: its numbers follow the state, its controls change it. The controls stand in the text of index.html;
// this file fills them and keeps what they show in step. A polite live region repeats the sentence once things rest.

import { CROSSING, LEAKING, OPEN, SHUT } from './definitions.js';
import { byId, choose, el } from './dom.js';
import { percent } from './format.js';
import { text } from './text.js';

/** The screen reader hears the sentence when nothing has changed for so long. */
const REST_MS = 300;

/** @typedef {import('./scene.js').Scene} Scene */

export class Sentence {
  #parts = {
    layer: byId('layer-value'),
    prompt: byId('prompt-value'),
    quote: byId('prompt-quote'),
    token: byId('token-value'),
    closed: byId('closed-share'),
    leaking: byId('leaking-share'),
    open: byId('open-share'),
    units: byId('unit-count'),
    cost: byId('cost'),
    partial: byId('partial'),
  };
  #token = /** @type {HTMLSelectElement} */ (byId('token-select'));
  #live = byId('live');
  #timer = 0;
  /** What the live region says, or will when things rest. */
  #coming = '';
  #pieces = '';

  /**
   * @param {Scene} scene
   * @param {{ layer: string, cost: number | null }} facts
   */
  update({ numbers, counts, state, isWhole }, { layer, cost }) {
    const { pieces, dFf, arrived } = numbers;
    this.#fillTokens(pieces);
    choose(this.#token, String(state.token));
    const here = counts[state.token];
    const closed = percent((here.counts[SHUT] + here.counts[CROSSING]) / here.units);
    const leaking = percent(here.counts[LEAKING] / here.units);
    const open = percent(here.counts[OPEN] / here.units);
    const costText = cost === null ? '\u2026' : percent(cost);
    const piece = pieces[state.token];
    this.#parts.token.textContent = text.quoted(piece);
    Object.entries({ closed, leaking, open, cost: costText, units: String(dFf) }).forEach(
      ([part, value]) => {
        this.#parts[/** @type {'closed'} */ (part)].textContent = value;
      },
    );
    this.#parts.partial.hidden = isWhole;
    this.#parts.partial.textContent = isWhole ? '' : text.partial(arrived, dFf);
    if (isWhole && cost !== null) {
      const facts = {
        layer,
        token: state.token,
        piece,
        closed,
        leaking,
        open,
        units: dFf,
        cost: costText,
      };
      this.#announce(text.sentencePlain(facts));
    }
  }

  /**
   * @param {string} layer
   * @param {{ label: string, quote: string }} prompt
   * @param {string} model
   */
  place(layer, { label, quote }, model) {
    byId('model-name').textContent = model;
    this.#parts.layer.textContent = layer;
    this.#parts.prompt.textContent = label;
    this.#parts.quote.textContent = quote === '' ? '' : ` (\u201c${quote}\u201d)`;
  }

  /** @param {string[]} pieces */
  #fillTokens(pieces) {
    if (pieces.join('\0') === this.#pieces) return;
    this.#pieces = pieces.join('\0');
    this.#token.replaceChildren(
      ...pieces.map((piece, token) => el('option', { value: token }, text.tokenName(token, piece))),
    );
  }

  /** @param {string} sentence */
  #announce(sentence) {
    if (sentence === this.#coming) return;
    this.#coming = sentence;
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => {
      if (this.#live.textContent !== sentence) this.#live.textContent = sentence;
    }, REST_MS);
  }
}
