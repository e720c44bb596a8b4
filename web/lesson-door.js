// The way into the lesson and out of it: the button in the page's header, and which of the two is to be seen, the gates of
// the real model or the lesson. The lesson's own code is fetched when it is first wanted. main.js calls update.

import { byId, el } from './dom.js';
import { text } from './text.js';

export class LessonDoor {
  #client;
  #onStep;
  /** @type {Promise<typeof import('./lesson.js')> | null} */
  #module = null;
  /** @type {import('./lesson.js').Lesson | null} */
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
      (await this.#open())?.takeFocus();
      onStep(1);
    });
  }

  /** @param {number | null} step */
  async update(step) {
    document.body.dataset.view = step === null ? 'gates' : 'lesson';
    this.#host.hidden = step === null;
    if (step !== null) (await this.#open())?.show(step);
  }

  /** The lesson, fetched once; null where that fails, and then it is tried anew the next time. */
  async #open() {
    this.#module ??= import('./lesson.js');
    try {
      const { Lesson } = await this.#module;
      this.#lesson ??= new Lesson(this.#host, this.#client, {
        onStep: this.#onStep,
        onLeave: () => this.#leave(),
      });
    } catch {
      this.#module = null;
      this.#fail();
    }
    return this.#lesson;
  }

  #fail() {
    const leave = el('button', { type: 'button' }, text.lessonLeave);
    leave.addEventListener('click', () => this.#leave());
    this.#host.replaceChildren(
      el('p', { role: 'alert', class: 'notice' }, text.lessonFailed),
      leave,
    );
  }

  #leave() {
    this.#onStep(null);
    // The button is there again from the next frame on.
    requestAnimationFrame(() => byId('lesson-start').focus());
  }
}
