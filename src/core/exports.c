/* The wasm boundary: the one file that knows about exports, and the one that allocates.
 *
 * The binding (src/binding/wasm.js) passes offsets into linear memory and plain numbers; everything of substance is in
 * the other files. EXPORT marks what leaves the module, and build.sh reads the list of exports from these lines.
 * A function that can fail returns a gated_mlp_status, or a pointer that is 0 when memory is not to be had.
 */
#include "gated_mlp.h"

#include "convert.h"
#include "safetensors.h"
#include "team.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT(name)         __attribute__((used, visibility("default")))
#define EXPORT_THREADS(name) EXPORT(name) /* in the builds with shared memory only */

/* ---------------------------------------------------------------------------------------- memory */

/* emmalloc grows the heap by sbrk, whose step is signed: a block of 2 GiB or more, emmalloc's own bookkeeping included,
 * would move the heap's end backwards and hand out memory that is in use. */
#define LARGEST_BLOCK ((uint64_t)PTRDIFF_MAX - 2 * GATED_MLP_PAGE)

/* malloc promises 8 bytes here: the block's own address is kept just before it. */
static void *alloc_at(uint32_t alignment, uint64_t bytes) {
    if (bytes > LARGEST_BLOCK) {
        return NULL;
    }
    char *block = malloc((size_t)bytes + alignment + sizeof(void *));
    if (block == NULL) {
        return NULL;
    }
    uintptr_t at = (uintptr_t)block + sizeof(void *) + alignment - 1;
    char *aligned = block + (at / alignment * alignment - (uintptr_t)block);
    memcpy(aligned - sizeof block, &block, sizeof block);
    return aligned;
}

EXPORT(memory_alloc) void *memory_alloc(uint64_t bytes) {
    return alloc_at(GATED_MLP_ALIGN, bytes);
}

EXPORT(memory_free) void memory_free(void *pointer) {
    if (pointer != NULL) {
        void *block;
        memcpy(&block, (char *)pointer - sizeof block, sizeof block);
        free(block);
    }
}

/* Scratch of the kernels: one block, grown when a call needs more and then kept. Calls never overlap. */
static void *scratch_block;
static uint64_t scratch_bytes;

static void *scratch(uint64_t bytes) {
    if (bytes == 0) {
        return NULL;
    }
    if (bytes > scratch_bytes) {
        memory_free(scratch_block);
        scratch_block = memory_alloc(bytes);
        scratch_bytes = scratch_block == NULL ? 0 : bytes;
    }
    return scratch_block;
}

/* ---------------------------------------------------------------------------------------- tables */

EXPORT(real_bytes) int32_t real_bytes(void) {
    return (int32_t)sizeof(real);
}

/* 1 in the build for engines with relaxed SIMD. */
EXPORT(relaxed_simd) int32_t relaxed_simd(void) {
#ifdef __wasm_relaxed_simd__
    return 1;
#else
    return 0;
#endif
}

/* Name of an element type as a C string, or NULL past the end of the table. */
EXPORT(dtype_name) const char *dtype_name(int32_t code) {
    static const char *const names[] = {
#define X(name, bits) #name,
        ALL_DTYPES(X)
#undef X
    };
    return code >= 0 && code < DTYPE_COUNT ? names[code] : NULL;
}

EXPORT(dtype_bits) int32_t dtype_bits(int32_t code) {
    static const int32_t widths[] = {
#define X(name, bits) bits,
        ALL_DTYPES(X)
#undef X
    };
    return code >= 0 && code < DTYPE_COUNT ? widths[code] : 0;
}

/* 1 if weights can be made from elements of this type. */
EXPORT(dtype_loadable) int32_t dtype_loadable(int32_t code) {
    return convert_source_bytes(code) != 0;
}

EXPORT(activation_name) const char *activation_name(int32_t code) {
    static const char *const names[] = {
#define X(name) #name,
        GATED_MLP_ACTIVATIONS(X)
#undef X
    };
    return code >= 0 && code < ACT_COUNT ? names[code] : NULL;
}

/* ---------------------------------------------------------------------------------------- linear */

/* Parameters lie in whole pages, so that each begins one. */
static uint64_t aligned(uint64_t bytes) {
    return (bytes + GATED_MLP_PAGE - 1) / GATED_MLP_PAGE * GATED_MLP_PAGE;
}

