// An activation sampled by the wasm module itself: a gated MLP with d = d_ff = 1 whose single gate is swept along a line.
// The page draws these points and reads the dip off them; it has no formula of its own.

import { GatedMLP } from '../src/binding/index.js';
import { actShape } from './definitions.js';

/** @typedef {import('../src/binding/index.js').Runtime} Runtime */

/** The range that is drawn, and its step. Real gates beyond it are met by following the curve's ends. */
const REACH = 64;
const STEP = 1 / 64;
/** Steps between two coarse samples when the dip is looked for more closely. */
const REFINEMENT = 1024;

/**
 * @param {GatedMLP} mlp  one whose gate is x itself
 * @param {number} from
 * @param {number} step
 * @param {number} count
 */
function sweep(mlp, from, step, count) {
  const trace = mlp.trace(Float32Array.from({ length: count }, (_, i) => from + i * step));
  const samples = {
    g: /** @type {Float32Array} */ (trace.gate),
    a: /** @type {Float32Array} */ (trace.act),
  };
  trace.dispose();
  return samples;
}

/**
 * @param {string} act
 * @param {Runtime} runtime
 */
export async function sampleActivation(act, runtime) {
  const mlp = await GatedMLP.create(1, 1, { act, runtime });
  const one = { shape: [1, 1], data: Float32Array.of(1) };
  mlp.loadStateDict({ 'gate_proj.weight': one, 'up_proj.weight': one, 'down_proj.weight': one });
  const curve = sweep(mlp, -REACH, STEP, (2 * REACH) / STEP + 1);
  let shape = actShape(curve.g, curve.a);
  if (shape.depth > 0 && Number.isFinite(shape.depth)) {
    const fine = sweep(mlp, shape.shutBelow - STEP, (2 * STEP) / REFINEMENT, REFINEMENT + 1);
    shape = actShape(fine.g, fine.a);
  }
  mlp.dispose();
  return { curve, shape };
}
