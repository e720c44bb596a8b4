// One drawing a frame, however often it is asked for; or at once, for paper does not wait; or by a timer in a page that is not
// seen, which has no frames but keeps what is drawn. Says when what was asked for is drawn.

export class Frames {
  #draw;
  #failed;
  /** Takes back the drawing that is to come; null: none is. @type {(() => void) | null} */
  #cancel = null;
  /** The last drawing came to its end. */
  #isDrawn = true;
  /** Called after the next drawing. @type {((isDrawn: boolean) => void)[]} */
  #waiting = [];
  #ended = new AbortController();

  /**
   * @param {() => void} draw
   * @param {(error: unknown) => void} failed a drawing has thrown; it is thrown on
   */
  constructor(draw, failed) {
    this.#draw = draw;
    this.#failed = failed;
    const { signal } = this.#ended;
    document.addEventListener('visibilitychange', () => this.#move(), { signal });
  }

  schedule() {
    if (this.#cancel !== null) return;
    const draw = () => this.settle();
    if (document.hidden) {
      const timer = setTimeout(draw);
      this.#cancel = () => clearTimeout(timer);
    } else {
      const frame = requestAnimationFrame(draw);
      this.#cancel = () => cancelAnimationFrame(frame);
    }
  }

  /** A page that is not seen any more has no frame left, and one that is seen need not wait for a timer. */
  #move() {
    if (this.#cancel === null) return;
    this.#takeBack();
    this.schedule();
  }

  #takeBack() {
    this.#cancel?.();
    this.#cancel = null;
  }

  /** Resolves when nothing that was asked for waits to be drawn: to whether it could be. @returns {Promise<boolean>} */
  drawn() {
    if (this.#cancel === null) return Promise.resolve(this.#isDrawn);
    return new Promise((done) => this.#waiting.push(done));
  }

  settle() {
    this.#takeBack();
    this.#isDrawn = false;
    try {
      this.#draw();
      this.#isDrawn = true;
    } catch (error) {
      this.#failed(error);
      throw error;
    } finally {
      for (const done of this.#waiting.splice(0)) done(this.#isDrawn);
    }
  }

  /** What is asked for is not drawn any more. */
  end() {
    this.#takeBack();
    this.#ended.abort();
  }
}
