// The same model in float64, from the definition of the Llama architecture, for a few tokens: what wllama's answer is held
// against before it is timed. Loops over everything, from the weights that the file's bytes stand for.

import { tensorsOf, tensorValues } from './model.js';

/** @typedef {import('./model.js').Model} Model */

/**
 * By this much log-probabilities may be off, rms over the reference's standard deviation. llama.cpp rounds the inputs of every
 * product to 8 bits, a scale for 32 of them, which done here moves the answer of run.js by 0.028; a model of a layer
 * less is off by 0.18, one of another base of the rotations by 0.13.
 */
const MOST_DEVIATION = 0.04;

/**
 * Logarithms of the probabilities of what follows the tokens.
 * @param {Model} model
 * @param {number[]} tokens
 * @returns {Float64Array} [vocabulary]
 */
export function logProbabilities(model, tokens) {
  const { d, layers, epsilon } = model;
  const tensors = new Map(tensorsOf(model).map((tensor) => [tensor.name, tensor]));
  const weight = (/** @type {string} */ name) => {
    const tensor = tensors.get(`${name}.weight`);
    if (!tensor) throw new Error(`There is no tensor ${name}.`);
    return tensorValues(tensor);
  };
  const embedding = weight('token_embd');
  const stream = tokens.map((id) => Float64Array.from(embedding.subarray(id * d, (id + 1) * d)));
  for (let n = 0; n < layers; n++) {
    const named = (/** @type {string} */ name) => weight(`blk.${n}.${name}`);
    const normed = normAll(stream, named('attn_norm'), epsilon);
    addAll(stream, linear(attention(normed, named, model), named('attn_output')));
    addAll(stream, mlp(normAll(stream, named('ffn_norm'), epsilon), named));
  }
  const [last] = normAll(stream.slice(-1), weight('output_norm'), epsilon);
  const [logits] = linear([last], embedding);
  const largest = logits.reduce((most, x) => Math.max(most, x));
  const total = logits.reduce((sum, x) => sum + Math.exp(x - largest), 0);
  return logits.map((x) => x - largest - Math.log(total));
}

/**
 * Causal, with as many query heads to a head of keys and values as there are more of them.
 * @param {Float64Array[]} x normed, one row a token
 * @param {(name: string) => Float32Array} weight
 * @param {Model} model
 */
function attention(x, weight, { d, heads, kvHeads, ropeBase }) {
  const size = d / heads;
  const q = linear(x, weight('attn_q'));
  const k = linear(x, weight('attn_k'));
  const v = linear(x, weight('attn_v'));
  for (const rows of [q, k]) {
    for (const [position, row] of rows.entries()) rotate(row, size, position, ropeBase);
  }
  return q.map((query, t) => {
    const out = new Float64Array(d);
    for (let h = 0; h < heads; h++) {
      const from = Math.floor((h * kvHeads) / heads) * size;
      const scores = k.slice(0, t + 1).map((key) => {
        let sum = 0;
        for (let i = 0; i < size; i++) sum += query[h * size + i] * key[from + i];
        return Math.exp(sum / Math.sqrt(size));
      });
      const total = scores.reduce((sum, score) => sum + score);
      for (const [s, score] of scores.entries()) {
        for (let i = 0; i < size; i++) out[h * size + i] += (score / total) * v[s][from + i];
      }
    }
    return out;
  });
}

/** Turns pairs of neighbours, as llama.cpp stores the heads of this architecture. @param {Float64Array} row @param {number} size @param {number} position @param {number} base */
function rotate(row, size, position, base) {
  for (let i = 0; i < row.length; i += 2) {
    const angle = position * base ** (-(i % size) / size);
    const [a, b] = [row[i], row[i + 1]];
    row[i] = a * Math.cos(angle) - b * Math.sin(angle);
    row[i + 1] = a * Math.sin(angle) + b * Math.cos(angle);
  }
}

/** @param {Float64Array[]} x @param {(name: string) => Float32Array} weight */
function mlp(x, weight) {
  const gate = linear(x, weight('ffn_gate'));
  const up = linear(x, weight('ffn_up'));
  const hidden = gate.map((row, t) => row.map((z, j) => (z / (1 + Math.exp(-z))) * up[t][j]));
  return linear(hidden, weight('ffn_down'));
}

/** @param {Float64Array[]} x @param {Float32Array} weight [outputs, inputs] */
function linear(x, weight) {
  return x.map((row) => {
    const out = new Float64Array(weight.length / row.length);
    for (let j = 0, at = 0; j < out.length; j++) {
      let sum = 0;
      for (let i = 0; i < row.length; i++, at++) sum += weight[at] * row[i];
      out[j] = sum;
    }
    return out;
  });
}

/** @param {Float64Array[]} x @param {Float32Array} scale @param {number} epsilon */
function normAll(x, scale, epsilon) {
  return x.map((row) => {
    const meanSquare = row.reduce((sum, value) => sum + value * value, 0) / row.length;
    return row.map((value, i) => (value / Math.sqrt(meanSquare + epsilon)) * scale[i]);
  });
}

/** @param {Float64Array[]} x @param {Float64Array[]} more */
function addAll(x, more) {
  for (const [t, row] of x.entries()) for (let i = 0; i < row.length; i++) row[i] += more[t][i];
}

/**
 * How far an answer is from the reference's; too far is an error.
 * @param {{ id: number, logprob: number }[]} answer every token once
 * @param {Float64Array} reference
 */
export function checkedDeviation(answer, reference) {
  const mean = reference.reduce((sum, x) => sum + x, 0) / reference.length;
  const spread = reference.reduce((sum, x) => sum + (x - mean) ** 2, 0);
  const off = answer.reduce((sum, { id, logprob }) => sum + (logprob - reference[id]) ** 2, 0);
  const deviation = Math.sqrt(off / spread);
  const tokens = new Set(answer.map(({ id }) => id)).size;
  if (tokens === reference.length && deviation <= MOST_DEVIATION) return deviation;
  throw new Error(`Log-probabilities of ${tokens} tokens, ${deviation} off the reference.`);
}
