// The public surface of gated-mlp. Importing it does nothing: no fetch, no compilation, no global.

/** @typedef {import('./activations.js').Activation} Activation */
/** @typedef {import('./checkpoint.js').Checkpoint} Checkpoint */
/** @typedef {import('./gate-trace.js').GateTrace} GateTrace */
/** @typedef {import('./gate-preview.js').GatePreview} GatePreview */

export { GatedMLPError } from './errors.js';
export { GatedMLP } from './gated-mlp.js';
export { Linear } from './linear.js';
export { openCheckpoint } from './loader.js';
export { PCG32 } from './pcg32.js';
export { llamaFfnDim, Runtime } from './runtime.js';
