// Folders of shards with an index, good and bad (tests/corpus/make_indexes.py): by URL and from disk, what comes of each is
// what Python's json, the reference parser and the rules between them say.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { GatedMLPError, openCheckpoint, Runtime } from '../src/binding/index.js';
import { FaultServer } from './helpers/fault-server.js';

/** @typedef {{ kind: string, names?: string[], tensors?: Record<string, [dtype: string, shape: string, hex: string]> }} Verdict */
/** @typedef {{ name: string, index: string, files: Record<string, string>, verdict: Verdict }} IndexFolder in hexadecimal */

const INDEX = 'model.safetensors.index.json';
/** @type {{ reference: string, folders: IndexFolder[] }} */
const { reference, folders } = JSON.parse(
  readFileSync(new URL('./corpus/indexes.json', import.meta.url), 'utf8'),
);
const server = await FaultServer.start({});
const runtime = await Runtime.create();
const disk = mkdtempSync(join(tmpdir(), 'gated-mlp-indexes-'));
after(() => {
  rmSync(disk, { recursive: true });
  return server.close();
});

/** What an error must be, by the kind of a verdict. @type {Record<string, [code: string, words: RegExp]>} */
const ERRORS = {
  json: ['ERR_UNSUPPORTED', /index\.json: not a JSON object/],
  index: ['ERR_SAFETENSORS', /no weight_map in this index|the shard of ".*" is not a string/],
  outside: ['ERR_UNSUPPORTED', /is not the name of a file below the checkpoint's folder/],
  'missing-shard': ['ERR_TENSOR_MISSING', /names a shard that is not there/],
  'missing-tensor': ['ERR_TENSOR_MISSING', /says that ".*" is in .*, and it is not/s],
};

/** @param {string} source @param {Verdict} verdict */
async function compare(source, { kind, names = [], tensors = {} }) {
  const options = { runtime, retry: { tries: 1 } };
  const result = await openCheckpoint(source, options).catch((error) => error);
  if (kind === 'ok') {
    assert.ok(!(result instanceof Error), String(result));
    assert.deepEqual(new Set(result.tensors.keys()), new Set(Object.keys(tensors)));
    for (const [name, [dtype, shape, hex]] of Object.entries(tensors)) {
      const read = await result.read(name);
      assert.deepEqual([read.dtype, String(read.shape)], [dtype, shape]);
      assert.equal(Buffer.from(read.data).toString('hex'), hex, name);
    }
    return;
  }
  assert.ok(result instanceof GatedMLPError, String(result));
  const shardKind = kind.startsWith('shard: ') ? kind.slice('shard: '.length) : null;
  const [code, words] = ERRORS[kind] ?? ['ERR_SAFETENSORS', /./];
  assert.equal(result.code, code, result.message);
  assert.match(result.message, words);
  if (kind === 'index') assert.equal(result.kind, 'index');
  if (shardKind) assert.equal(result.kind, shardKind, result.message);
  for (const name of names) {
    const shown = [name, JSON.stringify(name).slice(1, -1), encodeURI(name)];
    assert.ok(
      shown.some((words) => result.message.includes(words)),
      `${result.message} does not name ${name}`,
    );
  }
}

test('there are at least 40 folders, and their verdicts come from the reference', () => {
  assert.match(reference, /^safetensors \d+\.\d+\.\d+$/);
  assert.ok(folders.length >= 40, `${folders.length}`);
  assert.equal(new Set(folders.map(({ name }) => name)).size, folders.length);
});

test('every index folder is what the reference and the rules say, by URL and from disk', async (t) => {
  const used = runtime.bytesUsed;
  for (const [i, { name, index, files, verdict }] of folders.entries()) {
    server.files.clear();
    const members = Object.entries({ ...files, [INDEX]: index });
    for (const [member, hex] of members) {
      const content = Buffer.from(hex, 'hex');
      server.files.set(`/m/${member}`, content);
      const path = join(disk, String(i), member);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
    }
    for (const source of [`${server.origin}/m/${INDEX}`, join(disk, String(i), INDEX)]) {
      try {
        await compare(source, verdict);
      } catch (error) {
        const words = error instanceof Error ? error.message : error;
        throw new Error(`${name}, ${source}: ${words}`, { cause: error });
      }
    }
  }
  assert.equal(runtime.bytesUsed, used);
  t.diagnostic(`${folders.length} folders, twice`);
});
