// What must never be read as the weights of a gated MLP, and is refused by its name: quantised schemes, families without a
// gate, formulas that are not the plain one, fused matrices whose order nobody has said.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatedMLP, openCheckpoint, Runtime } from '../src/binding/index.js';
import { failure } from './helpers/failure.js';
import { llamaTensors, makeSafetensors, pattern } from './helpers/make-safetensors.js';

/** @typedef {import('./helpers/make-safetensors.js').FileTensor} FileTensor */
/** @typedef {Record<string, FileTensor>} Tensors */
/** @typedef {Parameters<typeof GatedMLP.fromPretrained>[1]} LoadOptions */

const runtime = await Runtime.create();
const [D, F] = [8, 12];
const MODULE = 'model.layers.0.mlp';
const llama = llamaTensors(MODULE, D, F);

/** @param {number[]} shape @param {string} [dtype] @param {number} [bytes] an element @returns {FileTensor} */
const filled = (shape, dtype = 'F32', bytes = 4) => ({
  dtype,
  shape,
  data: new Uint8Array(new Float32Array(shape.reduce((n, m) => n * m, bytes / 4)).fill(0.5).buffer),
});
/** @param {number} length @returns {FileTensor} */
const codes = (length) => ({ dtype: 'U8', shape: [length], data: pattern(length) });

/** @param {Tensors} tensors @param {Record<string, unknown> | undefined} [config] @param {LoadOptions} [options] */
const load = (tensors, config, options = {}) =>
  GatedMLP.fromPretrained(makeSafetensors(tensors), { runtime, config, ...options });

/** Tensors beside or in place of each weight. @param {string[]} marks @param {boolean} keep whether the weight stays */
const marked = (marks, keep) =>
  Object.fromEntries(
    Object.entries(llama).flatMap(([name, tensor]) => [
      ...(keep ? [[name, tensor]] : []),
      ...marks.map((mark) => [name.replace(/weight$/, mark), codes(4)]),
    ]),
  );

for (const [scheme, marks, keep] of /** @type {[RegExp, string[], boolean][]} */ ([
  [/GPTQ or AWQ/, ['qweight', 'qzeros', 'scales', 'g_idx'], false],
  [/block FP8 \(weight_scale_inv\)/, ['weight_scale_inv'], true],
  [/compressed-tensors/, ['weight_packed', 'weight_scale', 'weight_shape'], false],
  [/scaled FP8 or INT8/, ['weight_scale'], true],
  [/scaled FP8 or INT8/, ['input_scale', 'weight_scale'], true],
  [
    /bitsandbytes/,
    ['weight.absmax', 'weight.quant_map', 'weight.quant_state.bitsandbytes__nf4'],
    true,
  ],
  [/bitsandbytes/, ['SCB'], true],
  [/MLX/, ['scales', 'biases'], true],
  [/quanto/, ['weight._data', 'weight._scale'], false],
])) {
  test(`quantised weights (${marks.join(', ')}) are refused by the name of their scheme`, async () => {
    const error = await failure(load(marked(marks, keep)));
    assert.equal(error.code, 'ERR_UNSUPPORTED');
    assert.match(error.message, scheme);
  });
}

/** The stacked experts of one layer, of Gemma 4 or a Mixtral as transformers saves it. @param {string} [dtype] @param {number} [bytes] @returns {Tensors} */
const stacked = (dtype, bytes) => ({
  [`${MODULE}.experts.gate_up_proj`]: filled([2, 2 * F, D], dtype, bytes),
  [`${MODULE}.experts.down_proj`]: filled([2, D, F], dtype, bytes),
});

for (const [scheme, end] of /** @type {[RegExp, string][]} */ ([
  [/block FP8 \(weight_scale_inv\)/, '_scale_inv'],
  [/scaled FP8 or INT8/, '_scale'],
  [/scaled FP8 or INT8/, '_weight_scale'],
  [/scaled FP8 or INT8/, '_input_scale'],
  [/bitsandbytes/, '.absmax'],
])) {
  for (const matrix of ['gate_up_proj', 'down_proj']) {
    test(`stacked experts in FP8 or less are refused by the scale that stands beside them (${matrix}${end})`, async () => {
      const config = { model_type: 'mixtral' };
      const plain = stacked('F8_E4M3', 1);
      assert.equal((await load(plain, config, { expert: 1 })).dFf, F);
      const scale = { [`${MODULE}.experts.${matrix}${end}`]: filled([2, 1, 1]) };
      const error = await failure(load({ ...plain, ...scale }, config, { expert: 1 }));
      assert.equal(error.code, 'ERR_UNSUPPORTED');
      assert.match(error.message, scheme);
    });
  }
}

