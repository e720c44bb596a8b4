// Files that need no network, behind the same two calls as http.js (`probe`, `read`): bytes in memory, a Blob or File,
// and a path where the runtime has a file system. Read by position, never whole.

import { GatedMLPError, wordsOf } from './errors.js';
import { FileReplaced } from './retry.js';

/** @typedef {import('./http.js').ReadRequest} ReadRequest */

/** Bytes of one read from disk. */
const PIECE_BYTES = 1 << 20;

/** What the three kinds have in common: a size known from the start, and no more than that many bytes. */
class LocalFile {
  ignoresRanges = false;
  version = null;
  name;
  /** @type {bigint} */
  size;

  /**
   * @param {string} name for messages
   * @param {bigint} size
   */
  constructor(name, size) {
    this.name = name;
    this.size = size;
  }

  /**
   * The first `length` bytes, or the whole file where it is shorter.
   * @param {number} length
   * @param {Omit<ReadRequest, 'deliver'>} request
   */
  async probe(length, request) {
    await this.renew();
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
    for await (const chunk of this.chunks(begin, end, signal)) {
      signal?.throwIfAborted();
      if (chunk.length === 0) continue;
      budget.spend(chunk.length, 0, this.name);
      at += BigInt(chunk.length);
      deliver(chunk);
    }
    signal?.throwIfAborted();
    if (at !== end) throw new FileReplaced(`${this.name}: the file has become shorter`);
  }

  /** Looks at the file anew. */
  async renew() {}

  /**
   * @param {bigint} _begin
   * @param {bigint} _end
   * @param {AbortSignal} [_signal]
   * @returns {AsyncIterable<Uint8Array>}
   */
  chunks(_begin, _end, _signal) {
    throw new Error('each kind of file has its own');
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

export class BytesFile extends LocalFile {
  #bytes;

  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    super('bytes', BigInt(bytes.length));
    this.#bytes = bytes;
  }

  /**
   * @override
   * @param {bigint} begin
   * @param {bigint} end
   */
  async *chunks(begin, end) {
    yield this.#bytes.subarray(Number(begin), Number(end));
  }
}

export class BlobFile extends LocalFile {
  #blob;

  /**
   * @param {Blob} blob
   * @param {string} [name]
   */
  constructor(blob, name = /** @type {{ name?: string }} */ (blob).name ?? 'blob') {
    super(name, BigInt(blob.size));
    this.#blob = blob;
  }

  /**
   * @override
   * @param {bigint} begin
   * @param {bigint} end
   * @param {AbortSignal} [signal]
   */
  async *chunks(begin, end, signal) {
    const reader = this.#blob.slice(Number(begin), Number(end)).stream().getReader();
    try {
      for (;;) {
        signal?.throwIfAborted();
        const { done, value } = await orUnreadable(this.name, reader.read());
        if (done) return;
        yield value;
      }
    } finally {
      reader.cancel().catch(() => {});
    }
  }
}

/** A file on disk. The file system is asked for at run time, so that bundlers see no import. */
export class PathFile extends LocalFile {
  #path;
  #modified = 0n;

  /** @param {string} path */
  constructor(path) {
    super(path, 0n);
    this.#path = path;
  }

  /** @override */
  async renew() {
    const stat = fileSystem().promises.stat(this.#path, { bigint: true });
    const { size, mtimeNs } = await orUnreadable(this.name, stat);
    this.size = size;
    this.#modified = mtimeNs;
  }

  /**
   * @override
   * @param {bigint} begin
   * @param {bigint} end
   * @param {AbortSignal} [signal]
   */
  async *chunks(begin, end, signal) {
    const handle = await orUnreadable(this.name, fileSystem().promises.open(this.#path));
    try {
      const { size, mtimeNs } = await handle.stat({ bigint: true });
      if (size !== this.size || mtimeNs !== this.#modified) {
        throw new FileReplaced(`${this.name}: the file has changed`);
      }
      for (let at = begin; at < end; ) {
        signal?.throwIfAborted();
        const length = Math.min(PIECE_BYTES, Number(end - at));
        const read = handle.read(new Uint8Array(length), 0, length, Number(at));
        const { bytesRead, buffer } = await orUnreadable(this.name, read);
        if (bytesRead === 0) return;
        yield buffer.subarray(0, bytesRead);
        at += BigInt(bytesRead);
      }
    } finally {
      await handle.close();
    }
  }
}

/**
 * What is used of Node's file system, spelt out here: users of the package's types may not have Node's.
 * @typedef {{ size: bigint, mtimeNs: bigint, isDirectory(): boolean }} FileStats
 * @typedef {object} FileHandle
 * @property {(options: { bigint: true }) => Promise<FileStats>} stat
 * @property {(buffer: Uint8Array<ArrayBuffer>, offset: number, length: number, position: number)
 *   => Promise<{ bytesRead: number, buffer: Uint8Array<ArrayBuffer> }>} read
 * @property {() => Promise<void>} close
 * @typedef {object} FileSystem
 * @property {(path: string, options?: { bigint: true }) => Promise<FileStats>} stat
 * @property {(path: string) => Promise<FileHandle>} open
 * @property {(path: string, encoding: 'utf8') => Promise<string>} readFile
 */

/** @returns {{ promises: FileSystem }} */
export function fileSystem() {
  return /** @type {{ promises: FileSystem }} */ (
    /** @type {unknown} */ (globalThis.process.getBuiltinModule('node:fs'))
  );
}

/** Where a plain string may name a file: in a runtime with a file system and without a page. */
export function hasFileSystem() {
  return globalThis.location === undefined && globalThis.process?.getBuiltinModule !== undefined;
}
