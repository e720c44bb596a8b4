// The keys of config.json that say something of an MLP: each is read, in its order, and means what it means in its family. What
// whole checkpoints make of them is in checkpoint and families.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { activationIn, configFor, widthsOf } from '../src/binding/config.js';
import { NAMINGS } from '../src/binding/families.js';

const [PLAIN] = NAMINGS;

/** @param {Record<string, unknown>} config @param {string} [module] */
function activation(config, module = 'model.layers.0.mlp') {
  const { config: part, where, types } = configFor(config, module);
  const { act, source } = activationIn(part, where, types, PLAIN, undefined);
  return [act, source];
}

/** The value of a config at a path, and nothing else in it. @param {string} path @param {unknown} value */
const only = (path, value) =>
  path.split('.').reduceRight((inner, key) => ({ [key]: inner }), value);

test('a part of a model has a config of its own, and its tower no other', () => {
  for (const [key, modules] of /** @type {[string, string[]][]} */ ([
    ['text_config', ['model.layers.0', 'language_model.layers.0']],
    ['llm_config', ['model.layers.0']],
    ['language_config', ['model.layers.0']],
    ['vision_config', ['vision_tower.blocks.0', 'visual.blocks.0', 'model.image_encoder.layers.0']],
    ['audio_config', ['audio_tower.layers.0', 'speech_encoder.layers.0']],
    ['speech_config', ['audio_tower.layers.0', 'speech_encoder.layers.0']],
    ['adapter_config', ['model.vision_backbone.image_projector']],
    ['encoder', ['model.encoder.layers.0', 'encoder.layers.0']],
    ['decoder_config', ['model.decoder.layers.0']],
    ['vlm_config', ['model.vlm.layers.0']],
    ['dit_config', ['model.dit.layers.0']],
  ])) {
    const config = { hidden_act: 'relu', [key]: { model_type: 'part', hidden_act: 'gelu' } };
    for (const module of modules) {
      assert.deepEqual(activation(config, module), ['gelu', `${key}.hidden_act`], module);
      assert.deepEqual(configFor({ model_type: 'whole', ...config }, module).types, [
        'part',
        'whole',
      ]);
    }
    const other = /text|llm|language/.test(key) ? 'visual.blocks.0' : 'model.layers.0';
    const found = /text|llm|language/.test(key) ? ['silu', 'default'] : ['relu', 'hidden_act'];
    assert.deepEqual(activation(config, other), found, `${key}, ${other}`);
  }
});

test('of several keys that name an activation the first that is there counts, in this order', () => {
  const order = [
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
  for (const [i, key] of order.entries()) {
    const later = order.slice(i).map((each) => only(each, each === key ? 'relu' : 'sigmoid'));
    assert.deepEqual(activation(Object.assign({}, ...later.reverse())), ['relu', key]);
  }
});

test('a spelling means what its family means by it', () => {
  for (const [config, act, source] of /** @type {[Record<string, unknown>, string, string][]} */ ([
    [{ model_type: 'gemma', hidden_act: 'gelu' }, 'gelu_tanh', 'hidden_act'],
    [{ model_type: 'gemma2', hidden_act: 'gelu' }, 'gelu', 'hidden_act'],
    [{ model_type: 'gemma3_text' }, 'gelu_tanh', 'family'],
    [{ model_type: 'mpt' }, 'gelu', 'family'],
    [{ model_type: 'mpt2' }, 'silu', 'default'],
    [{ feed_forward_proj: 'gated-gelu' }, 'gelu_tanh', 'feed_forward_proj'],
    [{ feed_forward_proj: 'gated-relu' }, 'relu', 'feed_forward_proj'],
    [{ feed_forward_type: 'geglu', hidden_act: 'silu' }, 'gelu', 'feed_forward_type'],
    [{ feed_forward_type: 'reglu', hidden_act: 'gelu' }, 'relu', 'feed_forward_type'],
    [{ activation_type: 'swiglu' }, 'silu', 'activation_type'],
  ])) {
    assert.deepEqual(activation(config), [act, source], JSON.stringify(config));
  }
  const approximate = (/** @type {string} */ form) => ({
    ffn_config: { ffn_act_fn: { name: 'gelu', approximate: form } },
  });
  const source = 'ffn_config.ffn_act_fn.name';
  assert.deepEqual(activation(approximate('tanh')), ['gelu_tanh', source]);
  assert.deepEqual(activation(approximate('none')), ['gelu', source]);
});

test('widths are read under every name they have, and those computed in ways of a family are not', () => {
  for (const key of ['hidden_size', 'd_model', 'n_embd', 'dim'])
    assert.deepEqual(widthsOf({ [key]: 8 }, ['any']), { d: [8], dFf: [] }, key);
  assert.deepEqual(widthsOf({ dim: 4, hidden_size: 8 }, ['any']).d, [8]);
  for (const key of [
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
  ]) {
    const config = /** @type {Record<string, unknown>} */ (only(key, [12, 20, null, 0]));
    assert.deepEqual(widthsOf(config, ['any']), { d: [], dFf: [12, 20] }, key);
  }
  for (const type of [
    'qwen molmo neobert arctic lfm2 lfm2_moe gemma4 gemma4_text openelm moshi exaone dinov2',
    'dinov2_with_registers deci nemotron-nas recurrent_gemma',
  ].flatMap((line) => line.split(' ')))
    assert.deepEqual(
      widthsOf({ hidden_size: 8, intermediate_size: 12 }, ['any', type]),
      { d: [], dFf: [] },
      type,
    );
  assert.deepEqual(widthsOf({ hidden_size: 8 }, []), { d: [], dFf: [] });
});

test('what a caller says comes first, then what a row of the table has, and a row may ask for it', () => {
  const config = { hidden_act: 'gelu' };
  const found = (/** @type {typeof PLAIN} */ naming, /** @type {string | undefined} */ given) => {
    const { act, source, error } = activationIn(config, '', [], naming, given);
    return [act, source, error];
  };
  const fixed = { ...PLAIN, fixedAct: /** @type {const} */ ('quick_gelu') };
  assert.deepEqual(found(fixed, 'swish'), ['silu', 'option', null]);
  assert.deepEqual(found(fixed, undefined), ['quick_gelu', 'family', null]);
  const asking = activationIn({}, '', [], { ...PLAIN, act: null }, undefined);
  assert.deepEqual([asking.act, asking.source], [null, 'default']);
  assert.equal(asking.error?.code, 'ERR_ACTIVATION');
});
