// Verified tensor bytes kept in the browser's Cache API between visits, for those who ask for it. Keys hold the file's
// version, so a replaced file is never mixed with an old one. Nothing that goes wrong here ends a load: a full disk, a
// private window, a damaged entry or a cache that never answers only mean that bytes come from the network, and no load
// waits until something has been stored. stream.js calls it.

/** What is used of the Cache API. @typedef {{ match: (key: string) => Promise<Response | undefined>, put: (key: string, response: Response) => Promise<void> }} CacheLike */
/** @typedef {import('./ranges.js').Member} Member */

const NAME = 'gated-mlp';
/** Milliseconds without an answer after which a load asks a cache no more. */
const PATIENCE = 10_000;
/** Bytes that may wait for a cache that stores more slowly than they arrive; what goes beyond is not kept. */
const MOST_WAITING = 8 << 20;

/** Where a load looks first, and what it keeps. */
export class Keeper {
  #cache;
  #isSilent = false;
  /** Bytes on their way into the cache. */
  waiting = 0;

  /** @param {CacheLike} cache */
  constructor(cache) {
    this.#cache = cache;
  }

  /**
   * The keeper that an option asks for, or null where there is no such cache.
   * @param {true | string | CacheLike} option true, a cache's name, or a cache
   * @param {AbortSignal | undefined} signal
   * @returns {Promise<Keeper | null>}
   */
  static async open(option, signal) {
    if (typeof option === 'object') return new Keeper(option);
    const name = option === true ? NAME : option;
    const cache = await orNothing(
      () => globalThis.caches.open(name),
      signal,
      () => {},
    );
    return cache ? new Keeper(cache) : null;
  }

  /**
   * Hands over a member's bytes if they are kept.
   * @param {import('./source.js').SourceFile} file
   * @param {Member} member
   * @param {AbortSignal | undefined} signal
   * @returns {Promise<boolean>} false: not there, or not whole; then the bytes must begin again
   */
  async handOver(file, member, signal) {
    if (this.#isSilent) return false;
    return fromCache(this.#cache, file, member, signal, () => {
      this.#isSilent = true;
    });
  }

  /** A place for a member's bytes. @param {import('./source.js').SourceFile} file @param {Member} member */
  entry(file, member) {
    return new CacheEntry(this, this.#cache, file, member);
  }
}

/**
 * What a cache gives; undefined where it fails, is silent for too long, or the load has been aborted meanwhile.
 * @template T
 * @param {() => Promise<T>} ask
 * @param {AbortSignal | undefined} signal
 * @param {() => void} onSilence
 * @returns {Promise<T | undefined>}
 */
async function orNothing(ask, signal, onSilence) {
  if (signal?.aborted) return undefined;
  let giveUp = () => {};
  /** @type {Promise<undefined>} */
  const nothing = new Promise((resolve) => {
    giveUp = () => resolve(undefined);
  });
  const timer = setTimeout(() => {
    onSilence();
    giveUp();
  }, PATIENCE);
  signal?.addEventListener('abort', giveUp);
  try {
    return await Promise.race([ask(), nothing]);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}

/**
 * An entry's key, or null where the file does not say which version it is.
 * @param {import('./source.js').SourceFile} file
 * @param {Member} member
 */
function keyOf({ name, version, size }, { begin, end }) {
  if (version === null || !/^https?:/.test(name)) return null;
  return `${name}?${new URLSearchParams({ [NAME]: `${begin}-${end}`, version, size: String(size) })}`;
}

/**
 * @param {CacheLike} cache
 * @param {import('./source.js').SourceFile} file
 * @param {Member} member
 * @param {AbortSignal | undefined} signal
 * @param {() => void} onSilence
 * @returns {Promise<boolean>}
 */
async function fromCache(cache, file, member, signal, onSilence) {
  const key = keyOf(file, member);
  if (key === null) return false;
  const response = await orNothing(() => cache.match(key), signal, onSilence);
  signal?.throwIfAborted();
  const length = Number(member.end - member.begin);
  if (!response?.body || response.headers.get('content-length') !== String(length)) return false;
  const reader = response.body.getReader();
  const start = Number(member.begin - member.origin);
  let received = 0;
  try {
    for (;;) {
      const piece = await orNothing(() => reader.read(), signal, onSilence);
      signal?.throwIfAborted();
      if (!piece?.value) return received === length;
      const { value } = piece;
      if (received + value.length > length) return false;
      if (value.length > 0) member.take(value, start + received);
      received += value.length;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** A member's bytes on their way into the cache: kept only if `finish` is called. */
class CacheEntry {
  #keeper;
  /** @type {ReadableStreamDefaultController<Uint8Array> | undefined} */
  #controller;
  /** @type {Uint8Array[]} */
  #waiting = [];
  /** The cache wants a piece. */
  #asked = false;
  #finished = false;

  /**
   * @param {Keeper} keeper
   * @param {CacheLike} cache
   * @param {import('./source.js').SourceFile} file
   * @param {Member} member
   */
  constructor(keeper, cache, file, member) {
    this.#keeper = keeper;
    const key = keyOf(file, member);
    if (key === null) return;
    /** @type {UnderlyingDefaultSource<Uint8Array>} */
    const source = {
      start: (controller) => {
        this.#controller = controller;
      },
      pull: () => {
        this.#asked = true;
        this.#pass();
      },
      cancel: () => this.#giveUp(),
    };
    const body = new ReadableStream(source, { highWaterMark: 0 });
    const headers = { 'content-length': String(member.end - member.begin) };
    const store = async () => cache.put(key, new Response(body, { headers }));
    // A quota that is used up rejects here, at once or at the end.
    store().catch(() => this.#giveUp());
  }

  /** @param {Uint8Array} piece copied, since the caller's memory is used again */
  add(piece) {
    if (!this.#controller) return;
    this.#waiting.push(piece.slice());
    this.#keeper.waiting += piece.length;
    this.#pass();
    if (this.#keeper.waiting > MOST_WAITING) this.#giveUp();
  }

  /** All bytes are there and checked: what the cache has not taken yet it takes in its own time. */
  finish() {
    this.#finished = true;
    this.#pass();
  }

  /** The load is over: what is not finished is not kept. */
  drop() {
    if (!this.#finished) this.#giveUp();
  }

  #pass() {
    const piece = this.#asked ? this.#waiting.shift() : undefined;
    if (piece) {
      this.#asked = false;
      this.#keeper.waiting -= piece.length;
      this.#controller?.enqueue(piece);
    }
    if (!this.#finished || this.#waiting.length > 0) return;
    this.#controller?.close();
    this.#controller = undefined;
  }

  #giveUp() {
    for (const { length } of this.#waiting) this.#keeper.waiting -= length;
    this.#waiting = [];
    this.#controller?.error(new Error('not kept'));
    this.#controller = undefined;
  }
}
