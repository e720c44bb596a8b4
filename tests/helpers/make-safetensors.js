// Writes safetensors files for tests, good ones: what a checkpoint of a few tensors looks like. Hostile files come from
// tests/corpus, whose verdicts are the reference parser's.

/** @typedef {{ dtype: string, shape: number[], data: Uint8Array }} FileTensor */

/**
 * @param {Record<string, FileTensor>} tensors laid out in this order
 * @param {{ metadata?: Record<string, string>, pad?: number }} [options] pad: white space to add to the header
 * @returns {Buffer<ArrayBuffer>}
 */
export function makeSafetensors(tensors, { metadata, pad = 0 } = {}) {
  /** @type {Record<string, unknown>} */
  const header = metadata ? { __metadata__: metadata } : {};
  let at = 0;
  for (const [name, { dtype, shape, data }] of Object.entries(tensors)) {
    header[name] = { dtype, shape, data_offsets: [at, at + data.length] };
    at += data.length;
  }
  const text = Buffer.from(JSON.stringify(header) + ' '.repeat(pad));
  const prefix = Buffer.alloc(8);
  prefix.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([prefix, text, ...Object.values(tensors).map(({ data }) => data)]);
}

/**
 * Bytes that differ from place to place: a swap or a shift of any kind shows. 251 is prime.
 * @param {number} length
 * @param {number} [seed]
 */
export function pattern(length, seed = 0) {
  return Uint8Array.from({ length }, (_, i) => (i * 7 + (i >> 8) * 13 + seed * 31) % 251);
}

/**
 * The tensors of a Llama MLP in float32, each element a multiple of 1/64 in [-1, 1).
 * @param {string} prefix
 * @param {number} d
 * @param {number} dFf
 * @param {number} [seed]
 * @returns {Record<string, FileTensor>}
 */
export function llamaTensors(prefix, d, dFf, seed = 1) {
  let state = seed;
  const next = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return ((state >>> 16) % 128) / 64 - 1;
  };
  const matrix = (/** @type {number[]} */ shape) => ({
    dtype: 'F32',
    shape,
    data: new Uint8Array(Float32Array.from({ length: shape[0] * shape[1] }, next).buffer),
  });
  return {
    [`${prefix}.down_proj.weight`]: matrix([d, dFf]),
    [`${prefix}.gate_proj.weight`]: matrix([dFf, d]),
    [`${prefix}.up_proj.weight`]: matrix([dFf, d]),
  };
}
