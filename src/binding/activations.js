// Hugging Face's spellings of the gates this package computes, and what each means here.
// The names on the right are those of enum activation in src/core/gated_mlp.h; transformers' ACT2FN is the source of
// the spellings on the left. A family whose config means something else than it says (Gemma 1) is families.js's matter.

import { GatedMLPError } from './errors.js';

/** @typedef {'silu' | 'gelu_tanh' | 'gelu' | 'relu' | 'relu2' | 'sigmoid' | 'quick_gelu' | 'none'} Activation */

/** @type {ReadonlyMap<string, Activation>} */
const SPELLINGS = new Map(
  Object.entries(
    /** @type {const} */ ({
      silu: 'silu',
      swish: 'silu',
      swiglu: 'silu',
      gelu_tanh: 'gelu_tanh',
      gelu_pytorch_tanh: 'gelu_tanh',
      gelu_new: 'gelu_tanh',
      gelu_fast: 'gelu_tanh',
      gelu_accurate: 'gelu_tanh',
      gelu_python_tanh: 'gelu_tanh',
      geglu: 'gelu_tanh',
      gelu: 'gelu',
      gelu_python: 'gelu',
      relu: 'relu',
      relu2: 'relu2',
      sigmoid: 'sigmoid',
      quick_gelu: 'quick_gelu',
      none: 'none',
      linear: 'none',
    }),
  ),
);

/**
 * The activation a spelling means. Throws ERR_ACTIVATION, with the list of what is known, for any other value.
 * @param {unknown} spelling
 * @param {string} [where] names the place it came from in the message
 * @returns {Activation}
 */
export function activationOf(spelling, where = 'act') {
  const name = typeof spelling === 'string' ? SPELLINGS.get(spelling) : undefined;
  if (name === undefined) {
    throw new GatedMLPError(
      'ERR_ACTIVATION',
      `${where}: ${JSON.stringify(spelling) ?? String(spelling)} is not a known activation. Known: ${[...SPELLINGS.keys()].join(', ')}`,
      { value: spelling },
    );
  }
  return name;
}
