// What some families compute besides the plain formula: a limit on gate and up, a shift of up, a sparse gate, a norm before
// down_proj. gated_mlp.h has the formulas. families.js says which family has which; here a variant is checked and put as the
// core takes it.

import { finite } from './arrays.js';
import { shapeError } from './errors.js';

/**
 * @typedef {object} Variant
 * @property {number} [limit] act sees at most `limit`, and up is clamped to -limit ... limit. Default 0: no limit
 * @property {number} [upShift] added to up, after that. Default 0
 * @property {number} [sparsity] from 0 to below 1: act sees how far a gate is above the quantile that this share of normally
 *   distributed gates of its token lie below, and 0 for those below. Default 0: all gates as they are
 * @property {number} [normEps] where given, down_proj sees hidden through an RMSNorm over the token's units with this eps; its
 *   weight is one more parameter, 'ffn_sub_norm.weight'
 */

/**
 * A variant checked, as arguments of the core's mlp_vary behind the MLP.
 * @param {Variant} variant
 */
export function checkedVariant({ limit = 0, upShift = 0, sparsity = 0, normEps = 0 }) {
  finite(upShift, 'variant.upShift');
  const all = [limit, sparsity, normEps];
  if (!(Math.min(...all) >= 0 && Math.max(...all) < Infinity && sparsity < 1)) {
    throw shapeError(
      `variant: limit, sparsity, normEps are ${all}; they must be finite and at least 0, sparsity below 1`,
    );
  }
  return [limit, upShift, sparsity > 0 ? 1 : 0, normalQuantile(sparsity), normEps];
}

/**
 * z with Phi(z) = p, rounded as transformers rounds it on its way through float32's erfinv.
 * @param {number} p
 */
function normalQuantile(p) {
  const wanted = Math.fround(p) - 0.5;
  let z = 0;
  // Newton from 0 goes up to z and never past it; Phi(z) - 1/2 = density(z) (z + z^3 / 3 + z^5 / (3 5) + ...).
  for (let step = 1; p > 0 && Math.abs(step) > 1e-14; z += step) {
    let term = z;
    let sum = z;
    for (let k = 3; Math.abs(term) > 1e-17; k += 2) sum += term *= (z * z) / k;
    step = wanted * Math.sqrt(2 * Math.PI) * Math.exp((z * z) / 2) - sum;
  }
  return Math.fround(Math.fround(z / Math.SQRT2) * Math.fround(Math.SQRT2));
}
