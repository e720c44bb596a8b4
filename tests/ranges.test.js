// Properties of the plan of ranges, on random wanted parts: everything is covered once, little else is fetched, what is
// urgent comes first. And offsets that no JavaScript number can hold.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { streamTensors } from '../src/binding/checkpoint.js';
import { openCheckpoint } from '../src/binding/index.js';
import { onePass, planRanges, unwantedBytes } from '../src/binding/ranges.js';

/** @typedef {import('../src/binding/ranges.js').Member} Member */

const part = fc
  .tuple(fc.nat(2_000_000), fc.integer({ min: 1, max: 300_000 }), fc.boolean())
  .map(([begin, length, far]) => {
    const start = BigInt(begin) + (far ? 2n ** 60n : 0n);
    return { begin: start, end: start + BigInt(length), origin: start, take() {} };
  });
const parts = fc.array(part, { minLength: 1, maxLength: 12 });

/** @param {Member} inner @param {{ begin: bigint, end: bigint }} outer */
const isInside = (inner, outer) => inner.begin >= outer.begin && inner.end <= outer.end;

test('every wanted part lies inside exactly one range, which knows it', () => {
  fc.assert(
    fc.property(parts, (members) => {
      const ranges = planRanges(members);
      assert.equal(ranges.flatMap((r) => r.members).length, members.length);
      for (const member of members) {
        const [range, ...others] = ranges.filter((r) => r.members.includes(member));
        assert.ok(isInside(member, range) && others.length === 0);
      }
    }),
  );
});

test('ranges begin and end with wanted bytes, and their gaps come to at most 32 KiB', () => {
  fc.assert(
    fc.property(parts, (members) => {
      let gaps = 0n;
      for (const { begin, end, members: inside } of planRanges(members)) {
        assert.ok(inside.some((m) => m.begin === begin) && inside.some((m) => m.end === end));
        assert.deepEqual(
          inside,
          [...inside].sort((a, b) => Number(a.begin - b.begin)),
        );
        gaps += unwantedBytes(begin, end, inside);
      }
      assert.ok(gaps <= 32_768n);
    }),
  );
});

test('no byte is fetched twice', () => {
  fc.assert(
    fc.property(parts, (members) => {
      const ranges = planRanges(members).sort((a, b) => (a.begin < b.begin ? -1 : 1));
      for (let i = 1; i < ranges.length; i++) assert.ok(ranges[i].begin >= ranges[i - 1].end);
    }),
  );
});

test('the most urgent part is in the first range', () => {
  fc.assert(
    fc.property(parts, (members) => {
      assert.ok(planRanges(members)[0].members.includes(members[0]));
    }),
  );
});

test('one pass covers everything', () => {
  fc.assert(
    fc.property(parts, (members) => {
      const range = onePass(members);
      assert.ok(
        members.every((m) => isInside(m, range)) && range.members.length === members.length,
      );
    }),
  );
});

test('unwanted bytes are those that no part covers', () => {
  const small = fc.array(fc.tuple(fc.nat(60), fc.integer({ min: 1, max: 20 })), { maxLength: 6 });
  fc.assert(
    fc.property(small, fc.nat(80), fc.nat(80), (pairs, a, b) => {
      const [begin, end] = [Math.min(a, b), Math.max(a, b)];
      const members = pairs
        .sort(([x], [y]) => x - y)
        .map(([at, length]) => ({
          begin: BigInt(at),
          end: BigInt(at + length),
          origin: 0n,
          take() {},
        }));
      let count = 0n;
      for (let i = begin; i < end; i++)
        if (!members.some((m) => m.begin <= i && i < m.end)) count += 1n;
      assert.equal(unwantedBytes(BigInt(begin), BigInt(end), members), count);
    }),
  );
});

/** A server of a file too large to exist: its header, and bytes that follow from their position. @param {string} header @param {bigint} size */
function endless(header, size) {
  /** @param {string | URL | Request} _ @param {RequestInit} [init] */
  return async (_, init) => {
    const [, first, last] = /bytes=(\d+)-(\d+)/.exec(
      new Headers(init?.headers).get('range') ?? '',
    ) ?? ['', '0', '0'];
    const begin = BigInt(first);
    const length = Number((BigInt(last) < size ? BigInt(last) + 1n : size) - begin);
    const body = Uint8Array.from({ length }, (_, i) => byteAt(header, begin + BigInt(i)));
    const headers = { 'content-range': `bytes ${begin}-${begin + BigInt(length) - 1n}/${size}` };
    return new Response(body, { status: 206, headers });
  };
}

/** @param {string} header @param {bigint} position */
function byteAt(header, position) {
  if (position < 8n) return Number((BigInt(header.length) >> (8n * position)) & 255n);
  if (position < 8n + BigInt(header.length)) return header.charCodeAt(Number(position) - 8);
  return Number(position % 251n);
}

for (const [what, huge] of /** @type {[string, bigint][]} */ ([
  ['a tensor past 4 GiB', 5n * 2n ** 30n],
  ['a tensor past 512 MiB, where 32-bit parsers break', 2n ** 29n + 8n],
  ['a file past 2^53 bytes', 2n ** 54n + 2n],
])) {
  test(`${what} is read right through ranges, and so is what lies behind it`, async () => {
    const header = JSON.stringify({
      huge: { dtype: 'U8', shape: ['HUGE'], data_offsets: [0, 'HUGE'] },
      after: { dtype: 'U8', shape: [1001], data_offsets: ['HUGE', 'END'] },
    })
      .replaceAll('"HUGE"', String(huge))
      .replaceAll('"END"', String(huge + 1001n));
    const start = 8n + BigInt(header.length);
    const fetch = endless(header, start + huge + 1001n);
    const checkpoint = await openCheckpoint('https://example.org/huge.safetensors', { fetch });
    assert.equal(checkpoint.tensors.get('after')?.byteOffset, start + huge);
    const { data } = await checkpoint.read('after');
    assert.deepEqual(
      data,
      Uint8Array.from({ length: 1001 }, (_, i) => byteAt(header, start + huge + BigInt(i))),
    );
    const begin = Number(huge < 2n ** 53n ? huge - 5000n : 2n ** 52n);
    /** @type {number[]} */
    const offsets = [];
    await streamTensors(checkpoint, [
      {
        name: 'huge',
        begin,
        end: begin + 5000,
        sink(chunk, offset) {
          offsets.push(offset);
          assert.equal(chunk[0], byteAt(header, start + BigInt(offset)));
        },
      },
    ]);
    assert.equal(offsets[0], begin);
    if (huge > 2n ** 53n)
      await assert.rejects(checkpoint.read('huge'), { code: 'ERR_OUT_OF_MEMORY' });
  });
}
