// A flatbuffer written front to back: a table, then what it refers to. Just enough for a .tflite model whose tensors
// are hundreds of megabytes, which are copied once. Used by tflite.js.

/** @typedef {{ bytes: 1 | 4, put: (view: DataView, at: number) => void }} Scalar */
/** @typedef {(writer: Writer) => number} Child writes itself and returns its position */
/** @typedef {Scalar | Child | null} Field null: left out, the reader takes the default */

const OFFSET_BYTES = 4;

class Writer {
  /** @param {number} capacity */
  constructor(capacity) {
    this.bytes = new Uint8Array(capacity);
    this.view = new DataView(this.bytes.buffer);
    this.at = 0;
  }

  /** Moves on until the place `ahead` bytes further is a multiple of `alignment`. @param {number} alignment @param {number} ahead */
  align(alignment, ahead) {
    while ((this.at + ahead) % alignment !== 0) this.at += 1;
  }

  /** Writes a child and points the offset at `slot` to it. @param {number} slot @param {Child} child */
  refer(slot, child) {
    this.view.setUint32(slot, child(this) - slot, true);
  }
}

/** @param {number} x @returns {Scalar} */
export const uint8 = (x) => ({ bytes: 1, put: (view, at) => view.setUint8(at, x) });
/** @param {number} x @returns {Scalar} */
export const int32 = (x) => ({ bytes: 4, put: (view, at) => view.setInt32(at, x, true) });

/** @param {Field[]} fields in the order of the schema @returns {Child} */
export function table(...fields) {
  return (writer) => {
    const vtableBytes = 4 + 2 * fields.length;
    writer.align(4, vtableBytes);
    const vtable = writer.at;
    const start = vtable + vtableBytes;
    let end = start + 4;
    const places = fields.map((field) => {
      if (field === null) return 0;
      const size = typeof field === 'function' ? OFFSET_BYTES : field.bytes;
      end = Math.ceil(end / size) * size;
      end += size;
      return end - size - start;
    });
    const { view } = writer;
    view.setUint16(vtable, vtableBytes, true);
    view.setUint16(vtable + 2, end - start, true);
    for (const [i, place] of places.entries()) view.setUint16(vtable + 4 + 2 * i, place, true);
    view.setInt32(start, vtableBytes, true);
    writer.at = end;
    for (const [i, field] of fields.entries()) {
      if (typeof field === 'function') writer.refer(start + places[i], field);
      else field?.put(view, start + places[i]);
    }
    return start;
  };
}

/** @param {Child[]} items tables @returns {Child} */
export function vectorOf(items) {
  return (writer) => {
    writer.align(4, 0);
    const start = writer.at;
    writer.view.setUint32(start, items.length, true);
    writer.at = start + 4 + OFFSET_BYTES * items.length;
    for (const [i, item] of items.entries()) writer.refer(start + 4 + OFFSET_BYTES * i, item);
    return start;
  };
}

/**
 * A vector of numbers.
 * @param {ArrayBufferView & { length: number }} values
 * @param {number} [alignment] of its first element
 * @returns {Child}
 */
export function vector(values, alignment = 8) {
  return (writer) => {
    writer.align(alignment, 4);
    const start = writer.at;
    writer.view.setUint32(start, values.length, true);
    writer.bytes.set(
      new Uint8Array(values.buffer, values.byteOffset, values.byteLength),
      start + 4,
    );
    writer.at = start + 4 + values.byteLength;
    return start;
  };
}

/** @param {string} text @returns {Child} */
export function string(text) {
  const ended = new TextEncoder().encode(`${text}\0`);
  return (writer) => {
    const start = vector(ended)(writer);
    writer.view.setUint32(start, ended.length - 1, true);
    return start;
  };
}

/**
 * @param {Child} root
 * @param {string} identifier four letters
 * @param {number} capacity more than the result's bytes
 */
export function encode(root, identifier, capacity) {
  const writer = new Writer(capacity);
  writer.bytes.set(new TextEncoder().encode(identifier), 4);
  writer.at = 8;
  writer.refer(0, root);
  return writer.bytes.subarray(0, writer.at);
}
