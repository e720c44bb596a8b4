// The table of families: which tensor names make a gated MLP, which half of a fused matrix is the gate, which way round it
// is stored, and what must be refused by name. Facts only; scan.js, describe.js and refusal.js apply them. Adding a family
// is adding a row here and a golden under fixtures/goldens, made by the family's own class or published code: a test asks
// one of every row.
//
// The order of a fused matrix never follows from its shape. It is in this table or it must be given by the caller.

/** @typedef {'gate-up' | 'up-gate' | 'interleaved'} FusedOrder */
/**
 * How a fused matrix is stored under certain model types.
 * @typedef {object} Order
 * @property {string[] | null} types model_type values of config.json; null: the names alone say it
 * @property {FusedOrder} fused
 * @property {boolean} [transposed] stored [in, out], as for x @ W
 * @property {RegExp} [where] only below such a prefix
 * @property {'silu'} [fixedAct] whatever the config says
 */
/**
 * One way of naming the matrices. Names are relative to the module that holds them.
 * @typedef {object} Naming
 * @property {string} family for messages
 * @property {{ gate: string, up: string, down: string } | { gateUp: string, down: string }} names
 * @property {string[] | null} [types] only with these model types
 * @property {boolean} [transposed] of separate matrices
 * @property {boolean} [expertsByRows] experts lie one below the other in matrices [experts * dFf, d], down_proj like the
 *   others; the config says how many there are
 * @property {Order[]} [orders] of fused ones
 * @property {null} [act] it must be given where the config does not name one
 * @property {'silu' | 'gelu_tanh' | 'quick_gelu'} [fixedAct] whatever the config says
 */

/**
 * A row of separate matrices.
 * @param {string} family
 * @param {[gate: string, up: string, down: string]} names without ".weight"
 * @param {Partial<Naming>} more
 * @returns {Naming}
 */
function separate(family, [gate, up, down], more = {}) {
  const names = { gate: `${gate}.weight`, up: `${up}.weight`, down: `${down}.weight` };
  return { family, names, ...more };
}

/**
 * A row of fused ones.
 * @param {string} family
 * @param {[gateUp: string, down: string]} names without ".weight"
 * @param {[types: string | null, fused: FusedOrder, more?: Partial<Order>][]} orders model types with spaces between
 * @param {Partial<Naming>} more
 * @returns {Naming}
 */
function fused(family, [gateUp, down], orders, more = {}) {
  return {
    family,
    names: { gateUp: `${gateUp}.weight`, down: `${down}.weight` },
    orders: orders.map(([types, order, extra]) => ({
      types: types?.split(' ') ?? null,
      fused: order,
      ...extra,
    })),
    ...more,
  };
}

const TRANSPOSED = { transposed: true };
const INKLING = 'inkling_mm_model inkling_text';

