// The stream limit of several threads: all of them read at once, each its own part of one shared memory. None is woken
// while the time is taken, which is that from the start of all to the end of the last. limits.js uses it.

import { now } from './clock.js';
import { DONE, LISTENING, TURN, WORDS } from './stream-words.js';

/**
 * @param {WebAssembly.Module} module whose `stream` reads from an address to another
 * @param {WebAssembly.Memory} memory shared
 * @param {number} threads the caller's own included
 * @returns {Promise<(begin: number, bytes: number) => number>} milliseconds in which they read that much, together
 */
export async function startReaders(module, memory, threads) {
  const words = new Int32Array(new SharedArrayBuffer(WORDS * Int32Array.BYTES_PER_ELEMENT));
  const others = Array.from({ length: threads - 1 }, (_, i) => i + 1);
  await Promise.all(others.map((thread) => startReader({ module, memory, words, thread })));
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  const stream = /** @type {(begin: number, end: number) => number} */ (exports.stream);
  /** A page's main thread may not sleep. @param {number} word */
  const allAt = (word) => {
    while (Atomics.load(words, word) < others.length);
  };
  return (begin, bytes) => {
    words.set([0, 0, begin, bytes / threads], LISTENING); // and those after it
    Atomics.add(words, TURN, 1);
    Atomics.notify(words, TURN);
    allAt(LISTENING);
    const start = now();
    Atomics.add(words, TURN, 1);
    stream(begin, begin + bytes / threads);
    allAt(DONE);
    return now() - start;
  };
}

/** @param {import('./stream-thread.js').Start} start @returns {Promise<void>} */
function startReader(start) {
  const url = new URL('./stream-thread.js', import.meta.url);
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
