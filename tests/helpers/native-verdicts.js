// What tests/native/read_corpus.c prints of the corpus of safetensors files, against the reference parser's verdicts.

import assert from 'node:assert/strict';
import { corpus, expectedKind, fileBytes } from './corpus.js';

/** @typedef {import('./corpus.js').CorpusFile} CorpusFile */

/** Files of the corpus as read_corpus takes them. @param {CorpusFile[]} [files] @returns {Buffer} */
export function packedCorpus(files = corpus.files) {
  return Buffer.concat(
    files.flatMap((file) => {
      const bytes = fileBytes(file);
      const length = Buffer.alloc(8);
      length.writeBigUInt64LE(BigInt(bytes.length));
      return [length, bytes];
    }),
  );
}

/**
 * @param {string} output of read_corpus
 * @param {string[]} dtypes their names by code
 * @param {CorpusFile[]} [files] that it has read
 * @returns {string[]} what is wrong, by file
 */
export function wrongVerdicts(output, dtypes, files = corpus.files) {
  const lines = output.replace(/\n$/, '').split('\n');
  if (lines.length !== files.length) return [`${lines.length} lines for ${files.length} files`];
  return files.flatMap((file, i) => {
    try {
      checkLine(file, lines[i].split('\t'), fileBytes(file), dtypes);
      return [];
    } catch (error) {
      return [`${file.name}: ${error instanceof Error ? error.message : error}`];
    }
  });
}

/**
 * @param {CorpusFile} file
 * @param {string[]} fields
 * @param {Buffer} bytes
 * @param {string[]} dtypes
 */
function checkLine(file, fields, bytes, dtypes) {
  assert.equal(fields[0], expectedKind(file));
  if (fields[0] !== 'ok') {
    const [, reason, position, , , , , look] = fields;
    assert.notEqual(reason, '');
    assert.ok(BigInt(position) <= BigInt(bytes.length), `byte ${position} of ${bytes.length}`);
    if (file.looks === '') assert.equal(look, '');
    else assert.ok(look.includes(file.looks ?? ''), look);
    return;
  }
  const { tensors, metadata, tensorCount, pairCount } = file.reference;
  assert.equal(Number(fields[1]), tensorCount ?? Object.keys(tensors ?? {}).length);
  assert.equal(Number(fields[2]), pairCount ?? Object.keys(metadata ?? {}).length);
  const dataStart = Number(fields[3]);
  assert.equal(dataStart + Number(fields[4]), bytes.length);
  if (tensorCount !== undefined) return;
  /** @type {Record<string, unknown>} */
  const found = Object.create(null);
  /** @type {Record<string, string>} */
  const pairs = Object.create(null);
  for (let i = 5; i < fields.length; ) {
    if (fields[i] === 'T') {
      const [name, dtype, dims, ...range] = fields.slice(i + 1, i + 6);
      const [from, to] = range.map((offset) => dataStart + Number(offset));
      const data = bytes.subarray(from, to);
      found[fromHex(name)] = [dtypes[Number(dtype)], dims, data.toString('hex')];
      i += 6;
    } else {
      pairs[fromHex(fields[i + 1])] = fromHex(fields[i + 2]);
      i += 3;
    }
  }
  assert.deepEqual(found, bare(tensors));
  assert.deepEqual(pairs, bare(metadata));
}

/** @param {string} hex */
function fromHex(hex) {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(hex, 'hex'));
}

/**
 * The same entries without a prototype: assigning would lose a key called __proto__.
 * @param {Readonly<Record<string, unknown>> | undefined} record
 */
export function bare(record) {
  const entries = Object.create(null);
  for (const [key, value] of Object.entries(record ?? {})) entries[key] = value;
  return entries;
}
