// Faults that tests must notice: small patches to the sources, each with the test that has to fail when it is in.
// `find` stands exactly once in `file`; `test` is a file of tests/ and `title` the whole title of one of its tests.

/**
 * @typedef {object} Fault
 * @property {string} name what a user would suffer from
 * @property {string} file
 * @property {string} find
 * @property {string} replace
 * @property {string} test
 * @property {string} title
 */

const FORWARD = { test: 'goldens.test.js', title: "llama_odd_bias: forward is Hugging Face's" };
const GRADIENTS = {
  test: 'gradients.test.js',
  title: "llama_odd_bias: every gradient is Hugging Face's",
};

const NORM_FORWARD = {
  test: 'goldens.test.js',
  title: "bitnet_quiet: forward is Hugging Face's",
};
const NORM_DEFINED = {
  test: 'variants.test.js',
  title:
    'a normed MLP: its trace has hidden before the norm, and its outputs are those of the definition',
};

/** The nine that nobody sees until the output is fluent garbage: `npm test` runs them. @type {Fault[]} */
export const NAMED_FAULTS = [
  {
    name: 'activation on up instead of gate',
    file: 'src/core/gated_mlp.c',
    find: 'units_project(s->gate, s->up,',
    replace: 'units_project(s->up, s->gate,',
    ...FORWARD,
  },
  {
    name: 'exact GELU for GeGLU',
    file: 'src/binding/activations.js',
    find: "gelu_pytorch_tanh: 'gelu_tanh'",
    replace: "gelu_pytorch_tanh: 'gelu'",
    test: 'goldens.test.js',
    title: "gemma_odd_wide: forward is Hugging Face's",
  },
  {
    name: 'd_ff rounded down',
    file: 'src/core/ffn_dim.c',
    find: '((int64_t)width + multiple - 1) / multiple',
    replace: '(int64_t)width / multiple',
    test: 'ffn-dim.test.js',
    title: 'the widths of published models come out',
  },
  {
    name: 'activation of the product',
    file: 'src/core/gated_mlp.c',
    find: '    units_activate(act, gate, call, block, panel);\n',
    replace: `    for (int32_t i = 0; i < hidden->rows * PANEL; i++) {
        act[i] *= up[i];
        up[i] = 1;
    }
    units_activate(act, gate, call, block, panel);
`,
    ...FORWARD,
  },
  {
    name: 'up drawn before gate',
    file: 'src/core/exports.c',
    find: 'status = init_linear(mlp_linear(m, i), rng, row);',
    replace: 'status = init_linear(mlp_linear(m, i == 2 ? 2 : 1 - i), rng, row);',
    test: 'initialization.test.js',
    title: 'without a generator a layer is that of PCG32(0)',
  },
  {
    name: 'down bias dropped',
    file: 'src/core/gated_mlp.c',
    find: 'const int has_bias = down->bias != NULL &&',
    replace: 'const int has_bias = down->bias == NULL &&',
    ...FORWARD,
  },
  {
    name: 'ffn_dim_multiplier ignored',
    file: 'src/core/ffn_dim.c',
    find: 'width = multiplier * width;',
    replace: 'width += 0 * multiplier;',
    test: 'ffn-dim.test.js',
    title: 'the widths of published models come out',
  },
  {
    name: 'up treated as a constant in backward',
    file: 'src/core/gated_mlp_backward.c',
    find: 'v_store(s->d_hidden + i, d_hidden * v_load(s->act + i));',
    replace: 'v_store(s->d_hidden + i, v_splat(0) * v_load(s->act + i));',
    ...GRADIENTS,
  },
  {
    name: 'a fresh generator for the last layer',
    file: 'src/core/exports.c',
    find: 'status = init_linear(mlp_linear(m, i), rng, row);',
    replace: `pcg32 fresh;
        pcg32_seed(&fresh, 0, 0);
        status = init_linear(mlp_linear(m, i), i == 2 ? &fresh : rng, row);`,
    test: 'initialization.test.js',
    title: 'without a generator a layer is that of PCG32(0)',
  },
];