/** @type {Naming[]} */
export const NAMINGS = [
  separate('Llama', ['gate_proj', 'up_proj', 'down_proj']),
  separate('Mixtral, and Llama as published by Meta', ['w1', 'w3', 'w2']),
  separate('T5 v1.1', ['wi_0', 'wi_1', 'wo'], { act: null }),
  separate('nomic-bert', ['fc12', 'fc11', 'fc2']),
  separate('Qwen 1', ['w2', 'w1', 'c_proj']),
  separate('EXAONE 3', ['c_fc_0', 'c_fc_1', 'c_proj']),
  separate('Refact', ['linear_1', 'linear_3', 'c_proj']),
  separate('JAIS', ['c_fc2', 'c_fc', 'c_proj'], TRANSPOSED),
  separate('LLaDA', ['ff_proj', 'up_proj', 'ff_out']),
  // JAX's gelu, which is the tanh form unless told otherwise.
  separate('Grok 1', ['linear', 'linear_v', 'linear_1'], { fixedAct: 'gelu_tanh' }),
  {
    family: 'DBRX',
    names: { gate: 'mlp.w1', up: 'mlp.v1', down: 'mlp.w2' },
    types: ['dbrx'],
    expertsByRows: true,
  },
  fused(
    'Phi-3, GLM-4',
    ['gate_up_proj', 'down_proj'],
    [
      // Up first in spite of its name.
      ['phi4_multimodal phi4_multimodal_audio', 'up-gate', { where: /audio/ }],
      [
        'phi3 phi3_v phi4mm phi4_multimodal glm glm4 glm4v glm4v_text glm_ocr glm_ocr_text zamba2 ' +
          'minimax_m3_vl minimax_m3_vl_text',
        'gate-up',
      ],
    ],
  ),
  fused('Refact', ['gate_up_proj', 'c_proj'], [[null, 'gate-up']]),
  fused('ModernBERT', ['Wi', 'Wo'], [['modernbert modernbert-decoder', 'gate-up']]),
  fused(
    'stacked experts',
    ['', ''],
    [
      ['llama4 llama4_text openai_privacy_filter', 'gate-up', TRANSPOSED],
      ['gpt_oss', 'interleaved', TRANSPOSED],
      ['gemma4 gemma4_text mixtral minimax phimoe minimax_m3_vl minimax_m3_vl_text', 'gate-up'],
    ],
    { names: { gateUp: 'gate_up_proj', down: 'down_proj' } },
  ),
  fused('Granite MoE, JetMoE', ['input_linear', 'output_linear'], [[null, 'gate-up']]),
  fused('GTE', ['up_gate_proj', 'down_proj'], [[null, 'up-gate']]),
  // Its config names the activation of the plain MLP that smaller sizes have.
  fused('DINOv2 giant', ['weights_in', 'weights_out'], [[null, 'gate-up']], { fixedAct: 'silu' }),
  // Its config names the activation of the shared experts.
  fused('Aria experts', ['fc1', 'fc2'], [['aria aria_text', 'gate-up', TRANSPOSED]], {
    types: ['aria', 'aria_text'],
    fixedAct: 'silu',
  }),
  fused(
    'Moonshine, Moshi',
    ['fc1', 'fc2'],
    [
      ['moonshine moonshine_streaming', 'up-gate', { where: /decoder/ }],
      ['moshi kyutai_speech_to_text', 'gate-up'],
    ],
    { types: ['moonshine', 'moonshine_streaming', 'moshi', 'kyutai_speech_to_text'] },
  ),
  fused('CLVP', ['fc1.proj', 'fc2'], [['clvp clvp_encoder', 'up-gate']]),
  fused('ChatGLM', ['dense_h_to_4h', 'dense_4h_to_h'], [['chatglm', 'gate-up']], {
    types: ['chatglm'],
  }),
  fused(
    'OLMo 1, Molmo',
    ['ff_proj', 'ff_out'],
    [['olmo hf_olmo molmo molmo2 molmo2_text', 'up-gate']],
  ),
  fused('jina-bert-v2', ['gated_layers', 'wo'], [[null, 'gate-up']]),
  fused('jina-bert-v2 code', ['up_gated_layer', 'down_layer'], [[null, 'up-gate']]),
  // Places in a sequence, as many a model has: only in ESM-C's own blocks do they say which half is the gate.
  fused(
    'ESM-C',
    ['ffn.1', 'ffn.3'],
    [[null, 'gate-up', { where: /(^|\.)transformer\.blocks\.\d+$/, fixedAct: 'silu' }]],
  ),
  fused('OpenELM', ['proj_1', 'proj_2'], [['openelm', 'gate-up']], { types: ['openelm'] }),
  fused('NeoBERT', ['w12', 'w3'], [[null, 'gate-up']], { fixedAct: 'silu' }),
  fused('Inkling', ['w13_dn', 'w2_md'], [[null, 'interleaved']]),
  ...['', 'shared_'].map((kind) =>
    fused('Inkling experts', ['', ''], [[INKLING, 'interleaved']], {
      names: { gateUp: `${kind}w13_weight`, down: `${kind}w2_weight` },
    }),
  ),
];

/** What Falcon-H1 multiplies gate and output by. @param {Record<string, unknown>} config */
function multipliersOf({ mlp_multipliers: m = [1, 1] }) {
  const fine = Array.isArray(m) && m.length === 2 && m.every(Number.isFinite);
  return fine ? { gate: m[0], output: m[1] } : null;
}

const CLAMPED = 'a clamped gate and up';

/**
 * Families whose formula is not the plain one, although their names are. `types` null: any. `of`, by config and layer: what
 * they compute besides, null where that is nothing, or 'other' where it cannot be computed here. `root`: the whole config of
 * which this is the text model's.
 * `scales`: what gate and output are multiplied by besides.
 * @type {{ name: string, formula?: string, types: string[] | null, act?: 'quick_gelu', of: (config: Record<string, unknown>, layer: number | null, root: Record<string, unknown>) => import('./variant.js').Variant | null | 'other', scales?: typeof multipliersOf }[]}
 */
