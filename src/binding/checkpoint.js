// A checkpoint: one or more safetensors files with their config, opened by their headers only. It says what is in there
// and reads tensors; which bytes travel how is stream.js's matter, which MLP is meant is selectMLP's in select.js.

import { integer, newArray } from './arrays.js';
import { modelTypes } from './config.js';
import { describe } from './describe.js';
import { openFiles } from './open.js';
import { defaultRuntime } from './runtime.js';
import { findGroups } from './scan.js';
import { selectMLP } from './select.js';
import { Slots, streamWanted } from './stream.js';

/** @typedef {import('./source.js').Source} CheckpointSource */
/** @typedef {import('./stream.js').Progress} Progress */
/** @typedef {(progress: Progress) => void} OnProgress */
/** @typedef {import('./describe.js').FoundMLP} FoundMLP */
/** @typedef {import('./runtime.js').Runtime} Runtime */
/**
 * @typedef {object} OpenOptions
 * @property {AbortSignal} [signal] ends opening, and every later read of the checkpoint that has no signal of its own
 * @property {OnProgress} [onProgress] for later reads that have none of their own
 * @property {Record<string, string>} [headers] sent to the source's own origin only
 * @property {string} [token] sent as a bearer token, to the source's own origin only
 * @property {typeof fetch} [fetch]
 * @property {import('./retry.js').RetryOptions} [retry]
 * @property {number} [maxBytes] the most that opening, or one read, may receive. Default: what is wanted, and up to
 *   2 GiB more from a server that ignores ranges or from a Response
 * @property {boolean | string | import('./cache.js').CacheLike} [cache] keep verified tensor bytes in the Cache API, where
 *   there is one: true, the name of a cache, or a cache. No load waits for it: of what arrives faster than it is stored, 8 MiB
 *   may wait, and a tensor beyond that is not kept. Default: no
 * @property {number} [concurrency] requests at once, default 4
 * @property {number} [firstBytes] how much of a file the first request asks for, 64 KiB by default: a longer header costs
 *   a second request, what lies behind a shorter one is kept for later reads
 * @property {Record<string, unknown>} [config] instead of the config.json beside the files
 * @property {Runtime} [runtime]
 * @property {number} [layer] with expert and prefix: open only the shards that this MLP needs
 * @property {number} [expert]
 * @property {string} [prefix]
 */
/**
 * @typedef {object} TensorInfo
 * @property {string} dtype as the file names it
 * @property {number[]} shape
 * @property {bigint} byteOffset in the shard's file
 * @property {number} byteLength
 * @property {string} shard the file's name in the checkpoint
 */

/**
 * Opens a checkpoint by its headers: at most two requests a shard, and no weight is read. The source is the URL of a
 * .safetensors or .index.json file, the URL of a folder, a Hub id 'org/name' or 'org/name@revision', a File or Blob, a
 * Response, bytes, or in Node a path.
 * @param {CheckpointSource} source
 * @param {OpenOptions} [options]
 * @returns {Promise<Checkpoint>}
 */
export async function openCheckpoint(source, options = {}) {
  options.signal?.throwIfAborted();
  const runtime = options.runtime ?? (await defaultRuntime());
  const slots = new Slots(integer(options.concurrency ?? 4, 'concurrency'));
  const files = await openFiles(source, options, runtime, slots);
  return new Checkpoint(files, runtime, slots, options);
}

/** Streams wanted parts of tensors into sinks. @type {(checkpoint: Checkpoint, wanted: import('./stream.js').Wanted[], options?: ReadOptions) => Promise<void>} */
export const streamTensors = (checkpoint, wanted, options) => stream(checkpoint, wanted, options);

/** The one gated MLP that is meant, and where its parameters lie. @type {(checkpoint: Checkpoint, options: import('./select.js').MLPOptions) => import('./select.js').ResolvedMLP} */
export const resolveMLP = (checkpoint, options) => resolve(checkpoint, options);

/** Makes loaded weights those of a family that computes more with them. @type {typeof import('./adapters.js').adapt} */
export const adapt = async (...given) => (await import('./adapters.js')).adapt(...given);

/** @typedef {{ signal?: AbortSignal, onProgress?: OnProgress }} ReadOptions */

/** @type {typeof streamTensors} */
let stream;
/** @type {typeof resolveMLP} */
let resolve;

export class Checkpoint {
  /** The source, fit to be shown: without secrets. @type {string} */
  url;
  /** The revision asked of the Hub, or null. @type {string | null} */
  revision;
  /** Every tensor of the opened files. @type {ReadonlyMap<string, TensorInfo>} */
  tensors;
  /** `__metadata__` of the files, later ones winning. @type {Readonly<Record<string, string>>} */
  metadata;
  /** config.json, or null where there is none. @type {Readonly<Record<string, unknown>> | null} */
  config;
  /** @type {Runtime} */
  runtime;

