// The table of families against the goldens: no row, order or model type in it without one, and none whose shapes tell what the
// table should. Then where the goldens' activations were read, and every mark and type that tells of something else than the
// plain formula.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configFor, modelTypes } from '../src/binding/config.js';
import { orderOf } from '../src/binding/describe.js';
import { NAMINGS } from '../src/binding/families.js';
import { GatedMLP, openCheckpoint, Runtime } from '../src/binding/index.js';
import { findGroups } from '../src/binding/scan.js';
import { files, goldens, rows } from './helpers/family-goldens.js';
import { parseSafetensors, tensor } from './helpers/goldens.js';
import { llamaTensors, makeSafetensors } from './helpers/make-safetensors.js';

const runtime = await Runtime.create();

/** @param {string} family */
function configOf(family) {
  const bytes = files[`/${family}/config.json`];
  return bytes ? JSON.parse(bytes.toString()) : null;
}

/** Types that a table row names and no golden has: the same body under another name, inside a larger model, or in an older file. */
const SAME_BODY = new Map([
  ['aria', 'aria_text'],
  ['clvp', 'clvp_encoder'],
  ['gemma4', 'gemma4_text'],
  ['glm4v', 'glm4'],
  ['glm4v_text', 'glm4'],
  ['glm_ocr', 'glm_ocr_text'],
  ['inkling_text', 'inkling_mm_model'],
  ['llama4', 'llama4_text'],
  ['minimax_m3_vl', 'minimax_m3_vl_text'],
  ['molmo2_text', 'molmo2'],
  ['olmo', 'hf_olmo'],
  ['phi3_v', 'phi3'],
  ['phi4mm', 'phi4_multimodal'],
  ['phi4_multimodal_audio', 'phi4_multimodal'],
]);

test('where an activation was read is said, in whatever words a family puts it', async () => {
  /** @type {Record<string, [string, string]>} */
  const expected = {
    qwen: ['silu', 'default'],
    exaone: ['silu', 'activation_function'],
    jais: ['silu', 'activation_function'],
    llada: ['silu', 'activation_type'],
    olmo_1: ['silu', 'activation_type'],
    openelm: ['silu', 'activation_fn_name'],
    neobert: ['silu', 'family'],
    esmc_own: ['silu', 'family'],
    grok_1: ['gelu_tanh', 'family'],
    mpt_glu: ['gelu', 'family'],
    mpt_glu_tanh: ['gelu_tanh', 'ffn_config.ffn_act_fn.name'],
    jina_bert_v2: ['gelu', 'feed_forward_type'],
    jina_bert_v2_code: ['relu', 'feed_forward_type'],
    molmo2: ['silu', 'text_config.hidden_act'],
    molmo2_projector: ['silu', 'adapter_config.hidden_act'],
    dinov2: ['silu', 'family'],
  };
  for (const [family, found] of Object.entries(expected)) {
    const model = files[`/${family}/model.safetensors`];
    const { mlps } = await openCheckpoint(model, { runtime, config: configOf(family) });
    for (const { act, actSource } of mlps) assert.deepEqual([act, actSource], found, family);
  }
});

/** Every group of tensors in the goldens that is a gated MLP, with its config. */
function* groupsOfGoldens() {
  for (const { family } of [...goldens, ...rows]) {
    const config = configOf(family);
    const tensors = parseSafetensors(files[`/${family}/model.safetensors`]);
    for (const group of findGroups(tensors.keys(), modelTypes(config))) {
      const { types } = configFor(config, group.module);
      const order = orderOf(group.naming, types, group.module);
      yield {
        ...group,
        tensors,
        types,
        order: order && (group.naming.orders ?? []).indexOf(order),
      };
    }
  }
}

/** @typedef {import('../src/binding/families.js').Naming} Naming */
/** @param {Naming} naming @param {number} [order] @param {string} [type] */
const rowName = ({ family, names }, order = 0, type = '') =>
  [family, names.down, order, SAME_BODY.get(type) ?? type].join();

