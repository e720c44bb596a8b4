// What config.json says of an MLP: which part of it is about these tensors, the activation, the widths. The keys are those
// of transformers' configuration classes; families.js holds what does not depend on a config.

import { activationOf } from './activations.js';
import { GatedMLPError } from './errors.js';

/** @typedef {Record<string, unknown>} Config */

/** Sub-configs of the text model in multimodal checkpoints. */
const TEXT = ['text_config', 'llm_config', 'language_config'];
/** Sub-configs of the other towers, by what their tensors' names contain. */
const TOWERS = /** @type {const} */ ([
  [/image_projector/, ['adapter_config']],
  [/vision|visual|image/, ['vision_config']],
  [/audio|speech/, ['audio_config', 'speech_config']],
]);
/** Parts of a model that have configs of their own, under their names or with _config behind. */
const PARTS = ['encoder', 'decoder', 'vlm', 'dit'];
/** In order of precedence. */
const ACTIVATION_KEYS = [
  'feed_forward_type',
  'hidden_activation',
  'hidden_act',
  'activation_function',
  'dense_act_fn',
  'feed_forward_proj',
  'activation',
  'activation_type',
  'activation_fn_name',
  'decoder_hidden_act',
  'ffn_config.ffn_act_fn.name',
];
/** What families compute whose config says nothing of it. */
const OWN_ACTIVATIONS = /** @type {const} */ ([
  [/^gemma/, 'gelu_tanh'],
  [/^mpt$/, 'gelu'],
]);
const WIDTH_KEYS = ['hidden_size', 'd_model', 'n_embd', 'dim'];
const HIDDEN_WIDTH_KEYS = [
  'intermediate_size',
  'intermediate_size_mlp',
  'dense_intermediate_size',
  'moe_intermediate_size',
  'shared_expert_intermediate_size',
  'shared_intermediate_size',
  'ffn_hidden_size',
  'd_ff',
  'n_inner',
  'block_ff_dim',
  'expert_ffn_hidden_size',
  'ffn_config.ffn_hidden_size',
];
/** Their width is computed from the config in ways of their own. */
const OWN_WIDTHS = new Set([
  'qwen',
  'molmo',
  'neobert',
  'arctic',
  'lfm2',
  'lfm2_moe',
  'gemma4',
  'gemma4_text',
  'openelm',
  'moshi',
  'exaone',
  'dinov2',
  'dinov2_with_registers',
  'deci',
  'nemotron-nas',
  'recurrent_gemma',
]);

/**
 * The part of a config that is about a module, with the model types that apply.
 * @param {Config | null} config
 * @param {string} module
 * @returns {{ config: Config, types: string[], where: string, isText: boolean }} where: '' or 'text_config.' and the like
 */
export function configFor(config, module) {
  if (config === null) return { config: {}, types: [], where: '', isText: true };
  const tower = TOWERS.find(([pattern]) => pattern.test(module));
  const parts = PARTS.filter((name) => new RegExp(`(^|\\.)${name}\\.`).test(module));
  const own = parts.flatMap((name) => [name, `${name}_config`]);
  let part = config;
  let where = '';
  const types = [config.model_type];
  // T5Gemma 2 has a text_config within that of its encoder.
  for (const keys of tower ? [tower[1]] : [own, TEXT]) {
    const key = keys.find((k) => isObject(part[k]));
    if (key === undefined) continue;
    part = /** @type {Config} */ (part[key]);
    where += `${key}.`;
    types.unshift(part.model_type);
  }
  // Another tower's activation is not the text model's: without a config of its own nothing is known of it.
  if (tower && where === '') part = {};
  const names = types.filter((t) => typeof t === 'string');
  return { config: part, types: [...new Set(names)], where, isText: !tower };
}

/**
 * All model types a config names.
 * @param {Config | null} config
 */
export function modelTypes(config) {
  return configFor(config, '').types;
}

/**
 * @param {Config} config
 * @param {string} where
 * @param {string[]} types
 * @param {import('./families.js').Naming} naming
 * @param {string | undefined} given by the caller
 * @returns {{ act: import('./activations.js').Activation | null, source: string, error: GatedMLPError | null }}
 */
export function activationIn(config, where, types, naming, given) {
  if (given !== undefined) return { act: activationOf(given), source: 'option', error: null };
  if (naming.fixedAct) return { act: naming.fixedAct, source: 'family', error: null };
  const key = ACTIVATION_KEYS.find((k) => typeof valueAt(config, k) === 'string');
  if (key === undefined) {
    const [, act] = OWN_ACTIVATIONS.find(([pattern]) => types.some((t) => pattern.test(t))) ?? [];
    if (act) return { act, source: 'family', error: null };
    if (naming.act === null) {
      const message = `${naming.family}: nothing says which activation; pass { act }`;
      return { act: null, source: 'default', error: new GatedMLPError('ERR_ACTIVATION', message) };
    }
    return { act: 'silu', source: 'default', error: null };
  }
  const source = where + key;
  try {
    return {
      act: activationOf(meaning(config, key, types), `config.json ${source}`),
      source,
      error: null,
    };
  } catch (error) {
    return { act: null, source, error: /** @type {GatedMLPError} */ (error) };
  }
}

/**
 * What a spelling means in its family.
 * @param {Config} config
 * @param {string} key
 * @param {string[]} types
 */
function meaning(config, key, types) {
  const value = String(valueAt(config, key));
  if (key === 'feed_forward_proj')
    return value === 'gated-gelu' ? 'gelu_new' : value.replace(/^gated-/, '');
  // jina-bert-v2 says geglu or reglu, and its GELU is the exact one, whatever hidden_act says.
  if (key === 'feed_forward_type') return value.replace(/glu$/, 'lu');
  // Old configs of Gemma 1 say "gelu" and have always been run with the tanh form; MPT says beside it which form it is.
  const tanh =
    types.includes('gemma') || valueAt(config, 'ffn_config.ffn_act_fn.approximate') === 'tanh';
  return value === 'gelu' && tanh ? 'gelu_tanh' : value;
}

/**
 * The widths a config allows; empty where it says nothing that can be relied on.
 * @param {Config} config
 * @param {string[]} types
 * @returns {{ d: number[], dFf: number[] }}
 */
export function widthsOf(config, types) {
  const numbers = (/** @type {string[]} */ keys) =>
    keys
      .flatMap((k) => valueAt(config, k))
      .filter((n) => typeof n === 'number' && n > 0)
      .map(Number);
  const d = WIDTH_KEYS.find((k) => typeof config[k] === 'number');
  const unclear = types.some((t) => OWN_WIDTHS.has(t)) || types.length === 0;
  return unclear
    ? { d: [], dFf: [] }
    : { d: d === undefined ? [] : numbers([d]), dFf: [...new Set(numbers(HIDDEN_WIDTH_KEYS))] };
}

/**
 * How many experts lie in one matrix, where the config says so.
 * @param {Config} config
 */
export function expertCount(config) {
  const count = valueAt(config, 'ffn_config.moe_num_experts');
  return Number.isInteger(count) && Number(count) > 0 ? Number(count) : null;
}

/**
 * @param {Config} config
 * @param {string} path keys, with dots between
 * @returns {unknown}
 */
function valueAt(config, path) {
  /** @type {unknown} */
  let value = config;
  for (const key of path.split('.')) value = isObject(value) ? value[key] : undefined;
  return value;
}

/**
 * @param {unknown} value
 * @returns {value is Config}
 */
function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
