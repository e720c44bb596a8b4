// The public surface of gated-mlp. Importing it does nothing: no fetch, no compilation, no global.

/** @typedef {import('./activations.js').Activation} Activation */
/** @typedef {import('./checkpoint.js').Checkpoint} Checkpoint */
/** @typedef {import('./checkpoint.js').CheckpointSource} CheckpointSource */
/** @typedef {import('./checkpoint.js').OpenOptions} OpenOptions */
/** @typedef {import('./checkpoint.js').TensorInfo} TensorInfo */
/** @typedef {import('./describe.js').FoundMLP} FoundMLP */
/** @typedef {import('./errors.js').ErrorCode} ErrorCode */
/** @typedef {import('./forward-options.js').ForwardOptions} ForwardOptions */
/** @typedef {import('./forward-options.js').Hold} Hold */
/** @typedef {import('./gated-mlp.js').LoadOptions} LoadOptions */
/** @typedef {import('./held-dtype.js').HeldDtype} HeldDtype */
/** @typedef {import('./runtime.js').RuntimeOptions} RuntimeOptions */
/** @typedef {import('./gate-trace.js').GateTrace} GateTrace */
/** @typedef {import('./gate-preview.js').GatePreview} GatePreview */

export { GatedMLPError } from './errors.js';
export { GatedMLP } from './gated-mlp.js';
export { Linear } from './linear.js';
export { openCheckpoint } from './loader.js';
export { PCG32 } from './pcg32.js';
export { llamaFfnDim, Runtime } from './runtime.js';
