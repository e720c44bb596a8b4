// Numbers for tests: reproducible random arrays that owe nothing to src, and the float64 runtime.

import { GatedMLP, Runtime } from '../../src/binding/index.js';

/**
 * Uniform values in (-spread, spread), the same on every run (mulberry32).
 * @param {number} seed
 */
export function randomSource(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    /** @param {number} n @param {number} [spread] */
    floats: (n, spread = 1) => Float32Array.from({ length: n }, () => (2 * next() - 1) * spread),
  };
}

/** Names and sizes of the parameters of a gated MLP, in Hugging Face's order. @param {number} d @param {number} dFf @param {boolean} bias */
export function parameterSizes(d, dFf, bias) {
  return [
    ['gate_proj.weight', dFf * d],
    ['gate_proj.bias', dFf],
    ['up_proj.weight', dFf * d],
    ['up_proj.bias', dFf],
    ['down_proj.weight', d * dFf],
    ['down_proj.bias', d],
  ].filter(([name]) => bias || !String(name).endsWith('.bias'));
}

/**
 * Random parameters whose products stay near 1.
 * @param {number} d
 * @param {number} dFf
 * @param {boolean} bias
 * @param {ReturnType<typeof randomSource>} random
 * @returns {Record<string, Float32Array>}
 */
export function randomParameters(d, dFf, bias, random) {
  return Object.fromEntries(
    parameterSizes(d, dFf, bias).map(([name, n]) => {
      const width = String(name).startsWith('down') ? dFf : d;
      const spread = String(name).endsWith('bias') ? 0.5 : Math.sqrt(3 / width);
      return [name, random.floats(Number(n), spread)];
    }),
  );
}

/**
 * @param {Record<string, Float32Array | Float64Array>} parameters
 * @returns {Record<string, { data: Float32Array | Float64Array }>}
 */
export function asState(parameters) {
  return Object.fromEntries(Object.entries(parameters).map(([name, data]) => [name, { data }]));
}

/**
 * A gated MLP with these parameters; the caller disposes of it.
 * @param {number} d
 * @param {number} dFf
 * @param {Record<string, Float32Array | Float64Array>} parameters
 * @param {{ act?: string, runtime: Runtime, dtype?: 'float32' | 'float64' | 'float16' | 'bfloat16', variant?: import('../../src/binding/gated-mlp.js').Variant }} options
 */
export async function mlpOf(d, dFf, parameters, options) {
  const mlp = await GatedMLP.create(d, dFf, { bias: 'gate_proj.bias' in parameters, ...options });
  mlp.loadStateDict(asState(parameters));
  return mlp;
}

/** A runtime that computes in double: the test build of the same sources. */
export function float64Runtime() {
  return Runtime.create({ wasm: new URL('../../build/gated-mlp-f64.wasm', import.meta.url) });
}

/** @param {{ dispose(): void }[]} things */
export function disposeAll(...things) {
  for (const thing of things) thing.dispose();
}
