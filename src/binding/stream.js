// Tensor bytes from a checkpoint's files into sinks: how many requests at once, progress, what happens when one fails,
// and the one clean restart when a file is replaced. ranges.js plans what to ask for; checkpoint.js calls.

import { Budget } from './budget.js';
import { earlier, later, onePass, planRanges, unwantedBytes } from './ranges.js';
import { FileReplaced } from './retry.js';
import { replacedAgain } from './shard.js';

/** @typedef {import('./shard.js').Shard} Shard */
/** @typedef {import('./ranges.js').Member} Member */
/** @typedef {import('./ranges.js').Range} Range */
/**
 * @typedef {object} Wanted
 * @property {string} name of a tensor
 * @property {number} [begin] first byte wanted, in the tensor (default 0)
 * @property {number} [end] (default: its end)
 * @property {(chunk: Uint8Array, offset: number) => void} sink gets the bytes in order; offset counts from the tensor's
 *   start, and one equal to `begin` means that the bytes begin, or begin again
 */
/** @typedef {{ wanted: number, received: number, tensor: string }} Progress bytes, and the tensor that is arriving */
/**
 * @typedef {object} StreamOptions
 * @property {AbortSignal} [signal]
 * @property {(progress: Progress) => void} [onProgress]
 * @property {number} [maxBytes]
 * @property {Slots} slots
 * @property {import('./cache.js').Keeper | null} [keeper]
 * @property {(shards: Shard[], request: import('./source.js').Request) => Promise<void>} reopen
 */
/** @typedef {{ shard: Shard, range: Range }} Job */

/** So many requests at once, first come first served. */
export class Slots {
  #free;
  /** @type {(() => void)[]} */
  #waiting = [];

  /** @param {number} count */
  constructor(count) {
    this.#free = count;
  }

