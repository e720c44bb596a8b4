// The JSON of headers at its edges: numbers around float64's range at every power of ten, every border of UTF-8, and escapes that
// spell the same name. The oracles are V8's Number, TextDecoder and JSON.parse; the reference parser agrees with them here.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { GatedMLPError, openCheckpoint, Runtime } from '../src/binding/index.js';

const runtime = await Runtime.create();
after(() => runtime.dispose());

const RECORD = '"dtype":"U8","shape":[1],"data_offsets":';

/**
 * A file whose header is this text, with as many bytes of data.
 * @param {(string | number[])[]} header text, or bytes as they are
 * @param {number} dataBytes
 */
function fileOf(header, dataBytes) {
  const bytes = Buffer.concat(header.map((part) => Buffer.from(/** @type {string} */ (part))));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(bytes.length));
  return new Blob([length, bytes, Buffer.alloc(dataBytes)]);
}

/** Whether a value is taken as that of a field nobody knows. @param {...(string | number[])} value */
async function takes(...value) {
  return opens(fileOf([`{"t":{${RECORD}[0,1],"other":`, ...value, '}}'], 1));
}

/** @param {Blob} file */
async function opens(file) {
  try {
    await openCheckpoint(file, { runtime });
    return true;
  } catch (error) {
    assert.ok(error instanceof GatedMLPError && error.code === 'ERR_SAFETENSORS', String(error));
    return false;
  }
}

test('a number is refused where float64 has no finite one for it, at every power of ten', async () => {
  for (let exponent = 280; exponent <= 309; exponent++) {
    const limit = Number.MAX_VALUE / 10 ** exponent;
    if (!Number.isFinite(10 ** exponent)) {
      assert.equal(await takes(`1e${exponent}`), false);
      continue;
    }
    for (const factor of [0.5, 0.99, 1.01, 2, 1000]) {
      const significand = BigInt(Math.round(limit * factor));
      const number = `${significand}e${exponent}`;
      assert.equal(await takes(number), Number.isFinite(Number(number)), number);
    }
  }
  for (const number of [
    '0e999',
    '0.0e400',
    '-0',
    '1e5',
    '1e-5',
    '123456789012345678901234567890',
  ]) {
    assert.equal(await takes(number), true, number);
  }
});

test('every border of UTF-8 is where TextDecoder has it', async () => {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const leads = [
    0x80, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5,
  ];
  const seconds = [0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0];
  for (const lead of leads) {
    for (const second of seconds) {
      for (const rest of [[], [0x80], [0xbf], [0xc0], [0x80, 0x80], [0xbf, 0xbf], [0x80, 0x7f]]) {
        const bytes = [lead, second, ...rest];
        let valid = true;
        try {
          decoder.decode(Uint8Array.from(bytes));
        } catch {
          valid = false;
        }
        assert.equal(
          await takes('"', bytes, '"'),
          valid,
          bytes.map((b) => b.toString(16)).join(' '),
        );
      }
    }
  }
});

test('escapes are taken as JSON has them, surrogates only in pairs', async () => {
  const good = [
    '\\u0041',
    '\\uD83D\\uDE00',
    '\\ud800\\udc00',
    '\\udbff\\udfff',
    '\\uE000',
    '\\ud7ff',
    '\\n\\"\\\\\\/',
  ];
  const bad = [
    ...['\\u', '\\u1', '\\u12', '\\u123', '\\u12G4', '\\uG123', '\\x41', '\\', '\\U0041'],
    ...[
      '\\ud800',
      '\\udbff',
      '\\udc00',
      '\\udfff',
      '\\ud83d\\u0041',
      '\\ud83d\\ud83d',
      '\\ud83d\\ue000',
    ],
    ...['\\ud83dx', '\\ud83d\\n', '\\ude00\\ud83d', '\\ud83d\\u', '\\ud83d\\ude0'],
  ];
  for (const text of good) {
    JSON.parse(`"${text}"`);
    assert.equal(await takes(`"${text}"`), true, text);
  }
  for (const text of bad) assert.equal(await takes(`"${text}"`), false, text);
});

test('names that are spelled differently are one name, and near ones are two', async () => {
  const pairs = [
    ['A', '\\u0041', true],
    ['é', '\\u00e9', true],
    ['\u{1f600}', '\\ud83d\\ude00', true],
    ['\u{10ffff}', '\\udbff\\udfff', true],
    ['\u{10000}', '\\ud800\\udc00', true],
    ['\u{1f600}', '\\ud83d\\ude01', false],
    ['\u{1f600}', '\\ud83c\\ude00', false],
    ['é', '\\u00ea', false],
    ['/', '\\/', true],
    ['A', 'B', false],
  ];
  for (const [plain, escaped, same] of /** @type {[string, string, boolean][]} */ (pairs)) {
    const header = `{"${plain}":{${RECORD}[0,1]},"${escaped}":{${RECORD}[1,2]}}`;
    assert.equal(plain === JSON.parse(`"${escaped}"`), same);
    assert.equal(await opens(fileOf([header], 2)), !same, escaped);
    const alone = await openCheckpoint(fileOf([`{"${escaped}":{${RECORD}[0,1]}}`], 1), { runtime });
    assert.deepEqual([...alone.tensors.keys()], [JSON.parse(`"${escaped}"`)]);
  }
});
