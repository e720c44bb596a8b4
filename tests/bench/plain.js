// The gated MLP as one would first write it in JavaScript: what the bench compares with, and its float64 reference.

/**
 * out = down(silu(gate(x)) * up(x)), computed in float64 and stored in the class of `out`.
 * @param {Float32Array | Float64Array} out [tokens, d]
 * @param {Float32Array} x [tokens, d]
 * @param {Record<string, ArrayLike<number>>} weights by Hugging Face's names
 * @param {number} d
 * @param {number} dFf
 */
export function plainForward(out, x, weights, d, dFf) {
  const { 'gate_proj.weight': gateProj, 'up_proj.weight': upProj } = weights;
  const { 'down_proj.weight': downProj } = weights;
  const hidden = out instanceof Float64Array ? new Float64Array(dFf) : new Float32Array(dFf);
  for (let row = 0; row < x.length; row += d) {
    for (let j = 0; j < dFf; j++) {
      let gate = 0;
      let up = 0;
      for (let k = 0; k < d; k++) {
        gate += gateProj[j * d + k] * x[row + k];
        up += upProj[j * d + k] * x[row + k];
      }
      hidden[j] = (gate / (1 + Math.exp(-gate))) * up;
    }
    for (let i = 0; i < d; i++) {
      let sum = 0;
      for (let j = 0; j < dFf; j++) sum += downProj[i * dFf + j] * hidden[j];
      out[row + i] = sum;
    }
  }
}
