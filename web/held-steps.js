// What was held by hand, step by step, for undo and redo: at one token of one layer, since elsewhere other gates are there to be
// held. Steps that slide (a g that is dragged) are one, until another slide begins. hand-panel.js notes what is held and asks
// for the way back.

/** @typedef {Pick<import('./state.js').State, 'closed' | 'set' | 'kept' | 'whatIf'>} Held */

export class HeldSteps {
  #place = '';
  /** @type {Held | null} */
  #now = null;
  /** Oldest first. @type {Held[]} */
  #before = [];
  /** What was gone back from, the latest last. @type {Held[]} */
  #after = [];
  /** Whether a change of g goes on with the step before. */
  #isSliding = false;

  get canUndo() {
    return this.#before.length > 0;
  }

  get canRedo() {
    return this.#after.length > 0;
  }

  /**
   * @param {string} place
   * @param {Held} held what is held there now
   */
  note(place, held) {
    const last = this.#now;
    this.#now = held;
    if (place !== this.#place || last === null) {
      this.#place = place;
      [this.#before, this.#after] = [[], []];
    } else if (!isSame(last, held)) {
      if (!this.#isSliding || !isSlide(last, held)) this.#before.push(last);
      this.#isSliding = true;
      this.#after = [];
    }
  }

  /** The next change of g is a step of its own. */
  beginSlide() {
    this.#isSliding = false;
  }

  /** What was held a step before; null: nothing to go back to. */
  undo() {
    return this.#go(this.#before, this.#after);
  }

  /** What was held before undo. */
  redo() {
    return this.#go(this.#after, this.#before);
  }

  /**
   * @param {Held[]} from
   * @param {Held[]} to
   */
  #go(from, to) {
    const step = from.pop();
    if (step === undefined || this.#now === null) return null;
    to.push(this.#now);
    this.#isSliding = false;
    this.#now = step;
    return step;
  }
}

/** @param {Held} p @param {Held} q */
const isSame = (p, q) => JSON.stringify(keysOf(p)) === JSON.stringify(keysOf(q));

/** Whether all that differs is the value that a gate is set to. @param {Held} p @param {Held} q */
const isSlide = (p, q) =>
  p.whatIf !== null && q.whatIf !== null && isSame({ ...p, whatIf: 0 }, { ...q, whatIf: 0 });

/** @param {Held} held */
const keysOf = ({ closed, set, kept, whatIf }) => [closed, set, kept, whatIf];
