// The way into the lesson and out of it: the button in the page's header, and which of the two is to be seen, the gates of
// the real model or the lesson. The lesson's own code is fetched when it is first wanted. main.js calls update.

import { byId } from './dom.js';

export class LessonDoor {
  #client;
  #onStep;
  /** @type {Promise<import('./lesson.js').Lesson> | null} */
  #lesson = null;
  #host = byId('lesson');

  /**
   * @param {import('./protocol.js').WorkerClient} client
   * @param {(step: number | null) => void} onStep a step is wanted; null: the real model again
   */
  constructor(client, onStep) {
    this.#client = client;
    this.#onStep = onStep;
    byId('lesson-start').addEventListener('click', async () => {
      const lesson = await this.#open();
      lesson.takeFocus();
      onStep(1);
    });
  }

  /** @param {number | null} step */
  async update(step) {
    document.body.dataset.view = step === null ? 'gates' : 'lesson';
    this.#host.hidden = step === null;
    if (step !== null) (await this.#open()).show(step);
  }

  #open() {
    this.#lesson ??= import('./lesson.js').then(
      ({ Lesson }) =>
        new Lesson(this.#host, this.#client, {
          onStep: this.#onStep,
          onLeave: () => this.#leave(),
        }),
    );
    return this.#lesson;
  }

  #leave() {
    this.#onStep(null);
    // The button is there again from the next frame on.
    requestAnimationFrame(() => byId('lesson-start').focus());
  }
}
