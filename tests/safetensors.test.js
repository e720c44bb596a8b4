// The safetensors reader against the reference parser's verdicts on the corpus: src/core/safetensors.c as a native
// program under ASan and UBSan, and the same sources in wasm through openCheckpoint, with every tensor's bytes read.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { GatedMLPError, openCheckpoint, Runtime } from '../src/binding/index.js';
import { wasmOf } from '../src/binding/runtime.js';
import { corpus, expectedKind, fileBytes } from './helpers/corpus.js';
import { findSanitizingCompilers } from './helpers/tools.js';
import { buildNative } from './native/run.js';

const root = fileURLToPath(new URL('../', import.meta.url));

/** Names of dtypes by code. @type {string[]} */
let dtypes;
/** @type {Runtime} */
let runtime;

before(async () => {
  runtime = await Runtime.create();
  dtypes = [...wasmOf(runtime).dtypes.keys()];
});

test('the corpus is large, and its verdicts come from the reference', () => {
  assert.match(corpus.reference, /^safetensors \d+\.\d+\.\d+$/);
  assert.ok(corpus.files.length >= 250, `${corpus.files.length} files`);
});

test('the native reader gives the verdict of the reference on every file', async (t) => {
  const lines = await readNatively();
  const wrong = [];
  for (const [i, file] of corpus.files.entries()) {
    const fields = lines[i].split('\t');
    wrong.push(...((await messageOf(file, () => checkLine(file, fields, fileBytes(file)))) ?? []));
  }
  assert.deepEqual(wrong, []);
  t.diagnostic(`${corpus.files.length} files`);
});

test('openCheckpoint gives the verdict of the reference on every file', async (t) => {
  const wrong = [];
  const bytesBefore = runtime.bytesUsed;
  for (const file of corpus.files) {
    const bytes = fileBytes(file);
    const result = await open(bytes);
    wrong.push(...((await messageOf(file, () => checkResult(file, result, bytes))) ?? []));
  }
  assert.deepEqual(wrong, []);
  assert.equal(runtime.bytesUsed, bytesBefore, 'every block is given back');
  t.diagnostic(`${corpus.files.length} files`);
});

/**
 * Runs tests/native/read_corpus.c on the whole corpus.
 * @returns {Promise<string[]>} a line for each file
 */
async function readNatively() {
  const [compiler] = findSanitizingCompilers();
  assert.ok(compiler, 'neither gcc nor clang can build with -fsanitize=address,undefined');
  const program = buildNative(compiler, 'tests/native/read_corpus.c');
  const child = spawn(program, { cwd: root, stdio: ['pipe', 'pipe', 'inherit'] });
  const output = child.stdout.setEncoding('utf8').toArray();
  const ended = new Promise((resolve) => child.on('close', resolve));
  for (const file of corpus.files) {
    const bytes = fileBytes(file);
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(bytes.length));
    child.stdin.write(length);
    await new Promise((resolve) => child.stdin.write(bytes, resolve));
  }
  child.stdin.end();
  assert.equal(await ended, 0, 'the program ends without a finding of the sanitizers');
  const lines = (await output).join('').replace(/\n$/, '').split('\n');
  assert.equal(lines.length, corpus.files.length);
  return lines;
}

/** @typedef {import('./helpers/corpus.js').CorpusFile} CorpusFile */

/**
 * A line of read_corpus against what the reference made of the file.
 * @param {CorpusFile} file
 * @param {string[]} fields
 * @param {Buffer} bytes
 */
function checkLine(file, fields, bytes) {
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

/** @typedef {import('../src/binding/checkpoint.js').Checkpoint} Checkpoint */

/**
 * @param {Buffer} bytes
 * @returns {Promise<Checkpoint | GatedMLPError>}
 */
async function open(bytes) {
  try {
    return await openCheckpoint(bytes, { runtime });
  } catch (error) {
    if (error instanceof GatedMLPError) return error;
    throw error;
  }
}

/**
 * What openCheckpoint made of a file against what the reference did.
 * @param {CorpusFile} file
 * @param {Checkpoint | GatedMLPError} result
 * @param {Buffer} bytes
 */
async function checkResult(file, result, bytes) {
  if (result instanceof GatedMLPError) {
    const error = /** @type {GatedMLPError & { kind: string, looksLike?: string }} */ (result);
    assert.equal(error.code, 'ERR_SAFETENSORS');
    assert.equal(error.kind, expectedKind(file), error.message);
    if (file.looks) assert.ok(error.looksLike?.includes(file.looks), error.looksLike);
    if (file.looks === '') assert.equal(error.looksLike, undefined);
    return;
  }
  assert.equal('ok', expectedKind(file));
  const { tensors, metadata, tensorCount, pairCount } = file.reference;
  const pairs = Object.keys(result.metadata);
  assert.equal(result.tensors.size, tensorCount ?? Object.keys(tensors ?? {}).length);
  assert.equal(pairs.length, pairCount ?? Object.keys(metadata ?? {}).length);
  for (const [name, [dtype, shape, data]] of Object.entries(tensors ?? {})) {
    const entry = result.tensors.get(name);
    assert.ok(entry, name);
    assert.ok(Number(entry.byteOffset) + entry.byteLength <= bytes.length, name);
    const dims = shape === '' ? [] : shape.split(',').map(Number);
    const read = await result.read(name);
    assert.deepEqual([entry.dtype, entry.shape], [dtype, dims]);
    assert.deepEqual([read.dtype, read.shape], [dtype, dims]);
    assert.equal(Buffer.from(read.data).toString('hex'), data, name);
  }
  if (metadata) assert.deepEqual(bare(result.metadata), bare(metadata));
}

/**
 * @param {CorpusFile} file
 * @param {() => void | Promise<void>} check
 * @returns {Promise<string[] | undefined>}
 */
async function messageOf(file, check) {
  try {
    await check();
    return undefined;
  } catch (error) {
    return [`${file.name}: ${error instanceof Error ? error.message : error}`];
  }
}

/** @param {string} hex */
function fromHex(hex) {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(hex, 'hex'));
}

/**
 * The same entries without a prototype: assigning would lose a key called __proto__.
 * @param {Readonly<Record<string, unknown>> | undefined} record
 */
function bare(record) {
  const entries = Object.create(null);
  for (const [key, value] of Object.entries(record ?? {})) entries[key] = value;
  return entries;
}
