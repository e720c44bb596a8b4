// What the bench asks of everyone it times. The contestants are in peers/ and ours.js.

/**
 * @typedef {object} Contestant
 * @property {string} name
 * @property {string} weights how they are held: a key of WEIGHT_BYTES in targets.js
 * @property {'simd128' | 'relaxed'} [variant] where it does not simply take the best that the engine runs
 * @property {number} [threads] default 1
 * @property {boolean} [ours]
 * @property {(weights: import('./problem.js').Weights) => Promise<Model>} load
 */

/**
 * One set of weights, set up.
 * @typedef {object} Model
 * @property {(tokens: number) => Promise<Call>} at made ready for calls of this many tokens
 * @property {number} [setupMs] how long one waits for the package itself, without the making of its input
 * @property {() => unknown} dispose
 */

/**
 * @typedef {object} Call
 * @property {(x: Float32Array) => Float32Array | Promise<Float32Array>} run x and y are [tokens, d], in JavaScript's memory
 * @property {number} [setupMs] the same, where each token count is set up by itself
 * @property {() => unknown} dispose
 */

export {};
