// One more thread of the limits: runs its part of a loop each time it is told to. Started by together.js, in Node and in a
// page, as it is; it ends with whoever started it.

import { DONE, EACH, FROM, LISTENING, TURN } from './together-words.js';

/** @typedef {{ module: WebAssembly.Module, memory: WebAssembly.Memory | null, words: Int32Array, thread: number }} Start */

const node = globalThis.process?.getBuiltinModule?.('node:worker_threads').parentPort;

/** @param {Start} start */
function serve({ module, memory, words, thread }) {
  const { exports } = new WebAssembly.Instance(module, memory ? { env: { memory } } : {});
  const loop = /** @type {(from: number, to: number) => number} */ (exports.loop);
  if (node) node.postMessage('ready');
  else globalThis.postMessage('ready');
  for (let turn = 0; ; turn += 2) {
    Atomics.wait(words, TURN, turn);
    Atomics.add(words, LISTENING, 1);
    while (Atomics.load(words, TURN) === turn + 1);
    const from = words[FROM] + thread * words[EACH];
    loop(from, from + words[EACH]);
    Atomics.add(words, DONE, 1);
  }
}

if (node) node.once('message', serve);
else globalThis.addEventListener('message', ({ data }) => serve(data), { once: true });
