// Round-to-nearest quantisation of a weight matrix in the layouts that the peers read. Used by onnx.js and tflite.js.
// All of it is symmetric: weight = scale * code.

/** Weights a block shares one scale with, along the input width: what ggml, ONNX Runtime and LiteRT have in common. */
export const BLOCK = 32;

/**
 * [rows, columns] -> [columns, rows], in tiles that stay in the cache.
 * @template {Float32Array | Int8Array} T
 * @param {T} matrix
 * @param {number} rows
 * @param {number} columns
 * @returns {T}
 */
export function transpose(matrix, rows, columns) {
  const TILE = 32;
  const out = /** @type {T} */ (new /** @type {any} */ (matrix.constructor)(matrix.length));
  for (let r0 = 0; r0 < rows; r0 += TILE) {
    for (let c0 = 0; c0 < columns; c0 += TILE) {
      const [rEnd, cEnd] = [Math.min(rows, r0 + TILE), Math.min(columns, c0 + TILE)];
      for (let c = c0; c < cEnd; c++) {
        for (let r = r0; r < rEnd; r++) out[c * rows + r] = matrix[r * columns + c];
      }
    }
  }
  return out;
}

/**
 * One scale a row, codes -127..127.
 * @param {Float32Array} weight [rows, columns]
 * @param {number} columns
 */
export function int8Channels(weight, columns) {
  return symmetric(weight, columns, 127, (scale) => scale);
}

/**
 * One scale a block of BLOCK weights of a row, codes -7..7.
 * @param {Float32Array} weight [rows, columns], columns a multiple of BLOCK
 */
export function int4Blocks(weight) {
  return symmetric(weight, BLOCK, 7, bfloat16);
}

/**
 * Two 4-bit codes a byte, the earlier in the low nibble.
 * @param {Int8Array} codes
 * @param {number} offset added to each code
 */
export function nibbles(codes, offset) {
  const packed = new Uint8Array(codes.length / 2);
  for (let i = 0; i < packed.length; i++) {
    packed[i] = ((codes[2 * i] + offset) & 15) | (((codes[2 * i + 1] + offset) & 15) << 4);
  }
  return packed;
}

/**
 * @param {Float32Array} weight
 * @param {number} group weights in succession that share a scale
 * @param {number} most the largest code
 * @param {(scale: number) => number} rounded what the format's scale type makes of a scale
 */
function symmetric(weight, group, most, rounded) {
  const codes = new Int8Array(weight.length);
  const scales = new Float32Array(weight.length / group);
  for (let s = 0; s < scales.length; s++) {
    const [begin, end] = [s * group, (s + 1) * group];
    let largest = 0;
    for (let i = begin; i < end; i++) largest = Math.max(largest, Math.abs(weight[i]));
    scales[s] = rounded(largest / most) || 1;
    for (let i = begin; i < end; i++) {
      codes[i] = Math.max(-most, Math.min(most, Math.round(weight[i] / scales[s])));
    }
  }
  return { codes, scales };
}

const word = new Uint32Array(1);
const value = new Float32Array(word.buffer);

/** The nearest bfloat16, which a float16 of ordinary size holds too. @param {number} x */
function bfloat16(x) {
  value[0] = x;
  word[0] = (word[0] + 0x8000) & 0xffff0000;
  return value[0];
}
