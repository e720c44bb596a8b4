// Why a group that has the names of a gated MLP cannot be computed as one: quantised weights, another formula, widths that are
// not the config's. Each gives an error or null; describe.js asks them all. What is looked for is listed in families.js.

import { widthsOf } from './config.js';
import { GatedMLPError } from './errors.js';
import { OTHER_FORMULAS, QUANTISED } from './families.js';
import { nameIn } from './scan.js';

/** @typedef {import('./describe.js').Contents} Contents */
/** @typedef {import('./scan.js').Group} Group */

/**
 * @param {string[]} vectors
 * @param {number} length
 * @param {Contents} contents
 */
export function notFloats(vectors, length, { tensors }) {
  for (const name of vectors) {
    const { dtype, shape } = tensors.get(name) ?? {};
    if (String(shape) === String(length) && /^B?F\d/.test(String(dtype))) continue;
    return unsupported(`${name} ${dtype} [${shape}]: not [${length}] of floats, or not there`);
  }
  return null;
}

/**
 * @param {Group} group
 * @param {Contents} contents
 */
export function quantised({ names, module }, { has, config }) {
  const { quant_method = null } = Object(config?.quantization_config);
  for (const name of Object.values(names)) {
    const base = name.replace(/\.weight$/, '');
    // Of a stack the matrix itself has the module's name: its scale is gate_up_proj_scale, gate_up_proj.absmax that of blocks.
    const ends = (/** @type {string} */ mark) =>
      base === name ? [`.${mark}`, `_${mark}`, mark.replace(/^weight/, '')] : [`.${mark}`];
    const found = QUANTISED.find(
      ({ marks, method }) =>
        method === quant_method || marks.flatMap(ends).some((end) => has(base + end)),
    );
    if (found) {
      return unsupported(`${module}: quantised weights, ${found.scheme}`);
    }
  }
  return null;
}

/**
 * @param {Group} group
 * @param {Contents} contents
 * @param {string[]} types
 * @param {string[]} norms that are computed
 * @param {(typeof import('./families.js').VARIANTS)[number] | undefined} other a family whose formula is another
 */
export function notPlain(group, { has }, types, norms, other) {
  const { module, names, adapted } = group;
  if (other) {
    const words = `${module}: ${other.name} computes ${other.formula}: not the plain formula`;
    return unsupported(words);
  }
  // Separate matrices have no adapters; they may be those of a great many experts.
  const excuses = {
    adapted: !names.gateUp || adapted,
    configured: types.length > 0,
    normed: norms.length > 0,
  };
  for (const { words, marks, unless } of OTHER_FORMULAS) {
    if (unless && excuses[unless]) continue;
    const mark = marks.find((name) => has(nameIn(group, name)));
    if (!mark) continue;
    return unsupported(`${module}: ${mark}, ${words}: not the plain formula`);
  }
  return null;
}

/**
 * Widths against the config, where it says anything about them.
 * @param {Group} group
 * @param {import('./placement.js').Shapes} shapes
 * @param {Contents} contents
 * @param {Record<string, unknown>} config
 * @param {string[]} types
 */
export function widthError({ module, expert }, { d, dFf }, { meta }, config, types) {
  if (meta !== null && expert === null && (d !== meta.d || dFf !== meta.dFf)) {
    const message = `${module}: by params.json (llama_ffn_dim) d is ${meta.d} and dFf ${meta.dFf}; by the tensors' shapes ${d} and ${dFf}`;
    return new GatedMLPError('ERR_SHAPE', message);
  }
  const claims = widthsOf(config, types);
  // Experts that every token goes through are often made as one of several times the width.
  const shared = /expert|shared/.test(module);
  const fits = claims.dFf.some((width) => width === dFf || (shared && dFf % width === 0));
  for (const [what, value, allowed, fine] of /** @type {const} */ ([
    ['d', d, claims.d, claims.d.includes(d)],
    ['dFf', dFf, claims.dFf, fits],
  ])) {
    if (allowed.length === 0 || fine) continue;
    const message = `${module}: ${what} is ${value} by the tensors' shapes and ${allowed.join(' or ')} by config.json`;
    return new GatedMLPError('ERR_SHAPE', message);
  }
  return null;
}

/** @param {string} message */
export function unsupported(message) {
  return new GatedMLPError('ERR_UNSUPPORTED', message);
}
