// A loader at work on a server that misbehaves: opens a small checkpoint, reads tensors out of order, and holds the outcome to
// "the right bytes or one clear error, and nothing left behind". faults.test.js and chaos/chaos.js drive it.

import assert from 'node:assert/strict';
import { streamTensors } from '../../src/binding/checkpoint.js';
import { GatedMLPError, openCheckpoint, Runtime } from '../../src/binding/index.js';
import { FaultServer } from './fault-server.js';
import { makeSafetensors, pattern } from './make-safetensors.js';
import { startOtherwise } from './timers.js';

/** @typedef {import('./faults.js').Outcome} Outcome */
/** @typedef {import('./fault-server.js').Fault} Fault */

const RETRY = { baseDelay: 1, maxDelay: 5 };
/** Where silence is the fault: told from every other timer by its length, and counted in turns of the event loop. */
const SHORT_PATIENCE = { ...RETRY, idleTimeout: 151 };
const MOST_SILENT_TURNS = 15;
const TURN_MILLISECONDS = 10;
/** @type {Record<string, Uint8Array>} */
const TENSORS = {
  first: pattern(90_000, 1),
  second: pattern(70_001, 2),
  third: pattern(120_000, 3),
  last: pattern(3, 4),
};

/**
 * Counts turns in which nothing came, not time: what holds this process up holds the server up as well, and is not taken for its
 * silence.
 * @param {() => void} onSilence
 * @param {typeof globalThis.setTimeout} setTimeout
 */
function countSilentTurns(onSilence, setTimeout) {
  let left = MOST_SILENT_TURNS;
  const turns = setTimeout(() => {
    left -= 1;
    if (left > 0) turns.refresh();
    else onSilence();
  }, TURN_MILLISECONDS);
  return turns;
}

export class RoughLoad {
  server;
  #runtime;
  #countTime = startOtherwise(SHORT_PATIENCE.idleTimeout, countSilentTurns);

  static async start() {
    const file = makeSafetensors(
      Object.fromEntries(
        Object.entries(TENSORS).map(([name, data]) => [
          name,
          { dtype: 'U8', shape: [data.length], data },
        ]),
      ),
    );
    const server = await FaultServer.start({
      '/f.safetensors': file,
      '/moved/f.safetensors': file,
    });
    return new RoughLoad(server, await Runtime.create());
  }

  /** @param {FaultServer} server @param {Runtime} runtime */
  constructor(server, runtime) {
    this.server = server;
    this.#runtime = runtime;
  }

  close() {
    this.#countTime();
    return this.server.close();
  }

  /**
   * Opens the file, meets the faults, and reads tensors.
   * @param {{ opening?: Fault, reading?: Fault, concurrency?: number, silent?: boolean, signal?: AbortSignal }} during
   * @returns {Promise<Outcome | 'aborted'>}
   */
  async run({ opening, reading, concurrency = 4, silent = false, signal }) {
    const { server } = this;
    server.reset();
    const used = this.#runtime.bytesUsed;
    try {
      server.fault = opening ?? null;
      const retry = silent ? SHORT_PATIENCE : RETRY;
      const options = { runtime: this.#runtime, retry, concurrency, signal };
      const checkpoint = await openCheckpoint(`${server.origin}/f.safetensors`, options);
      server.fault = reading ?? null;
      await readAndCompare(checkpoint);
      return 'right';
    } catch (error) {
      if (signal?.aborted && error === signal.reason) return 'aborted';
      if (!(error instanceof GatedMLPError)) throw error;
      const { message } = error;
      assert.ok(message.length > 20 && !/undefined|\[object/.test(message), message);
      return /** @type {Outcome} */ (error.code);
    } finally {
      server.fault = null;
      await server.idle();
      assert.equal(this.#runtime.bytesUsed, used, 'memory is given back');
    }
  }
}

/** @param {import('../../src/binding/checkpoint.js').Checkpoint} checkpoint */
async function readAndCompare(checkpoint) {
  /** @type {Record<string, Uint8Array>} */
  const read = {};
  const wanted = ['third', 'last', 'first'].map((name) => ({
    name,
    /** @param {Uint8Array} chunk @param {number} offset */
    sink(chunk, offset) {
      if (offset === 0) read[name] = new Uint8Array(TENSORS[name].length);
      read[name].set(chunk, offset);
    },
  }));
  await streamTensors(checkpoint, wanted);
  for (const { name } of wanted) assert.deepEqual(read[name], TENSORS[name]);
}

/** Mulberry32: the same numbers from the same seed, below n each. @param {number} seed */
export function randomFrom(seed) {
  let state = seed >>> 0;
  return (/** @type {number} */ n) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * n);
  };
}