/** @type {Fault[]} */
export const OTHER_FAULTS = [
  {
    name: 'every slice adds the down bias',
    file: 'src/core/gated_mlp.c',
    find: ' && o->unit_begin == 0 && o->unit_end > 0;',
    replace: ';',
    test: 'slices.test.js',
    title:
      'the down bias is added, and its gradient given, by the slice with unit 0 and by no other',
  },
  {
    name: 'weight gradients of a later block of tokens overwrite those of the first (= for +=)',
    file: 'src/core/gemm.c',
    find: 'tile_nx8(to + j, ldc, a + i, PANEL, &strip, rows, depth, !accumulate);',
    replace: 'tile_nx8(to + j, ldc, a + i, PANEL, &strip, rows, depth, 1);',
    test: 'reference.test.js',
    title: "d 23, dFf 41, 129 tokens, none: output and gradients are the reference's",
  },
  {
    name: 'bias gradients overwrite (= for +=)',
    file: 'src/core/tile.c',
    find: 'sums[j + i] += scale * block[i];',
    replace: 'sums[j + i] = scale * block[i];',
    test: 'reference.test.js',
    title: "d 6, dFf 5, 257 tokens, silu, biases: output and gradients are the reference's",
  },
  {
    name: 'the lanes after the last whole vector are dropped',
    file: 'src/core/activation.c',
    find: '    if (whole < n) {\n',
    replace: '    if (whole < 0) {\n',
    test: 'fused-products.test.js',
    title: 'siluMul of 7 elements, forward and backward',
  },
  {
    name: 'down_proj is read transposed',
    file: 'src/binding/state-dict.js',
    find: 'rowStride: cols,\n        colStride: 1,',
    replace:
      "rowStride: parameter === 'down_proj.weight' ? 1 : cols,\n        colStride: parameter === 'down_proj.weight' ? rows : 1,",
    ...FORWARD,
  },
  {
    name: 'F16 subnormals are taken for zeros',
    file: 'src/core/store.h',
    find: 'return (vreal)moved * v_splat(0x1p112f);',
    replace:
      'return (vreal)(moved & (vbits)((moved & bits_splat(0x0f800000u)) != bits_splat(0))) * v_splat(0x1p112f);',
    test: 'held-dtypes.test.js',
    title: 'a forward with float16 weights computes from exactly these numbers, subnormal ones too',
  },
  {
    name: 'what scratch held before is taken for results',
    file: 'src/core/gemm.c',
    find: '    }\n    memset(tile, 0,',
    replace: '    }\n    memset(tile, 0, 0 *',
    test: 'slices.test.js',
    title: 'an empty slice gives zeros, whatever the call before it left in scratch',
  },
  {
    name: 'a seed is cut to 32 bits',
    file: 'src/binding/pcg32.js',
    find: "typeof value === 'bigint') return u64(value);",
    replace: "typeof value === 'bigint') return BigInt.asUintN(32, value);",
    test: 'initialization.test.js',
    title: "seed 4294967296, stream 0: the sequence is Python's",
  },
  {
    name: 'a generator that is passed in is not advanced',
    file: 'src/binding/pcg32.js',
    find: 'this.#state = u64(draw([this.#state, this.#increment]));',
    replace: 'draw([this.#state, this.#increment]);',
    test: 'initialization.test.js',
    title:
      "d 5, d_ff 7 with biases, seed 0, stream 0: every initial bit is Python's, and a second layer goes on where the first ended",
  },
  {
    name: 'a held gate still passes a gradient',
    file: 'src/core/units.c',
    find: 'derivative ? 0 : hold->value',
    replace: 'derivative ? 1 : hold->value',
    test: 'gradcheck.test.js',
    title: 'silu: backward of a trace with held gates takes them as constants',
  },
  {
    name: 'a hold of one token holds them all',
    file: 'src/core/units.c',
    find: 'hold->token == -1 || hold->token == block->token + r',
    replace: 'hold->token >= -1 || hold->token == block->token + r',
    test: 'closed-gates.test.js',
    title: 'a trace with holds on any cells is the forward of the definition with those cells set',
  },
  {
    name: 'gpt-oss clamps up from above alone',
    file: 'src/core/variants.c',
    find: ': up[i] < -limit ? -limit : up[i]',
    replace: ': up[i]',
    test: 'families.test.js',
    title: 'gpt_oss: layer 0, expert 0 from its folder',
  },
  {
    name: "a sparse gate's deviation is taken as a constant",
    file: 'src/core/variants.c',
    find: '(1 + slope)',
    replace: '(1 + 0 * slope)',
    test: 'gradients.test.js',
    title: "gemma3n_layer0: every gradient is Hugging Face's",
  },
  {
    name: "a norm's weight is left out",
    file: 'src/core/sub_norm.c',
    find: 'tile[i] *= weights[i % PANEL];',
    replace: 'tile[i] *= 1 + 0 * weights[i % PANEL];',
    ...NORM_FORWARD,
  },
  {
    name: "a norm's eps is left out",
    file: 'src/core/sub_norm.c',
    find: 'sum / m->d_ff + (double)m->norm_eps',
    replace: 'sum / m->d_ff + 0 * (double)m->norm_eps',
    ...NORM_FORWARD,
  },
  {
    name: "a norm's eps is added to the root",
    file: 'src/core/sub_norm.c',
    find: '1 / sqrt(sum / m->d_ff + (double)m->norm_eps)',
    replace: '1 / (sqrt(sum / m->d_ff) + (double)m->norm_eps)',
    ...NORM_FORWARD,
  },
  {
    name: "a norm's mean is over d",
    file: 'src/core/sub_norm.c',
    find: 'sqrt(sum / m->d_ff',
    replace: 'sqrt(sum / m->d',
    ...NORM_FORWARD,
  },
  {
    name: "a norm's mean is over whole panels",
    file: 'src/core/sub_norm.c',
    find: 'sqrt(sum / m->d_ff',
    replace: 'sqrt(sum / (panel_count(m->d_ff) * PANEL)',
    ...NORM_FORWARD,
  },
  {
    name: "what lies beyond the last unit counts in a norm's mean",
    file: 'src/core/sub_norm.c',
    find: 'min_i32(PANEL, m->d_ff - panel * PANEL);',
    replace: 'PANEL + 0 * (m->d_ff - panel);',
    ...NORM_DEFINED,
  },
  {
    name: "a slice's norm is that of its own units",
    file: 'src/core/units.c',
    find: 'is_normed(call->mlp) ? (span){0, call->mlp->d_ff} : slice_of(call);',
    replace: 'slice_of(call);',
    ...NORM_DEFINED,
  },
  {
    name: 'the down bias is divided by the norm, too',
    file: 'src/core/gated_mlp.c',
    find: `            scale_rows(tile, scales, hidden->rows);
        }
        if (has_bias) {
            add_bias(tile, down->bias + p * PANEL, hidden->rows, columns);
        }`,
    replace: `            if (has_bias) {
                add_bias(tile, down->bias + p * PANEL, hidden->rows, columns);
            }
            scale_rows(tile, scales, hidden->rows);
        } else if (has_bias) {
            add_bias(tile, down->bias + p * PANEL, hidden->rows, columns);
        }`,
    ...NORM_DEFINED,
  },
  {
    name: 'the trace shows hidden after the norm',
    file: 'src/core/gated_mlp.c',
    find: '    units_clear_outside(act, units_in_slice(call, panel), hidden->rows);\n',
    replace: `    units_clear_outside(act, units_in_slice(call, panel), hidden->rows);
    keep(call->record.hidden, act, call, block, panel);
`,
    ...NORM_DEFINED,
  },
  {
    name: 'a norm is taken as a constant in backward',
    file: 'src/core/sub_norm.c',
    find: 'weighed - pull * value',
    replace: 'weighed - 0 * pull * value',
    test: 'gradients.test.js',
    title: "bitnet: every gradient is Hugging Face's",
  },
  {
    name: "an expert's weight is ignored",
    file: 'src/core/gemm.c',
    find: 'const vreal value = v_splat(scale) * v_load(tile + j);',
    replace: 'const vreal value = scale == 0 ? v_splat(0) : v_load(tile + j);',
    test: 'experts.test.js',
    title: 'layer 0, token by token: each chosen expert adds its weighted output to what is there',
  },
  {
    name: 'the second block of 256 terms replaces the first',
    file: 'src/core/gemm.c',
    find: 'with_sum(v_load(before + j * LANES), sums.of[i][j])',
    replace: 'with_sum(0 * v_load(before + j * LANES), sums.of[i][j])',
    test: 'reference.test.js',
    title: "d 257, dFf 34, 6 tokens, relu, biases: output and gradients are the reference's",
  },
  {
    name: 'x gets its gradient through up alone',
    file: 'src/core/gated_mlp_backward.c',
    find: '&d_up, &m->up_proj, p, begin, end, 1, s->strip);',
    replace: '&d_up, &m->up_proj, p, begin, end, 0, s->strip);',
    ...GRADIENTS,
  },
  {
    name: "the gate's derivative is that of another activation than the trace's",
    file: 'src/core/units.c',
    find: 'activation_derivative(slope, gate, call->options.activation,',
    replace: 'activation_derivative(slope, gate, m->activation,',
    test: 'gradcheck.test.js',
    title: 'a trace with another activation than silu: backward differentiates that one',
  },
  {
    name: 'NaN is taken for a closed gate',
    file: 'src/core/activation.h',
    find: 'return v_select(z > v_splat(highest), z, held / (e + unshift) * unshift);',
    replace:
      'return v_select(z == z, v_select(z > v_splat(highest), z, held / (e + unshift) * unshift), v_splat(0));',
    test: 'goldens.test.js',
    title: "llama_one_nan_token: the trace shows Hugging Face's gate, act, up and hidden",
  },
  {
    name: 'BF16 is cut off instead of rounded',
    file: 'src/core/convert.c',
    find: '(significand + (1ull << (shift - 1)) - 1 + lowest_kept) >> shift',
    replace: '(significand + 0 * lowest_kept) >> shift',
    test: 'held-dtypes.test.js',
    title: 'float32 weights come out as bfloat16 rounded to nearest even',
  },
  {
    name: 'a fused gate_up_proj gives up to gate and gate to up',
    file: 'src/binding/state-dict.js',
    find: `{ parameter: \`gate_proj.\${kind}\`, base: 0 },
        { parameter: \`up_proj.\${kind}\`,`,
    replace: `{ parameter: \`up_proj.\${kind}\`, base: 0 },
        { parameter: \`gate_proj.\${kind}\`,`,
    test: 'parameters.test.js',
    title: 'a fused gate_up_proj stands for gate and up, gate first',
  },
  {
    name: 'out is overwritten where it should be added to',
    file: 'src/binding/gated-mlp.js',
    find: 'if (accumulate) wasm.putReals(y, yAt);',
    replace: 'if (!accumulate) wasm.putReals(y, yAt);',
    test: 'experts.test.js',
    title: 'layer 0, token by token: each chosen expert adds its weighted output to what is there',
  },
  {
    name: 'the record of later tokens is read from the first block',
    file: 'src/core/gated_mlp_backward.c',
    find: 'record + (size_t)block->token * d_ff + (size_t)(panel * PANEL);',
    replace: 'record + (size_t)block->token * 0 + (size_t)(panel * PANEL);',
    test: 'native.test.js',
    title: 'tests/native/test_gradients.c in float32 passes under ASan and UBSan',
  },
  {
    name: 'a view of memory outlives its growth',
    file: 'src/binding/wasm.js',
    find: 'if (this.#bytes.buffer !== buffer) {',
    replace: 'if (this.dtypes.size === 0) {',
    test: 'real-gradients.test.js',
    title: 'layer 5, english: the gradient for x is that of float64',
  },
  {
    name: 'silu and its derivative lose what is below -10',
    file: 'src/core/activation.h',
    find: '#define LOWEST_SILU          (-109.5f)',
    replace: '#define LOWEST_SILU          (-10.0f)',
    test: 'activation.test.js',
    title: 'silu, gelu_tanh, gelu and their derivatives keep their bounds on every 4099th float32',
  },
  {
    name: 'a vector is loaded past the end of a buffer',
    file: 'src/core/simd.h',
    find: `    if (count >= LANES) {
        return v_load(p);`,
    replace: `    if (count > 0) {
        return v_load(p);`,
    test: 'native.test.js',
    title: 'tests/native/test_activation.c in float32 passes under ASan and UBSan',
  },
];
