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

  async take() {
    if (this.#free > 0) this.#free -= 1;
    else
      await new Promise((/** @type {(value?: undefined) => void} */ resolve) =>
        this.#waiting.push(resolve),
      );
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
async function streamOnce(shardOf, wanted, budget, { signal, onProgress, slots }) {
  const jobs = planJobs(shardOf, wanted);
  const total = jobs.reduce(
    (sum, job) => sum + job.range.members.reduce((n, m) => n + Number(m.end - m.begin), 0),
    0,
  );
  const progress = { wanted: total, received: 0 };
  /** @param {string} tensor @param {number} bytes */
  const onBytes = (tensor, bytes) => {
    progress.received += bytes;
    onProgress?.({ ...progress, tensor });
  };
  await together(jobs, slots, signal, (job, inner) =>
    runJob(job, { signal: inner, budget }, onBytes),
  );
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
      await slots?.take();
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
 * @param {(name: string) => Shard} shardOf
 * @param {Wanted[]} wanted
 * @returns {Job[]}
 */
function planJobs(shardOf, wanted) {
  /** @type {Map<Shard, Member[]>} */
  const byShard = new Map();
  for (const item of wanted) {
    const shard = shardOf(item.name);
    const member = memberOf(shard, item);
    if (member.end > member.begin) byShard.set(shard, [...(byShard.get(shard) ?? []), member]);
  }
  return [...byShard].flatMap(([shard, members]) => {
    const ranges = shard.file.ignoresRanges ? [onePass(members)] : planRanges(members);
    return ranges.map((range) => ({ shard, range }));
  });
}

/**
 * @param {Shard} shard
 * @param {Wanted} wanted
 * @returns {Member}
 */
function memberOf(shard, wanted) {
  const tensor = shard.tensors.get(wanted.name);
  if (!tensor) throw new RangeError(`${wanted.name} is not in ${shard.name}`);
  const { begin = 0, end = tensor.byteLength } = wanted;
  if (!(begin >= 0 && begin <= end && end <= tensor.byteLength)) {
    throw new RangeError(
      `bytes ${begin} to ${end} of ${wanted.name}, which has ${tensor.byteLength}`,
    );
  }
  const origin = tensor.begin;
  return { begin: origin + BigInt(begin), end: origin + BigInt(end), origin, wanted };
}

/**
 * @param {Job} job
 * @param {{ signal: AbortSignal, budget: Budget }} request
 * @param {(tensor: string, bytes: number) => void} onBytes
 */
async function runJob({ shard, range }, { signal, budget }, onBytes) {
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
      const piece = chunk.subarray(Number(from - at), Number(to - at));
      m.wanted.sink(piece, Number(from - m.origin));
      onBytes(m.wanted.name, piece.length);
    }
    if (file.ignoresRanges) budget.regret(Number(unwantedBytes(at, chunkEnd, members)), file.name);
    at = chunkEnd;
  };
  const inHead = earlier(BigInt(head.length), end);
  if (begin < inHead) deliver(head.subarray(Number(begin), Number(inHead)));
  if (at < end) await file.read(at, end, { signal, budget, deliver });
}
