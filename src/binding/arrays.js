// Checks of the numbers and arrays a caller hands in, before anything reaches the core, and the making of those it gets.
// Each throws a GatedMLPError that names the argument, the value and what would be right.

import { GatedMLPError, shapeError } from './errors.js';

/** @typedef {import('./wasm.js').Wasm} Wasm */

const INT32_MAX = 2 ** 31 - 1;

/**
 * What the arithmetic gives. The float64 build, a test artefact, gives Float64Array; the types speak of what users have.
 * @typedef {Float32Array} RealArray
 */
/**
 * What the arithmetic takes: Float32Array, or Float64Array where the runtime is of the float64 build.
 * @typedef {Float32Array | Float64Array} RealInput
 */

/**
 * The class of a typed array, whichever realm it is of, by what it is and not what it says; undefined for anything else.
 * Of all that tells this it touches least, which is what a call costs whose caches are cold.
 * @type {(this: unknown) => string | undefined}
 */
const typedArrayName = /** @type {any} */ (
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)
).get;

/** @param {unknown} value */
const shown = (value) =>
  typeof value === 'bigint'
    ? `${value}n`
    : typeof value === 'string'
      ? `'${value}'`
      : String(value);

/** @param {unknown} value the thing's class, for a message */
const classOf = (value) =>
  value === null || value === undefined
    ? String(value)
    : `a ${Object(value).constructor?.name ?? typeof value}`;

/**
 * An integer in [least, most].
 * @param {unknown} value
 * @param {string} name
 * @param {number} [least]
 * @param {number} [most]
 * @returns {number}
 */
export function integer(value, name, least = 1, most = INT32_MAX) {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most) {
    throw shapeError(`${name} is ${shown(value)}; it must be an integer from ${least} to ${most}`, {
      value,
    });
  }
  return value;
}

/**
 * @param {unknown} value
 * @param {string} name
 * @returns {number}
 */
export function finite(value, name) {
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    throw shapeError(`${name} is ${shown(value)}; it must be a finite number`, {
      value,
    });
  }
  return value;
}

/**
 * What a value is, whichever realm (frame, node:vm context) its class is of.
 * @param {unknown} value
 */
export const tagOf = (value) => Object.prototype.toString.call(value).slice(8, -1);

/**
 * The bytes of an ArrayBuffer or of a view of one; null for anything else.
 * @param {unknown} value
 */
export function bytesIn(value) {
  if (tagOf(value) === 'ArrayBuffer') return new Uint8Array(/** @type {ArrayBuffer} */ (value));
  if (!ArrayBuffer.isView(value)) return null;
  const { buffer, byteOffset, byteLength } = value;
  return new Uint8Array(/** @type {ArrayBuffer} */ (buffer), byteOffset, byteLength);
}

/**
 * A live typed array of the class the runtime computes in, outside the runtime's own memory.
 * @param {unknown} value
 * @param {string} name
 * @param {Wasm} wasm
 * @returns {RealArray} it, as what users have
 */
function realArray(value, name, wasm) {
  if (typedArrayName.call(value) !== wasm.realName) {
    throw new GatedMLPError(
      'ERR_DTYPE',
      `${name} is ${classOf(value)}; it must be a ${wasm.realName}`,
    );
  }
  const array = /** @type {RealArray} */ (value);
  const isOwn = wasm.isExposed && array.buffer === wasm.exports.memory.buffer;
  if (isOwn || (array.length === 0 && isDetached(array.buffer))) {
    throw shapeError(
      isOwn
        ? `${name} is a view of the runtime's memory, which moves as it grows; pass a copy`
        : `${name}: its buffer is detached (transferred elsewhere), so it has no values`,
    );
  }
  return array;
}

/**
 * As realArray, and its length is a multiple of `width`. Returns the number of rows.
 * @param {unknown} value
 * @param {string} name
 * @param {Wasm} wasm
 * @param {number} width
 * @param {string} widthName
 */
export function rowsOf(value, name, wasm, width, widthName) {
  const { length } = realArray(value, name, wasm);
  if (length % width !== 0) {
    throw shapeError(
      `${name} has ${length} elements, which is no multiple of ${widthName} = ${width}; its shape is [..., ${widthName}]`,
      { length },
    );
  }
  return integer(length / width, `the number of rows of ${name}`, 0);
}

/**
 * As realArray, with exactly `length` elements.
 * @param {unknown} value
 * @param {string} name
 * @param {Wasm} wasm
 * @param {number} length
 */
export function realsOfLength(value, name, wasm, length) {
  const array = realArray(value, name, wasm);
  if (array.length !== length) {
    throw shapeError(`${name} has ${array.length} elements; it must have ${length}`, {
      length: array.length,
    });
  }
  return array;
}

/**
 * Where a result goes: into the caller's array, or into a new one.
 * @param {RealInput | undefined} out
 * @param {Wasm} wasm
 * @param {number} length
 */
export const outputOf = (out, wasm, length) =>
  out ? realsOfLength(out, 'out', wasm, length) : newArray(wasm.Real, length);

/**
 * Zeros, or a copy, which is not cleared first. Throws ERR_OUT_OF_MEMORY where the engine has no room for them.
 * @template T
 * @template {number | RealArray} F
 * @param {{ new (from: F): T, BYTES_PER_ELEMENT: number }} Class
 * @param {F} from their number, or what to copy
 * @param {string} [what] for the message
 */
export function newArray(Class, from, what = 'the result') {
  try {
    return new Class(from);
  } catch (cause) {
    const bytes = (typeof from === 'number' ? from : from.length) * Class.BYTES_PER_ELEMENT;
    const message = `${what}: an array of ${bytes} bytes could not be had`;
    throw new GatedMLPError('ERR_OUT_OF_MEMORY', message, { cause, bytes });
  }
}

/** @param {ArrayBufferLike} buffer */
function isDetached(buffer) {
  try {
    new Uint8Array(buffer);
    return false;
  } catch {
    return true;
  }
}