test('experts in MXFP4 are refused by the name of their scheme', async () => {
  const names = [
    'gate_up_proj_blocks',
    'gate_up_proj_scales',
    'down_proj_blocks',
    'down_proj_scales',
  ];
  const tensors = Object.fromEntries(
    names.map((name) => [`model.layers.0.mlp.experts.${name}`, codes(4)]),
  );
  const error = await failure(load(tensors, { model_type: 'gpt_oss' }));
  assert.equal(error.code, 'ERR_UNSUPPORTED');
  assert.match(error.message, /MXFP4/);
});

for (const [type, family, names] of /** @type {[string, RegExp, string[]][]} */ ([
  ['gpt2', /GPT-2/, ['h.0.mlp.c_fc.weight', 'h.0.mlp.c_proj.weight']],
  [
    'gpt_neox',
    /GPT-NeoX/,
    ['gpt_neox.layers.0.mlp.dense_h_to_4h.weight', 'gpt_neox.layers.0.mlp.dense_4h_to_h.weight'],
  ],
  ['bloom', /BLOOM/, ['h.0.mlp.dense_h_to_4h.weight', 'h.0.mlp.dense_4h_to_h.weight']],
  [
    'falcon',
    /Falcon/,
    ['transformer.h.0.mlp.dense_h_to_4h.weight', 'transformer.h.0.mlp.dense_4h_to_h.weight'],
  ],
  ['phi', /Phi-2/, ['model.layers.0.mlp.fc1.weight', 'model.layers.0.mlp.fc2.weight']],
  [
    'nemotron',
    /Nemotron/,
    ['model.layers.0.mlp.up_proj.weight', 'model.layers.0.mlp.down_proj.weight'],
  ],
  ['opt', /OPT/, ['model.decoder.layers.0.fc1.weight', 'model.decoder.layers.0.fc2.weight']],
  [
    'bert',
    /BERT/,
    ['encoder.layer.0.intermediate.dense.weight', 'encoder.layer.0.output.dense.weight'],
  ],
  [
    'vit',
    /ViT/,
    ['encoder.layer.0.intermediate.dense.weight', 'encoder.layer.0.output.dense.weight'],
  ],
  [
    'starcoder2',
    /StarCoder/,
    ['model.layers.0.mlp.c_fc.weight', 'model.layers.0.mlp.c_proj.weight'],
  ],
])) {
  test(`${type} has no gate, and is refused by name with a config and without one`, async () => {
    const tensors = Object.fromEntries(names.map((name) => [name, filled([2, 2])]));
    const named = await failure(load(tensors, { model_type: type }));
    assert.equal(named.code, 'ERR_UNSUPPORTED');
    assert.match(named.message, new RegExp(`it is a "${type}", a family whose MLP has no gate`));
    const unnamed = await failure(load(tensors));
    assert.equal(unnamed.code, 'ERR_UNSUPPORTED');
    assert.match(unnamed.message, family);
    assert.match(unnamed.message, /whose MLP has no gate/);
  });
}

test('a checkpoint of something else entirely says what it has instead', async () => {
  const error = await failure(load({ 'conv1.weight': filled([2, 2]) }));
  assert.equal(error.code, 'ERR_TENSOR_MISSING');
  assert.match(error.message, /none of its 1 tensors \(conv1\.weight, \.\.\.\)/);
});

