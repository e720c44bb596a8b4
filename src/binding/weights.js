// Puts tensor elements into the packed stores of an MLP: from a stream as its bytes land, or from bytes in memory.
// Which element goes where is decided elsewhere (families.js, state-dict.js) and comes in as parts; here bytes are
// gathered into whole lines of the tensor in a small staging block and handed to the core, which converts and packs.
// No second copy of a tensor is ever made.

import { GatedMLPError } from './errors.js';

/** @typedef {import('./wasm.js').Wasm} Wasm */

/** A staging block holds at least one line of the tensor, and about this many bytes. */
const STAGING_BYTES = 256 * 1024;
/** Of columns it holds a multiple of this: the core takes whole blocks of the quantised types. */
const BLOCK = 32;

/** What a gated MLP may have of modules with parameters, in Hugging Face's names and registration order. */
export const LINEARS = /** @type {const} */ (['gate_proj', 'up_proj', 'down_proj', 'ffn_sub_norm']);

/**
 * One parameter's place in a tensor: parameter[r, c] = tensor[base + r * rowStride + c * colStride], in elements. A bias
 * or a norm's weight has cols = 1.
 * @typedef {object} Part
 * @property {string} parameter 'gate_proj.weight', 'gate_proj.bias', ...
 * @property {string} tensor
 * @property {string} dtype as stored
 * @property {number} rows
 * @property {number} cols
 * @property {number} base
 * @property {number} rowStride
 * @property {number} colStride
 */

/**
 * Where the parameters of an MLP lie in wasm memory: the address of each `linear`.
 * @typedef {Record<string, number>} Linears
 */

/**
 * Parts of one tensor that share its lines (interleaved or side by side), read in one pass.
 * @typedef {object} Lines
 * @property {string} tensor
 * @property {Part[]} parts
 * @property {number} bits of an element
 * @property {number} code of the dtype
 * @property {number} first element
 * @property {number} last element, inclusive
 * @property {number} stride elements from one line to the next
 */

/** @param {Part} part */
const outerStride = (part) =>
  part.cols === 1 ? part.rowStride : Math.max(part.rowStride, part.colStride);

/** Whether its lines in the tensor are rows. @param {Part} part */
const byRows = (part) => part.cols === 1 || part.rowStride >= part.colStride;

/** @param {Part} part */
const lastElement = (part) =>
  part.base + (part.rows - 1) * part.rowStride + (part.cols - 1) * part.colStride;

/**
 * @param {Wasm} wasm
 * @param {Part[]} parts
 * @returns {Lines[]}
 */
function linesOf(wasm, parts) {
  /** @type {Lines[]} */
  const groups = [];
  for (const part of parts) {
    const stride = outerStride(part);
    const last = lastElement(part);
    const shared = groups.find(
      (g) =>
        g.tensor === part.tensor && g.stride === stride && part.base <= g.last && last >= g.first,
    );
    if (shared) {
      shared.parts.push(part);
      shared.first = Math.min(shared.first, part.base);
      shared.last = Math.max(shared.last, last);
    } else {
      const dtype = wasm.dtypes.get(part.dtype);
      if (!dtype?.loadable) throw dtypeError(wasm, part.tensor, part.dtype);
      groups.push({ tensor: part.tensor, parts: [part], ...dtype, first: part.base, last, stride });
    }
  }
  return groups;
}

/**
 * The error for a tensor whose elements no gated MLP can be computed from.
 * @param {Wasm} wasm
 * @param {string} tensor
 * @param {string} dtype
 */
function dtypeError(wasm, tensor, dtype) {
  const loadable = [...wasm.dtypes].filter(([, d]) => d.loadable).map(([name]) => name);
  return new GatedMLPError(
    'ERR_DTYPE',
    `${tensor} has dtype ${dtype}; weights can be loaded from ${loadable.join(', ')}`,
    { tensor, dtype },
  );
}

/** Takes the bytes of one group of lines in order and packs them as whole lines are there. */
class LinePacker {
  #wasm;
  #linears;
  #lines;
  #lineBytes;
  #capacity;
  #staging;
  #filled = 0;
  /** Lines packed so far. */
  packed = 0;

