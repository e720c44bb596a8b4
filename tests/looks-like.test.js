// What a file that is no safetensors file looks like: the error says so where its first bytes tell, and says nothing where they do
// not, however near they come.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openCheckpoint, Runtime } from '../src/binding/index.js';

const runtime = await Runtime.create();
after(() => runtime.dispose());

/** @type {[string | number[], RegExp][]} first bytes, what they look like */
const LOOKS = [
  ['<!DOCTYPE HTML>', /HTML/],
  ['<!doctype html>', /HTML/],
  ['\n\t <HtMl lang=en>', /HTML/],
  ['<?xml version="1.0"?>', /XML/],
  ['version https://git-lfs.github.com/spec/v1', /LFS/],
  ['{"error":"not found"}', /JSON/],
  ['[1, 2, 3, 4, 5, 6]', /JSON/],
  ['PK\x03\x04', /ZIP/i],
  ['GGUF', /GGUF/],
  [[0x1f, 0x8b, 0x08, 0], /gzip/i],
  [[0x89, 0x48, 0x44, 0x46], /HDF5/],
  [[0x80, 0x02, 0x7d], /pickle/i],
];
const PLAIN = [
  'PA',
  'PK\x03\x05',
  'GGUE',
  '<htm',
  '<!doctype htm ',
  'Plain text of some length',
  '(1, 2, 3)',
];

/** @param {string | number[]} start */
async function looksLike(start) {
  const bytes = Buffer.concat([Buffer.from(/** @type {string} */ (start)), Buffer.alloc(64, 0xff)]);
  const error = await openCheckpoint(new Blob([bytes]), { runtime }).catch((e) => e);
  assert.equal(error.code, 'ERR_SAFETENSORS');
  return error.looksLike;
}

for (const [start, look] of LOOKS) {
  test(`${JSON.stringify(start)} is known for what it is`, async () => {
    assert.match(String(await looksLike(start)), look);
  });
}

for (const start of PLAIN) {
  test(`${JSON.stringify(start)} looks like nothing in particular`, async () => {
    assert.equal((await looksLike(start)) ?? null, null);
  });
}
