// Finds gated MLPs by the names of tensors, whatever stands before those names, and says where each stands: layer,
// expert, module. Names only: shapes and configs are describe.js's matter. checkpoint.js calls it, also on the names of
// an index whose shards have not been opened.

import { MXFP4, NAMINGS, NOT_GATED, NOT_GATED_NAMES, QUANTISED } from './families.js';

/** @typedef {import('./families.js').Naming} Naming */
/**
 * The matrices of one gated MLP, or of a stack of experts.
 * @typedef {object} Group
 * @property {Naming} naming
 * @property {string} module the path of the module that holds them; '' at the root
 * @property {number | null} layer
 * @property {number | null} expert where the experts are modules of their own
 * @property {boolean} [adapted] its weights are to be those of one layer of several that share them
 * @property {Record<string, string>} names role ('gate', 'up', 'gateUp', 'down') -> tensor
 */
/** @typedef {{ layer?: number, expert?: number, prefix?: string }} Selection */

/** Suffix -> the namings it belongs to and the role it has there. */
const SUFFIXES = new Map();
for (const naming of NAMINGS) {
  for (const [role, suffix] of Object.entries(naming.names)) {
    SUFFIXES.set(suffix, [...(SUFFIXES.get(suffix) ?? []), { naming, role }]);
  }
}
const LONGEST = 3;
/** Layer 2 before layer 10. */
const BY_NUMBER = new Intl.Collator('en', { numeric: true });

const LAYER =
  /(?:^|\.)(?:layers|layer|h|blocks|block|encoders|decoder_layer|transformer_encoder)\.(\d+)(?=\.|$)/;
const EXPERT = /(?:^|\.)(?:experts|moe)\.(\d+)$/;

/**
 * Every group whose matrices are all there, layer by layer.
 * @param {Iterable<string>} tensorNames
 * @param {string[]} types model_type values of the config; none: no config
 * @returns {Group[]}
 */
export function findGroups(tensorNames, types) {
  /** @type {Map<string, Map<Naming, Record<string, string>>>} */
  const modules = new Map();
  for (const name of tensorNames) {
    let at = name.length;
    for (let segments = 0; segments < LONGEST && at > 0; segments++) {
      at = name.lastIndexOf('.', at - 1);
      for (const { naming, role } of SUFFIXES.get(name.slice(at + 1)) ?? []) {
        const module = name.slice(0, Math.max(at, 0));
        const namings = modules.get(module) ?? new Map();
        modules.set(module, namings.set(naming, { ...namings.get(naming), [role]: name }));
      }
    }
  }
  return [...modules]
    .sort(([a], [b]) => BY_NUMBER.compare(a, b))
    .flatMap(([module, namings]) => completeGroups(module, namings, types));
}

/**
 * @param {string} module
 * @param {Map<Naming, Record<string, string>>} namings
 * @param {string[]} types
 * @returns {Group[]}
 */
function completeGroups(module, namings, types) {
  const complete = [...namings].filter(
    ([naming, names]) =>
      Object.keys(naming.names).every((role) => names[role] !== undefined) &&
      (!naming.types || naming.types.some((type) => types.includes(type))),
  );
  // Where separate matrices are all there, a fused reading of two of them is a coincidence of names.
  const separate = complete.filter(([naming]) => 'gate' in naming.names);
  return (separate.length > 0 ? separate : complete).map(([naming, names]) => {
    const [, expert] = EXPERT.exec(module) ?? [];
    return {
      naming,
      module,
      names,
      layer: layerOf(module),
      expert: expert === undefined ? null : Number(expert),
    };
  });
}

/** @param {string} module */
function layerOf(module) {
  const match = LAYER.exec(module);
  return match ? Number(match[1]) : null;
}

/**
 * The name of the bias that belongs to a weight.
 * @param {string} weight
 */
export function biasName(weight) {
  return weight.endsWith('.weight') ? weight.replace(/weight$/, 'bias') : `${weight}_bias`;
}

/** @param {Group} group @param {string} name of a tensor in its module */
export const nameIn = ({ module }, name) => (module === '' ? name : `${module}.${name}`);

/**
 * Whether an MLP may be meant by a selection. `prefix` names its module or one above it.
 * @param {{ prefix: string, layer: number | null, expert: number | null }} mlp expert -1: all of a stack
 * @param {Selection} selection
 */
export function isSelected({ prefix, layer, expert }, selection) {
  if (selection.layer !== undefined && selection.layer !== layer) return false;
  if (selection.expert !== undefined && expert !== -1 && selection.expert !== expert) return false;
  const wanted = selection.prefix?.replace(/\.$/, '');
  return wanted === undefined || prefix === wanted || prefix.startsWith(`${wanted}.`);
}

/**
 * Why there is no gated MLP under these names, in words; '' where nothing is known.
 * @param {Iterable<string>} tensorNames
 * @param {string[]} types
 */
export function whyNone(tensorNames, types) {
  const names = new Set(tensorNames);
  const type = types.find((t) => NOT_GATED.has(t));
  let gateless = type === undefined ? '' : `it is a "${type}", a family whose MLP has no gate`;
  for (const name of names) {
    const scheme =
      QUANTISED.find(({ marks }) => marks.some((mark) => name.endsWith(`.${mark}`))) ??
      (MXFP4.ends.some((end) => name.endsWith(end)) ? MXFP4 : undefined);
    if (scheme) return `its weights are quantised, ${scheme.scheme}`;
    for (const [family, first, second] of gateless === '' ? NOT_GATED_NAMES : []) {
      const module = name.slice(0, -`${first}.weight`.length);
      const fits = name === `${module}${first}.weight` && names.has(`${module}${second}.weight`);
      if (fits) gateless = `its tensors are named as in ${family}, whose MLP has no gate`;
    }
  }
  return gateless;
}
