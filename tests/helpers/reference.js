// The gated MLP as its definition, in float64 and plain loops: the oracle where no stored values exist.
// tests/reference.test.js holds it to Hugging Face's float64 values. Shares nothing with src.

/** @typedef {Record<string, ArrayLike<number>>} Parameters by Hugging Face's names; biases may be missing */
/** @typedef {{ d: number, dFf: number, act: string, parameters: Parameters, normEps?: number }} ReferenceMLP normEps: of a norm before down_proj, where it has a weight */

/** @param {number} z */
const sigmoid = (z) => 1 / (1 + Math.exp(-z));
/** @param {number} z */
const tanhArgument = (z) => Math.sqrt(2 / Math.PI) * (z + 0.044715 * z ** 3);

/** @param {number} z */
const density = (z) => Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);

/** The normal distribution by its series 1/2 + density(z) (z + z^3 / 3 + z^5 / (3 5) + ...). @param {number} z */
function distribution(z) {
  if (!(Math.abs(z) < 9)) return z > 0 ? 1 : z * 0; // 0, or NaN of NaN
  let term = z;
  let sum = z;
  for (let k = 3; Math.abs(term) > 1e-17 * Math.abs(sum); k += 2) sum += term *= (z * z) / k;
  return 0.5 + density(z) * sum;
}

/** name -> [act(z), act'(z)] @type {Record<string, [(z: number) => number, (z: number) => number]>} */
export const ACTS = {
  silu: [
    (z) => z / (1 + Math.exp(-z)),
    (z) => sigmoid(z) + (z === 0 ? 0 : z * sigmoid(z) * sigmoid(-z)),
  ],
  gelu_tanh: [
    (z) => 0.5 * z * (1 + Math.tanh(tanhArgument(z))),
    (z) => {
      const t = Math.tanh(tanhArgument(z));
      const slope = Math.sqrt(2 / Math.PI) * (1 + 3 * 0.044715 * z * z);
      return 0.5 * (1 + t) + 0.5 * z * (1 - t * t) * slope;
    },
  ],
  gelu: [(z) => z * distribution(z), (z) => distribution(z) + z * density(z)],
  relu: [(z) => Math.max(z, 0), (z) => (z > 0 ? 1 : 0)],
  relu2: [(z) => Math.max(z, 0) ** 2, (z) => 2 * Math.max(z, 0)],
  sigmoid: [sigmoid, (z) => sigmoid(z) * sigmoid(-z)],
  quick_gelu: [
    (z) => z * sigmoid(1.702 * z),
    (z) => sigmoid(1.702 * z) + 1.702 * z * sigmoid(1.702 * z) * sigmoid(-1.702 * z),
  ],
  none: [(z) => z, () => 1],
};

/** What no gate and no derivative, with the error of its argument, passes; for referenceScales. @type {typeof ACTS} */
const BOUNDS = {
  'linear bound': [(z) => 1 + 1.2 * z, (z) => 1.2 + z],
  'square bound': [(z) => z * z, (z) => 2 * z],
};

/** @param {string} act */
const actOf = (act) => ACTS[act] ?? BOUNDS[act];

/**
 * x weight^T + bias, [tokens, out]
 * @param {ArrayLike<number>} x
 * @param {Parameters} parameters
 * @param {string} linear
 * @param {number} inner
 * @param {number} out
 */
function project(x, parameters, linear, inner, out) {
  const weight = parameters[`${linear}.weight`];
  const bias = parameters[`${linear}.bias`];
  const y = new Float64Array((x.length / inner) * out);
  for (let i = 0; i < y.length; i++) {
    const [token, row] = [Math.floor(i / out), i % out];
    let sum = bias ? bias[row] : 0;
    for (let k = 0; k < inner; k++) sum += x[token * inner + k] * weight[row * inner + k];
    y[i] = sum;
  }
  return y;
}

/**
 * @param {ReferenceMLP} mlp
 * @param {ArrayLike<number>} x [tokens, d]
 */
export function referenceForward(mlp, x) {
  const { d, dFf, act, parameters } = mlp;
  const gate = project(x, parameters, 'gate_proj', d, dFf);
  const up = project(x, parameters, 'up_proj', d, dFf);
  const activated = gate.map((g) => actOf(act)[0](g));
  const hidden = activated.map((a, i) => a * up[i]);
  const y = project(seenBy(mlp, hidden), parameters, 'down_proj', dFf, d);
  return { gate, act: activated, up, hidden, y };
}

/** What down_proj sees: hidden, or that after the norm. @param {ReferenceMLP} mlp @param {Float64Array} hidden */
function seenBy(mlp, hidden) {
  const weight = mlp.parameters['ffn_sub_norm.weight'];
  return weight ? normOf(mlp, hidden).map((n, i) => n * weight[i % mlp.dFf]) : hidden;
}

/** hidden over the root of its token's mean square. @param {ReferenceMLP} mlp @param {Float64Array} hidden */
function normOf(mlp, hidden) {
  const roots = rootsOf(mlp, hidden);
  return hidden.map((h, i) => h / roots[Math.floor(i / mlp.dFf)]);
}

/** Of each token. @param {ReferenceMLP} mlp @param {Float64Array} hidden */
function rootsOf({ dFf, normEps = 0 }, hidden) {
  return Float64Array.from({ length: hidden.length / dFf }, (_, token) => {
    const own = hidden.subarray(token * dFf, (token + 1) * dFf);
    return Math.sqrt(own.reduce((sum, h) => sum + h * h, 0) / dFf + normEps);
  });
}