export const VARIANTS = [
  {
    // gate * sigmoid(1.702 * gate) whatever hidden_act says.
    name: 'gpt-oss or MiniMax M3',
    formula: 'another sigmoid, by its swiglu_alpha',
    types: ['gpt_oss', 'openai_privacy_filter', 'minimax_m3_vl', 'minimax_m3_vl_text'],
    act: 'quick_gelu',
    of: ({ swiglu_limit = 7, swiglu_alpha = 1.702 }) =>
      swiglu_alpha === 1.702 ? { limit: Number(swiglu_limit), upShift: 1 } : 'other',
  },
  {
    name: 'Gemma 3n',
    formula: 'sparse gates by an activation_sparsity_pattern, which says nothing of this layer',
    types: ['gemma3n', 'gemma3n_text'],
    of: ({ activation_sparsity_pattern: pattern }, layer) => {
      const sparsity = Array.isArray(pattern) ? pattern[layer ?? -1] : pattern;
      if (typeof sparsity !== 'number') return 'other';
      return sparsity > 0 ? { sparsity } : null;
    },
  },
  {
    name: 'Falcon-H1',
    formula: 'products with its mlp_multipliers, which are not two numbers',
    types: ['falcon_h1'],
    of: (config) => (multipliersOf(config) ? null : 'other'),
    scales: multipliersOf,
  },
  {
    name: 'DeepSeek V4',
    types: ['deepseek_v4'],
    of: ({ swiglu_limit = 10 }) => ({ limit: Number(swiglu_limit) }),
  },
  {
    name: 'BitNet',
    formula: 'a norm whose rms_norm_eps is no number',
    types: ['bitnet'],
    of: ({ rms_norm_eps: normEps = 1e-5 }) => (typeof normEps === 'number' ? { normEps } : 'other'),
  },
  {
    // Clamped also where the config does not say so: their classes have a limit of their own.
    name: 'GLM-5 Next or HY V4',
    formula: CLAMPED,
    types: ['glm5_next', 'glm5_next_text', 'glm5_next_vision', 'hy_v4'],
    of: () => 'other',
  },
  {
    // Before the activation or after it, in all layers or some, in dense ones or experts: each family has its own.
    name: 'a model whose config has a swiglu_limit (Step 3.7 and others)',
    formula: CLAMPED,
    types: null,
    of: (config, _, root) =>
      [config, root].some((c) => c.swiglu_limit || c.swiglu_limits || c.swiglu_limits_shared)
        ? 'other'
        : null,
  },
];

/** More layers than any model has: adapters of a block are looked for up to here. */
export const MOST_SHARING = 256;

/**
 * Tensors that tell of another formula whatever the config says, or where there is none: names relative to the MLP's module.
 * @type {{ words: string, marks: string[], unless?: 'adapted' | 'configured' | 'normed' }[]}
 */
export const OTHER_FORMULAS = [
  {
    words: 'a norm before down_proj, as of BitNet (pass its { config })',
    marks: ['ffn_sub_norm.weight'],
    unless: 'normed',
  },
  {
    words: 'a norm inside the MLP',
    marks: ['sub_norm', 'ffn_layernorm', 'ffn_ln', 'inner_norm', 'norm'].map((n) => `${n}.weight`),
  },
  {
    words: 'adapters of each layer that shares these weights (pass their { config })',
    marks: Array.from(
      { length: MOST_SHARING },
      (_, i) => `gate_up_proj_adapter_list.${i}.0.weight`,
    ),
    unless: 'adapted',
  },
  {
    words: 'biases of stacked experts, as gpt-oss has them (pass its { config })',
    marks: ['gate_up_proj_bias'],
    unless: 'configured',
  },
];

/**
 * Quantised schemes, by the config's quant_method or the tensors that stand beside or in place of a weight.
 * @type {{ scheme: string, method?: string, marks: string[] }[]}
 */
export const QUANTISED = [
  // Its BF16 files are those of the weights that it makes ternary as it runs; inputs are rounded, too.
  { scheme: 'BitNet (quantization_config)', method: 'bitnet', marks: [] },
  { scheme: 'GPTQ or AWQ (qweight, qzeros)', marks: ['qweight', 'qzeros'] },
  { scheme: 'block FP8 (weight_scale_inv)', marks: ['weight_scale_inv'] },
  { scheme: 'compressed-tensors (weight_packed)', marks: ['weight_packed'] },
  {
    scheme: 'scaled FP8 or INT8, or BitNet (weight_scale)',
    marks: ['weight_scale', 'input_scale'],
  },
  { scheme: 'bitsandbytes (absmax)', marks: ['weight.absmax', 'SCB', 'weight.SCB'] },
  { scheme: 'MLX (scales, biases)', marks: ['scales', 'biases'] },
  { scheme: 'torchao or quanto (_data, _scale)', marks: ['weight._data', 'weight._scale'] },
];

/** Stacked experts in MXFP4: the names end so instead. */
export const MXFP4 = { scheme: 'MXFP4 (_blocks, _scales)', ends: ['_blocks', '_scales'] };

/** Model types whose MLP has no gate. */
export const NOT_GATED = new Set(
  (
    'apertus arcee bert bloom clip distilbert electra falcon gpt2 gpt_bigcode gpt_neo gpt_neox gptj mpt nemotron opt ' +
    'persimmon phi phi-msft roberta siglip starcoder2 vit whisper'
  ).split(' '),
);

/**
 * Names that such MLPs have, for checkpoints without a config: relative to the module.
 * @type {[family: string, first: string, second: string][]}
 */
export const NOT_GATED_NAMES = [
  ['GPT-2 or StarCoder', 'c_fc', 'c_proj'],
  ['GPT-NeoX, BLOOM or Falcon', 'dense_h_to_4h', 'dense_4h_to_h'],
  ['Phi-2, OPT or CLIP', 'fc1', 'fc2'],
  ['Nemotron', 'up_proj', 'down_proj'],
  ['GPT-J', 'fc_in', 'fc_out'],
  ['BERT or ViT', 'intermediate.dense', 'output.dense'],
  ['T5 v1.0', 'wi', 'wo'],
];
