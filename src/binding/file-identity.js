// What is known of the one file that all answers for a URL must be about: its length, its version, its first bytes. An
// answer about another file throws FileReplaced. http.js asks at every answer.

import { GatedMLPError } from './errors.js';
import { FileReplaced, PassingFailure } from './retry.js';

export class FileIdentity {
  /** Bytes in the file, null until a server has said so. @type {bigint | null} */
  size = null;
  /** The file's first bytes: an answer that repeats the whole file must begin with them. */
  head = new Uint8Array(0);
  /** @type {string | null} */
  #etag = null;
  /** @type {string | null} */
  #modified = null;
  #name;

  /** @param {string} name for messages */
  constructor(name) {
    this.#name = name;
  }

  /** What identifies this version of the file, or null where the server says nothing of the kind. */
  get version() {
    return this.#etag ?? (this.#modified === null ? null : `${this.#modified} ${this.size}`);
  }

  /**
   * An answer that says it is the range that begins at `begin`, and nothing else.
   * @param {Headers} headers
   * @param {bigint} begin
   */
  takePart(headers, begin) {
    if (!isPlain(headers)) {
      throw new PassingFailure('a part of a compressed file', { status: 206 });
    }
    if (/^multipart\//i.test(headers.get('content-type') ?? '')) {
      throw new PassingFailure('several ranges in one answer', { status: 206 });
    }
    this.#checkVersion(headers);
    // Hidden from scripts on other origins: then the number of bytes has to do.
    const visible = headers.get('content-range');
    if (visible === null) return;
    const range = /^bytes (\d+)-(\d+)\/(\d+|\*)$/i.exec(visible.trim());
    if (!range || BigInt(range[1]) !== begin || BigInt(range[2]) < begin) {
      const message = `asked from byte ${begin}, the server answered with "${visible}"`;
      throw new PassingFailure(message, { status: 206 });
    }
    this.checkSize(range[3] === '*' ? null : BigInt(range[3]));
  }

  /**
   * An answer that says it is the whole file.
   * @param {Headers} headers
   */
  takeWhole(headers) {
    this.#checkVersion(headers);
    const length = headers.get('content-length');
    const counts = length !== null && /^\d+$/.test(length) && isPlain(headers);
    this.checkSize(counts ? BigInt(length) : null);
  }

  /** @param {Headers} headers */
  #checkVersion(headers) {
    // A weak ETag is enough here, where the length and the header are compared as well.
    const etag = headers.get('etag')?.replace(/^W\//, '') ?? null;
    const modified = headers.get('last-modified');
    const byTag = etag !== null && this.#etag !== null;
    const changed = byTag
      ? etag !== this.#etag
      : modified !== null && this.#modified !== null && modified !== this.#modified;
    if (changed) throw this.#replaced('another version of the file (ETag or date)');
    this.#etag ??= etag;
    this.#modified ??= modified;
  }

  /** @param {bigint | null} size null: the answer does not say */
  checkSize(size) {
    if (size === null) return;
    if (this.size !== null && this.size !== size) {
      throw this.#replaced(`the file had ${this.size} bytes and now has ${size}`);
    }
    this.size = size;
  }

  /**
   * @param {Uint8Array} bytes
   * @param {bigint} position of their first in the file
   */
  checkHead(bytes, position) {
    if (position >= BigInt(this.head.length)) return;
    const known = this.head.subarray(Number(position), Number(position) + bytes.length);
    if (known.some((byte, i) => byte !== bytes[i])) {
      throw this.#replaced('another file than the one whose header was read');
    }
  }

  /** @param {bigint} position */
  endsAt(position) {
    return this.size !== null && position >= this.size;
  }

  /** @param {string} words */
  #replaced(words) {
    return new FileReplaced(`${this.#name}: ${words}`);
  }
}

/**
 * The error of a file that is shorter than its header says.
 * @param {string} name
 * @param {bigint | null} size where it is known
 * @param {bigint} end
 */
export function endsEarly(name, size, end) {
  const message = `${name}: the file ends ${size === null ? '' : `after ${size} bytes, `}before byte ${end}, which its header promises`;
  return new GatedMLPError('ERR_SAFETENSORS', message, { kind: 'incomplete', url: name });
}

/** Whether a body is the file's own bytes. @param {Headers} headers */
function isPlain(headers) {
  const encoding = headers.get('content-encoding');
  return encoding === null || encoding === '' || encoding === 'identity';
}
