// How weights may be held in memory, and what safetensors files call the same types.
// Which of them a module can hold depends on what it computes in: the float64 build is a test artefact.

import { GatedMLPError } from './errors.js';

/** @typedef {import('./wasm.js').Wasm} Wasm */
/** @typedef {'float32' | 'float64' | 'float16' | 'bfloat16' | 'q8_0' | 'q4_1'} HeldDtype */

/** The core's names. @type {Readonly<Record<HeldDtype, string>>} */
const HELD = {
  float32: 'F32',
  float64: 'F64',
  float16: 'F16',
  bfloat16: 'BF16',
  q8_0: 'Q8_0',
  q4_1: 'Q4_1',
};

/** What a file calls weights held so; it has no block-quantised types. @param {HeldDtype} dtype */
export const storedDtype = (dtype) => (dtype.startsWith('q') ? 'F32' : HELD[dtype]);

/** What a module computes in. @param {Wasm} wasm @returns {HeldDtype} */
export const nativeDtype = (wasm) => (wasm.realDtype === 'F64' ? 'float64' : 'float32');

/**
 * The core's code for a dtype; ERR_DTYPE where weights cannot be held so.
 * @param {Wasm} wasm
 * @param {HeldDtype} dtype
 * @returns {number}
 */
export function heldCode(wasm, dtype) {
  const held = Object.hasOwn(HELD, dtype) ? HELD[dtype] : undefined;
  if (held === undefined || (held === 'F64' && wasm.realDtype !== 'F64')) {
    const why = held ? ': this runtime computes in float32' : '';
    throw new GatedMLPError(
      'ERR_DTYPE',
      `dtype is '${dtype}'${why}. Weights can be held as ${Object.keys(HELD)
        .filter((h) => h !== 'float64' || wasm.realDtype === 'F64')
        .join(', ')}`,
      { dtype },
    );
  }
  return /** @type {{ code: number }} */ (wasm.dtypes.get(held)).code;
}

/**
 * How to hold what is stored: as it is where that loses nothing, else as what the runtime computes in.
 * @param {import('./weights.js').Part[]} parts
 * @param {HeldDtype} native
 * @returns {HeldDtype}
 */
export function heldFor(parts, native) {
  const [only, other] = new Set(parts.map((p) => p.dtype));
  if (other) return native;
  return only === 'BF16' ? 'bfloat16' : only === 'F16' ? 'float16' : native;
}
