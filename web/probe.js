// Synthetic hidden states, for weights that come without any: unit-RMS random vectors, the same on every visit.
// Whatever is computed from them says how gates behave on noise, not on text, and the page labels it so.

import { PCG32 } from '../src/binding/index.js';

export const PROBE_TOKENS = 8;
const SEED = 1;
/** The sum of twelve uniform numbers less six has variance 1 and is close to normal. */
const UNIFORMS = 12;

/**
 * @param {number} d
 * @returns {Float32Array} [PROBE_TOKENS, d]
 */
export function probeStates(d) {
  const rng = new PCG32(SEED);
  const x = new Float32Array(PROBE_TOKENS * d);
  for (let t = 0; t < PROBE_TOKENS; t++) {
    const row = x.subarray(t * d, (t + 1) * d);
    let squares = 0;
    for (let i = 0; i < d; i++) {
      let sum = -UNIFORMS / 2;
      for (let k = 0; k < UNIFORMS; k++) sum += rng.nextFloat();
      row[i] = sum;
      squares += sum * sum;
    }
    const scale = 1 / Math.sqrt(squares / d);
    for (let i = 0; i < d; i++) row[i] *= scale;
  }
  return x;
}
