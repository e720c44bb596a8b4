// A model of SmolLM2-135M's shape with random weights, as llama.cpp wants it: how long it takes does not depend on what the
// weights are. What llama.cpp would make of such a checkpoint: blocks of Q4_1, the embedding, which is also the head, in
// Q8_0. The vocabulary is as large, but made up. Written for wllama.js; reference.js computes from the same bytes.

import { closeSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { byteLength, ggufHead, paddingAfter, TENSOR_TYPES } from '../formats/gguf.js';

/** @typedef {import('../formats/gguf.js').TensorInfo} TensorInfo */
/** @typedef {typeof SMOLLM2_135M} Model */

export const SMOLLM2_135M = {
  ...{ d: 576, dFf: 1536, layers: 30, heads: 9, kvHeads: 3, vocabulary: 49152 },
  ...{ context: 8192, ropeBase: 100_000, epsilon: 1e-5 },
};

/** ggml's kinds of tokens. */
const KIND = { normal: 1, unknown: 2, control: 3 };
/** The first tokens; the others are letters. */
const SPECIAL_TOKENS = ['<unk>', '<s>', '</s>'];

/** Every tensor, matrices as [outputs, inputs]. @param {Model} model @returns {TensorInfo[]} */
export function tensorsOf({ d, dFf, layers, heads, kvHeads, vocabulary }) {
  const kv = (d / heads) * kvHeads;
  /** @param {string} name @param {number[]} shape @param {TensorInfo['type']} type */
  const tensor = (name, shape, type) => ({ name: `${name}.weight`, shape, type });
  const layer = (/** @type {number} */ n) => [
    tensor(`blk.${n}.attn_norm`, [d], 'F32'),
    tensor(`blk.${n}.attn_q`, [d, d], 'Q4_1'),
    tensor(`blk.${n}.attn_k`, [kv, d], 'Q4_1'),
    tensor(`blk.${n}.attn_v`, [kv, d], 'Q4_1'),
    tensor(`blk.${n}.attn_output`, [d, d], 'Q4_1'),
    tensor(`blk.${n}.ffn_norm`, [d], 'F32'),
    tensor(`blk.${n}.ffn_gate`, [dFf, d], 'Q4_1'),
    tensor(`blk.${n}.ffn_up`, [dFf, d], 'Q4_1'),
    tensor(`blk.${n}.ffn_down`, [d, dFf], 'Q4_1'),
  ];
  return [
    tensor('token_embd', [vocabulary, d], 'Q8_0'),
    ...Array.from({ length: layers }, (_, n) => layer(n)).flat(),
    tensor('output_norm', [d], 'F32'),
  ];
}

/** Parts of the weights that a token meets. @param {Model} model */
export function weightCounts(model) {
  const count = (/** @type {RegExp} */ names) =>
    tensorsOf(model)
      .filter(({ name }) => names.test(name))
      .reduce((sum, { shape: [rows, columns = 1] }) => sum + rows * columns, 0);
  return {
    mlp: count(/ffn_(gate|up|down)/),
    attention: count(/attn_(q|k|v|output)/),
    head: count(/token_embd/),
  };
}

/** Writes the model, at once or not at all. @param {string} path @param {Model} model */
export function writeModel(path, model) {
  mkdirSync(dirname(path), { recursive: true });
  const tensors = tensorsOf(model);
  const file = openSync(`${path}.part`, 'w');
  writeSync(file, ggufHead(metadata(model), tensors));
  for (const tensor of tensors) {
    writeSync(file, tensorBytes(tensor));
    writeSync(file, paddingAfter(byteLength(tensor)));
  }
  closeSync(file);
  renameSync(`${path}.part`, path);
}

/** @param {Model} model @returns {import('../formats/gguf.js').Entry[]} */
function metadata({ d, dFf, layers, heads, kvHeads, vocabulary, context, ropeBase, epsilon }) {
  const ids = Array.from({ length: vocabulary }, (_, id) => id);
  const kinds = [KIND.unknown, KIND.control, KIND.control];
  return [
    ['general.architecture', 'string', 'llama'],
    ['general.quantization_version', 'uint32', 2],
    ['llama.vocab_size', 'uint32', vocabulary],
    ['llama.context_length', 'uint32', context],
    ['llama.embedding_length', 'uint32', d],
    ['llama.block_count', 'uint32', layers],
    ['llama.feed_forward_length', 'uint32', dFf],
    ['llama.attention.head_count', 'uint32', heads],
    ['llama.attention.head_count_kv', 'uint32', kvHeads],
    ['llama.attention.layer_norm_rms_epsilon', 'float32', epsilon],
    ['llama.rope.dimension_count', 'uint32', d / heads],
    ['llama.rope.freq_base', 'float32', ropeBase],
    ['tokenizer.ggml.model', 'string', 'llama'],
    ['tokenizer.ggml.tokens', 'string', ids.map((id) => SPECIAL_TOKENS[id] ?? letter(id))],
    ['tokenizer.ggml.scores', 'float32', ids.map((id) => -id)],
    ['tokenizer.ggml.token_type', 'int32', ids.map((id) => kinds[id] ?? KIND.normal)],
    ['tokenizer.ggml.unknown_token_id', 'uint32', 0],
    ['tokenizer.ggml.bos_token_id', 'uint32', 1],
    ['tokenizer.ggml.eos_token_id', 'uint32', 2],
    ['tokenizer.ggml.add_bos_token', 'bool', false],
    ['tokenizer.ggml.add_space_prefix', 'bool', false],
  ];
}

/** A token's text: one character, so that a text is exactly these tokens. @param {number} id of no byte and nothing special */
export const letter = (id) => String.fromCodePoint(0x20000 + id);

/**
 * Random bytes of a tensor, the same each time. Codes are uniform; scales are such that inputs of unit variance have outputs
 * of about that, and weights are zero on average; norms are between 0.5 and 1.5.
 * @param {TensorInfo} tensor
 */
export function tensorBytes(tensor) {
  const bytes = new Uint8Array(byteLength(tensor));
  const next = xorshift(hash(tensor.name));
  const uniform = () => 0.5 + next() / 2 ** 32;
  if (tensor.type === 'F32') {
    new Float32Array(bytes.buffer).forEach((_, i, values) => {
      values[i] = uniform();
    });
    return bytes;
  }
  const words = new Uint16Array(bytes.buffer);
  for (let i = 0; i < words.length; i++) words[i] = next() >>> 16;
  const codes = tensor.type === 'Q4_1' ? 16 : 256;
  const scale = 1 / (Math.sqrt((codes ** 2 - 1) / 12) * Math.sqrt(tensor.shape[1]));
  const { bytes: blockBytes } = TENSOR_TYPES[tensor.type];
  for (let i = 0; i < words.length; i += blockBytes / 2) {
    const one = scale * uniform();
    words[i] = float16Bits(one);
    if (tensor.type === 'Q4_1') words[i + 1] = float16Bits((-one * (codes - 1)) / 2);
  }
  return bytes;
}

/** The weights that a tensor's bytes stand for. @param {TensorInfo} tensor */
export function tensorValues(tensor) {
  const bytes = tensorBytes(tensor);
  if (tensor.type === 'F32') return new Float32Array(bytes.buffer);
  const { block, bytes: blockBytes } = TENSOR_TYPES[tensor.type];
  const view = new DataView(bytes.buffer);
  const values = new Float32Array((bytes.length / blockBytes) * block);
  for (let at = 0, out = 0; at < bytes.length; at += blockBytes, out += block) {
    const scale = float16(view.getUint16(at, true));
    if (tensor.type === 'Q8_0') {
      for (let i = 0; i < block; i++) values[out + i] = scale * view.getInt8(at + 2 + i);
      continue;
    }
    const minimum = float16(view.getUint16(at + 2, true));
    for (let i = 0; i < block / 2; i++) {
      const pair = bytes[at + 4 + i];
      values[out + i] = scale * (pair & 15) + minimum;
      values[out + block / 2 + i] = scale * (pair >> 4) + minimum;
    }
  }
  return values;
}

/** The nearest float16, where that is a normal one. @param {number} x */
function float16Bits(x) {
  const exponent = Math.floor(Math.log2(Math.abs(x)));
  const fraction = Math.round((Math.abs(x) / 2 ** exponent - 1) * 1024);
  return (x < 0 ? 0x8000 : 0) | (((exponent + 15) << 10) + fraction);
}

/** A normal float16. @param {number} bits */
function float16(bits) {
  const magnitude = (1 + (bits & 1023) / 1024) * 2 ** (((bits >> 10) & 31) - 15);
  return bits & 0x8000 ? -magnitude : magnitude;
}

/** @param {string} text */
function hash(text) {
  let sum = 2166136261;
  for (const letter of text) sum = Math.imul(sum ^ letter.charCodeAt(0), 16777619);
  return sum >>> 0 || 1;
}

/** Uniform 32-bit numbers. @param {number} state not 0 */
function xorshift(state) {
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}
