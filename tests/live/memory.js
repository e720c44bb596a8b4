// What a load needs of memory, as two rises above the state before. `resident` is what the operating system holds for the
// whole process at its highest, garbage included (Linux keeps that figure, and lets it be set back). `held` is wasm memory in
// use, array buffers and JavaScript heap together: without `collecting` with their garbage, too, whose amount is the
// engine's choice; with it only what a collection at every new height leaves.

import { readFileSync, writeFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';

/** @param {'VmRSS' | 'VmHWM'} field @returns {number} bytes */
function status(field) {
  const line = readFileSync('/proc/self/status', 'utf8').match(
    new RegExp(`${field}:\\s+(\\d+) kB`),
  );
  return Number(line?.[1]) * 1024;
}

export class MemoryWatch {
  #runtime;
  #collecting;
  #wasmBefore;
  #heldBefore = 0;
  #heldMost = 0;
  #residentBefore = 0;

  /**
   * Begins to watch, once all garbage is gone. Node needs --expose-gc.
   * @param {import('../../src/binding/index.js').Runtime} runtime a fresh one, whose memory counts
   * @param {{ collecting: boolean }} options
   */
  static async start(runtime, { collecting }) {
    if (!globalThis.gc) throw new Error('start node with --expose-gc');
    for (let i = 0; i < 3; i++) {
      globalThis.gc();
      await setImmediate();
    }
    return new MemoryWatch(runtime, collecting);
  }

  /** @param {import('../../src/binding/index.js').Runtime} runtime @param {boolean} collecting */
  constructor(runtime, collecting) {
    this.#runtime = runtime;
    this.#collecting = collecting;
    this.#wasmBefore = runtime.memory.buffer.byteLength;
    this.#heldBefore = this.#held();
    const SET_HIGHEST_BACK = '5';
    writeFileSync('/proc/self/clear_refs', SET_HIGHEST_BACK);
    this.#residentBefore = status('VmRSS');
  }

  /** Looks at what there is just now. */
  look() {
    let held = this.#held();
    if (this.#collecting && held > this.#heldMost) {
      globalThis.gc?.();
      held = this.#held();
    }
    this.#heldMost = Math.max(this.#heldMost, held);
  }

  /** Bytes above the state before, at the highest. */
  get rise() {
    this.look();
    return {
      held: this.#heldMost - this.#heldBefore,
      resident: status('VmHWM') - this.#residentBefore,
    };
  }

  #held() {
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    const { memory, bytesUsed } = this.#runtime;
    // A fresh memory has room already, which only counts once it is used.
    const wasm = Math.max(bytesUsed, memory.buffer.byteLength - this.#wasmBefore);
    return heapUsed + arrayBuffers + wasm;
  }
}