  /**
   * Waits for a slot. False: the signal has ended the wait, and there is nothing to release.
   * @param {AbortSignal} signal
   * @returns {Promise<boolean>}
   */
  async take(signal) {
    if (signal.aborted) return false;
    if (this.#free > 0) {
      this.#free -= 1;
      return true;
    }
    return new Promise((resolve) => {
      const onTurn = () => {
        signal.removeEventListener('abort', onAbort);
        resolve(true);
      };
      const onAbort = () => {
        this.#waiting.splice(this.#waiting.indexOf(onTurn), 1);
        resolve(false);
      };
      this.#waiting.push(onTurn);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  release() {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free += 1;
  }
}

/**
 * Resolves when every byte of every wanted part has been delivered.
 * @param {(name: string) => Shard} shardOf opened
 * @param {Wanted[]} wanted the most urgent first
 * @param {StreamOptions} options
 */
export async function streamWanted(shardOf, wanted, options) {
  const { signal } = options;
  const budget = new Budget(options.maxBytes);
  for (let restarts = 0; ; restarts++) {
    signal?.throwIfAborted();
    try {
      return await streamOnce(shardOf, wanted, budget, options);
    } catch (error) {
      if (!(error instanceof FileReplaced) || restarts > 0) throw replacedAgain(error);
      await options.reopen([...new Set(wanted.map(({ name }) => shardOf(name)))], {
        signal,
        budget,
      });
    }
  }
}

/**
 * @param {(name: string) => Shard} shardOf
 * @param {Wanted[]} wanted
 * @param {Budget} budget
 * @param {StreamOptions} options
 */
async function streamOnce(shardOf, wanted, budget, { signal, onProgress, slots, keeper }) {
  const progress = { wanted: 0, received: 0 };
  /** @type {Delivery[]} */
  const deliveries = [];
  for (const item of wanted) {
    const delivery = new Delivery(shardOf(item.name), item, (change) => {
      progress.received += change;
      if (change > 0) onProgress?.({ ...progress, tensor: item.name });
    });
    progress.wanted += delivery.length;
    if (delivery.length > 0) deliveries.push(delivery);
  }
  const missing = keeper ? await missingIn(keeper, deliveries, signal) : deliveries;
  if (keeper) for (const delivery of missing) delivery.keepIn(keeper);
  try {
    await together(planJobs(missing), slots, signal, (job, inner) =>
      runJob(job, { signal: inner, budget }),
    );
    for (const { entry } of missing) entry?.finish();
  } finally {
    for (const { entry } of missing) entry?.drop();
  }
}

/** One wanted part on its way: its place in the file, what has arrived, and its copy for the cache. */
class Delivery {
  shard;
  /** @type {Member} */
  member;
  /** @type {number} */
  length;
  /** @type {ReturnType<import('./cache.js').Keeper['entry']> | null} */
  entry = null;
  #received = 0;
  #sink;
  #onChange;

  /**
   * @param {Shard} shard
   * @param {Wanted} wanted
   * @param {(change: number) => void} onChange told of bytes received, and taken back
   */
  constructor(shard, { name, begin = 0, end, sink }, onChange) {
    const tensor = shard.tensors.get(name);
    const last = end ?? tensor?.byteLength ?? 0;
    if (!tensor || !(begin >= 0 && begin <= last && last <= tensor.byteLength)) {
      throw new RangeError(`bytes ${begin} to ${last} of ${name} are not in ${shard.name}`);
    }
    const origin = tensor.begin;
    this.shard = shard;
    this.length = last - begin;
    this.#sink = sink;
    this.#onChange = onChange;
    const take = this.take.bind(this);
    this.member = { begin: origin + BigInt(begin), end: origin + BigInt(last), origin, take };
  }

  /**
   * @param {Uint8Array} piece
   * @param {number} offset in the tensor
   */
  take(piece, offset) {
    this.#sink(piece, offset);
    this.entry?.add(piece);
    this.#received += piece.length;
    this.#onChange(piece.length);
  }

  /** What has arrived does not count: the bytes will begin again. */
  takeBack() {
    this.#onChange(-this.#received);
    this.#received = 0;
  }

  /** @param {import('./cache.js').Keeper} keeper */
  keepIn(keeper) {
    this.entry = keeper.entry(this.shard.file, this.member);
  }
}

/**
 * Hands over what the cache has.
 * @param {import('./cache.js').Keeper} keeper
 * @param {Delivery[]} deliveries
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<Delivery[]>} the others
 */
async function missingIn(keeper, deliveries, signal) {
  /** @type {Delivery[]} */
  const missing = [];
  for (const delivery of deliveries) {
    const { shard, member } = delivery;
    if (await keeper.handOver(shard.file, member, signal)) continue;
    delivery.takeBack();
    missing.push(delivery);
  }
  return missing;
}

/**
 * Starts the jobs in order as slots come free. The first failure ends them all; it is thrown when none runs any more.
 * @template T
 * @param {T[]} jobs
 * @param {Slots | null} slots null: all at once
 * @param {AbortSignal | undefined} signal
 * @param {(job: T, signal: AbortSignal) => Promise<void>} run
 */
export async function together(jobs, slots, signal, run) {
  const controller = new AbortController();
  const onAbort = () => controller.abort(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted) onAbort();
  /** @type {{ error: unknown } | undefined} */
  let failure;
  await Promise.all(
    jobs.map(async (job) => {
      if (slots && !(await slots.take(controller.signal))) return;
      try {
        if (!controller.signal.aborted) await run(job, controller.signal);
      } catch (error) {
        failure ??= { error };
        controller.abort(error);
      } finally {
        slots?.release();
      }
    }),
  );
  signal?.removeEventListener('abort', onAbort);
  signal?.throwIfAborted();
  if (failure) throw failure.error;
}

/**
 * @param {Delivery[]} deliveries the most urgent first
 * @returns {Job[]}
 */
function planJobs(deliveries) {
  /** @type {Map<Shard, Member[]>} */
  const byShard = new Map();
  for (const { shard, member } of deliveries) {
    byShard.set(shard, [...(byShard.get(shard) ?? []), member]);
  }
  return [...byShard].flatMap(([shard, members]) => {
    const ranges = shard.file.ignoresRanges ? [onePass(members)] : planRanges(members);
    return ranges.map((range) => ({ shard, range }));
  });
}

/**
 * @param {Job} job
 * @param {{ signal: AbortSignal, budget: Budget }} request
 */
async function runJob({ shard, range }, { signal, budget }) {
  const { file, head } = shard;
  const { begin, end, members } = range;
  budget.require(file.ignoresRanges ? unwantedBytes(begin, end, members) : 0n, file.name);
  let at = begin;
  /** @param {Uint8Array} chunk */
  const deliver = (chunk) => {
    signal.throwIfAborted();
    const chunkEnd = at + BigInt(chunk.length);
    for (const m of members) {
      if (m.begin >= chunkEnd) break;
      const from = later(m.begin, at);
      const to = earlier(m.end, chunkEnd);
      if (from >= to) continue;
      m.take(chunk.subarray(Number(from - at), Number(to - at)), Number(from - m.origin));
    }
    if (file.ignoresRanges) budget.regret(Number(unwantedBytes(at, chunkEnd, members)), file.name);
    at = chunkEnd;
  };
  const inHead = earlier(BigInt(head.length), end);
  if (begin < inHead) deliver(head.subarray(Number(begin), Number(inHead)));
  if (at < end) await file.read(at, end, { signal, budget, deliver });
}