/**
 * From the gradient of what down_proj sees, that of hidden and of the norm's weight.
 * @param {ReferenceMLP} mlp
 * @param {Float64Array} hidden
 * @param {Float64Array} dSeen
 */
function normBackward(mlp, hidden, dSeen) {
  const { dFf, parameters } = mlp;
  const weight = parameters['ffn_sub_norm.weight'];
  if (!weight) return { dHidden: dSeen };
  const roots = rootsOf(mlp, hidden);
  const normed = normOf(mlp, hidden);
  const dNormed = dSeen.map((v, i) => v * weight[i % dFf]);
  const dWeight = new Float64Array(dFf);
  dSeen.forEach((v, i) => {
    dWeight[i % dFf] += v * normed[i];
  });
  // A token's normed values have a mean square that hardly moves: what would move it is taken out.
  const along = roots.map((_, token) => {
    let sum = 0;
    for (let i = token * dFf; i < (token + 1) * dFf; i++) sum += dNormed[i] * normed[i];
    return sum / dFf;
  });
  const dHidden = dNormed.map((v, i) => {
    const token = Math.floor(i / dFf);
    return (v - along[token] * normed[i]) / roots[token];
  });
  return { dHidden, dWeight };
}

/**
 * Gradients of sum(y * gy), in the names and order of GatedMLP.backward.
 * @param {ReferenceMLP} mlp
 * @param {ArrayLike<number>} x
 * @param {ArrayLike<number>} gy
 * @returns {Record<string, Float64Array>}
 */
export function referenceBackward(mlp, x, gy) {
  const { d, dFf, act, parameters } = mlp;
  const { gate, up, hidden } = referenceForward(mlp, x);
  const seen = seenBy(mlp, hidden);
  const dSeen = inputGradient(gy, parameters['down_proj.weight'], dFf, d);
  const { dHidden, dWeight } = normBackward(mlp, hidden, dSeen);
  // hidden = act(gate) * up, so each of the two gets the upstream gradient times the other, gate also act'.
  const dGate = dHidden.map((v, i) => v * up[i] * actOf(act)[1](gate[i]));
  const dUp = dHidden.map((v, i) => v * actOf(act)[0](gate[i]));
  const viaGate = inputGradient(dGate, parameters['gate_proj.weight'], d, dFf);
  const viaUp = inputGradient(dUp, parameters['up_proj.weight'], d, dFf);
  return {
    x: viaGate.map((v, i) => v + viaUp[i]),
    ...parameterGradients('gate_proj', dGate, x, d, dFf, parameters),
    ...parameterGradients('up_proj', dUp, x, d, dFf, parameters),
    ...parameterGradients('down_proj', gy, seen, dFf, d, parameters),
    ...(dWeight && { 'ffn_sub_norm.weight': dWeight }),
  };
}

/**
 * For everything computed, by its name in a trace or among the gradients (y for the output), the largest sum of the magnitudes of all that is added up in it: the scale on which
 * rounding errors are small also where the sums themselves cancel.
 * @param {ReferenceMLP} mlp
 * @param {ArrayLike<number>} x
 * @param {ArrayLike<number>} gy
 * @returns {Record<string, number>}
 */
export function referenceScales(mlp, x, gy) {
  const magnitudes = (/** @type {ArrayLike<number>} */ a) => Float64Array.from(a, Math.abs);
  const parameters = Object.fromEntries(
    Object.entries(mlp.parameters).map(([name, data]) => [name, magnitudes(data)]),
  );
  const bound = { ...mlp, act: mlp.act === 'relu2' ? 'square bound' : 'linear bound', parameters };
  const all = {
    ...referenceForward(bound, magnitudes(x)),
    ...referenceBackward(bound, magnitudes(x), magnitudes(gy)),
  };
  return Object.fromEntries(
    Object.entries(all).map(([name, sums]) => [name, sums.reduce((a, b) => Math.max(a, b), 0)]),
  );
}

/**
 * d_y weight, [tokens, inner]
 * @param {ArrayLike<number>} dY [tokens, out]
 * @param {ArrayLike<number>} weight [out, inner]
 * @param {number} inner
 * @param {number} out
 */
function inputGradient(dY, weight, inner, out) {
  const dX = new Float64Array((dY.length / out) * inner);
  for (let i = 0; i < dX.length; i++) {
    const [token, k] = [Math.floor(i / inner), i % inner];
    for (let row = 0; row < out; row++) dX[i] += dY[token * out + row] * weight[row * inner + k];
  }
  return dX;
}

/**
 * @param {string} linear
 * @param {ArrayLike<number>} dY [tokens, out]
 * @param {ArrayLike<number>} x [tokens, inner]
 * @param {number} inner
 * @param {number} out
 * @param {Parameters} parameters
 */
function parameterGradients(linear, dY, x, inner, out, parameters) {
  const weight = new Float64Array(out * inner);
  const bias = new Float64Array(out);
  for (let i = 0; i < dY.length; i++) {
    const [token, row] = [Math.floor(i / out), i % out];
    bias[row] += dY[i];
    for (let k = 0; k < inner; k++) weight[row * inner + k] += dY[i] * x[token * inner + k];
  }
  return {
    [`${linear}.weight`]: weight,
    ...(parameters[`${linear}.bias`] && { [`${linear}.bias`]: bias }),
  };
}
