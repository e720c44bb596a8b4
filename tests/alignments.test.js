// Every code of the small float types, loaded from a file that has the tensors at each alignment from 0 to 15 bytes: the
// numbers they stand for by the types' definitions, and where they are held as they are, the very bits.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { GatedMLP, Runtime } from '../src/binding/index.js';
import { makeSafetensors, pattern } from './helpers/make-safetensors.js';

const runtime = await Runtime.create();
after(() => runtime.dispose());

/**
 * A float type by its definition.
 * @typedef {object} Format
 * @property {string} dtype
 * @property {number} bytes
 * @property {number} mantissa bits
 * @property {number} bias
 * @property {number} infinity its code; NaN where there is none
 * @property {(magnitude: number, isNegative: boolean) => boolean} nan whether it is none
 */
/** @type {Format[]} */
const FORMATS = [
  {
    dtype: 'F16',
    bytes: 2,
    mantissa: 10,
    bias: 15,
    infinity: 0x7c00,
    nan: (magnitude) => magnitude > 0x7c00,
  },
  {
    dtype: 'BF16',
    bytes: 2,
    mantissa: 7,
    bias: 127,
    infinity: 0x7f80,
    nan: (magnitude) => magnitude > 0x7f80,
  },
  {
    dtype: 'F8_E5M2',
    bytes: 1,
    mantissa: 2,
    bias: 15,
    infinity: 0x7c,
    nan: (magnitude) => magnitude > 0x7c,
  },
  {
    dtype: 'F8_E4M3',
    bytes: 1,
    mantissa: 3,
    bias: 7,
    infinity: Number.NaN,
    nan: (magnitude) => magnitude === 0x7f,
  },
  {
    dtype: 'F8_E5M2FNUZ',
    bytes: 1,
    mantissa: 2,
    bias: 16,
    infinity: Number.NaN,
    nan: (magnitude, isNegative) => isNegative && magnitude === 0,
  },
  {
    dtype: 'F8_E4M3FNUZ',
    bytes: 1,
    mantissa: 3,
    bias: 8,
    infinity: Number.NaN,
    nan: (magnitude, isNegative) => isNegative && magnitude === 0,
  },
];

/** The number a code stands for. @param {number} code @param {Format} format */
function meaning(code, { bytes, mantissa, bias, infinity, nan }) {
  const signBit = 2 ** (8 * bytes - 1);
  const isNegative = code >= signBit;
  const magnitude = isNegative ? code - signBit : code;
  if (nan(magnitude, isNegative)) return Number.NaN;
  const sign = isNegative ? -1 : 1;
  if (magnitude === infinity) return sign * Number.POSITIVE_INFINITY;
  const exponent = magnitude >> mantissa;
  const fraction = (magnitude % 2 ** mantissa) / 2 ** mantissa;
  return (
    sign * (exponent > 0 ? (1 + fraction) * 2 ** (exponent - bias) : fraction * 2 ** (1 - bias))
  );
}

for (const format of FORMATS) {
  const { dtype, bytes } = format;
  const count = 2 ** (8 * bytes);
  test(`all ${count} codes of ${dtype} are read as what they stand for, at each alignment from 0 to 15`, async () => {
    const side = Math.sqrt(count);
    const codes = Uint16Array.from({ length: count }, (_, i) => i);
    const data = new Uint8Array(bytes === 2 ? codes.buffer : codes);
    const expected = Float32Array.from(codes, (code) => meaning(code, format));
    const matrix = { dtype, shape: [side, side], data };
    for (let shift = 0; shift < 16; shift++) {
      const tensors = {
        shift: { dtype: 'U8', shape: [shift], data: pattern(shift) },
        'mlp.gate_proj.weight': matrix,
        'mlp.up_proj.weight': matrix,
        'mlp.down_proj.weight': matrix,
      };
      const dataStart = 8 + Number(makeSafetensors(tensors).readBigUInt64LE(0));
      const file = makeSafetensors(tensors, { pad: 15 - ((dataStart - 1) % 16) });
      const gate = file.length - 3 * data.length;
      assert.equal(gate % 16, shift);
      const mlp = await GatedMLP.fromPretrained(file, { runtime });
      for (const [name, { data: found }] of mlp.namedParameters()) {
        const wrong = expected.findIndex((value, code) => !Object.is(found[code], value));
        assert.equal(wrong, -1, `${name}, shifted by ${shift}: code ${wrong} is ${found[wrong]}`);
      }
      const held = mlp.stateDict().get('up_proj.weight');
      if (bytes === 2) assert.deepEqual(held?.data, data);
      mlp.dispose();
    }
  });
}
