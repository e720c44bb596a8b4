// The corpus of hostile and odd safetensors files (tests/corpus): its files as bytes, and what must come of each.

import { readFileSync } from 'node:fs';

/** @typedef {string | { hex: string } | { repeat: string, times: number } | { each: string, times: number, join: string }} Part */
/**
 * @typedef {object} CorpusFile
 * @property {string} name the rule it tries, and how
 * @property {Part[]} [raw] the whole file, or else:
 * @property {Part[]} [header]
 * @property {Part[]} [data]
 * @property {string} [looks] a word that must be said of what the bytes really are; '': nothing is said
 * @property {'duplicate' | 'record-as-array' | 'dtype-as-object'} [departs] why it is refused although the reference takes it
 * @property {ReferenceVerdict} reference
 */
/**
 * @typedef {object} ReferenceVerdict
 * @property {string} kind 'ok', or the kind of error
 * @property {string} [message]
 * @property {Record<string, [dtype: string, shape: string, dataInHex: string]>} [tensors]
 * @property {Record<string, string>} [metadata]
 * @property {number} [tensorCount] where there are too many to list
 * @property {number} [pairCount]
 */

/** @type {{ reference: string, files: CorpusFile[] }} */
export const corpus = JSON.parse(
  readFileSync(new URL('../corpus/corpus.json', import.meta.url), 'utf8'),
);

/**
 * @param {CorpusFile} file
 * @returns {Buffer}
 */
export function fileBytes(file) {
  if (file.raw) return expand(file.raw);
  const header = expand(file.header ?? []);
  const prefix = Buffer.alloc(8);
  prefix.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([prefix, header, expand(file.data ?? [])]);
}

/**
 * The kind this library must give: the reference's, but where it departs on purpose.
 * @param {CorpusFile} file
 */
export function expectedKind({ departs, reference }) {
  if (departs === undefined) return reference.kind;
  return departs === 'duplicate' ? 'duplicate' : 'json';
}

/** @param {Part[]} parts */
function expand(parts) {
  return Buffer.concat(parts.map(expandPart));
}

/** @param {Part} part */
function expandPart(part) {
  if (typeof part === 'string') return Buffer.from(part);
  if ('hex' in part) return Buffer.from(part.hex, 'hex');
  if ('repeat' in part) {
    const bytes = Buffer.byteLength(part.repeat) * part.times;
    return bytes === 0 ? Buffer.alloc(0) : Buffer.alloc(bytes, part.repeat);
  }
  const each = Array.from({ length: part.times }, (_, i) => part.each.replaceAll('{i}', String(i)));
  return Buffer.from(each.join(part.join));
}
