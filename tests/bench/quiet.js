// Whether the machine is left alone. The core of a virtual one is often half of a real one, and while somebody else works on the
// other half the same loop does up to three tenths less, by processor time, too; whoever gets the most out of a core loses the most, so
// that not even ratios hold. The system tells nothing of it. So before and after what is timed one of the limits' own loops
// is, and if that fell short of its best so far, all of it is done again, for as long as there is patience. Nobody's time
// decides. It does not see who uses memory, and takes the state that a process began in for the best until a better one comes.

import { wallNow } from './clock.js';

/** Of the best rate: a loop in registers varies by a few hundredths by itself. */
const QUIET_SHARE = 0.9;
const PAUSE_MS = 500;

export class Quiet {
  #rate;
  #patienceMs;
  #best = 0;

  /**
   * @param {() => number} rate of a loop that nothing but company on its core slows down, in any unit
   * @param {number} patienceMs for all waiting and all that is done again
   */
  constructor(rate, patienceMs) {
    this.#rate = rate;
    this.#patienceMs = patienceMs;
  }

  /** Until nobody disturbs, or patience is at its end. @returns {Promise<boolean>} whether nobody does */
  async wait() {
    while (!this.#isQuiet()) {
      if (!(this.#patienceMs > 0)) return false;
      const start = wallNow();
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      this.#patienceMs -= wallNow() - start;
    }
    return true;
  }

  /**
   * Does something until it was done undisturbed, or patience is at its end.
   * @template T
   * @param {() => Promise<T>} work may be done several times
   * @returns {Promise<{ result: T, again: number, disturbed: boolean }>} of the last time, and how often it was done before
   */
  async run(work) {
    for (let again = 0; ; again++) {
      const began = await this.wait();
      const start = wallNow();
      const result = await work();
      const disturbed = !this.#isQuiet() || !began;
      if (!disturbed || !(this.#patienceMs > 0)) return { result, again, disturbed };
      this.#patienceMs -= wallNow() - start;
    }
  }

  #isQuiet() {
    const rate = this.#rate();
    this.#best = Math.max(this.#best, rate);
    return rate >= QUIET_SHARE * this.#best;
  }
}
