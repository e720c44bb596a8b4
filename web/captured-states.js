// Hidden states that the reader captured from a model with capture_hidden.py: a safetensors file with x [T, d], where known
// the MLP's own output y [T, d], and in its metadata the tokens. Read in the worker.

import { openCheckpoint } from '../src/binding/index.js';

/** @typedef {{ x: Float32Array, y: Float32Array | null, d: number, tokens: string[] }} CapturedStates */
/** What the page is told; `states` names them. @typedef {{ states: number, tokens: string[], d: number, hasOutput: boolean, layer: number | null }} StatesSummary */

/** More cells than this make no picture, and much memory: later tokens are left out. */
const MAX_CELLS = 4_000_000;

/** @param {string} message */
const refused = (message) => Object.assign(new Error(message), { code: 'ERR_STATES' });

/**
 * @param {Blob} file
 * @param {import('../src/binding/index.js').Runtime} runtime
 * @returns {Promise<{ states: CapturedStates, layer: number | null }>}
 */
export async function readCapturedStates(file, runtime) {
  const checkpoint = await openCheckpoint(file, { runtime });
  const { tensors, metadata } = checkpoint;
  const shape = tensors.get('x')?.shape;
  if (shape === undefined) {
    const names = [...tensors.keys()].slice(0, 3).join(', ');
    throw refused(`it has no tensor called x (it has ${names})`);
  }
  if (shape.length !== 2 || shape[0] < 1) {
    throw refused(`x has the shape [${shape}]; it must be [tokens, channels]`);
  }
  const [count, d] = shape;
  /** @param {string} name */
  const floats = async (name) => {
    const { dtype, shape: own, data } = await checkpoint.read(name);
    if (dtype !== 'F32') throw refused(`${name} is ${dtype}; it must be F32`);
    if (String(own) !== String(shape)) throw refused(`${name} has another shape than x`);
    return new Float32Array(data.slice().buffer);
  };
  const x = await floats('x');
  if (!x.every(Number.isFinite)) throw refused('x has values that are not finite');
  const y = tensors.has('y') ? await floats('y') : null;
  const tokens = tokensIn(metadata.tokens, count);
  const layer = /^\d+$/.test(metadata.layer ?? '') ? Number(metadata.layer) : null;
  return { states: { x, y, d, tokens }, layer };
}

/**
 * What goes into a layer.
 * @param {CapturedStates} states
 * @param {{ d: number, dFf: number }} layer
 */
export function inputOf({ x, d: width }, { d, dFf }) {
  if (width !== d) throw refused(`x has ${width} channels, and this layer takes ${d}`);
  return x.subarray(0, Math.max(1, Math.floor(MAX_CELLS / dFf)) * d);
}

/**
 * @param {string | undefined} json
 * @param {number} count
 */
function tokensIn(json, count) {
  if (json === undefined) return Array.from({ length: count }, (_, i) => String(i));
  /** @type {unknown} */
  let tokens;
  try {
    tokens = JSON.parse(json);
  } catch {
    throw refused('the tokens in its metadata are not JSON');
  }
  const list = Array.isArray(tokens) ? tokens : [];
  if (list.length !== count || !list.every((token) => typeof token === 'string')) {
    throw refused(`its metadata must have ${count} tokens, a JSON list of strings`);
  }
  return list;
}
