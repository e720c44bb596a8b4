// One drawing a frame, however often it is asked for; or at once, for paper does not wait.

export class Frames {
  #draw;
  #failed;
  #frame = 0;

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

  settle() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    try {
      this.#draw();
    } catch (error) {
      this.#failed(error);
      throw error;
    }
  }
}
