// Backward through one token: how a wish about the output reaches the units. All of it is the module's own backward pass; this
// file only reads single numbers back out of the gradients of whole rows. Lives in the worker.

/** @typedef {import('../src/binding/index.js').GatedMLP} GatedMLP */

/**
 * The gradients of v . y for one token, per unit: with respect to h_j (`arriving`), to u_j (`up`: what the gate lets through
 * to the up row, act(g_j) times the former) and to g_j (`gate`: u_j act'(g_j) times it).
 * @param {GatedMLP} mlp
 * @param {Float32Array} x  [d]
 * @param {Float32Array} v  [d], the direction of the output that is asked for
 * @param {string} act
 * @returns {import('./protocol.js').GradientMessage}
 */
export function gradientsOf(mlp, x, v, act) {
  const { gate, up } = rowsGradients(mlp, x, v, { act });
  // With every act held at 1 nothing stands between h and up: what reaches up is what arrives.
  const open = Array.from({ length: mlp.dFf }, (_, unit) => ({ unit, value: 1 }));
  const arriving = rowsGradients(mlp, x, v, { act, hold: open }).up;
  return { arriving, up, gate };
}

/**
 * @param {GatedMLP} mlp
 * @param {Float32Array} x
 * @param {Float32Array} v
 * @param {{ act: string, hold?: { unit: number, value: number }[] }} options
 */
function rowsGradients(mlp, x, v, options) {
  const trace = mlp.trace(x, options);
  try {
    const gradients = mlp.backward(trace, v);
    return {
      gate: perUnit(gradients['gate_proj.weight'], x),
      up: perUnit(gradients['up_proj.weight'], x),
    };
  } finally {
    trace.dispose();
  }
}

/**
 * With one token the gradient of a row is a number times x: this is that number, for every row.
 * @param {Float32Array | Float64Array} rows  [dFf, d]
 * @param {Float32Array} x  [d]
 */
function perUnit(rows, x) {
  const d = x.length;
  const square = x.reduce((sum, value) => sum + value * value, 0);
  return Float32Array.from({ length: rows.length / d }, (_, unit) => {
    let dot = 0;
    for (let k = 0; k < d; k++) dot += rows[unit * d + k] * x[k];
    return dot / square;
  });
}