/* Bytes of the packed weight and the bias; 0 where linear_weight_bytes is. */
static uint64_t parameter_bytes(int32_t out, int32_t in, int32_t dtype, int32_t bias) {
    uint64_t weight = linear_weight_bytes(out, in, dtype);
    return weight == 0 ? 0 : aligned(weight) + (bias ? aligned((uint64_t)out * sizeof(real)) : 0);
}

static linear place_linear(int32_t out, int32_t in, int32_t dtype, int32_t bias, char **at) {
    linear l = {out, in, linear_layout(dtype), *at, NULL};
    *at += aligned(linear_weight_bytes(out, in, dtype));
    if (bias) {
        l.bias = (real *)(void *)*at;
        memset(l.bias, 0, (size_t)out * sizeof(real));
        *at += aligned((uint64_t)out * sizeof(real));
    }
    linear_clear_padding(&l);
    return l;
}

/* Memory a linear will take in all; 0 where its sizes or dtype are not valid. */
EXPORT(linear_bytes) uint64_t linear_bytes(int32_t out, int32_t in, int32_t dtype, int32_t bias) {
    uint64_t parameters = parameter_bytes(out, in, dtype, bias);
    return parameters == 0 ? 0 : aligned(sizeof(linear)) + parameters;
}

/* A linear with all parameters zero, in one block: memory_free gives it back. NULL: no memory, or sizes or a dtype that
 * are not valid. */
EXPORT(linear_create) linear *linear_create(int32_t out, int32_t in, int32_t dtype, int32_t bias) {
    const uint64_t bytes = linear_bytes(out, in, dtype, bias);
    linear *l = bytes == 0 ? NULL : alloc_at(GATED_MLP_PAGE, bytes);
    if (l != NULL) {
        char *at = (char *)l + aligned(sizeof *l);
        *l = place_linear(out, in, dtype, bias, &at);
        linear_clear(l);
    }
    return l;
}

EXPORT(linear_set) gated_mlp_status linear_set(linear *l, int32_t row0, int32_t rows, int32_t col0,
                                               int32_t cols, const void *src, int32_t src_dtype,
                                               int64_t row_stride, int64_t col_stride) {
    return linear_set_block(l, row0, rows, col0, cols, src, src_dtype, row_stride, col_stride);
}

EXPORT(linear_get) gated_mlp_status linear_get(void *dst, int32_t dst_dtype, const linear *l,
                                               int32_t row0, int32_t rows) {
    return linear_get_rows(dst, dst_dtype, l, row0, rows);
}

/* bias[i0 + i] = src[i * stride], rounded to the dtype the weight is held in, as the whole module would be; where that
 * is block-quantised, biases are not. */
EXPORT(linear_set_bias) gated_mlp_status linear_set_bias(linear *l, int32_t i0, int32_t n,
                                                         const void *src, int32_t src_dtype,
                                                         int64_t stride) {
    int32_t step = convert_source_bytes(src_dtype);
    if (step == 0) {
        return GATED_MLP_ERR_DTYPE;
    }
    if (l->bias == NULL || i0 < 0 || n < 0 || n > l->out_features - i0) {
        return GATED_MLP_ERR_SHAPE;
    }
    int32_t dtype = convert_target_bytes(l->dtype) != 0 ? l->dtype : DTYPE_REAL;
    for (int32_t i = 0; i < n; i++) {
        double value;
        char held[sizeof value];
        convert_decode(&value, (const char *)src + i * stride * step, step, src_dtype, 1);
        convert_encode(held, 0, dtype, &value, 1);
        convert_decode(&value, held, 0, dtype, 1);
        l->bias[i0 + i] = (real)value;
    }
    return GATED_MLP_OK;
}

/* The bias [out_features] in dst_dtype: the weight's, or DTYPE_REAL. */
EXPORT(linear_get_bias) gated_mlp_status linear_get_bias(void *dst, int32_t dst_dtype,
                                                         const linear *l) {
    int32_t step = convert_target_bytes(dst_dtype);
    if (step == 0 || l->bias == NULL) {
        return step == 0 ? GATED_MLP_ERR_DTYPE : GATED_MLP_ERR_SHAPE;
    }
    for (int32_t i = 0; i < l->out_features; i++) {
        double value = (double)l->bias[i];
        convert_encode((char *)dst + (int64_t)i * step, step, dst_dtype, &value, 1);
    }
    return GATED_MLP_OK;
}

