// Which gated MLP of a checkpoint is meant, or an error that says what there is to choose from.

import { configFor, modelTypes } from './config.js';
import { describe } from './describe.js';
import { GatedMLPError } from './errors.js';
import { isSelected, whyNone } from './scan.js';

/** @typedef {import('./describe.js').FoundMLP} FoundMLP */
/** @typedef {import('./scan.js').Selection & import('./describe.js').Hints} MLPOptions */
/**
 * @typedef {object} Resolution
 * @property {string} prefix
 * @property {number | null} layer
 * @property {number | null} expert
 * @property {number} d
 * @property {number} dFf
 * @property {import('./activations.js').Activation} act
 * @property {string} actSource
 * @property {boolean} bias
 * @property {import('./families.js').FusedOrder | null} fused
 * @property {boolean} transposed
 * @property {import('./variant.js').Variant | null} variant
 * @property {string} dtype as stored
 * @property {number} byteLength
 * @property {import('./weights.js').Part[]} parts
 * @property {import('./adapters.js').Adapter | null} adapter what is done to the weights once they are there
 */
/** @typedef {Resolution & { source: { url: string, revision: string | null, tensors: string[] } }} ResolvedMLP */

/** So many are listed in a message. */
const LISTED = 12;

/**
 * @param {import('./scan.js').Group[]} groups
 * @param {import('./describe.js').Contents} contents
 * @param {MLPOptions} options
 * @param {string} where the checkpoint, for messages
 * @returns {Resolution}
 */
export function selectMLP(groups, contents, options, where) {
  const all = groups.flatMap((group) => describe(group, contents, options));
  if (all.length === 0) throw noneAt(contents, where);
  const chosen = narrowest(
    all.filter(({ mlp }) => isSelected(mlp, options)),
    options,
  );
  if (chosen.length !== 1) throw notOne(all, chosen, options, where);
  const [{ mlp, parts, error, adapter }] = chosen;
  if (error) throw error;
  const act = /** @type {import('./activations.js').Activation} */ (mlp.act);
  const { refusal: _, ...found } = mlp;
  return { ...found, act, parts, adapter };
}

/**
 * A prefix that is exactly one MLP's means that one, although others may lie below it.
 * @template {{ mlp: FoundMLP }} T
 * @param {T[]} chosen
 * @param {MLPOptions} options
 */
function narrowest(chosen, { prefix }) {
  const exact = chosen.filter(({ mlp }) => mlp.prefix === prefix);
  return exact.length > 0 ? exact : chosen;
}

/**
 * @param {import('./describe.js').Contents} contents
 * @param {string} where
 */
function noneAt({ tensors, config }, where) {
  const types = modelTypes(config);
  const reason = whyNone(tensors.keys(), types);
  const names = [...tensors.keys()].slice(0, 3);
  const words =
    reason ||
    `none of its ${tensors.size} tensors (${names.join(', ')}, ...) is named as one of a known family`;
  return new GatedMLPError(
    reason ? 'ERR_UNSUPPORTED' : 'ERR_TENSOR_MISSING',
    `${where}: no gated MLP in here: ${words}`,
    { modelType: configFor(config, '').types[0] },
  );
}

/**
 * @param {{ mlp: FoundMLP }[]} all
 * @param {{ mlp: FoundMLP }[]} chosen
 * @param {MLPOptions} options
 * @param {string} where
 */
function notOne(all, chosen, { layer, expert, prefix }, where) {
  const asked = Object.entries({ layer, expert, prefix }).filter(
    ([, value]) => value !== undefined,
  );
  const question = asked.map(([key, value]) => `${key} ${value}`).join(', ');
  const few = chosen.length > 0 ? chosen : all;
  const list = few
    .slice(0, LISTED)
    .map(({ mlp }) => `${mlp.prefix}${mlp.expert === null ? '' : ` expert ${mlp.expert}`}`);
  if (few.length > LISTED) list.push(`and ${few.length - LISTED} more`);
  const message =
    chosen.length > 0
      ? `${chosen.length} gated MLPs fit ${question || 'the question'}; choose by { layer, expert, prefix }`
      : `no gated MLP is at ${question}; there are`;
  return new GatedMLPError('ERR_TENSOR_MISSING', `${where}: ${message}: ${list.join(', ')}`, {
    layer,
    expert,
    prefix,
  });
}