for (const [
  what,
  config,
  extra,
  words,
] of /** @type {[string, Record<string, unknown>, Tensors, RegExp][]} */ ([
  [
    'Gemma 3n with a sparsity pattern that ends before the layer',
    { model_type: 'gemma3n_text', activation_sparsity_pattern: [] },
    {},
    /: Gemma 3n computes sparse gates by an activation_sparsity_pattern, which says nothing of this layer: not/,
  ],
  [
    'gpt-oss with another swiglu_alpha',
    { model_type: 'gpt_oss', swiglu_alpha: 1.5 },
    {},
    /gpt-oss or MiniMax M3 computes another sigmoid/,
  ],
  [
    'Falcon-H1 with multipliers that are none',
    { model_type: 'falcon_h1', mlp_multipliers: [0.5] },
    {},
    /Falcon-H1/,
  ],
  [
    'Step 3.7 with limits of its shared experts alone',
    { model_type: 'step3p7', swiglu_limits: null, swiglu_limits_shared: [16] },
    {},
    /Step 3\.7/,
  ],
  ...[null, 'one'].map((gate) => [
    `Falcon-H1 with a multiplier that is ${gate}`,
    { model_type: 'falcon_h1', mlp_multipliers: [gate, 1] },
    {},
    /: Falcon-H1 computes products with its mlp_multipliers, which are not two numbers: not/,
  ]),
  [
    'Falcon-H1 with a third multiplier',
    { model_type: 'falcon_h1', mlp_multipliers: [1, 1, 1] },
    {},
    /Falcon-H1/,
  ],
  ...['glm5_next', 'glm5_next_text', 'glm5_next_vision', 'hy_v4'].map((model_type) => [
    `${model_type}, whose config leaves its limit to its class,`,
    { model_type },
    {},
    /GLM-5 Next or HY V4 computes a clamped gate and up/,
  ]),
  [
    'a list of limits beside a limit of 0',
    { model_type: 'step3p7', swiglu_limit: 0, swiglu_limits: [7] },
    {},
    /Step 3\.7/,
  ],
  [
    'a text model whose limit is at the root of the config',
    { model_type: 'brand_new', swiglu_limit: 7, text_config: { model_type: 'brand_new_text' } },
    {},
    /swiglu_limit/,
  ],
  [
    'any family with a swiglu_limit',
    { model_type: 'brand_new', swiglu_limit: 7 },
    {},
    /swiglu_limit/,
  ],
  [
    "BitNet's norm in another family",
    { model_type: 'llama' },
    { [`${MODULE}.ffn_sub_norm.weight`]: filled([F]) },
    /ffn_sub_norm\.weight, a norm before down_proj, as of BitNet \(pass its \{ config \}\)/,
  ],
  [
    'BitNet with yet another norm',
    { model_type: 'bitnet' },
    {
      [`${MODULE}.ffn_sub_norm.weight`]: filled([F]),
      [`${MODULE}.ffn_layernorm.weight`]: filled([F]),
    },
    /ffn_layernorm\.weight, a norm inside the MLP/,
  ],
])) {
  test(`${what} is not the plain formula, and is refused by name`, async () => {
    const error = await failure(load({ ...llama, ...extra }, config));
    assert.equal(error.code, 'ERR_UNSUPPORTED');
    assert.match(error.message, words);
    assert.match(error.message, /not the plain formula/);
  });
}

test("BitNet's norm is read with its matrices, its eps from the config; saved without one it is refused, not read as plain", async () => {
  const norm = `${MODULE}.ffn_sub_norm.weight`;
  const bitnet = { ...llama, [norm]: filled([F]) };
  const config = { model_type: 'bitnet', hidden_act: 'relu2', rms_norm_eps: 0.5 };
  const mlp = await load(bitnet, config);
  assert.deepEqual([mlp.variant, mlp.act], [{ normEps: 0.5 }, 'relu2']);
  assert.ok(/** @type {{ tensors: string[] }} */ (mlp.source).tensors.includes(norm));
  const { mlps } = await openCheckpoint(makeSafetensors(bitnet), { runtime, config });
  assert.equal(mlps[0].byteLength, 4 * mlp.numParameters);
  assert.deepEqual((await load(bitnet, { model_type: 'bitnet' })).variant, { normEps: 1e-5 });
  const file = mlp.toSafetensors();
  const again = await GatedMLP.fromPretrained(file, { runtime, config });
  assert.deepEqual(again.stateDict(), mlp.stateDict());
  const x = Float32Array.from({ length: D }, (_, i) => i - 3);
  assert.deepEqual(again.forward(x), mlp.forward(x));
  const error = await failure(GatedMLP.fromPretrained(file, { runtime }));
  assert.equal(error.code, 'ERR_UNSUPPORTED');
  assert.match(error.message, /ffn_sub_norm\.weight, a norm before down_proj/);
});