EXPORT(linear_run) gated_mlp_status linear_run(real *y, const real *x, const linear *l,
                                               int32_t tokens) {
    uint64_t bytes = linear_scratch_bytes(l->out_features, l->in_features, tokens);
    void *work = scratch(bytes);
    return bytes > 0 && work == NULL ? GATED_MLP_ERR_MEMORY : linear_forward(y, x, l, tokens, work);
}

/* ---------------------------------------------------------------------------------------- gated MLP */

/* How the weight of a norm is held where the others are held as dtype, like a bias. */
static int32_t norm_dtype(int32_t dtype) {
    return convert_target_bytes(dtype) != 0 ? dtype : DTYPE_F32;
}

/* Memory a gated MLP will take in all; 0 where its sizes or dtype are not valid. */
EXPORT(mlp_bytes) uint64_t mlp_bytes(int32_t d, int32_t d_ff, int32_t dtype, int32_t bias,
                                     int32_t norm) {
    uint64_t gate = parameter_bytes(d_ff, d, dtype, bias);
    uint64_t down = parameter_bytes(d, d_ff, dtype, bias);
    uint64_t weight = norm ? parameter_bytes(d_ff, 1, norm_dtype(dtype), 0) : 0;
    return gate == 0 || down == 0 ? 0 : aligned(sizeof(gated_mlp)) + 2 * gate + down + weight;
}

/* A gated MLP in one block, its biases zero, its weights still to be set: memory_free gives it back. NULL: no memory,
 * or sizes or a dtype that are not valid. */
EXPORT(mlp_create) gated_mlp *mlp_create(int32_t d, int32_t d_ff, int32_t activation, int32_t dtype,
                                         int32_t bias, int32_t norm) {
    const uint64_t bytes = mlp_bytes(d, d_ff, dtype, bias, norm);
    gated_mlp *m = bytes == 0 ? NULL : alloc_at(GATED_MLP_PAGE, bytes);
    if (m != NULL) {
        char *at = (char *)m + aligned(sizeof *m);
        *m = (gated_mlp){.d = d, .d_ff = d_ff, .activation = activation};
        m->gate_proj = place_linear(d_ff, d, dtype, bias, &at);
        m->up_proj = place_linear(d_ff, d, dtype, bias, &at);
        m->down_proj = place_linear(d, d_ff, dtype, bias, &at);
        if (norm) {
            m->ffn_sub_norm = place_linear(d_ff, 1, norm_dtype(dtype), 0, &at);
        }
    }
    return m;
}

/* What is not plain about its formula; see struct gated_mlp. */
EXPORT(mlp_vary) void mlp_vary(gated_mlp *m, real limit, real up_shift, int32_t sparse, real cutoff,
                               real norm_eps) {
    m->limit = limit;
    m->up_shift = up_shift;
    m->sparse = sparse;
    m->cutoff = cutoff;
    m->norm_eps = norm_eps;
}

/* which: 0 gate_proj, 1 up_proj, 2 down_proj, 3 ffn_sub_norm */
EXPORT(mlp_linear) linear *mlp_linear(gated_mlp *m, int32_t which) {
    return which == 0   ? &m->gate_proj
           : which == 1 ? &m->up_proj
           : which == 2 ? &m->down_proj
                        : &m->ffn_sub_norm;
}

/* nn.Linear's default initialization, row by row, weight then bias; row has room for in_features floats. */
static gated_mlp_status init_linear(linear *l, pcg32 *rng, float *row) {
    for (int32_t r = 0; r < l->out_features; r++) {
        pcg32_fill_linear(row, l->in_features, l->in_features, rng);
        gated_mlp_status status =
            linear_set_block(l, r, 1, 0, l->in_features, row, DTYPE_F32, l->in_features, 1);
        if (status != GATED_MLP_OK) {
            return status;
        }
    }
    for (int32_t r = 0; l->bias != NULL && r < l->out_features; r++) {
        pcg32_fill_linear(row, 1, l->in_features, rng);
        linear_set_bias(l, r, 1, row, DTYPE_F32, 1);
    }
    return GATED_MLP_OK;
}

