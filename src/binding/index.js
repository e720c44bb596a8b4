// The public surface of gated-mlp. Importing it does nothing: no fetch, no compilation, no global.

export { openCheckpoint } from './checkpoint.js';
export { GatedMLPError } from './errors.js';
export { GatedMLP } from './gated-mlp.js';
export { PCG32 } from './pcg32.js';
export { llamaFfnDim, Runtime } from './runtime.js';