test('BitNet whose eps is no number is refused, and one whose eps is negative is not loaded', async () => {
  const tensors = { ...llama, [`${MODULE}.ffn_sub_norm.weight`]: filled([F]) };
  for (const rms_norm_eps of [null, '1e-5', [1e-5]]) {
    const error = await failure(load(tensors, { model_type: 'bitnet', rms_norm_eps }));
    assert.equal(error.code, 'ERR_UNSUPPORTED');
    assert.match(error.message, /BitNet computes a norm whose rms_norm_eps is no number/);
  }
  const negative = await failure(load(tensors, { model_type: 'bitnet', rms_norm_eps: -1e-5 }));
  assert.equal(negative.code, 'ERR_SHAPE');
  assert.match(negative.message, /^variant: .*-0\.00001/);
});

test('BitNet whose norm is missing, of another width or of no floats is refused by the name of that tensor', async () => {
  const name = `${MODULE}.ffn_sub_norm.weight`;
  for (const norm of /** @type {Tensors[]} */ ([
    {},
    { [name]: filled([D]) },
    { [name]: filled([F, 1]) },
    { [name]: codes(F) },
  ])) {
    const error = await failure(load({ ...llama, ...norm }, { model_type: 'bitnet' }));
    assert.equal(error.code, 'ERR_UNSUPPORTED');
    assert.match(
      error.message,
      /ffn_sub_norm\.weight \S+ \[.*\]: not \[12\] of floats, or not there/,
    );
  }
});

test('weights that are made ternary as the model runs are refused by their quantization_config, of whatever family', async () => {
  const quantization_config = { quant_method: 'bitnet', quantization_mode: 'online' };
  for (const model_type of ['bitnet', 'llama']) {
    const tensors = { ...llama, [`${MODULE}.ffn_sub_norm.weight`]: filled([F]) };
    const error = await failure(load(tensors, { model_type, quantization_config }));
    assert.equal(error.code, 'ERR_UNSUPPORTED');
    assert.match(error.message, /quantised weights, BitNet \(quantization_config\)/);
  }
  for (const other of [null, {}, 'bitnet', { quant_method: 'none' }]) {
    const config = { model_type: 'llama', quantization_config: other };
    assert.equal((await load(llama, config)).variant, null);
  }
});

test('a sparse layer of Gemma 3n, and gpt-oss and DeepSeek V4 with limits of their own, are what they compute', async () => {
  const sparse = { model_type: 'gemma3n_text', activation_sparsity_pattern: [0.9] };
  assert.deepEqual((await load(llama, sparse)).variant, { sparsity: 0.9 });
  const limited = await load(llama, { model_type: 'gpt_oss', swiglu_limit: 5 });
  assert.deepEqual([limited.variant, limited.act], [{ limit: 5, upShift: 1 }, 'quick_gelu']);
  const clamped = await load(llama, { model_type: 'deepseek_v4', swiglu_limit: 5 });
  assert.deepEqual([clamped.variant, clamped.act], [{ limit: 5 }, 'silu']);
});

test("a limit at the root of a config is the text model's, and no other tower's", async () => {
  const config = { model_type: 'brand_new', swiglu_limit: 7, vision_config: {}, text_config: {} };
  const vision = llamaTensors('vision_tower.layers.0.mlp', D, F);
  assert.equal((await load(vision, config)).variant, null);
  assert.equal((await load(llama, { ...config, swiglu_limit: 0 })).variant, null);
});

test('a dense layer of Gemma 3n and a Falcon-H1 without multipliers are the plain formula', async () => {
  assert.equal(
    (await load(llama, { model_type: 'gemma3n_text', activation_sparsity_pattern: [0] })).act,
    'gelu_tanh',
  );
  assert.equal((await load(llama, { model_type: 'falcon_h1', mlp_multipliers: [1, 1] })).dFf, F);
});

