// The threads of a runtime: module workers that run the same module on one shared memory. runtime.js asks for a team
// where threads are asked for; where the engine or the page does not allow one, there is none and nothing fails.

/** @typedef {import('./wasm.js').Wasm} Wasm */
/** @typedef {{ terminate(): unknown }} Thread in Node terminate() gives a promise of the end, on the web nothing */

const PAGE = 65536;

/** The module's own first pages, which a memory must have at least; build.sh has Emscripten's default. */
const INITIAL_PAGES = 256;

/** A shared memory states its maximum, and some engines set that much address space aside: 1 GiB. */
const MAXIMUM_PAGES = 16384;

const STACK_BYTES = PAGE;

/** A worker that has not answered by then never will: a policy or a server keeps its file from it. */
const START_MILLISECONDS = 60_000;

/**
 * Multiply-adds from which threads are woken. While calls follow each other two gain from an eighth of this on
 * (tests/bench/crossover.js); after a pause, which is what a layer of a model meets, one token of 576x1536, 2.7 million, takes
 * as long with two in Node and a third longer in a page (tests/bench/RESULTS.md).
 */
const WORTH_SHARING = 3_000_000;

/** How long a page's main thread computes before the page gets a turn: a third of a frame. */
const SLICE_MILLISECONDS = 5;

/** What team_help says. */
const [GO_ON, DONE] = [1, 2];

/** Whether this engine, and this page, let threads share memory. */
export function canShareMemory() {
  const isolated = globalThis.crossOriginIsolated ?? true;
  return isolated && typeof SharedArrayBuffer === 'function' && workerClass() !== null;
}

export const newSharedMemory = () =>
  new WebAssembly.Memory({ initial: INITIAL_PAGES, maximum: MAXIMUM_PAGES, shared: true });

/** Node's Worker, or the web's, or null. @returns {{ node: boolean, Worker: any } | null} */
function workerClass() {
  const threads = globalThis.process?.getBuiltinModule?.('node:worker_threads');
  if (threads && globalThis.process.versions?.node) return { node: true, Worker: threads.Worker };
  return typeof Worker === 'function' ? { node: false, Worker } : null;
}

export class Team {
  /** Threads, the runtime's own included. */
  threads;
  /** Whether the runtime's own thread may wait for the others: not on a page's main thread. */
  canWait = typeof globalThis.document === 'undefined';
  #workers;
  #wasm;
  /** @type {Promise<unknown>} */
  #last = Promise.resolve();

  /** @param {Wasm} wasm @param {Thread[]} workers */
  constructor(wasm, workers) {
    this.#wasm = wasm;
    this.#workers = workers;
    this.threads = workers.length + 1;
  }

  /**
   * Starts threads - 1 workers. Resolves to null where they cannot be had.
   * @param {Wasm} wasm
   * @param {WebAssembly.Module} module
   * @param {WebAssembly.Memory} memory
   * @param {number} threads
   * @param {AbortSignal} [signal]
   */
  static async start(wasm, module, memory, threads, signal) {
    /** @type {Thread[]} */
    const workers = [];
    /** @type {number[]} */
    const stacks = [];
    /** @type {unknown} */
    let lost;
    // What a thread had taken is never finished, and may have been left half written.
    const onLost = (/** @type {unknown} */ why) => {
      lost = why;
      if (wasm.team && !wasm.disposed) {
        wasm.dispose(`the runtime has ended with one of its threads: ${why}`);
      }
    };
    try {
      const ready = Array.from({ length: threads - 1 }, (_, i) => {
        stacks[i] = wasm.alloc(STACK_BYTES, 'the stack of a thread');
        const start = { module, memory, stack: stacks[i] + STACK_BYTES, thread: i + 1 };
        return startWorker(start, workers, onLost);
      });
      await withinTime(Promise.all(ready), signal);
      if (lost) throw lost;
      return new Team(wasm, workers);
    } catch {
      const ends = workers.map((worker) => worker.terminate());
      await Promise.all(ends);
      // A thread that nobody knows to have ended may still write to its stack.
      if (ends.every(Boolean)) for (const stack of stacks) wasm.free(stack);
      signal?.throwIfAborted();
      return null;
    }
  }

