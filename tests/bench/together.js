// A loop that several threads run at once, each its own part: the limits of all threads together. None is woken while the
// time is taken, which is that from the start of all to the end of the last. limits.js uses it.

import { now } from './clock.js';
import { DONE, LISTENING, TURN, WORDS } from './together-words.js';

/**
 * @param {WebAssembly.Module} module whose `loop` goes from a number to another
 * @param {WebAssembly.Memory | null} memory shared; null for a module that imports none
 * @param {number} threads the caller's own included
 * @returns {Promise<(from: number, count: number) => number>} milliseconds in which they went that far, together
 */
export async function startTogether(module, memory, threads) {
  const words = new Int32Array(new SharedArrayBuffer(WORDS * Int32Array.BYTES_PER_ELEMENT));
  const others = Array.from({ length: threads - 1 }, (_, i) => i + 1);
  await Promise.all(others.map((thread) => startThread({ module, memory, words, thread })));
  const { exports } = new WebAssembly.Instance(module, memory ? { env: { memory } } : {});
  const loop = /** @type {(from: number, to: number) => number} */ (exports.loop);
  /** A page's main thread may not sleep. @param {number} word */
  const allAt = (word) => {
    while (Atomics.load(words, word) < others.length);
  };
  return (from, count) => {
    words.set([0, 0, from, count / threads], LISTENING); // and those after it
    Atomics.add(words, TURN, 1);
    Atomics.notify(words, TURN);
    allAt(LISTENING);
    const start = now();
    Atomics.add(words, TURN, 1);
    loop(from, from + count / threads);
    allAt(DONE);
    return now() - start;
  };
}

/** @param {import('./together-thread.js').Start} start @returns {Promise<void>} */
function startThread(start) {
  const url = new URL('./together-thread.js', import.meta.url);
  const threads = globalThis.process?.getBuiltinModule?.('node:worker_threads');
  return new Promise((resolve, reject) => {
    /** @type {any} */
    const worker = threads ? new threads.Worker(url) : new Worker(url, { type: 'module' });
    const listen = (worker.once ?? worker.addEventListener).bind(worker);
    listen('message', () => {
      worker.unref?.();
      resolve();
    });
    listen('error', reject);
    worker.postMessage(start);
  });
}
