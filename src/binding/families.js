// The table of families: which tensor names make a gated MLP, which half of a fused matrix is the gate, which way round it
// is stored, and what must be refused by name. Facts only; scan.js and resolve.js apply them. Adding a family is adding
// a row here and a golden under fixtures/goldens, made by the family's own class.
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
 * @property {string | null} golden a folder of fixtures/goldens/families or family-rows, or null: recognised, and
 *   refused by name
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
 * @property {'gelu_new' | 'gelu' | 'silu' | null} [act] where the config does not name one; null: it must be given
 * @property {'silu'} [fixedAct] whatever the config says
 * @property {string | null} [golden] of separate matrices
 */

/** @type {Naming[]} */
export const NAMINGS = [
  {
    family: 'Llama',
    names: { gate: 'gate_proj.weight', up: 'up_proj.weight', down: 'down_proj.weight' },
    golden: 'llama',
  },
  {
    family: 'Mixtral, and Llama as published by Meta',
    names: { gate: 'w1.weight', up: 'w3.weight', down: 'w2.weight' },
    golden: 'mixtral',
  },
  {
    family: 'T5 v1.1',
    names: { gate: 'wi_0.weight', up: 'wi_1.weight', down: 'wo.weight' },
    act: null,
    golden: 't5_gated',
  },
  {
    family: 'Phi-3, GLM-4',
    names: { gateUp: 'gate_up_proj.weight', down: 'down_proj.weight' },
    orders: [
      {
        types: ['phi3', 'phi3_v', 'phi4mm', 'phi4_multimodal'],
        fused: 'up-gate',
        where: /audio/,
        golden: null,
      },
      { types: ['phi3', 'phi3_v', 'phi4mm', 'phi4_multimodal'], fused: 'gate-up', golden: 'phi3' },
      {
        types: ['glm', 'glm4', 'glm4v', 'glm4v_text', 'glm_ocr', 'glm_ocr_text'],
        fused: 'gate-up',
        golden: 'glm',
      },
      { types: ['zamba2'], fused: 'gate-up', golden: null },
    ],
  },
  {
    family: 'ModernBERT',
    names: { gateUp: 'Wi.weight', down: 'Wo.weight' },
    orders: [
      { types: ['modernbert', 'modernbert-decoder'], fused: 'gate-up', golden: 'modernbert' },
    ],
  },
  {
    family: 'stacked experts',
    names: { gateUp: 'gate_up_proj', down: 'down_proj' },
    orders: [
      { types: ['llama4', 'llama4_text'], fused: 'gate-up', transposed: true, golden: 'llama4' },
      { types: ['gpt_oss'], fused: 'interleaved', transposed: true, golden: 'gpt_oss' },
      {
        types: ['mixtral', 'minimax', 'phimoe'],
        fused: 'gate-up',
        golden: null,
      },
      { types: ['gemma4', 'gemma4_text'], fused: 'gate-up', golden: 'gemma4_text' },
    ],
  },
  {
    family: 'Qwen 1',
    names: { gate: 'w2.weight', up: 'w1.weight', down: 'c_proj.weight' },
    golden: null,
  },
  {
    family: 'EXAONE 3',
    names: { gate: 'c_fc_0.weight', up: 'c_fc_1.weight', down: 'c_proj.weight' },
    golden: null,
  },
  {
    family: 'Refact',
    names: { gate: 'linear_1.weight', up: 'linear_3.weight', down: 'c_proj.weight' },
    golden: null,
  },
  {
    family: 'JAIS',
    names: { gate: 'c_fc2.weight', up: 'c_fc.weight', down: 'c_proj.weight' },
    transposed: true,
    golden: null,
  },
  {
    family: 'nomic-bert',
    names: { gate: 'fc12.weight', up: 'fc11.weight', down: 'fc2.weight' },
    golden: 'nomic_bert',
  },
  {
    family: 'LLaDA',
    names: { gate: 'ff_proj.weight', up: 'up_proj.weight', down: 'ff_out.weight' },
    golden: null,
  },
  {
    family: 'Grok 1',
    names: { gate: 'linear.weight', up: 'linear_v.weight', down: 'linear_1.weight' },
    act: 'gelu',
    golden: null,
  },
  {
    family: 'DBRX',
    names: { gate: 'mlp.w1', up: 'mlp.v1', down: 'mlp.w2' },
    types: ['dbrx'],
    expertsByRows: true,
    golden: 'dbrx',
  },
  {
    family: 'ChatGLM',
    names: { gateUp: 'dense_h_to_4h.weight', down: 'dense_4h_to_h.weight' },
    types: ['chatglm'],
    orders: [{ types: ['chatglm'], fused: 'gate-up', golden: null }],
  },
  {
    family: 'OLMo 1, Molmo',
    names: { gateUp: 'ff_proj.weight', down: 'ff_out.weight' },
    orders: [
      {
        types: ['olmo', 'hf_olmo', 'molmo', 'molmo2', 'molmo2_text'],
        fused: 'up-gate',
        golden: null,
      },
    ],
  },
  {
    family: 'GTE',
    names: { gateUp: 'up_gate_proj.weight', down: 'down_proj.weight' },
    orders: [{ types: null, fused: 'up-gate', golden: 'gte' }],
  },
  {
    family: 'jina-bert-v2',
    names: { gateUp: 'gated_layers.weight', down: 'wo.weight' },
    orders: [{ types: null, fused: 'gate-up', golden: null }],
  },
  {
    family: 'jina-bert-v2 code',
    names: { gateUp: 'up_gated_layer.weight', down: 'down_layer.weight' },
    orders: [{ types: null, fused: 'up-gate', golden: null }],
  },
  {
    family: 'ESM-C',
    names: { gateUp: 'ffn.1.weight', down: 'ffn.3.weight' },
    orders: [{ types: null, fused: 'gate-up', golden: null }],
  },
  {
    family: 'OpenELM',
    names: { gateUp: 'proj_1.weight', down: 'proj_2.weight' },
    types: ['openelm'],
    orders: [{ types: ['openelm'], fused: 'gate-up', golden: null }],
  },
  {
    family: 'NeoBERT',
    names: { gateUp: 'w12.weight', down: 'w3.weight' },
    orders: [{ types: null, fused: 'gate-up', golden: null }],
  },
  {
    family: 'DINOv2 giant',
    names: { gateUp: 'weights_in.weight', down: 'weights_out.weight' },
    fixedAct: 'silu',
    orders: [{ types: null, fused: 'gate-up', golden: 'dinov2' }],
  },
  {
    family: 'Granite MoE, JetMoE',
    names: { gateUp: 'input_linear.weight', down: 'output_linear.weight' },
    orders: [{ types: null, fused: 'gate-up', golden: 'granitemoe' }],
  },
  {
    family: 'Moonshine, Moshi',
    names: { gateUp: 'fc1.weight', down: 'fc2.weight' },
    types: ['moonshine', 'moshi', 'kyutai_speech_to_text'],
    orders: [
      { types: ['moonshine'], fused: 'up-gate', where: /decoder/, golden: 'moonshine' },
      { types: ['moshi', 'kyutai_speech_to_text'], fused: 'gate-up', golden: 'moshi' },
    ],
  },
  {
    family: 'Aria experts',
    names: { gateUp: 'fc1.weight', down: 'fc2.weight' },
    fixedAct: 'silu',
    types: ['aria', 'aria_text'],
    orders: [
      { types: ['aria', 'aria_text'], fused: 'gate-up', transposed: true, golden: 'aria_text' },
    ],
  },
  {
    family: 'Inkling',
    names: { gateUp: 'w13_dn.weight', down: 'w2_md.weight' },
    orders: [{ types: null, fused: 'interleaved', golden: null }],
  },
];

