// A safetensors header, checked by the core's parser (src/core/safetensors.h, which fixes the field offsets read here)
// and turned into maps. shard.js brings the bytes; nothing here reads files.

import { GatedMLPError } from './errors.js';

/** @typedef {import('./wasm.js').Wasm} Wasm */
/** @typedef {{ dtype: string, shape: number[], begin: bigint, byteLength: number }} TableEntry begin: byte of the file */
/**
 * @typedef {object} Table
 * @property {Map<string, TableEntry>} tensors in the header's order
 * @property {Record<string, string>} metadata
 * @property {bigint} fileBytes the file's length as the header has it
 */

export const PREFIX_BYTES = 8;
/** safetensors_error, safetensors_summary and the u64 of safetensors_prefix, one after the other. */
const ERROR_BYTES = 48;
const SUMMARY_BYTES = 24;
const UNKNOWN = 2n ** 64n - 1n;
/** Bytes that are enough to tell what a file really is. */
const SNIFF_BYTES = 64;

/**
 * How many bytes the header has, from the file's first bytes.
 * @param {Wasm} wasm
 * @param {Uint8Array} head
 * @param {bigint | null} fileBytes
 * @param {string} file for messages
 * @returns {number}
 */
export function headerLength(wasm, head, fileBytes, file) {
  const start = head.subarray(0, SNIFF_BYTES);
  const block = wasm.alloc(8 + ERROR_BYTES + SNIFF_BYTES, 'the start of a header');
  try {
    const bytes = block + 8 + ERROR_BYTES;
    wasm.u8(bytes, start.length).set(start);
    const kind = wasm.exports.header_prefix(
      block,
      block + 8,
      bytes,
      BigInt(start.length),
      BigInt.asIntN(64, fileBytes ?? UNKNOWN),
    );
    if (kind !== 0) throw parserError(wasm, block + 8, null, head, file);
    return Number(wasm.view.getBigUint64(block, true));
  } finally {
    wasm.free(block);
  }
}

/**
 * Every rule of the format checked, then the tables.
 * @param {Wasm} wasm
 * @param {number} length of the header
 * @param {(into: (offset: number, bytes: Uint8Array) => void) => Promise<void>} fill brings the header's bytes
 * @param {() => bigint | null} fileBytes asked for once the header is there
 * @param {Uint8Array} head the file's first bytes, to tell what a refused file may be
 * @param {string} file for messages
 * @returns {Promise<Table>}
 */
export async function readTable(wasm, length, fill, fileBytes, head, file) {
  const header = wasm.alloc(Math.max(1, length), `the header of ${file}`);
  let scratch = 0;
  let block = 0;
  try {
    await fill((offset, bytes) => wasm.u8(header + offset, bytes.length).set(bytes));
    wasm.check();
    scratch = wasm.alloc(ERROR_BYTES + SUMMARY_BYTES, `the header of ${file}`);
    const summary = scratch + ERROR_BYTES;
    /** @param {number} kind */
    const check = (kind) => {
      if (kind !== 0) throw parserError(wasm, scratch, { header, length }, head, file);
    };
    const size = BigInt.asIntN(64, fileBytes() ?? UNKNOWN);
    check(wasm.exports.header_measure(summary, scratch, header, BigInt(length)));
    block = wasm.alloc(Number(wasm.view.getBigUint64(summary, true)), `the tables of ${file}`);
    check(wasm.exports.header_read(block, scratch, summary, header, BigInt(length), size));
    return tableOf(wasm, block);
  } finally {
    for (const address of [header, scratch, block]) if (address !== 0) wasm.free(address);
  }
}

/**
 * @param {Wasm} wasm
 * @param {number} block a safetensors_block
 * @returns {Table}
 */