  /** @param {Wasm} wasm @param {Linears} linears @param {Lines} lines */
  constructor(wasm, linears, lines) {
    this.#wasm = wasm;
    this.#linears = linears;
    this.#lines = lines;
    this.#lineBytes = (lines.stride * lines.bits) / 8;
    const total = Math.ceil((lines.last - lines.first + 1) / lines.stride);
    const step = lines.parts.every(byRows) ? 1 : BLOCK;
    const wanted = Math.max(1, Math.floor(STAGING_BYTES / this.#lineBytes / step)) * step;
    this.#capacity = Math.min(total, wanted) * this.#lineBytes;
    this.#staging = wasm.alloc(this.#capacity, `staging for ${lines.tensor}`);
  }

  /** Begins again, after a restart of the download. */
  restart() {
    this.#filled = 0;
    this.packed = 0;
  }

  /** @param {Uint8Array} chunk the bytes that follow those of the last call */
  push(chunk) {
    for (let at = 0; at < chunk.length; ) {
      const n = Math.min(chunk.length - at, this.#capacity - this.#filled);
      this.#wasm.u8(this.#staging + this.#filled, n).set(chunk.subarray(at, at + n));
      this.#filled += n;
      at += n;
      if (this.#filled === this.#capacity) this.#flush(this.#capacity / this.#lineBytes);
    }
  }

  /** Packs what is left: the last line may end before its stride does. */
  end() {
    if (this.#filled > 0) this.#flush(Math.ceil(this.#filled / this.#lineBytes));
  }

  /** @param {Map<string, Uint8Array>} bytes of whole tensors */
  pushAll(bytes) {
    const { tensor, first, last, bits } = this.#lines;
    const all = /** @type {Uint8Array} */ (bytes.get(tensor));
    this.push(all.subarray((first * bits) / 8, ((last + 1) * bits) / 8));
    this.end();
  }

  free() {
    this.#wasm.free(this.#staging);
  }

  /** @param {number} count lines in the staging block */
  #flush(count) {
    for (const part of this.#lines.parts) this.#pack(part, count);
    this.packed += count;
    this.#filled = 0;
  }

  /** @param {Part} part @param {number} count */
  #pack(part, count) {
    const { exports } = this.#wasm;
    const [linear, kind] = part.parameter.split('.');
    const source = this.#staging + ((part.base - this.#lines.first) * this.#lines.bits) / 8;
    const rows = byRows(part);
    const n = Math.min(count, (rows ? part.rows : part.cols) - this.packed);
    if (n <= 0) return;
    const status =
      kind === 'bias'
        ? exports.linear_set_bias(
            this.#linears[linear],
            this.packed,
            n,
            source,
            this.#lines.code,
            BigInt(part.rowStride),
          )
        : exports.linear_set(
            this.#linears[linear],
            rows ? this.packed : 0,
            rows ? n : part.rows,
            rows ? 0 : this.packed,
            rows ? part.cols : n,
            source,
            this.#lines.code,
            BigInt(part.rowStride),
            BigInt(part.colStride),
          );
    this.#wasm.done(status, part.parameter);
  }
}

/**
 * @callback StreamTensors
 * @param {{ name: string, begin: number, end: number, sink: (chunk: Uint8Array, offset: number) => void }[]} wanted
 *   byte ranges inside tensors, most urgent first; each sink gets its bytes in order, and from `begin` again on a restart
 * @returns {Promise<void>} resolved when all bytes are there and checked
 */

/**
 * Streams the parts into the packed stores.
 * @param {Wasm} wasm
 * @param {Linears} linears
 * @param {Part[]} parts
 * @param {StreamTensors} stream
 * @param {(parameter: string, rows: number) => void} [onRows] called as rows of a row-major parameter have been packed
 */
export async function streamParts(wasm, linears, parts, stream, onRows) {
  /** @type {LinePacker[]} */
  const packers = [];
  try {
    const wanted = linesOf(wasm, parts).map((lines) => {
      const packer = new LinePacker(wasm, linears, lines);
      packers.push(packer);
      const begin = (lines.first * lines.bits) / 8;
      const end = ((lines.last + 1) * lines.bits) / 8;
      return {
        name: lines.tensor,
        begin,
        end,
        /** @param {Uint8Array} chunk @param {number} offset */
        sink(chunk, offset) {
          wasm.check();
          if (offset === begin) packer.restart();
          const before = packer.packed;
          packer.push(chunk);
          if (offset + chunk.length === end) packer.end();
          if (packer.packed === before) return;
          for (const part of lines.parts) onRows?.(part.parameter, packer.packed);
        },
      };
    });
    await stream(wanted);
    wasm.check();
  } finally {
    for (const packer of packers) packer.free();
  }
}

/**
 * Packs parts whose tensors are in memory. Where memory for it is missing, nothing has changed.
 * @param {Wasm} wasm
 * @param {Linears} linears
 * @param {Part[]} parts
 * @param {Map<string, Uint8Array>} bytes of the tensors
 */
export function packParts(wasm, linears, parts, bytes) {
  /** @type {LinePacker[]} */
  const packers = [];
  try {
    for (const lines of linesOf(wasm, parts)) packers.push(new LinePacker(wasm, linears, lines));
    for (const packer of packers) packer.pushAll(bytes);
  } finally {
    for (const packer of packers) packer.free();
  }
}