/**
 * Families whose formula is not the plain one, although their names are. `applies` decides by config and layer.
 * `types` null: any.
 * @type {{ name: string, formula: string, types: string[] | null, applies: (config: Record<string, unknown>, layer: number | null) => boolean }[]}
 */
export const VARIANTS = [
  {
    name: 'gpt-oss',
    formula: '(clamp(up) + 1) * gate * sigmoid(alpha * gate) with both halves clamped',
    types: ['gpt_oss'],
    applies: () => true,
  },
  {
    name: 'Gemma 3n',
    formula: 'gate <- relu(gate - (mean + std * quantile)) before the activation in sparse layers',
    types: ['gemma3n', 'gemma3n_text'],
    applies: (config, layer) => {
      const pattern = config.activation_sparsity_pattern;
      if (typeof pattern === 'number') return pattern > 0;
      return !Array.isArray(pattern) || layer === null || !(Number(pattern[layer]) === 0);
    },
  },
  {
    name: 'Falcon-H1',
    formula: 'gate and output multiplied by mlp_multipliers',
    types: ['falcon_h1'],
    applies: (config) =>
      !Array.isArray(config.mlp_multipliers) || config.mlp_multipliers.some((m) => Number(m) !== 1),
  },
  {
    name: 'Inkling',
    formula: 'the output multiplied by a learned global_scale',
    types: ['inkling', 'inkling_text', 'inkling_mm_model'],
    applies: () => true,
  },
  {
    name: 'DeepSeek V4',
    formula: 'gate and up clamped before the activation',
    types: ['deepseek_v4'],
    applies: () => true,
  },
  {
    name: 'a config with swiglu_limit (MiniMax M3 and others)',
    formula: 'gate and up clamped before the activation',
    types: null,
    applies: ({ swiglu_limit, swiglu_limits }) => Boolean(swiglu_limit ?? swiglu_limits),
  },
];