  /** Whether a forward of this many multiply-adds is finished sooner by several threads. @param {number} products */
  isWorth(products) {
    return products >= WORTH_SHARING;
  }

  /**
   * A forward on a thread that must not be held up; one after the other. It does its part in slices and leaves what lies
   * between them to the page. What args point at must stay.
   * @param {number[]} args as team_begin's
   * @returns {Promise<number>} a gated_mlp_status
   */
  forwardAsync(args) {
    const turn = this.#last.then(async () => {
      this.#wasm.check();
      const status = this.#wasm.exports.team_begin(...args, this.threads);
      if (status === 0) await this.#help();
      return status;
    });
    this.#last = turn.catch(() => {});
    return turn;
  }

  dispose() {
    for (const worker of this.#workers) worker.terminate();
  }

  async #help() {
    const { exports } = this.#wasm;
    const at = exports.team_opened() / 4;
    for (;;) {
      const words = new Int32Array(this.#wasm.bytes.buffer);
      const opened = Atomics.load(words, at);
      const end = performance.now() + SLICE_MILLISECONDS;
      let state;
      do state = exports.team_help();
      while (state === GO_ON && performance.now() < end);
      if (state === DONE) return;
      const { waitAsync } = /** @type {any} */ (Atomics);
      // Not for ever: the runtime may be disposed of meanwhile.
      const wait = state === GO_ON ? null : waitAsync?.(words, at, opened, 100);
      // Where the stage is another by now there is no wait, and its value would be no turn for the page.
      await (wait?.async ? wait.value : nextTask());
      this.#wasm.check();
    }
  }
}

/** A turn for whatever else the thread has to do. */
function nextTask() {
  const { scheduler } = /** @type {any} */ (globalThis);
  const later = () => new Promise((resolve) => setTimeout(resolve));
  // It rejects once the task that the call began in is aborted, by its scheduler.postTask.
  return scheduler?.yield?.().catch(later) ?? later();
}

/**
 * @param {import('./thread-worker.js').Start} start
 * @param {Thread[]} workers takes the worker at once, so that it can be ended whatever happens
 * @param {(why: unknown) => void} onLost called when it has ended
 * @returns {Promise<void>} resolved when it serves
 */
function startWorker(start, workers, onLost) {
  return new Promise((resolve, reject) => {
    const kind = workerClass();
    // Flags of the process that are about its own program, such as --input-type, would stop the worker's file.
    const worker = kind?.node
      ? new kind.Worker(new URL('./thread-worker.js', import.meta.url), { execArgv: [] })
      : new Worker(new URL('./thread-worker.js', import.meta.url), { type: 'module' });
    workers.push(worker);
    const listen = (worker.once ?? worker.addEventListener).bind(worker);
    listen('message', () => {
      worker.unref?.();
      resolve();
    });
    const end = (/** @type {any} */ why) => {
      onLost(why.message ?? why);
      reject(why);
    };
    listen('error', end);
    listen('exit', (/** @type {number} */ code) => end(`exit code ${code}`));
    worker.postMessage(start);
  });
}

/**
 * Rejects when the time is up or the signal fires.
 * @param {Promise<unknown>} ready
 * @param {AbortSignal} [signal]
 */
async function withinTime(ready, signal) {
  /** @type {() => void} */
  let giveUp = () => {};
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  try {
    await new Promise((resolve, reject) => {
      giveUp = reject;
      timer = setTimeout(giveUp, START_MILLISECONDS);
      signal?.addEventListener('abort', giveUp);
      if (signal?.aborted) giveUp();
      ready.then(resolve, reject);
    });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}
