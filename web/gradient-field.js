// Gradients of every token for the direction on show, asked of the worker one token at a time: the selected token first, the
// others only while the map is coloured by them. Kept until the layer, the text, the activation or the direction changes.

/** @typedef {import('./scene.js').Numbers} Numbers */
/** @typedef {import('./state.js').State} State */
/** @typedef {import('./protocol.js').GradientMessage} GradientMessage */
/**
 * Arrays are [tokens, dFf], 0 where `here` says that a token has not been answered.
 * @typedef {{ arriving: Float32Array, up: Float32Array, gate: Float32Array, here: boolean[] }} Gradients
 */

/** The colourings that need every token. */
const COLOURS = ['du', 'dg'];

export class GradientField {
  #client;
  #onChange;
  /** Whether someone looks at the view of the gradient. */
  isWatched = false;
  /** @type {Numbers | null} */
  #numbers = null;
  #direction = '';
  #busy = false;
  /** A new object whenever a token was answered. @type {Gradients | null} */
  values = null;

  /**
   * @param {import('./protocol.js').WorkerClient} client
   * @param {() => void} onChange
   */
  constructor(client, onChange) {
    this.#client = client;
    this.#onChange = onChange;
  }

  /**
   * @param {Numbers} numbers
   * @param {State} state
   */
  follow(numbers, state) {
    if (this.#numbers !== numbers || this.#direction !== state.direction) {
      this.#numbers = numbers;
      this.#direction = state.direction;
      this.values = null;
    }
    const wholeMap = COLOURS.includes(state.by);
    if (this.#busy || numbers.up === null || !(wholeMap || this.isWatched)) return;
    const next = this.#missing(state.token, wholeMap);
    if (next !== null) this.#ask(numbers, state.direction, next);
  }

  /**
   * @param {number} selected
   * @param {boolean} wholeMap
   */
  #missing(selected, wholeMap) {
    const here = this.values?.here ?? [];
    if (!here[selected]) return selected;
    if (!wholeMap) return null;
    const tokens = /** @type {Numbers} */ (this.#numbers).tokens;
    for (let token = 0; token < tokens; token++) if (!here[token]) return token;
    return null;
  }

  /**
   * @param {Numbers} numbers
   * @param {string} direction
   * @param {number} token
   */
  async #ask(numbers, direction, token) {
    this.#busy = true;
    try {
      const answer = await this.#client.request('gradient', { token, direction });
      const isCurrent = this.#numbers === numbers && this.#direction === direction;
      if (isCurrent) this.#keep(numbers, token, answer);
    } finally {
      this.#busy = false;
      this.#onChange();
    }
  }

  /**
   * @param {Numbers} numbers
   * @param {number} token
   * @param {GradientMessage} answer
   */
  #keep({ tokens, dFf }, token, { arriving, up, gate }) {
    const values = this.values ?? {
      arriving: new Float32Array(tokens * dFf),
      up: new Float32Array(tokens * dFf),
      gate: new Float32Array(tokens * dFf),
      here: new Array(tokens).fill(false),
    };
    values.arriving.set(arriving, token * dFf);
    values.up.set(up, token * dFf);
    values.gate.set(gate, token * dFf);
    values.here[token] = true;
    this.values = { ...values };
  }
}