/** A norm inside the MLP (BitNet's sub-norm and its like) changes the formula: names relative to the MLP's module. */
export const INNER_NORMS = ['ffn_sub_norm', 'sub_norm', 'ffn_layernorm', 'inner_norm', 'norm'];

/**
 * Quantised schemes, by the tensors that stand beside or in place of a weight. `instead`: there is no plain weight.
 * @type {{ scheme: string, marks: string[] }[]}
 */
export const QUANTISED = [
  { scheme: 'GPTQ or AWQ (qweight, qzeros)', marks: ['qweight', 'qzeros', 'g_idx'] },
  { scheme: 'block FP8 (weight_scale_inv)', marks: ['weight_scale_inv'] },
  {
    scheme: 'compressed-tensors (weight_packed)',
    marks: ['weight_packed', 'weight_shape', 'weight_zero_point'],
  },
  {
    scheme: 'scaled FP8 or INT8 (weight_scale)',
    marks: ['weight_scale', 'weight_scale_2', 'input_scale'],
  },
  {
    scheme: 'bitsandbytes (absmax, quant_map)',
    marks: [
      'weight.absmax',
      'weight.quant_map',
      'weight.nested_absmax',
      'SCB',
      'weight.SCB',
      'weight_format',
    ],
  },
  { scheme: 'MLX (scales, biases)', marks: ['scales', 'biases'] },
  {
    scheme: 'torchao or quanto (_data, _scale)',
    marks: ['weight._data', 'weight._scale', 'weight._packed'],
  },
];

/** Stacked experts in MXFP4: the names end so instead. */
export const MXFP4 = { scheme: 'MXFP4 (_blocks, _scales)', ends: ['_blocks', '_scales'] };

/**
 * Model types whose MLP has no gate.
 * @type {Record<string, string>}
 */
export const NOT_GATED = {
  gpt2: 'GPT-2',
  gpt_neo: 'GPT-Neo',
  gptj: 'GPT-J',
  gpt_neox: 'GPT-NeoX',
  gpt_bigcode: 'StarCoder',
  starcoder2: 'StarCoder 2',
  falcon: 'Falcon',
  bloom: 'BLOOM',
  phi: 'Phi-1 and Phi-2',
  'phi-msft': 'Phi-1 and Phi-2',
  nemotron: 'Nemotron',
  opt: 'OPT',
  mpt: 'MPT',
  bert: 'BERT',
  roberta: 'RoBERTa',
  distilbert: 'DistilBERT',
  electra: 'ELECTRA',
  vit: 'ViT',
  clip: 'CLIP',
  siglip: 'SigLIP',
  whisper: 'Whisper',
  persimmon: 'Persimmon',
  apertus: 'Apertus',
};

/**
 * Names that such MLPs have, for checkpoints without a config: relative to the module.
 * @type {{ family: string, has: string[] }[]}
 */
export const NOT_GATED_NAMES = [
  { family: 'GPT-2', has: ['c_fc.weight', 'c_proj.weight'] },
  { family: 'GPT-NeoX, BLOOM or Falcon', has: ['dense_h_to_4h.weight', 'dense_4h_to_h.weight'] },
  { family: 'Phi-2, OPT or CLIP', has: ['fc1.weight', 'fc2.weight'] },
  { family: 'Nemotron', has: ['up_proj.weight', 'down_proj.weight'] },
  { family: 'GPT-J', has: ['fc_in.weight', 'fc_out.weight'] },
  { family: 'BERT or ViT', has: ['intermediate.dense.weight', 'output.dense.weight'] },
  { family: 'T5 v1.0', has: ['wi.weight', 'wo.weight'] },
];
