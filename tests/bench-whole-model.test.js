// The bench's whole model and what it makes of wllama's times, on a model small enough to look at and on times made up here:
// the file is laid out as GGUF says, the check refuses what it should, and the shares are those of the shapes.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  SMOLLM2_135M,
  tensorBytes,
  tensorsOf,
  weightCounts,
  writeModel,
} from './bench/whole-model/model.js';
import { checkedDeviation, logProbabilities } from './bench/whole-model/reference.js';
import { wholeModelSection, wholeModelText } from './bench/whole-model/report.js';

const TINY = {
  ...{ d: 64, dFf: 96, layers: 2, heads: 2, kvHeads: 1, vocabulary: 40 },
  ...{ context: 128, ropeBase: 10_000, epsilon: 1e-5 },
};
const TOKENS = [3, 17, 39, 8];

/** Reads a GGUF file's tables. @param {Buffer} file */
function readGguf(file) {
  let at = 0;
  const take = (/** @type {number} */ bytes) => {
    at += bytes;
    return at - bytes;
  };
  const u32 = () => file.readUInt32LE(take(4));
  const u64 = () => Number(file.readBigUInt64LE(take(8)));
  const text = () => {
    const length = u64();
    const begin = take(length);
    return file.toString('utf8', begin, begin + length);
  };
  /** @type {Record<number, () => unknown>} */
  const readers = {
    4: u32,
    5: () => file.readInt32LE(take(4)),
    6: () => file.readFloatLE(take(4)),
    7: () => file.readUInt8(take(1)) === 1,
    8: text,
  };
  const value = (/** @type {number} */ type) => {
    if (type !== 9) return readers[type]();
    const element = u32();
    return Array.from({ length: u64() }, readers[element]);
  };
  const magic = file.toString('latin1', take(4), 4);
  const version = u32();
  const [tensorCount, entryCount] = [u64(), u64()];
  const metadata = new Map(Array.from({ length: entryCount }, () => [text(), value(u32())]));
  const tensors = Array.from({ length: tensorCount }, () => ({
    name: text(),
    dimensions: Array.from({ length: u32() }, u64),
    type: u32(),
    offset: u64(),
  }));
  return { magic, version, metadata, tensors, data: file.subarray(Math.ceil(at / 32) * 32) };
}

