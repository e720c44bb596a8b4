// The parameters of a gated MLP as a state dict: their names, shapes and order, checking one that comes in, and writing
// one out as a safetensors file. Knows nothing of wasm memory; gated-mlp.js does the copying.

import { bytesIn, newArray, tagOf } from './arrays.js';
import { shapeError } from './errors.js';
import { elements } from './layout.js';
import { LINEARS } from './weights.js';

/** @typedef {{ dtype?: string, shape?: ArrayLike<number>, data: Uint8Array | Float32Array | Float64Array }} StateEntry */

/**
 * Names and what they have, of a Map or an object.
 * @param {Map<string, StateEntry> | Record<string, StateEntry>} state
 * @returns {Iterable<[string, StateEntry]>}
 */
export const entriesOf = (state) =>
  tagOf(state) === 'Map' ? /** @type {Map<string, StateEntry>} */ (state) : Object.entries(state);

/**
 * Names and shapes in Hugging Face's registration order.
 * @param {number} d
 * @param {number} dFf
 * @param {boolean} bias
 * @param {import('./variant.js').Variant | null} variant
 * @returns {Map<string, number[]>}
 */
export function parameterShapes(d, dFf, bias, variant) {
  const shapes = new Map();
  for (const linear of LINEARS.slice(0, 3)) {
    const [out, inner] = linear === 'down_proj' ? [d, dFf] : [dFf, d];
    shapes.set(`${linear}.weight`, [out, inner]);
    if (bias) shapes.set(`${linear}.bias`, [out]);
  }
  if (variant?.normEps !== undefined) shapes.set('ffn_sub_norm.weight', [dFf]);
  return shapes;
}

/** @param {number[]} shape */
const show = (shape) => `[${shape.join(', ')}]`;

/** @param {StateEntry} entry */
function dtypeOf(entry) {
  if (entry.dtype !== undefined) return entry.dtype;
  const tag = tagOf(entry.data);
  return tag === 'Float32Array' ? 'F32' : tag === 'Float64Array' ? 'F64' : undefined;
}

/**
 * Turns a state dict into parts to pack and their bytes; the fused gate_up_proj of Phi and GLM stands for gate and up,
 * gate first. Everything that is wrong with it is listed in one error.
 * @param {Iterable<[string, StateEntry]>} entries
 * @param {Map<string, number[]>} shapes what the MLP has
 * @param {boolean} strict also refuse missing and unexpected names
 * @param {Map<string, { bits: number, loadable: boolean }>} dtypes
 */
export function readStateDict(entries, shapes, strict, dtypes) {
  /** @type {import('./weights.js').Part[]} */
  const parts = [];
  /** @type {Map<string, Uint8Array>} */
  const bytes = new Map();
  const missing = new Set(shapes.keys());
  /** @type {string[]} */
  const unexpected = [];
  /** @type {string[]} */
  const wrong = [];
  for (const [name, entry] of entries) {
    const targets = targetsOf(name, shapes);
    if (!targets) {
      unexpected.push(name);
      continue;
    }
    const twice = targets.find(({ parameter }) => !missing.has(parameter));
    for (const { parameter } of targets) missing.delete(parameter);
    const complaint = twice
      ? `${name} gives ${twice.parameter} a second time`
      : complaintOf(name, entry, targets, shapes, dtypes);
    if (complaint) {
      wrong.push(complaint);
      continue;
    }
    bytes.set(name, /** @type {Uint8Array} */ (bytesIn(entry.data)));
    for (const { parameter, base } of targets) {
      const [rows, cols = 1] = /** @type {number[]} */ (shapes.get(parameter));
      const dtype = /** @type {string} */ (dtypeOf(entry));
      parts.push({
        parameter,
        tensor: name,
        dtype,
        rows,
        cols,
        base,
        rowStride: cols,
        colStride: 1,
      });
    }
  }
  const faults = [...wrong];
  if (strict) {
    faults.unshift(
      ...[...missing].map((name) => `${name} is missing`),
      ...unexpected.map((name) => `${name} is unexpected`),
    );
  }
  if (faults.length > 0) {
    throw shapeError(
      `loadStateDict: ${faults.join('; ')}. Expected are ${[...shapes].map(([n, s]) => `${n} ${show(s)}`).join(', ')}`,
      {
        missing: [...missing],
        unexpected,
        wrong,
      },
    );
  }
  return { parts, bytes, missing: [...missing], unexpected };
}

/**
 * The parameters a name stands for, and at which element of its tensor each begins.
 * @param {string} name
 * @param {Map<string, number[]>} shapes
 */
function targetsOf(name, shapes) {
  if (shapes.has(name)) return [{ parameter: name, base: 0 }];
  const kind = name.startsWith('gate_up_proj.') ? name.slice('gate_up_proj.'.length) : '';
  const half = shapes.get(`gate_proj.${kind}`);
  return half
    ? [
        { parameter: `gate_proj.${kind}`, base: 0 },
        { parameter: `up_proj.${kind}`, base: elements(half) },
      ]
    : null;
}

/**
 * What is wrong with an entry, or null.
 * @param {string} name
 * @param {StateEntry} entry
 * @param {{ parameter: string }[]} targets
 * @param {Map<string, number[]>} shapes
 * @param {Map<string, { bits: number, loadable: boolean }>} dtypes
 */
function complaintOf(name, entry, targets, shapes, dtypes) {
  const one = /** @type {number[]} */ (shapes.get(targets[0].parameter));
  const expected = [one[0] * targets.length, ...one.slice(1)];
  if (!ArrayBuffer.isView(entry?.data)) return `${name} has no data (a typed array)`;
  const named = dtypeOf(entry);
  const dtype = named === undefined ? undefined : dtypes.get(named);
  if (!dtype?.loadable) return `${name} has dtype ${named}, which weights cannot be made from`;
  const shape = Array.from(entry.shape ?? expected, Number);
  if (show(shape) !== show(expected))
    return `${name} has shape ${show(shape)}, not ${show(expected)}`;
  const bytes = (elements(expected) * dtype.bits) / 8;
  return entry.data.byteLength === bytes
    ? null
    : `${name} has ${entry.data.byteLength} bytes of data, not ${bytes}`;
}

/**
 * A safetensors file of these tensors, laid out in this order, the data starting at a multiple of 8.
 * @param {Map<string, { dtype: string, shape: number[], data: Uint8Array }>} tensors
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function writeSafetensors(tensors) {
  /** @type {Record<string, unknown>} */
  const header = {};
  let at = 0;
  for (const [name, { dtype, shape, data }] of tensors) {
    header[name] = { dtype, shape, data_offsets: [at, at + data.length] };
    at += data.length;
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const headerBytes = Math.ceil(text.length / 8) * 8;
  const file = newArray(Uint8Array, 8 + headerBytes + at, 'the file');
  file.fill(0x20, 8, 8 + headerBytes);
  new DataView(file.buffer).setBigUint64(0, BigInt(headerBytes), true);
  file.set(text, 8);
  at = 8 + headerBytes;
  for (const { data } of tensors.values()) {
    file.set(data, at);
    at += data.length;
  }
  return file;
}
