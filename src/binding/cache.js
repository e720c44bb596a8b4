// Verified tensor bytes kept in the browser's Cache API between visits, for those who ask for it. Keys hold the file's
// version, so a replaced file is never mixed with an old one. Nothing that goes wrong here ends a load: a full disk, a
// private window or a damaged entry only mean that bytes come from the network. stream.js calls it.

/** What is used of the Cache API. @typedef {{ match: (key: string) => Promise<Response | undefined>, put: (key: string, response: Response) => Promise<void> }} CacheLike */
/** @typedef {import('./ranges.js').Member} Member */

const NAME = 'gated-mlp';

/** Where a load looks first, and what it keeps. */
export class Keeper {
  #cache;

  /** @param {CacheLike} cache */
  constructor(cache) {
    this.#cache = cache;
  }

  /**
   * The keeper that an option asks for, or null where there is no such cache.
   * @param {true | string | CacheLike} option true, a cache's name, or a cache
   * @returns {Promise<Keeper | null>}
   */
  static async open(option) {
    if (typeof option === 'object') return new Keeper(option);
    try {
      return new Keeper(await globalThis.caches.open(option === true ? NAME : option));
    } catch {
      return null;
    }
  }

  /**
   * Hands over a member's bytes if they are kept.
   * @param {import('./source.js').SourceFile} file
   * @param {Member} member
   * @param {AbortSignal | undefined} signal
   * @returns {Promise<boolean>} false: not there, or not whole; then the bytes must begin again
   */
  handOver(file, member, signal) {
    return fromCache(this.#cache, file, member, signal);
  }

  /** A place for a member's bytes. @param {import('./source.js').SourceFile} file @param {Member} member */
  entry(file, member) {
    return new CacheEntry(this.#cache, file, member);
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
 * @returns {Promise<boolean>}
 */
async function fromCache(cache, file, member, signal) {
  const key = keyOf(file, member);
  const response = key === null ? undefined : await cache.match(key).catch(() => undefined);
  const length = Number(member.end - member.begin);
  if (!response?.body || response.headers.get('content-length') !== String(length)) return false;
  const reader = response.body.getReader();
  const start = Number(member.begin - member.origin);
  let received = 0;
  try {
    for (;;) {
      signal?.throwIfAborted();
      const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
      if (done || !value) return received === length;
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
  /** @type {ReadableStreamDefaultController<Uint8Array> | undefined} */
  #controller;
  /** @type {Promise<void>} */
  #stored = Promise.resolve();

  /**
   * @param {CacheLike} cache
   * @param {import('./source.js').SourceFile} file
   * @param {Member} member
   */
  constructor(cache, file, member) {
    const key = keyOf(file, member);
    if (key === null) return;
    const body = new ReadableStream({
      start: (controller) => {
        this.#controller = controller;
      },
      cancel: () => {
        this.#controller = undefined;
      },
    });
    const headers = { 'content-length': String(member.end - member.begin) };
    // A quota that is used up rejects here, or at once.
    this.#stored = new Promise((resolve) =>
      resolve(cache.put(key, new Response(body, { headers }))),
    ).then(
      () => {},
      () => {
        this.#controller = undefined;
      },
    );
  }

  /** @param {Uint8Array} piece copied, since the caller's memory is used again */
  add(piece) {
    this.#controller?.enqueue(piece.slice());
  }

  /** All bytes are there and checked. */
  async finish() {
    this.#controller?.close();
    this.#controller = undefined;
    await this.#stored;
  }

  /** The load has failed: nothing is kept. */
  drop() {
    this.#controller?.error(new Error('the load did not finish'));
    this.#controller = undefined;
  }
}
