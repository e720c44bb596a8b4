// One drawing a frame, however often it is asked for; or at once, for paper does not wait. Says when what was asked for is drawn.

export class Frames {
  #draw;
  #failed;
  #frame = 0;
  /** The last drawing came to its end. */
  #isDrawn = true;
  /** Called after the next drawing. @type {((isDrawn: boolean) => void)[]} */
  #waiting = [];

  /**
   * @param {() => void} draw
   * @param {(error: unknown) => void} failed a drawing has thrown; it is thrown on
   */
  constructor(draw, failed) {
    this.#draw = draw;
    this.#failed = failed;
  }

  schedule() {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => this.settle());
  }

  /** Resolves when nothing that was asked for waits to be drawn: to whether it could be. @returns {Promise<boolean>} */
  drawn() {
    if (this.#frame === 0) return Promise.resolve(this.#isDrawn);
    return new Promise((done) => this.#waiting.push(done));
  }

  settle() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
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
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
  }
}