/** A fused layer, [2F, D] unless said otherwise. @param {number[]} [shape] @returns {Tensors} */
const fusedLayer = (shape = [2 * F, D]) => ({
  [`${MODULE}.gate_up_proj.weight`]: filled(shape),
  [`${MODULE}.down_proj.weight`]: filled([D, F]),
});

for (const config of [undefined, { model_type: 'brand_new' }]) {
  test(`a fused matrix ${config ? 'of an unknown family' : 'without a config'} is an error that asks for its order`, async () => {
    const error = await failure(load(fusedLayer(), config));
    assert.equal(error.code, 'ERR_UNSUPPORTED');
    assert.match(
      error.message,
      /gate_up_proj\.weight.*Pass \{ fused: 'gate-up' \| 'up-gate' \| 'interleaved', transposed: boolean \}/s,
    );
    const told = await load(fusedLayer(), config, { fused: 'up-gate', transposed: false });
    assert.equal(told.dFf, F);
  });
}

test("matrices at ESM-C's places in a sequence are read as its own below its prefix only, and elsewhere ask for their order", async () => {
  const at = (/** @type {string} */ module) => ({
    [`${module}.ffn.1.weight`]: filled([2 * F, D]),
    [`${module}.ffn.3.weight`]: filled([D, F]),
  });
  const config = { model_type: 'brand_new', hidden_act: 'gelu' };
  const own = await load(at('transformer.blocks.0'), config);
  assert.deepEqual([own.act, own.source?.actSource], ['silu', 'family']);
  for (const module of ['encoder.blocks.0', 'transformer.blocks.0.inner', 'mytransformer.blocks.0'])
    for (const each of [undefined, config]) {
      const error = await failure(load(at(module), each));
      assert.equal(error.code, 'ERR_UNSUPPORTED');
      assert.match(error.message, /ffn\.1\.weight.*Pass \{ fused: .*, transposed: boolean \}/s);
    }
  const told = await load(at('encoder.blocks.0'), config, { fused: 'up-gate', transposed: false });
  assert.deepEqual([told.act, told.source?.actSource], ['gelu', 'hidden_act']);
});

test('experts of gpt-oss without a config are refused, not computed by the plain formula, however they are said to be stored', async () => {
  const stack = `${MODULE}.experts`;
  const tensors = {
    [`${stack}.gate_up_proj`]: filled([2, D, 2 * F]),
    [`${stack}.gate_up_proj_bias`]: filled([2, 2 * F]),
    [`${stack}.down_proj`]: filled([2, F, D]),
    [`${stack}.down_proj_bias`]: filled([2, D]),
  };
  /** @type {LoadOptions} */
  const stored = { expert: 0, fused: 'interleaved', transposed: true };
  const error = await failure(load(tensors, undefined, stored));
  assert.equal(error.code, 'ERR_UNSUPPORTED');
  assert.match(
    error.message,
    /gate_up_proj_bias, .* as gpt-oss has them \(pass its \{ config \}\)/,
  );
  const told = await load(tensors, { model_type: 'gpt_oss' }, stored);
  assert.deepEqual(told.variant, { limit: 7, upShift: 1 });
});

test('an adapter that does not fit its block, or is not there whole, is refused with all shapes', async () => {
  const config = { model_type: 'zamba2', hybrid_layer_ids: [0], hidden_act: 'gelu' };
  const list = `${MODULE}.gate_up_proj_adapter_list.0`;
  const rank = 2;
  const first = filled([rank, D]);
  for (const second of [filled([2 * F, rank + 1]), filled([F, rank]), null]) {
    /** @type {Tensors} */
    const tensors = { ...fusedLayer(), [`${list}.0.weight`]: first };
    if (second) tensors[`${list}.1.weight`] = second;
    const error = await failure(load(tensors, config));
    assert.equal(error.code, 'ERR_UNSUPPORTED');
    assert.match(error.message, /0\.0\.weight \[2,8\], .*0\.1\.weight \[.*\]: not the adapter of/);
  }
  const tensors = { [`${list}.0.weight`]: first, [`${list}.1.weight`]: filled([2 * F, rank]) };
  assert.equal((await load({ ...fusedLayer(), ...tensors }, config)).dtype, 'float32');
  const nameless = { model_type: 'zamba2', hidden_act: 'gelu' };
  const error = await failure(load({ ...fusedLayer(), ...tensors }, nameless));
  assert.match(error.message, /adapters of each layer that shares these weights/);
});