test('the model is a GGUF file whose tensors are where its table says', () => {
  const folder = mkdtempSync(join(tmpdir(), 'whole-model-'));
  try {
    const path = join(folder, 'tiny.gguf');
    writeModel(path, TINY);
    const { magic, version, metadata, tensors, data } = readGguf(readFileSync(path));
    assert.deepEqual([magic, version], ['GGUF', 3]);
    assert.equal(metadata.get('general.architecture'), 'llama');
    assert.equal(metadata.get('llama.feed_forward_length'), 96);
    assert.equal(metadata.get('llama.rope.freq_base'), 10_000);
    const tokens = /** @type {string[]} */ (metadata.get('tokenizer.ggml.tokens'));
    assert.equal(new Set(tokens).size, 40);
    for (const list of ['scores', 'token_type']) {
      const values = /** @type {number[]} */ (metadata.get(`tokenizer.ggml.${list}`));
      assert.equal(values.length, 40);
    }
    const wanted = tensorsOf(TINY);
    assert.deepEqual(
      tensors.map(({ name, dimensions }) => [name, dimensions]),
      wanted.map(({ name, shape }) => [name, shape.slice().reverse()]),
    );
    for (const [i, { offset }] of tensors.entries()) {
      const bytes = tensorBytes(wanted[i]);
      assert.equal(offset % 32, 0);
      assert.deepEqual(data.subarray(offset, offset + bytes.length), Buffer.from(bytes.buffer));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('an answer counts if it is the whole vocabulary and near the reference', () => {
  const reference = logProbabilities(TINY, TOKENS);
  const total = reference.reduce((sum, x) => sum + Math.exp(x), 0);
  assert.ok(Math.abs(total - 1) < 1e-12);
  const answerOf = (/** @type {Float64Array} */ values) =>
    Array.from(values, (logprob, id) => ({ id, logprob })).reverse();
  assert.equal(checkedDeviation(answerOf(reference), reference), 0);
  const off = reference.map((x, id) => x + (id % 2 ? 0.01 : -0.01));
  assert.ok(checkedDeviation(answerOf(off), reference) > 0.005);
  assert.throws(() => checkedDeviation(answerOf(reference).slice(1), reference), /39 tokens/);
  assert.throws(() => checkedDeviation(answerOf(reference.map(() => Number.NaN)), reference));
  const others = { 'other rotations': { ropeBase: 1 }, 'a layer less': { layers: 1 } };
  for (const [what, change] of Object.entries(others)) {
    const other = answerOf(logProbabilities({ ...TINY, ...change }, TOKENS));
    assert.throws(() => checkedDeviation(other, reference), /off the reference/, what);
  }
  const otherOrder = answerOf(logProbabilities(TINY, [17, 3, 39, 8]));
  assert.throws(() => checkedDeviation(otherOrder, reference), /off the reference/);
});

test('what a layer takes is told by share and by difference, beside ours with as many threads', () => {
  const { d, dFf, layers } = SMOLLM2_135M;
  const mlp = layers * 3 * d * dFf;
  const attention = layers * (2 * d * d + (2 * d * d) / 3);
  assert.deepEqual(weightCounts(SMOLLM2_135M), { mlp, attention, head: 49_152 * d });
  const row = (/** @type {string} */ name, /** @type {number} */ ms, threads = 1, ours = true) => ({
    ...{ name, ms, threads, ours, weights: 'q4_1', variant: /** @type {const} */ ('relaxed') },
    ...{ all: [ms], gflops: 0, gbps: 0, ratio: 0, share: null, error: 0, setupMs: 0 },
  });
  const caseOf = (/** @type {number} */ tokens, /** @type {number} */ ms) => ({
    ...{ shape: '576x1536', tokens, stream: 1, peaks: {}, again: 0, disturbed: 0 },
    rows: [row('ours', ms), row('ours 2t', ms / 2, 2), row('a peer', ms, 1, false)],
  });
  const timedOf = (
    /** @type {string} */ model,
    /** @type {number} */ threads,
    /** @type {number} */ ms,
  ) => ({
    ...{ model, threads, tokenMs: [ms, 9 * ms, ms], prefillMs: [100 * ms, 100 * ms, ms] },
  });
  const run = {
    ...{ engine: 'E', machine: 'M', variant: /** @type {const} */ ('relaxed') },
    ...{ cases: [caseOf(1, 0.1), caseOf(128, 10)], deviation: 0.0275 },
    ...{ promptTokens: 128, slimUnits: 32 },
    timed: [
      timedOf('whole', 1, 120),
      timedOf('slim', 1, 30),
      timedOf('whole', 2, 60),
      timedOf('slim', 2, 45),
    ],
  };
  const text = wholeModelSection([run, run, { ...run, deviation: 0.03 }]);
  assert.match(text, /E, relaxed, M; 3 runs\./);
  assert.match(text, /within 3 %/);
  assert.match(text, /by share, 59 % of the weights that one token meets and 75 % of those/);
  const table = text.split('\n').filter((line) => line.startsWith('| '));
  const byShare = (120 * mlp) / (mlp + attention + 49_152 * d) / layers;
  const byDifference = ((120 - 30) / layers) * (1536 / 1504);
  assert.equal(table[1], '| wllama, 1 thread, 8.3 and 10.7 tokens/s | 120.00 |  | 12000.00 |  |');
  assert.ok(table[2].startsWith(`| a layer's MLP of it, by share | ${byShare.toFixed(2)} |`));
  assert.ok(
    table[3].startsWith(`| a layer's MLP of it, by difference | ${byDifference.toFixed(2)} |`),
  );
  assert.ok(table[4].startsWith(`| ours | 0.10 | ${(byShare / 0.1).toFixed(1)} | 10.00 |`));
  assert.ok(table[8].startsWith(`| ours 2t | 0.05 | ${(byShare / 2 / 0.05).toFixed(1)} | 5.00 |`));
  assert.equal(table.length, 9);
  assert.doesNotMatch(text, /a peer/);
  assert.match(wholeModelText(run), /by difference\s+3\.06\s/);
});
