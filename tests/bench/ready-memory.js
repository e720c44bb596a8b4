// Readies memory before a set-up is timed. What making its input left, and whoever was set up before, is otherwise given back
// to the system in its time; and a virtual machine can be new to memory that the system then hands out, and up to ten times as
// slow to come by it, which would be one contestant's bad luck.

/** Buffers are given back by a thread in the background. */
const SETTLE_MS = 30;
/** A set-up takes this many times the weights in float32: its input, and up to two copies. */
const COPIES = 3;
/** Bytes; so far apart, every page of memory is touched. */
const PAGE = 4096;

const { getBuiltinModule } = globalThis.process ?? {};

/** @param {Pick<import('./problem.js').Weights, 'd' | 'dFf'>} weights which are to be set up next */
export async function readyMemory({ d, dFf }) {
  touch(COPIES * 3 * d * dFf * Float32Array.BYTES_PER_ELEMENT);
  if (!getBuiltinModule) return; // a page cannot ask for it
  getBuiltinModule('node:v8').setFlagsFromString('--expose-gc');
  getBuiltinModule('node:vm').runInNewContext('gc')();
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
}

/** Has the system find so many bytes and gives them back, for it to hand out first. @param {number} bytes */
function touch(bytes) {
  const room = new Uint8Array(bytes);
  for (let at = 0; at < bytes; at += PAGE) room[at] = 1;
  // Node 20 has no transfer, but collects.
  /** @type {{ transfer?: (bytes: number) => ArrayBuffer }} */ (room.buffer).transfer?.(0);
}