/* Draws gate, up and down from one generator, which is left where the last draw ended. A norm's weight is ones. */
EXPORT(mlp_init) gated_mlp_status mlp_init(gated_mlp *m, pcg32 *rng) {
    uint64_t widest = (uint64_t)(m->d > m->d_ff ? m->d : m->d_ff);
    float *row = scratch(widest * sizeof *row);
    if (row == NULL) {
        return GATED_MLP_ERR_MEMORY;
    }
    gated_mlp_status status = GATED_MLP_OK;
    for (int32_t i = 0; status == GATED_MLP_OK && i < 3; i++) {
        status = init_linear(mlp_linear(m, i), rng, row);
    }
    if (status == GATED_MLP_OK && m->ffn_sub_norm.weight != NULL) {
        const float one = 1;
        status = linear_set_block(&m->ffn_sub_norm, 0, m->d_ff, 0, 1, &one, DTYPE_F32, 0, 0);
    }
    return status;
}

static gated_mlp_options options_of(int32_t unit_begin, int32_t unit_end, real scale,
                                    int32_t accumulate, int32_t activation,
                                    const gated_mlp_hold *holds, int32_t hold_count) {
    return (gated_mlp_options){unit_begin, unit_end, scale,     accumulate,
                               activation, holds,    hold_count};
}

EXPORT(mlp_forward) gated_mlp_status mlp_forward(real *y, const real *x, const gated_mlp *m,
                                                 int32_t tokens, int32_t unit_begin,
                                                 int32_t unit_end, real scale, int32_t accumulate,
                                                 int32_t activation, const gated_mlp_hold *holds,
                                                 int32_t hold_count,
                                                 const gated_mlp_record *record) {
    gated_mlp_options options =
        options_of(unit_begin, unit_end, scale, accumulate, activation, holds, hold_count);
    uint64_t bytes = gated_mlp_forward_scratch_bytes(m, tokens);
    void *work = scratch(bytes);
    if (bytes > 0 && work == NULL) {
        return GATED_MLP_ERR_MEMORY;
    }
    return gated_mlp_forward(y, x, m, tokens, &options, record, work);
}

#ifdef __wasm_atomics__

/* The team of threads, see team.h; its scratch is kept as the other is. */

static void *team_scratch;
static uint64_t team_scratch_bytes;

EXPORT_THREADS(team_opened) const uint32_t *team_opened(void) {
    return team_stage_word();
}

EXPORT_THREADS(team_serve) void team_serve(int32_t thread) {
    team_work(thread);
}

/* Begins a forward for `threads` threads, numbers 0 to threads - 1: the workers are at it from now on. The arguments must
 * stay until it is done; before that another is refused, with GATED_MLP_ERR_MEMORY: there is no room for two. */
EXPORT_THREADS(team_begin)
gated_mlp_status team_begin(real *y, const real *x, const gated_mlp *m, int32_t tokens,
                            int32_t unit_begin, int32_t unit_end, real scale, int32_t accumulate,
                            int32_t threads) {
    if (!team_is_idle()) {
        return GATED_MLP_ERR_MEMORY;
    }
    const uint64_t bytes = gated_mlp_job_scratch_bytes(m, tokens, threads);
    if (bytes > team_scratch_bytes) {
        memory_free(team_scratch);
        team_scratch = memory_alloc(bytes);
        team_scratch_bytes = team_scratch == NULL ? 0 : bytes;
    }
    if (bytes == 0 || bytes > team_scratch_bytes) {
        return GATED_MLP_ERR_MEMORY;
    }
    const gated_mlp_options options =
        options_of(unit_begin, unit_end, scale, accumulate, -1, NULL, 0);
    gated_mlp_job job;
    const gated_mlp_status status =
        gated_mlp_job_begin(&job, y, x, m, tokens, &options, NULL, team_scratch, threads);
    if (status == GATED_MLP_OK) {
        team_start(&job);
    }
    return status;
}

/* The same, waited for by the calling thread, which is number 0 and does its part. */
EXPORT_THREADS(team_forward)
gated_mlp_status team_forward(real *y, const real *x, const gated_mlp *m, int32_t tokens,
                              int32_t unit_begin, int32_t unit_end, real scale, int32_t accumulate,
                              int32_t threads) {
    const gated_mlp_status status =
        team_begin(y, x, m, tokens, unit_begin, unit_end, scale, accumulate, threads);
    if (status == GATED_MLP_OK) {
        team_finish();
    }
    return status;
}

EXPORT_THREADS(team_help) int32_t team_help(void) {
    return team_work_a_little();
}

#endif

