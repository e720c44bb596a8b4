// While a slider moves, questions come faster than answers. One is under way at a time; of those that come in the
// meantime only the newest is asked. An answer that has been overtaken by `forget` is dropped.

import { lessonText } from './lesson-text.js';

/**
 * Says in a line of a bench that the module did not answer.
 * @param {HTMLElement} line
 * @returns {(error: unknown) => void}
 */
export function failureIn(line) {
  return (error) => {
    line.textContent = lessonText.failed(String(error));
  };
}

/**
 * @template Q, A
 */
export class Latest {
  #ask;
  #answered;
  #failed;
  /** @type {{ question: Q } | null} */
  #waiting = null;
  #busy = false;
  #era = 0;

  /**
   * @param {(question: Q) => Promise<A>} ask
   * @param {(answer: A, question: Q) => void} answered
   * @param {(error: unknown) => void} failed
   */
  constructor(ask, answered, failed) {
    this.#ask = ask;
    this.#answered = answered;
    this.#failed = failed;
  }

  /** @param {Q} question */
  async want(question) {
    this.#waiting = { question };
    if (this.#busy) return;
    this.#busy = true;
    while (this.#waiting !== null) {
      const { question: next } = this.#waiting;
      this.#waiting = null;
      const era = this.#era;
      try {
        const answer = await this.#ask(next);
        if (era === this.#era) this.#answered(answer, next);
      } catch (error) {
        if (era === this.#era) this.#failed(error);
      }
    }
    this.#busy = false;
  }

  /** Whatever is under way is no longer wanted. */
  forget() {
    this.#era++;
    this.#waiting = null;
  }
}
