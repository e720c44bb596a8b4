// What is known of every unit of the layer on show only once somebody wants it: pi of all cells, and how the weight vectors of
// all units lie to each other. Asked of the worker when the state needs it, or an export; forgotten with the numbers.

/** @typedef {import('./scene.js').Numbers} Numbers */
/** @typedef {import('./protocol.js').Cosines} Cosines */
/** `along`: pi, [tokens, dFf]; null: not here. @typedef {{ along: Float32Array | null, cosines: Cosines | null }} OfAllUnits */

export class WholeLayer {
  #client;
  #onChange;
  /** @type {Numbers | null} */
  #numbers = null;
  /** @type {Map<keyof OfAllUnits, Promise<void>>} */
  #asked = new Map();
  /** A new object with every answer. @type {OfAllUnits} */
  values = { along: null, cosines: null };

  /**
   * @param {import('./protocol.js').WorkerClient} client
   * @param {() => void} onChange an answer has come
   */
  constructor(client, onChange) {
    this.#client = client;
    this.#onChange = onChange;
  }

  /**
   * @param {Numbers} numbers
   * @param {import('./state.js').State} state
   */
  follow(numbers, { by, sort }) {
    if (this.#numbers !== numbers) {
      this.#numbers = numbers;
      this.#asked.clear();
      this.values = { along: null, cosines: null };
    }
    if (numbers.up === null) return;
    if (by === 'pi') this.#want('along');
    if (sort === 'cosine') this.#want('cosines');
  }

  /**
   * What files that leave the page have besides the numbers on show: pi, and the SHA-256 of the weights' file where it is
   * known; null where other numbers have come meanwhile.
   */
  async forExport() {
    const numbers = this.#numbers;
    const digest = await this.#client.request('digest', {});
    await this.#want('along');
    const { along } = this.values;
    return this.#numbers === numbers && along !== null ? { along, digest } : null;
  }

  /** @param {keyof OfAllUnits} name */
  #want(name) {
    const answer = this.#asked.get(name) ?? this.#ask(name, this.#numbers);
    this.#asked.set(name, answer);
    return answer;
  }

  /**
   * @param {keyof OfAllUnits} name
   * @param {Numbers | null} numbers
   */
  async #ask(name, numbers) {
    const answer = await this.#client.request(name, {});
    if (this.#numbers !== numbers) return;
    this.values = { ...this.values, [name]: answer };
    this.#onChange();
  }
}