EXPORT(mlp_backward) gated_mlp_status mlp_backward(
    const gated_mlp_gradients *gradients, const real *d_y, const real *x, const gated_mlp *m,
    int32_t tokens, int32_t unit_begin, int32_t unit_end, real scale, int32_t activation,
    const gated_mlp_hold *holds, int32_t hold_count, const gated_mlp_record *record) {
    gated_mlp_options options =
        options_of(unit_begin, unit_end, scale, 0, activation, holds, hold_count);
    uint64_t bytes = gated_mlp_backward_scratch_bytes(m, tokens);
    void *work = scratch(bytes);
    if (bytes > 0 && work == NULL) {
        return GATED_MLP_ERR_MEMORY;
    }
    return gated_mlp_backward(gradients, d_y, x, m, tokens, &options, record, work);
}

/* ---------------------------------------------------------------------------------------- elementwise and widths */

EXPORT(act) gated_mlp_status act(real *out, const real *z, int32_t activation, uint32_t n) {
    return activation_forward(out, z, activation, n);
}

EXPORT(act_derivative) gated_mlp_status act_derivative(real *out, const real *z, int32_t activation,
                                                       uint32_t n) {
    return activation_derivative(out, z, activation, n);
}

EXPORT(act_mul_run) gated_mlp_status act_mul_run(real *out, const real *gate, const real *up,
                                                 int32_t activation, uint32_t n) {
    return act_mul(out, gate, up, activation, n);
}

EXPORT(act_mul_backward_run) gated_mlp_status act_mul_backward_run(real *d_gate, real *d_up,
                                                                   const real *d_out,
                                                                   const real *gate, const real *up,
                                                                   int32_t activation, uint32_t n) {
    return act_mul_backward(d_gate, d_up, d_out, gate, up, activation, n);
}

EXPORT(act_and_mul_run) gated_mlp_status act_and_mul_run(real *out, const real *gate_up,
                                                         int32_t activation, uint32_t tokens,
                                                         uint32_t d_ff) {
    return act_and_mul(out, gate_up, activation, tokens, d_ff);
}

EXPORT(act_and_mul_backward_run) gated_mlp_status
act_and_mul_backward_run(real *d_gate_up, const real *d_out, const real *gate_up,
                         int32_t activation, uint32_t tokens, uint32_t d_ff) {
    return act_and_mul_backward(d_gate_up, d_out, gate_up, activation, tokens, d_ff);
}

EXPORT(ffn_dim) int32_t ffn_dim(int32_t d, int32_t multiple_of, int32_t has_multiplier,
                                double multiplier) {
    return llama_ffn_dim(d, multiple_of, has_multiplier, multiplier);
}

/* ---------------------------------------------------------------------------------------- safetensors headers
 *
 * The reader as safetensors.h describes it; every structure is the binding's to place and to read by field offset. */

EXPORT(header_prefix) uint32_t header_prefix(uint64_t *header_bytes, safetensors_error *error,
                                             const uint8_t *bytes, uint64_t byte_count,
                                             uint64_t file_bytes) {
    return safetensors_prefix(header_bytes, error, bytes, byte_count, file_bytes);
}

EXPORT(header_measure) uint32_t header_measure(safetensors_summary *summary,
                                               safetensors_error *error, const uint8_t *header,
                                               uint64_t header_bytes) {
    return safetensors_measure(summary, error, header, header_bytes);
}

EXPORT(header_read) uint32_t header_read(void *block, safetensors_error *error,
                                         const safetensors_summary *summary, const uint8_t *header,
                                         uint64_t header_bytes, uint64_t file_bytes) {
    return safetensors_read(block, error, summary, header, header_bytes, file_bytes);
}

EXPORT(header_check_end) uint32_t header_check_end(safetensors_error *error,
                                                   const safetensors_block *block,
                                                   uint64_t file_bytes) {
    return safetensors_check_end(error, block, file_bytes);
}

EXPORT(header_sniff) uint32_t header_sniff(const uint8_t *bytes, uint64_t byte_count) {
    return safetensors_sniff(bytes, byte_count);
}

EXPORT(header_kind_name) const char *header_kind_name(uint32_t kind) {
    return safetensors_kind_name(kind);
}

EXPORT(header_reason_words) const char *header_reason_words(uint32_t reason) {
    return safetensors_reason_words(reason);
}

EXPORT(header_look_words) const char *header_look_words(uint32_t look) {
    return safetensors_look_words(look);
}
