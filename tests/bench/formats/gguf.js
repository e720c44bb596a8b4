// A GGUF file (version 3) written front to back: metadata, a table of tensors, their bytes. Just enough for a model of
// llama.cpp's; Node only. Used by whole-model/model.js.

/** ggml's numbers of the types that are written here, and the bytes of a block of so many values. */
export const TENSOR_TYPES = {
  F32: { code: 0, block: 1, bytes: 4 },
  Q4_1: { code: 3, block: 32, bytes: 20 },
  Q8_0: { code: 8, block: 32, bytes: 34 },
};

/** @typedef {keyof typeof TENSOR_TYPES} TensorType */
/** @typedef {{ name: string, shape: number[], type: TensorType }} TensorInfo shape: [rows, columns], or [columns] */

const VERSION = 3;
const ALIGNMENT = 32;
const ARRAY = 9;

/** How GGUF numbers and writes a value of metadata. */
const VALUE_TYPES = {
  uint32: { code: 4, write: (/** @type {number} */ x) => number(4, (at) => at.writeUInt32LE(x)) },
  int32: { code: 5, write: (/** @type {number} */ x) => number(4, (at) => at.writeInt32LE(x)) },
  float32: { code: 6, write: (/** @type {number} */ x) => number(4, (at) => at.writeFloatLE(x)) },
  bool: {
    code: 7,
    write: (/** @type {boolean} */ x) => number(1, (at) => at.writeUInt8(Number(x))),
  },
  string: { code: 8, write: text },
};

/** @typedef {keyof typeof VALUE_TYPES} ValueType */
/** @typedef {[key: string, type: ValueType, value: string | number | boolean | string[] | number[]]} Entry */

/**
 * What comes before the bytes of the tensors, which follow in this order, each filled up by `paddingAfter`.
 * @param {Entry[]} metadata
 * @param {TensorInfo[]} tensors
 */
export function ggufHead(metadata, tensors) {
  const chunks = [Buffer.from('GGUF'), uint32(VERSION), uint64(tensors.length)];
  chunks.push(uint64(metadata.length), ...metadata.map(entry));
  let offset = 0;
  for (const tensor of tensors) {
    // The innermost dimension comes first.
    const dimensions = tensor.shape.map(uint64).reverse();
    const { code } = TENSOR_TYPES[tensor.type];
    chunks.push(text(tensor.name), uint32(dimensions.length), ...dimensions);
    chunks.push(uint32(code), uint64(offset));
    offset += byteLength(tensor) + paddingAfter(byteLength(tensor)).length;
  }
  const head = Buffer.concat(chunks);
  return Buffer.concat([head, paddingAfter(head.length)]);
}

/** @param {TensorInfo} tensor */
export function byteLength({ shape, type }) {
  const { block, bytes } = TENSOR_TYPES[type];
  return (shape.reduce((product, n) => product * n, 1) / block) * bytes;
}

/** @param {number} length */
export const paddingAfter = (length) => Buffer.alloc(-length & (ALIGNMENT - 1));

/** @param {Entry} entry */
function entry([key, type, value]) {
  const { code, write } = VALUE_TYPES[type];
  const one = /** @type {(value: string | number | boolean) => Buffer} */ (write);
  if (!Array.isArray(value)) return Buffer.concat([text(key), uint32(code), one(value)]);
  const head = [text(key), uint32(ARRAY), uint32(code), uint64(value.length)];
  return Buffer.concat([...head, ...value.map(one)]);
}

/** @param {string} value */
function text(value) {
  const bytes = Buffer.from(value);
  return Buffer.concat([uint64(bytes.length), bytes]);
}

/** @param {number} bytes @param {(at: Buffer) => void} write */
function number(bytes, write) {
  const at = Buffer.alloc(bytes);
  write(at);
  return at;
}

const uint32 = VALUE_TYPES.uint32.write;
/** @param {number} x */
const uint64 = (x) => number(8, (at) => at.writeBigUInt64LE(BigInt(x)));
