// One safetensors file of a checkpoint: its header read and checked, and its tensors' bytes on request. A file that is
// replaced while it is being read is noticed by the file readers; `open` then begins anew.

import { GatedMLPError } from './errors.js';
import { FileReplaced } from './retry.js';
import { headerLength, PREFIX_BYTES, readTable } from './safetensors-table.js';

/** @typedef {import('./source.js').Request} Request */

/** Enough for the prefix and most headers in one request, unless the caller knows better. */
const FIRST_BYTES = 64 * 1024;

export class Shard {
  /** Name of the file in its checkpoint. */
  name;
  file;
  /** @type {Map<string, import('./safetensors-table.js').TableEntry>} */
  tensors = new Map();
  /** @type {Record<string, string>} */
  metadata = {};
  /** The file's length, by its header. */
  fileBytes = 0n;
  /** The file's first bytes: what they hold of tensors is not fetched again. */
  head = new Uint8Array(0);

  #wasm;

  /**
   * @param {string} name
   * @param {import('./source.js').SourceFile} file
   * @param {import('./wasm.js').Wasm} wasm
   */
  constructor(name, file, wasm) {
    this.name = name;
    this.file = file;
    this.#wasm = wasm;
  }

  /**
   * Reads the header, anew if it has been read before: at most two requests.
   * @param {Request} request
   */
  async open(request) {
    for (let restarts = 0; ; restarts++) {
      try {
        return await this.#open(request);
      } catch (error) {
        if (!(error instanceof FileReplaced) || restarts > 0) throw replacedAgain(error);
      }
    }
  }

  /** @param {Request} request */
  async #open(request) {
    const { file } = this;
    const wasm = this.#wasm;
    const head = await file.probe(request.firstBytes ?? FIRST_BYTES, request);
    const length = headerLength(wasm, head, file.size, file.name);
    const end = PREFIX_BYTES + length;
    const table = await readTable(
      wasm,
      length,
      async (put) => {
        put(0, head.subarray(PREFIX_BYTES, end));
        let at = head.length - PREFIX_BYTES;
        if (end <= head.length) return;
        await file.read(BigInt(head.length), BigInt(end), {
          ...request,
          deliver(chunk) {
            wasm.check();
            put(at, chunk);
            at += chunk.length;
          },
        });
      },
      () => file.size,
      head,
      file.name,
    );
    this.tensors = table.tensors;
    this.metadata = table.metadata;
    this.fileBytes = table.fileBytes;
    this.head = head;
  }
}

/**
 * @param {unknown} error
 * @returns {unknown} what the caller of the loader sees
 */
export function replacedAgain(error) {
  if (!(error instanceof FileReplaced)) return error;
  const message = `${error.message}; it changed again after a fresh start. Is it being written?`;
  return new GatedMLPError('ERR_HTTP', message, { cause: error });
}
