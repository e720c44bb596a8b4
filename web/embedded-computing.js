// Computing for a map that is embedded in a page of another site. Browsers start no worker from a foreign origin, but one from a
// few words of the page's own that fetch the rest; where the page's policy does not let it have that, it computes itself.

import { answersUrl } from './places.js';
import { WorkerClient } from './protocol.js';

export class EmbeddedComputing {
  /** Questions wait in it until somebody answers at the other end. */
  #channel = new MessageChannel();
  #isEnded = false;
  #stop = () => {};
  client = new WorkerClient(this.#channel.port1);
  /** Fails where there is nobody to answer. */
  ready = this.#start();

  /** Gives everything back. */
  end() {
    this.#isEnded = true;
    this.#stop();
    this.#channel.port1.close();
  }

  async #start() {
    const { port1, port2 } = this.#channel;
    port1.start();
    const url = answersUrl();
    const worker = await workerWith(url);
    if (this.#isEnded) {
      worker?.terminate();
    } else if (worker !== null) {
      worker.postMessage(port2, [port2]);
      this.#stop = () => worker.terminate();
    } else {
      /** @type {typeof import('./embedded-answers.js')} */
      const { answerOn } = await import(url);
      if (!this.#isEnded) this.#stop = answerOn(port2);
    }
  }
}

/**
 * A worker that answers on the port that it is sent; null where the page may not have one.
 * @param {string} url of embedded-answers.js
 * @returns {Promise<Worker | null>}
 */
function workerWith(url) {
  // Not imported by a static import: policies count that among workers, and would have to name this site there, too.
  const words = `try {
      const { answerOn } = await import(${JSON.stringify(url)});
      addEventListener('message', ({ data }) => answerOn(data), { once: true });
      postMessage(true);
    } catch {
      postMessage(false);
    }`;
  const own = URL.createObjectURL(new Blob([words], { type: 'text/javascript' }));
  /** @type {Promise<Worker | null>} */
  const started = new Promise((resolve) => {
    const worker = new Worker(own, { type: 'module' });
    const giveUp = () => {
      worker.terminate();
      resolve(null);
    };
    worker.addEventListener('message', ({ data }) => (data ? resolve(worker) : giveUp()), {
      once: true,
    });
    worker.addEventListener('error', giveUp, { once: true });
  });
  // Some browsers throw where the policy forbids it, others tell later.
  return started.catch(() => null).finally(() => URL.revokeObjectURL(own));
}