test('a list of layers that share a block is read as far as a model has layers', async () => {
  let read = 0;
  const handler = {
    /** @param {number[]} list @param {string | symbol} key */
    get(list, key) {
      if (/^\d+$/.test(String(key))) read += 1;
      return Reflect.get(list, key);
    },
  };
  const config = { hybrid_layer_ids: new Proxy(Array(1_000_000).fill(1), handler) };
  const { mlps } = await openCheckpoint(makeSafetensors(llama), { runtime, config });
  assert.equal(mlps.length, 1);
  assert.ok(read <= 1000, `${read} entries`);
});

test("Phi-4's audio tower is up-first in spite of its name, its text gate-first", async () => {
  const audio = Object.fromEntries(
    Object.entries(fusedLayer()).map(([name, t]) => [
      name.replace('model.layers', 'audio_embed.layers'),
      t,
    ]),
  );
  const config = { model_type: 'phi4_multimodal', audio_config: { activation: 'swish' } };
  const file = makeSafetensors({ ...audio, ...fusedLayer() });
  const { mlps } = await openCheckpoint(file, { runtime, config });
  assert.deepEqual(
    mlps.map(({ fused, act, actSource, refusal }) => [fused, act, actSource, refusal]),
    [
      ['up-gate', 'silu', 'audio_config.activation', null],
      ['gate-up', 'silu', 'default', null],
    ],
  );
});

test('the activation of a part of a model is that of its own config, also of a text model within it', async () => {
  const activation = (/** @type {string} */ name) => ({ hidden_activation: name });
  const config = {
    model_type: 'pi0',
    dit_config: activation('gelu_pytorch_tanh'),
    vlm_config: { text_config: activation('relu'), ...activation('quick_gelu') },
    decoder: activation('relu2'),
    encoder_config: activation('gelu'),
    vision_config: activation('sigmoid'),
  };
  for (const [module, act, source] of [
    ['model.dit.layers.0.mlp', 'gelu_tanh', 'dit_config.hidden_activation'],
    ['model.vlm.language_model.layers.0.mlp', 'relu', 'vlm_config.text_config.hidden_activation'],
    ['model.decoder.layers.0.mlp', 'relu2', 'decoder.hidden_activation'],
    ['model.encoder.layers.0.mlp', 'gelu', 'encoder_config.hidden_activation'],
    ['model.encoder.vision_tower.layers.0.mlp', 'sigmoid', 'vision_config.hidden_activation'],
    ['model.audio.encoder.layers.0.mlp', 'silu', 'default'],
    ['model.layers.0.mlp', 'silu', 'default'],
  ]) {
    const mlp = await load(llamaTensors(module, D, F), config);
    assert.deepEqual([mlp.act, mlp.source?.actSource], [act, source], module);
    mlp.dispose();
  }
});

