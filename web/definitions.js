// What the page means by its words: the classes of a gate, contribution, share, order. Pure functions on typed arrays.
// Every array comes out of a trace of the wasm module; nothing here computes an MLP, an activation or an output.
// Used by the worker (per layer) and by the views (per cell, while a threshold slides).
//
// Notation, as in the text of the page: g = W_gate x, u = W_up x, a = act(g), h = a u, d_j = column j of W_down.

/** Default threshold on |a|: below it a gate counts as closed. */
export const DEFAULT_TAU = 0.05;
export const MIN_TAU = 0.001;
export const MAX_TAU = 1;
/** Thresholds that have a history; the slider marks them, the dip of the activation, and the layer's own quantiles. */
export const MARKED_TAUS = [0.01, DEFAULT_TAU, 0.1];
/** Shares of the layer's |a| that lie below a threshold of CATS (arXiv 2404.08763). */
export const MARKED_SHARES = [0.5, 0.7, 0.9];

/** Activations that the page can put on the same weights, in the order of its switch. */
export const ACT_KEYS = /** @type {const} */ ([
  'silu',
  'gelu_tanh',
  'gelu',
  'relu',
  'sigmoid',
  'none',
]);
/** @typedef {(typeof ACT_KEYS)[number]} ActKey */

/** Classes of a cell, in the order in which every bar, legend and table lists them. */
export const SHUT = 0;
export const CROSSING = 1;
export const LEAKING = 2;
export const OPEN = 3;
/** @typedef {0 | 1 | 2 | 3} GateClass */
export const CLASS_NAMES = /** @type {const} */ (['shut', 'crossing', 'leaking', 'open']);
/** @typedef {(typeof CLASS_NAMES)[number]} ClassName */

/**
 * Where an activation bends. `shutBelow`: closed cells left of it are saturated ("shut"), right of it they are passing
 * through zero ("crossing"). `depth`: the most negative value act can take, as a positive number; 0 where it has no
 * negative side, Infinity where it has no floor (a = g).
 * @typedef {{ shutBelow: number, depth: number }} ActShape
 */

/**
 * The class of one cell. Leaking means: as negative as a floor allows. Without a floor (a = g) nothing leaks, and a gate is
 * open to either side.
 * @param {number} gate
 * @param {number} act
 * @param {number} tau
 * @param {ActShape} shape
 * @returns {GateClass}
 */
export function classOf(gate, act, tau, shape) {
  if (act >= tau) return OPEN;
  if (act <= -tau) return shape.depth === Infinity ? OPEN : LEAKING;
  return gate < shape.shutBelow ? SHUT : CROSSING;
}

/**
 * The shape of an activation, read off a sampled curve (ascending g).
 * @param {Float32Array} g
 * @param {Float32Array} a
 * @returns {ActShape}
 */
export function actShape(g, a) {
  let least = 0;
  for (let i = 1; i < a.length; i++) if (a[i] < a[least]) least = i;
  if (least > 0) return { shutBelow: g[least], depth: -a[least] };
  const unbounded = a[0] < -1;
  if (unbounded) return { shutBelow: -Infinity, depth: Infinity };
  let flatEnd = 0;
  while (flatEnd + 1 < a.length && a[flatEnd + 1] === a[0]) flatEnd++;
  return { shutBelow: flatEnd > 0 ? g[flatEnd] : Infinity, depth: 0 };
}

/**
 * ||d_j|| for every unit.
 * @param {Float32Array} down  [d, dFf]
 * @param {number} d
 * @param {number} dFf
 */
export function columnNorms(down, d, dFf) {
  const squares = new Float64Array(dFf);
  for (let i = 0; i < d; i++) {
    for (let j = 0; j < dFf; j++) squares[j] += down[i * dFf + j] * down[i * dFf + j];
  }
  return Float32Array.from(squares, Math.sqrt);
}

/**
 * c_j = |h_j| ||d_j||: by so much does the output move when the gate of unit j alone is closed.
 * @param {Float32Array} hidden  [tokens, dFf]
 * @param {Float32Array} norms   [dFf]
 */
export function contributions(hidden, norms) {
  const width = norms.length;
  return hidden.map((h, i) => Math.abs(h) * norms[i % width]);
}

/**
 * What a changed output differs by. `along` is the part of the removed vector that lies along y, as a share of y:
 * for a single unit it is pi_j = h_j (d_j . y) / ||y||^2.
 * @param {Float32Array} before  y of one token
 * @param {Float32Array} after   y with some gates held
 */
export function outputChange(before, after) {
  let moved = 0;
  let norm = 0;
  let afterNorm = 0;
  let removedAlong = 0;
  let dot = 0;
  for (let i = 0; i < before.length; i++) {
    const removed = before[i] - after[i];
    moved += removed * removed;
    norm += before[i] * before[i];
    afterNorm += after[i] * after[i];
    removedAlong += removed * before[i];
    dot += before[i] * after[i];
  }
  const size = Math.sqrt(norm * afterNorm);
  return {
    moved: Math.sqrt(moved),
    norm: Math.sqrt(norm),
    relative: norm > 0 ? Math.sqrt(moved / norm) : 0,
    cosine: size > 0 ? dot / size : 1,
    along: norm > 0 ? removedAlong / norm : 0,
  };
}

/**
 * The output channels that moved most.
 * @param {Float32Array} before
 * @param {Float32Array} after
 * @param {number} count
 */
export function mostMovedChannels(before, after, count) {
  return Array.from(before, (value, channel) => ({ channel, before: value, after: after[channel] }))
    .sort((p, q) => Math.abs(q.before - q.after) - Math.abs(p.before - p.after))
    .slice(0, count);
}

/**
 * The largest |ours - reference| / |reference| over the tokens, norms taken over a token's channels.
 * @param {Float32Array} ours       [tokens, d]
 * @param {Float32Array} reference  [tokens, d]
 * @param {number} d
 */
export function largestTokenError(ours, reference, d) {
  let worst = 0;
  let token = 0;
  for (let t = 0; t * d < reference.length; t++) {
    let difference = 0;
    let norm = 0;
    for (let i = t * d; i < (t + 1) * d; i++) {
      difference += (ours[i] - reference[i]) ** 2;
      norm += reference[i] ** 2;
    }
    const error = Math.sqrt(difference / norm);
    // A NaN must not pass for a small number.
    if (!(error <= worst)) [worst, token] = [error, t];
  }
  return { worst, token, tokens: reference.length / d };
}

/**
 * The four sign cases of a unit over the tokens: gate (+ or -) and up (+ or -).
 * @param {Float32Array} gate
 * @param {Float32Array} up
 * @param {number} tokens
 * @param {number} width
 * @param {number} unit
 */
export function signCases(gate, up, tokens, width, unit) {
  const cases = { '++': 0, '+-': 0, '-+': 0, '--': 0 };
  for (let t = 0; t < tokens; t++) {
    const g = gate[t * width + unit] < 0 ? '-' : '+';
    const u = up[t * width + unit] < 0 ? '-' : '+';
    cases[/** @type {'++' | '+-' | '-+' | '--'} */ (g + u)]++;
  }
  return cases;
}
