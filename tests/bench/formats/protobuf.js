// A protobuf message as a list of byte chunks: just enough to write an ONNX model, with large payloads passed through
// uncopied until the end. Used by onnx.js.

/** @typedef {{ chunks: Uint8Array[], length: number }} Message */

/** Wire types of the encoding. */
const VARINT = 0;
const BYTES = 2;

/** @param {number} value an integer from 0 to 2^53 - 1 */
function varint(value) {
  const bytes = [];
  let rest = value;
  do {
    const low = rest % 128;
    rest = Math.floor(rest / 128);
    bytes.push(rest > 0 ? low + 128 : low);
  } while (rest > 0);
  return Uint8Array.from(bytes);
}

/** @param {number} field @param {number} wire */
const tag = (field, wire) => varint(field * 8 + wire);

/** @param {Uint8Array[]} chunks @returns {Message} */
function messageOf(chunks) {
  return { chunks, length: chunks.reduce((sum, { length }) => sum + length, 0) };
}

/** @param {...Message} parts */
export function message(...parts) {
  return messageOf(parts.flatMap(({ chunks }) => chunks));
}

/** @param {number} field @param {number} value */
export function int(field, value) {
  return messageOf([tag(field, VARINT), varint(value)]);
}

/** @param {number} field @param {string | ArrayBufferView} value */
export function bytes(field, value) {
  const payload =
    typeof value === 'string'
      ? new TextEncoder().encode(value)
      : new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return messageOf([tag(field, BYTES), varint(payload.length), payload]);
}

/** @param {number} field @param {Message} inner */
export function nested(field, inner) {
  return messageOf([tag(field, BYTES), varint(inner.length), ...inner.chunks]);
}

/** @param {Message} whole */
export function encode({ chunks, length }) {
  const out = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    out.set(chunk, at);
    at += chunk.length;
  }
  return out;
}