  #files;
  #slots;
  #options;
  /** @type {FoundMLP[] | undefined} */
  #mlps;

  static {
    stream = (checkpoint, wanted, options = {}) => checkpoint.#stream(wanted, options);
    resolve = (checkpoint, options) => {
      const found = selectMLP(
        checkpoint.#groups(),
        checkpoint.#contents(),
        options,
        checkpoint.url,
      );
      const { product = [], learned = [] } = found.adapter ?? {};
      const names = [...found.parts.map((part) => part.tensor), ...product, ...learned];
      const tensors = [...new Set(names)];
      return { ...found, source: { url: checkpoint.url, revision: checkpoint.revision, tensors } };
    };
  }

  /**
   * @internal use openCheckpoint
   * @param {import('./open.js').OpenedFiles} files
   * @param {Runtime} runtime
   * @param {Slots} slots
   * @param {OpenOptions} options
   */
  constructor(files, runtime, slots, options) {
    this.#files = files;
    this.#slots = slots;
    this.#options = options;
    this.runtime = runtime;
    this.url = files.url;
    this.revision = files.revision;
    this.config = files.config;
    this.tensors = tensorsOf(files);
    // fromEntries, because assigning would take a key called __proto__ for the prototype.
    this.metadata = Object.fromEntries(
      files.shards.flatMap((shard) => Object.entries(shard.metadata)),
    );
  }

  /** Every gated MLP found, those that cannot be loaded included: `refusal` says why. @returns {FoundMLP[]} */
  get mlps() {
    const contents = this.#contents();
    this.#mlps ??= this.#groups().flatMap((group) =>
      describe(group, contents, {}).map(({ mlp }) => mlp),
    );
    return this.#mlps;
  }

  /**
   * One tensor's bytes, as stored.
   * @param {string} name
   * @param {ReadOptions} [options]
   * @returns {Promise<{ dtype: string, shape: number[], data: Uint8Array<ArrayBuffer> }>}
   */
  async read(name, options = {}) {
    const { dtype, shape, byteLength } = this.#files.tensor(name);
    const data = newArray(Uint8Array, byteLength, name);
    await this.#stream([{ name, sink: (chunk, offset) => data.set(chunk, offset) }], options);
    return { dtype, shape: [...shape], data };
  }

  /**
   * @param {import('./stream.js').Wanted[]} wanted
   * @param {ReadOptions} options
   */
  async #stream(wanted, { signal = this.#options.signal, onProgress = this.#options.onProgress }) {
    await streamWanted((name) => this.#files.shardOf(name), wanted, {
      signal,
      onProgress,
      maxBytes: this.#options.maxBytes,
      slots: this.#slots,
      keeper: await keeperFor(this.#options.cache, signal),
      reopen: (shards, request) => this.#reopen(shards, request),
    });
  }

  /**
   * A file has been replaced: headers are read anew, and what is known of the tensors must still hold.
   * @param {import('./shard.js').Shard[]} shards
   * @param {import('./source.js').Request} request
   */
  async #reopen(shards, request) {
    await this.#files.reopen(shards, request);
    this.tensors = tensorsOf(this.#files);
    this.#mlps = undefined;
  }

  #groups() {
    return findGroups(this.tensors.keys(), modelTypes(this.config));
  }

  /** @returns {import('./describe.js').Contents} */
  #contents() {
    const { config, meta } = this.#files;
    return { tensors: this.tensors, config, meta, has: (name) => this.#files.has(name) };
  }
}

/**
 * @param {import('./open.js').OpenedFiles} files
 * @returns {Map<string, TensorInfo>}
 */
function tensorsOf(files) {
  /** @type {Map<string, TensorInfo>} */
  const tensors = new Map();
  for (const [name, shard] of files.placed()) {
    const { dtype, shape, begin, byteLength } = files.tensor(name);
    tensors.set(name, { dtype, shape, byteOffset: begin, byteLength, shard: shard.name });
  }
  return tensors;
}

/**
 * cache.js is fetched by those who ask for a cache; where it cannot be had, bytes come from the network.
 * @param {OpenOptions['cache']} option
 * @param {AbortSignal | undefined} signal
 */
async function keeperFor(option, signal) {
  if (!option) return null;
  const module = await import('./cache.js').catch(() => null);
  return module?.Keeper.open(option, signal) ?? null;
}