test('gate and up never follow from shapes: the order told is the order taken, also where d is 2 dFf', async () => {
  const [d, f] = [8, 4];
  const values = Float32Array.from({ length: 2 * f * d }, (_, i) => i);
  const fused = { dtype: 'F32', shape: [2 * f, d], data: new Uint8Array(values.buffer) };
  const tensors = {
    [`${MODULE}.gate_up_proj.weight`]: fused,
    [`${MODULE}.down_proj.weight`]: filled([d, f]),
  };
  const at = (/** @type {number} */ row, /** @type {number} */ col) => values[row * d + col];
  for (const [order, transposed, gate] of /** @type {const} */ ([
    ['gate-up', false, (/** @type {number} */ r, /** @type {number} */ c) => at(r, c)],
    ['up-gate', false, (/** @type {number} */ r, /** @type {number} */ c) => at(f + r, c)],
    ['interleaved', false, (/** @type {number} */ r, /** @type {number} */ c) => at(2 * r, c)],
    ['gate-up', true, (/** @type {number} */ r, /** @type {number} */ c) => at(c, r)],
    ['up-gate', true, (/** @type {number} */ r, /** @type {number} */ c) => at(c, f + r)],
    ['interleaved', true, (/** @type {number} */ r, /** @type {number} */ c) => at(c, 2 * r)],
  ])) {
    const down = transposed ? filled([f, d]) : filled([d, f]);
    const mlp = await load({ ...tensors, [`${MODULE}.down_proj.weight`]: down }, undefined, {
      fused: order,
      transposed,
    });
    const [, { data }] = [...mlp.namedParameters()].find(
      ([name]) => name === 'gate_proj.weight',
    ) ?? ['', { data: [] }];
    for (let r = 0; r < f; r++)
      for (let c = 0; c < d; c++)
        assert.equal(data[r * d + c], gate(r, c), `${order} ${transposed}`);
  }
});

test('shapes that contradict the table or each other are refused, and all are shown', async () => {
  const error = await failure(load(fusedLayer([D, 2 * F]), { model_type: 'phi3' }));
  assert.equal(error.code, 'ERR_SHAPE');
  assert.match(
    error.message,
    /gate_up_proj\.weight \[8,24\].*down_proj\.weight \[8,12\].*gate-up matrices/,
  );
  const odd = await failure(load({ ...llama, [`${MODULE}.up_proj.weight`]: filled([F + 1, D]) }));
  assert.equal(odd.code, 'ERR_SHAPE');
});

test('a bias that does not fit its matrix is refused with the shape that would, never left out', async () => {
  const stack = `${MODULE}.experts`;
  const mixtral = { model_type: 'mixtral' };
  for (const [tensors, bias, shape, right, config] of /** @type {const} */ ([
    [llama, `${MODULE}.gate_proj.bias`, [D], '12', undefined],
    [llama, `${MODULE}.up_proj.bias`, [1, F], '12', undefined],
    [llama, `${MODULE}.down_proj.bias`, [F], '8', undefined],
    [fusedLayer(), `${MODULE}.gate_up_proj.bias`, [F], '24', { model_type: 'phi3' }],
    [stacked(), `${stack}.gate_up_proj_bias`, [2 * F], '2,24', mixtral],
    [stacked(), `${stack}.down_proj_bias`, [2, F], '2,8', mixtral],
  ])) {
    const file = { .../** @type {Tensors} */ (tensors), [bias]: filled([...shape]) };
    const error = await failure(load(file, config, config === mixtral ? { expert: 0 } : {}));
    assert.equal(error.code, 'ERR_SHAPE');
    const matrix = bias.replace('.bias', '.weight').replace('_bias', '');
    assert.equal(error.message, `${bias} [${shape}]: the bias of ${matrix} would be [${right}]`);
  }
});

test("biases of DBRX's experts lie one below the other as their matrices do, or are refused", async () => {
  const ffn = 'transformer.blocks.0.ffn.experts.mlp';
  const tensors = Object.fromEntries(
    ['w1', 'v1', 'w2'].map((name) => [`${ffn}.${name}`, filled([2 * F, D])]),
  );
  const config = { model_type: 'dbrx', ffn_config: { moe_num_experts: 2 } };
  assert.equal((await load(tensors, config, { expert: 1 })).bias, false);
  const values = Float32Array.from({ length: 2 * F }, (_, i) => i);
  const bias = { dtype: 'F32', shape: [2 * F], data: new Uint8Array(values.buffer) };
  const mlp = await load({ ...tensors, [`${ffn}.v1_bias`]: bias }, config, { expert: 1 });
  const { data } = Object.fromEntries(mlp.namedParameters())['up_proj.bias'];
  assert.deepEqual(data, values.slice(F));
  const odd = { ...tensors, [`${ffn}.w2_bias`]: bias };
  const error = await failure(load(odd, config, { expert: 1 }));
  assert.equal(error.code, 'ERR_SHAPE');
  assert.match(error.message, /w2_bias \[2,12\]: the bias of .*w2 would be \[2,8\]/);
});

