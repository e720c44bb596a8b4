// The safetensors reader against the reference parser's verdicts on the corpus: src/core/safetensors.c as a native
// program under ASan and UBSan, and the same sources in wasm through openCheckpoint, with every tensor's bytes read.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { GatedMLPError, openCheckpoint, Runtime } from '../src/binding/index.js';
import { wasmOf } from '../src/binding/runtime.js';
import { corpus, expectedKind, fileBytes } from './helpers/corpus.js';
import { bare, packedCorpus, wrongVerdicts } from './helpers/native-verdicts.js';
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
  assert.deepEqual(wrongVerdicts(await readNatively(), dtypes), []);
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
 * @returns {Promise<string>} a line for each file
 */
async function readNatively() {
  const [compiler] = findSanitizingCompilers();
  assert.ok(compiler, 'neither gcc nor clang can build with -fsanitize=address,undefined');
  const program = buildNative(compiler, 'tests/native/read_corpus.c');
  const child = spawn(program, { cwd: root, stdio: ['pipe', 'pipe', 'inherit'] });
  const output = child.stdout.setEncoding('utf8').toArray();
  const ended = new Promise((resolve) => child.on('close', resolve));
  child.stdin.end(packedCorpus());
  assert.equal(await ended, 0, 'the program ends without a finding of the sanitizers');
  return (await output).join('');
}

/** @typedef {import('./helpers/corpus.js').CorpusFile} CorpusFile */

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