function tableOf(wasm, block) {
  const { view } = wasm;
  const names = [...wasm.dtypes.keys()];
  const u32 = (/** @type {number} */ at) => view.getUint32(at, true);
  const u64 = (/** @type {number} */ at) => view.getBigUint64(at, true);
  const dataStart = u64(block);
  const dims = block + u32(block + 32);
  const pool = block + u32(block + 40);
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  /** @param {number} offset @param {number} length */
  const text = (offset, length) => wasm.text(decoder, pool + offset, length);
  /** @type {Map<string, TableEntry>} */
  const tensors = new Map();
  for (let i = 0, at = block + u32(block + 24); i < u32(block + 16); i++, at += 48) {
    const shape = Array.from({ length: u32(at + 28) }, (_, k) =>
      Number(u64(dims + (u32(at + 32) + k) * 8)),
    );
    const dtype = names[u32(at + 24)];
    const begin = dataStart + u64(at);
    tensors.set(text(u32(at + 16), u32(at + 20)), {
      dtype,
      shape,
      begin,
      byteLength: Number(u64(at + 8) - u64(at)),
    });
  }
  /** @type {[string, string][]} */
  const pairs = [];
  for (let i = 0, at = block + u32(block + 36); i < u32(block + 20); i++, at += 24) {
    pairs.push([text(u32(at), u32(at + 4)), text(u32(at + 8), u32(at + 12))]);
  }
  return { tensors, metadata: Object.fromEntries(pairs), fileBytes: dataStart + u64(block + 8) };
}

/**
 * The parser's error in words: which file, tensor and key, which byte, what would be right.
 * @param {Wasm} wasm
 * @param {number} at a safetensors_error
 * @param {{ header: number, length: number } | null} text
 * @param {Uint8Array} head
 * @param {string} file
 */
function parserError(wasm, at, text, head, file) {
  const { view } = wasm;
  const field = (/** @type {number} */ offset) => view.getUint32(at + offset, true);
  const [expected, found, position] = [0, 8, 16].map((o) => view.getBigUint64(at + o, true));
  const kind = words(wasm, 'header_kind_name', field(24));
  const reason = words(wasm, 'header_reason_words', field(28));
  const tensor = text && quoted(wasm, text, field(32), field(36));
  const key = text && quoted(wasm, text, field(40), field(44));
  const look = looksLike(wasm, head);
  const place = [
    tensor === null ? '' : `tensor ${JSON.stringify(tensor)}`,
    key === null ? '' : `key ${JSON.stringify(key)}`,
  ];
  const figures = expected === 0n && found === 0n ? '' : ` (expected ${expected}, found ${found})`;
  const message = `${[file, ...place.filter(Boolean)].join(', ')}: ${reason}${figures}, at byte ${position}`;
  return new GatedMLPError('ERR_SAFETENSORS', look ? `${message}. This is ${look}` : message, {
    kind,
    file,
    tensor: tensor ?? undefined,
    key: key ?? undefined,
    position,
    expected,
    found,
    looksLike: look || undefined,
  });
}

/**
 * What bytes that are no safetensors file may be, or ''.
 * @param {Wasm} wasm
 * @param {Uint8Array} head
 */
function looksLike(wasm, head) {
  const start = head.subarray(0, SNIFF_BYTES);
  const block = wasm.alloc(SNIFF_BYTES, 'the start of a file');
  try {
    wasm.u8(block, start.length).set(start);
    const look = wasm.exports.header_sniff(block, BigInt(start.length));
    return words(wasm, 'header_look_words', look);
  } finally {
    wasm.free(block);
  }
}

/**
 * @param {Wasm} wasm
 * @param {string} table
 * @param {number} code
 */
function words(wasm, table, code) {
  const at = wasm.exports[table](code) >>> 0;
  const { bytes } = wasm;
  return String.fromCharCode(...bytes.subarray(at, bytes.indexOf(0, at)));
}

/**
 * The name whose JSON string stands at a place in the header, or null.
 * @param {Wasm} wasm
 * @param {{ header: number, length: number }} text
 * @param {number} position
 * @param {number} length 0: no name
 * @returns {string | null}
 */
function quoted(wasm, text, position, length) {
  if (length === 0 || position + length > text.length) return null;
  const json = wasm.text(new TextDecoder(), text.header + position, length);
  try {
    return String(JSON.parse(json));
  } catch {
    return json;
  }
}