test('a learned scale that is not one number, or of none of the loadable dtypes, is refused by its name', async () => {
  for (const [scale, words] of /** @type {const} */ ([
    [filled([2]), /global_scale F32 \[2\]: not \[1\] of floats/],
    [codes(1), /global_scale U8 \[1\]: not \[1\] of floats/],
  ])) {
    const error = await failure(load({ ...llama, [`${MODULE}.global_scale`]: scale }));
    assert.equal(error.code, 'ERR_UNSUPPORTED');
    assert.match(error.message, words);
  }
});

test('a block with the adapter of any layer, however many share it, is not read as plain without its config', async () => {
  for (const i of [0, 4, 200]) {
    const adapter = { [`${MODULE}.gate_up_proj_adapter_list.${i}.0.weight`]: filled([2, D]) };
    /** @type {LoadOptions} */
    const stored = { fused: 'gate-up', transposed: false };
    const error = await failure(load({ ...fusedLayer(), ...adapter }, undefined, stored));
    assert.equal(error.code, 'ERR_UNSUPPORTED');
    assert.match(
      error.message,
      new RegExp(`adapter_list\\.${i}\\.0\\.weight, adapters of each layer`),
    );
  }
});

test("Molmo 2's projector between two widths is no MLP of one, and its shapes say so", async () => {
  const module = 'model.vision_backbone.image_projector';
  const projector = {
    [`${module}.w1.weight`]: filled([F, 2 * D]),
    [`${module}.w3.weight`]: filled([F, 2 * D]),
    [`${module}.w2.weight`]: filled([D, F]),
  };
  const error = await failure(load(projector, { model_type: 'molmo2' }));
  assert.equal(error.code, 'ERR_SHAPE');
  assert.match(error.message, /w1\.weight \[12,16\].*w2\.weight \[8,12\].*do not fit/);
});

test('elements that no MLP can be computed from are refused by their dtype, and still can be read', async () => {
  const integers = Object.fromEntries(
    Object.entries(llama).map(([name, t]) => [name, { ...t, dtype: 'I32' }]),
  );
  const error = await failure(load(integers));
  assert.equal(error.code, 'ERR_DTYPE');
  assert.match(error.message, /I32.*F32/s);
  const checkpoint = await openCheckpoint(makeSafetensors(integers), { runtime });
  assert.equal((await checkpoint.read(`${MODULE}.up_proj.weight`)).dtype, 'I32');
});

test('an activation that nobody knows is refused with the place it came from', async () => {
  const error = await failure(load(llama, { model_type: 'llama', hidden_act: 'xielu' }));
  assert.equal(error.code, 'ERR_ACTIVATION');
  assert.match(error.message, /config\.json hidden_act.*"xielu"/);
});

test('a stack of more experts than anybody makes is refused, however little of the file they take', async () => {
  for (const experts of [4097, 2 ** 31, 2 ** 53]) {
    const empty = { dtype: 'F32', shape: [experts, 0, 0], data: new Uint8Array(0) };
    const stack = `${MODULE}.experts`;
    const tensors = { [`${stack}.gate_up_proj`]: empty, [`${stack}.down_proj`]: empty };
    const file = makeSafetensors(tensors);
    const checkpoint = await openCheckpoint(file, {
      runtime,
      config: { model_type: 'gemma4_text' },
    });
    assert.equal(checkpoint.mlps.length, 1);
    assert.match(String(checkpoint.mlps[0].refusal), /shapes that do not fit/);
    await assert.rejects(GatedMLP.fromCheckpoint(checkpoint), { code: 'ERR_SHAPE' });
  }
});

test('a URL with nothing behind it, or that cannot be decoded, is an error of this package', async () => {
  for (const [url, code] of [
    ['blob:nodedata:00000000-0000-0000-0000-000000000000', 'ERR_HTTP'],
    ['data:;base64,@@@', 'ERR_HTTP'],
    ['http://127.0.0.1:9/a%zz.index.json', 'ERR_UNSUPPORTED'],
  ]) {
    await assert.rejects(openCheckpoint(url, { runtime }), { name: 'GatedMLPError', code });
  }
});
