// Files that need no network, behind the same two calls as http.js (`probe`, `read`): bytes in memory, a Blob or File, and
// by path-files.js a path where the runtime has a file system. Read by position, never whole.

import { GatedMLPError, wordsOf } from './errors.js';
import { FileReplaced } from './retry.js';

/** @typedef {import('./http.js').ReadRequest} ReadRequest */
/** @typedef {(begin: bigint, end: bigint, signal?: AbortSignal) => AsyncIterable<Uint8Array>} Chunks */

/** A size known from the start, and no more than that many bytes. */
export class LocalFile {
  ignoresRanges = false;
  version = null;
  name;
  /** @type {bigint} */
  size;
  #chunks;
  #renew;

  /**
   * @param {string} name for messages
   * @param {bigint} size
   * @param {Chunks} chunks the bytes [begin, end) in order
   * @param {() => Promise<bigint>} [renew] looks at the file anew, for its size
   */
  constructor(name, size, chunks, renew = async () => size) {
    this.name = name;
    this.size = size;
    this.#chunks = chunks;
    this.#renew = renew;
  }

  /**
   * The first `length` bytes, or the whole file where it is shorter.
   * @param {number} length
   * @param {Omit<ReadRequest, 'deliver'>} request
   */
  async probe(length, request) {
    this.size = await this.#renew();
    const end = this.size < BigInt(length) ? this.size : BigInt(length);
    const bytes = new Uint8Array(Number(end));
    let filled = 0;
    /** @param {Uint8Array} chunk */
    const deliver = (chunk) => {
      bytes.set(chunk, filled);
      filled += chunk.length;
    };
    await this.read(0n, end, { ...request, deliver });
    return bytes;
  }

  /**
   * Bytes [begin, end), all of them.
   * @param {bigint} begin
   * @param {bigint} end
   * @param {ReadRequest} request
   */
  async read(begin, end, { signal, deliver, budget }) {
    let at = begin;
    for await (const chunk of this.#chunks(begin, end, signal)) {
      signal?.throwIfAborted();
      if (chunk.length === 0) continue;
      budget.spend(chunk.length, 0, this.name);
      at += BigInt(chunk.length);
      deliver(chunk);
    }
    signal?.throwIfAborted();
    if (at !== end) throw new FileReplaced(`${this.name}: the file has become shorter`);
  }
}

/**
 * The error of a file that no server is asked for and that is not to be had: the reference's I/O error.
 * @param {string} file
 * @param {string} words
 * @param {unknown} [cause]
 */
export function ioError(file, words, cause) {
  return new GatedMLPError('ERR_SAFETENSORS', `${file}: ${words}`, { kind: 'io', file, cause });
}

/**
 * @template T
 * @param {string} file
 * @param {Promise<T>} promise what the system gives
 */
export function orUnreadable(file, promise) {
  return promise.catch((cause) => {
    throw ioError(file, `cannot be read (${wordsOf(cause)})`, cause);
  });
}

/** @param {Uint8Array} bytes */
export function bytesFile(bytes) {
  return new LocalFile('bytes', BigInt(bytes.length), async function* (begin, end) {
    yield bytes.subarray(Number(begin), Number(end));
  });
}

/**
 * @param {Blob} blob
 * @param {string} [name]
 */
export function blobFile(blob, name = /** @type {{ name?: string }} */ (blob).name ?? 'blob') {
  return new LocalFile(name, BigInt(blob.size), async function* (begin, end, signal) {
    const reader = blob.slice(Number(begin), Number(end)).stream().getReader();
    try {
      for (;;) {
        signal?.throwIfAborted();
        const { done, value } = await orUnreadable(name, reader.read());
        if (done) return;
        yield value;
      }
    } finally {
      reader.cancel().catch(() => {});
    }
  });
}

/** Where a plain string may name a file: in a runtime with a file system and without a page. */
export function hasFileSystem() {
  return globalThis.location === undefined && globalThis.process?.getBuiltinModule !== undefined;
}