test('every row of the table, every order in it and every model type it names has a golden of its own', () => {
  const rest = new Set(
    NAMINGS.flatMap((naming) =>
      (naming.orders ?? [{ types: null }]).flatMap(({ types }, order) =>
        (types ?? ['']).map((type) => rowName(naming, order, type)),
      ),
    ),
  );
  for (const { naming, order, types } of groupsOfGoldens()) {
    const named = naming.orders?.[order ?? 0].types;
    for (const type of named ? types : ['']) rest.delete(rowName(naming, order, type));
  }
  assert.deepEqual([...rest], []);
});

test('every order of a fused matrix has a golden whose d is twice its dFf, where no shape tells halves or axes', () => {
  const rest = new Set(
    NAMINGS.flatMap((naming) => (naming.orders ?? []).map((_, order) => rowName(naming, order))),
  );
  // Its hidden width is at least two thirds of d.
  rest.delete(rowName(/** @type {Naming} */ (NAMINGS.find((n) => /DINOv2/.test(n.family)))));
  for (const { naming, order, names, tensors } of groupsOfGoldens()) {
    if (order === undefined) continue;
    const [rows, columns] = tensor(tensors, names.gateUp).shape.slice(-2);
    if (rows === columns) rest.delete(rowName(naming, order));
  }
  assert.deepEqual([...rest], []);
});

const MODULE = 'model.layers.0.mlp';
const llama = llamaTensors(MODULE, 8, 12);
/** @param {Record<string, import('./helpers/make-safetensors.js').FileTensor>} tensors @param {Record<string, unknown>} [config] */
const load = async (tensors, config) =>
  GatedMLP.fromPretrained(makeSafetensors(tensors), { runtime, config });

for (const [scheme, marks] of /** @type {[RegExp, string][]} */ ([
  [/GPTQ or AWQ/, 'qweight qzeros'],
  [/block FP8/, 'weight_scale_inv'],
  [/compressed-tensors/, 'weight_packed'],
  [/scaled FP8 or INT8/, 'weight_scale input_scale'],
  [/bitsandbytes/, 'weight.absmax SCB weight.SCB'],
  [/MLX/, 'scales biases'],
  [/torchao or quanto/, 'weight._data weight._scale'],
])) {
  for (const mark of marks.split(' ')) {
    test(`${mark} tells quantised weights by itself, beside one of them and in place of all`, async () => {
      const codes = { dtype: 'U8', shape: [4], data: new Uint8Array(4) };
      const beside = { ...llama, [`${MODULE}.down_proj.${mark}`]: codes };
      for (const tensors of [beside, { [`${MODULE}.up_proj.${mark}`]: codes }]) {
        await assert.rejects(load(tensors), { code: 'ERR_UNSUPPORTED', message: scheme });
      }
    });
  }
}

test('a norm inside an MLP is none of the plain formula, under any of its names', async () => {
  for (const name of [
    'ffn_sub_norm',
    'sub_norm',
    'ffn_layernorm',
    'ffn_ln',
    'inner_norm',
    'norm',
  ]) {
    const norm = { dtype: 'F32', shape: [12], data: new Uint8Array(48) };
    const error = {
      code: 'ERR_UNSUPPORTED',
      message: new RegExp(`mlp\\.?: ${name}\\.weight, a norm`),
    };
    await assert.rejects(load({ ...llama, [`${MODULE}.${name}.weight`]: norm }), error);
  }
});

test('what a family computes besides goes by every model type it has', async () => {
  const limited = { limit: 7, upShift: 1 };
  for (const [types, config, variant, act] of /** @type {const} */ ([
    ['gpt_oss openai_privacy_filter', {}, limited, 'quick_gelu'],
    ['minimax_m3_vl minimax_m3_vl_text', {}, limited, 'quick_gelu'],
    ['gemma3n gemma3n_text', { activation_sparsity_pattern: 0.5 }, { sparsity: 0.5 }, 'gelu_tanh'],
    ['deepseek_v4', {}, { limit: 10 }, 'silu'],
    ['falcon_h1 llama', {}, null, 'silu'],
  ])) {
    for (const model_type of types.split(' ')) {
      const mlp = await load(llama, { model_type, ...config });
      assert.deepEqual([mlp.variant, mlp.act], [variant, act], model_type);
      mlp.dispose();
    }
  }
});
