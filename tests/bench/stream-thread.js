// One more thread of the stream limit: reads its part of a shared memory each time it is told to. Started by
// shared-stream.js, in Node and in a page, as it is; it ends with whoever started it.

import { BEGIN, BYTES, DONE, LISTENING, TURN } from './stream-words.js';

/** @typedef {{ module: WebAssembly.Module, memory: WebAssembly.Memory, words: Int32Array, thread: number }} Start */

const node = globalThis.process?.getBuiltinModule?.('node:worker_threads').parentPort;

/** @param {Start} start */
function serve({ module, memory, words, thread }) {
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  const stream = /** @type {(begin: number, end: number) => number} */ (exports.stream);
  if (node) node.postMessage('ready');
  else globalThis.postMessage('ready');
  for (let turn = 0; ; turn += 2) {
    Atomics.wait(words, TURN, turn);
    Atomics.add(words, LISTENING, 1);
    while (Atomics.load(words, TURN) === turn + 1);
    const begin = words[BEGIN] + thread * words[BYTES];
    stream(begin, begin + words[BYTES]);
    Atomics.add(words, DONE, 1);
  }
}

if (node) node.once('message', serve);
else globalThis.addEventListener('message', ({ data }) => serve(data), { once: true });
