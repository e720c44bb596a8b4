// The builds of the module that the package has, and which of them an engine gets. runtime.js asks.

import { GatedMLPError } from './errors.js';
import { compile } from './load.js';

/** @typedef {'simd128' | 'relaxed'} Variant */

/** @type {readonly Variant[]} */
export const VARIANTS = ['simd128', 'relaxed'];

/** A module of one function that uses f32x4.relaxed_madd: what an engine without relaxed SIMD refuses. */
const RELAXED_PROBE = Uint8Array.of(
  ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x01, 0x60, 0x03, 0x7b, 0x7b],
  ...[0x7b, 0x01, 0x7b, 0x03, 0x02, 0x01, 0x00, 0x0a, 0x0d, 0x01, 0x0b, 0x00, 0x20, 0x00, 0x20],
  ...[0x01, 0x20, 0x02, 0xfd, 0x85, 0x02, 0x0b],
);

/** Where the package's own modules are, a literal each so that bundlers find them. */
const PLAIN = {
  simd128: () => new URL('./gated-mlp.wasm', import.meta.url),
  relaxed: () => new URL('./gated-mlp-relaxed.wasm', import.meta.url),
};
/** The same for shared memory. */
const SHARED = {
  simd128: () => new URL('./gated-mlp-threads.wasm', import.meta.url),
  relaxed: () => new URL('./gated-mlp-relaxed-threads.wasm', import.meta.url),
};

/**
 * The package's own module for a variant. 'auto' does without the relaxed one where the engine or the file is missing.
 * @param {'auto' | Variant} variant
 * @param {boolean} shared for shared memory
 * @param {AbortSignal} [signal]
 * @returns {Promise<import('./load.js').WasmSource>}
 */
export async function moduleOf(variant, shared, signal) {
  const places = shared ? SHARED : PLAIN;
  if (variant === 'simd128') return places.simd128();
  const validates = WebAssembly.validate(RELAXED_PROBE);
  if (variant === 'auto' && !validates) return places.simd128();
  if (!validates) {
    throw new GatedMLPError(
      'ERR_UNSUPPORTED',
      "variant is 'relaxed', but this engine has no relaxed SIMD; 'auto' takes what it has",
      { variant },
    );
  }
  try {
    return await compile(places.relaxed(), signal);
  } catch (error) {
    if (variant === 'auto' && error instanceof GatedMLPError) return places.simd128();
    throw error;
  }
}
