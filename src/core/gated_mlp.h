/* gated-mlp: the gated MLP of the Llama and Gemma families, and nothing else.
 *
 *     y = down_proj( act(gate_proj(x)) * up_proj(x) )
 *
 *     x, y            [tokens, d]        row-major, tokens >= 0
 *     gate, act, up,
 *     hidden          [tokens, d_ff]     hidden = act(gate) * up
 *     gate_proj, up_proj weight [d_ff, d], bias [d_ff] or none
 *     down_proj          weight [d, d_ff], bias [d]    or none      (Hugging Face's names, shapes)
 *
 * This header is the manual. Rules that hold for every function in it:
 *
 * - Nothing here allocates, keeps a global, prints or exits. The caller owns every buffer; a struct
 *   is a plain record of pointers and sizes that may be copied.
 * - Arguments come output first, sizes last. Output must not overlap input unless a function says
 *   so.
 * - `real` is float; the same sources compiled with -DGATED_MLP_FLOAT64 have real = double.
 * - Buffers of real need only the alignment of real. Packed weights and scratch want that of a cache
 *   line (GATED_MLP_ALIGN). One token is computed fastest from weights that begin a page of memory
 *   (GATED_MLP_PAGE), of an input that begins a line.
 * - Functions that can be called wrongly return a gated_mlp_status and then have written nothing.
 * - Sizes are int32_t; byte counts are uint64_t, and 0 means "not a valid size".
 * - Summation: products are added in blocks of at most 256 terms and the blocks are added up, so
 *   float32 error does not grow with d_ff. A token's result does not depend on which other tokens
 *   are in the call, but for block-quantised weights on how many there are (quant_runs.h).
 */
#ifndef GATED_MLP_H
#define GATED_MLP_H

#include "dtype.h"

#include <stdint.h>

#ifdef GATED_MLP_FLOAT64
typedef double real;
#define DTYPE_REAL DTYPE_F64
#else
typedef float real;
#define DTYPE_REAL DTYPE_F32
#endif

#define GATED_MLP_ALIGN 64
#define GATED_MLP_PAGE  4096

typedef enum {
    GATED_MLP_OK = 0,
    GATED_MLP_ERR_SHAPE,      /* a size is not positive, or a range lies outside its dimension */
    GATED_MLP_ERR_DTYPE,      /* element types that cannot be held, converted, or mixed so */
    GATED_MLP_ERR_ACTIVATION, /* not one of enum activation */
    GATED_MLP_ERR_OVERFLOW,   /* sizes whose byte count passes the address space */
    GATED_MLP_ERR_MEMORY,     /* only from the wasm boundary: an allocation failed */
} gated_mlp_status;

/* ------------------------------------------------------------------------------------- activations
 *
 * X(name): name is Hugging Face's, as in transformers' ACT2FN, but for `none` (the bilinear gate,
 * ACT2FN's "linear").
 *
 *     silu        z sigmoid(z)
 *     gelu_tanh   z sigmoid(2 sqrt(2/pi) (z + 0.044715 z^3)), which is GELU's tanh form
 *     gelu        z Phi(z), with erf
 *     relu        max(z, 0)
 *     relu2       max(z, 0)^2
 *     sigmoid     1 / (1 + exp(-z))                        (Dauphin's GLU)
 *     quick_gelu  z sigmoid(1.702 z)
 *     none        z                                        (bilinear)
 */
#define GATED_MLP_ACTIVATIONS(X)                                                                   \
    X(silu)                                                                                        \
    X(gelu_tanh)                                                                                   \
    X(gelu)                                                                                        \
    X(relu)                                                                                        \
    X(relu2)                                                                                       \
    X(sigmoid)                                                                                     \
    X(quick_gelu)                                                                                  \
    X(none)

enum activation {
#define X(name) ACT_##name,
    GATED_MLP_ACTIVATIONS(X)
#undef X
        ACT_COUNT
};

/* act[i] = f(z[i]) for n values. act may be z itself. */
gated_mlp_status activation_forward(real *act, const real *z, int32_t activation, int64_t n);

/* derivative[i] = f'(z[i]). derivative may be z itself. */
gated_mlp_status activation_derivative(real *derivative, const real *z, int32_t activation,
                                       int64_t n);

/* out[i] = f(gate[i]) * up[i]: the fused middle of the MLP. out may be gate or up. */
gated_mlp_status act_mul(real *out, const real *gate, const real *up, int32_t activation,
                         int64_t n);

/* d_gate[i] += d_out[i] * up[i] * f'(gate[i]);  d_up[i] += d_out[i] * f(gate[i]).  A NULL
 * gradient is skipped. */
gated_mlp_status act_mul_backward(real *d_gate, real *d_up, const real *d_out, const real *gate,
                                  const real *up, int32_t activation, int64_t n);

/* vLLM's SiluAndMul and GeluAndMul: gate_up is [tokens, 2 d_ff], gate first; out is [tokens,
 * d_ff]. */
gated_mlp_status act_and_mul(real *out, const real *gate_up, int32_t activation, int64_t tokens,
                             int64_t d_ff);
gated_mlp_status act_and_mul_backward(real *d_gate_up, const real *d_out, const real *gate_up,
                                      int32_t activation, int64_t tokens, int64_t d_ff);

/* ---------------------------------------------------------------------------------------- linear
 *
 * nn.Linear: y = x weight^T + bias, weight [out_features, in_features]. The weight is held in a
 * packed store made for the kernels (see store.h for its layout), in the element type `dtype`, and
 * computed from as it is: DTYPE_F32, DTYPE_F16, DTYPE_BF16, and DTYPE_F64 where real is double.
 *
 * DTYPE_Q8_0 and DTYPE_Q4_1 are ggml's: 32 consecutive inputs of one output share a scale (Q4_1 also
 * a minimum), are quantised when they are set, and are held so. Where real is float, a forward
 * product with them rounds its input to 16 bits, in blocks of the same 32 inputs, or in another layout
 * (linear_layout) to about 11; in the first, for many rows, it rounds the weights once more, to 12
 * (quant_runs.h). On Gaussian weights the worst element is off by about 1e-3, 7e-3 or 3e-3 of the
 * result's rms for that, and by 4e-2 (Q8_0) and 6e-1 (Q4_1) for the weights' own rounding
 * (tests/quantised.test.js). Inputs that are small beside the largest of their block lose what that
 * rounding takes. An infinite input counts as NaN. In double, and in every gradient, weights are what
 * linear_get_rows gives.
 */
typedef struct {
    int32_t out_features;
    int32_t in_features;
    int32_t dtype;
    void *weight; /* packed store, linear_weight_bytes() bytes, GATED_MLP_ALIGN */
    real *bias;   /* [out_features], or NULL */
} linear;

/* The dtype to hold weights of `dtype` in that computes them quickest here: itself, or the same type laid
 * out for an instruction that this engine turns out to have. Stores of both kinds are valid. */
int32_t linear_layout(int32_t dtype);

/* Size of the packed store; 0 where a size is not positive, the dtype cannot be held or the
 * count overflows. */
uint64_t linear_weight_bytes(int32_t out_features, int32_t in_features, int32_t dtype);

/* Scratch that linear_forward and linear_backward_* need for this many tokens; never more than
 * they need for 128. */
uint64_t linear_scratch_bytes(int32_t out_features, int32_t in_features, int32_t tokens);

/* Puts a block of the weight in place: weight[row0 + r, col0 + c] = src[r * row_stride + c *
 * col_stride] for r < rows, c < cols. Strides count elements of src_dtype; src has no alignment.
 * A row-major file gives (in_features, 1), a transposed one (1, out_features), interleaved
 * halves twice that. Conversion to `dtype` is exact where it can be and else rounds once, to
 * nearest even. src_dtype: F64, F32, F16, BF16 or an F8 type. Every element must be set once
 * before the first use; the store's padding is set by linear_clear_padding. A block-quantised dtype wants
 * whole blocks: col0 a multiple of 32, col0 + cols too or in_features; else GATED_MLP_ERR_SHAPE. */
gated_mlp_status linear_set_block(linear *l, int32_t row0, int32_t rows, int32_t col0, int32_t cols,
                                  const void *src, int32_t src_dtype, int64_t row_stride,
                                  int64_t col_stride);

/* Zeroes the whole packed store, or no more of it than what no element belongs to may need, before any
 * element is set: writing weights twice takes time where there are many. */
void linear_clear(linear *l);
void linear_clear_padding(linear *l);

/* The inverse, for whole rows: dst [rows, in_features] in dst_dtype (the store's own dtype, or
 * DTYPE_REAL; from a block-quantised dtype DTYPE_F32 or DTYPE_REAL). */
gated_mlp_status linear_get_rows(void *dst, int32_t dst_dtype, const linear *l, int32_t row0,
                                 int32_t rows);

/* y [tokens, out] = x [tokens, in] weight^T + bias */
gated_mlp_status linear_forward(real *y, const real *x, const linear *l, int32_t tokens,
                                void *scratch);

/* d_x [tokens, in] += d_y [tokens, out] weight */
gated_mlp_status linear_backward_input(real *d_x, const real *d_y, const linear *l, int32_t tokens,
                                       void *scratch);

/* d_weight [out, in] += d_y^T x, row-major;  d_bias [out] += column sums of d_y */
gated_mlp_status linear_backward_weight(real *d_weight, const real *d_y, const real *x, int32_t out,
                                        int32_t in, int32_t tokens, void *scratch);
gated_mlp_status linear_backward_bias(real *d_bias, const real *d_y, int32_t out, int32_t tokens);

/* -------------------------------------------------------------------------------- the gated MLP */

typedef struct {
    int32_t d;
    int32_t d_ff;
    int32_t activation; /* enum activation */
    linear gate_proj;   /* d -> d_ff */
    linear up_proj;     /* d -> d_ff; where either is block-quantised, of gate_proj's dtype */
    linear down_proj;   /* d_ff -> d */

    /* What some families do to gate and up before the product; all 0: nothing.
     *
     * limit > 0: act = f(min(gate, limit)), and up counts as clamp(up, -limit, limit).
     * up_shift is added to up then. gpt-oss: limit 7, up_shift 1, f quick_gelu.
     *
     * sparse: act = f(max(0, gate - (mean + cutoff * deviation))), mean and (population) standard
     * deviation being those of the token's gates over all d_ff units, whatever the slice. Gemma 3n:
     * cutoff 1.645, which shuts 95 % of normal gates. With a limit it comes before that. */
    real limit;
    real up_shift;
    real cutoff;
    int32_t sparse;

    /* Where ffn_sub_norm.weight is not NULL, down_proj sees hidden through an RMSNorm:
     *
     *     y = down_proj( weight * hidden / sqrt(mean(hidden^2) + norm_eps) )
     *
     * the mean being that over the token's d_ff units, whatever the slice, which costs gate and up
     * of all. The weight is held, set and read as that of a linear map with one input. BitNet. */
    linear ffn_sub_norm; /* [d_ff, 1], no bias */
    real norm_eps;
} gated_mlp;

/* act(gate) of one unit forced to a value, at one token or (token = -1) at all of them. 0 shuts
 * the unit off. Of two holds on the same cell the later one counts. */
typedef struct {
    int32_t unit;
    int32_t token;
    real value;
} gated_mlp_hold;

/* Everything a call may ask for beyond y = mlp(x). gated_mlp_defaults() fills in the plain case. */
typedef struct {
    /* The slice [unit_begin, unit_end) of the hidden width: a shard's or a thread's share. The
     * partial outputs of slices that cover [0, d_ff) add up to the whole. The down bias belongs to
     * the slice that contains unit 0. Default: all units. */
    int32_t unit_begin;
    int32_t unit_end;
    real scale;         /* y is multiplied by it (an expert's weight). Default 1. */
    int32_t accumulate; /* 1: y += scale * mlp(x), else y = scale * mlp(x). Default 0. */
    int32_t activation; /* enum activation, or -1 for the MLP's own. */
    const gated_mlp_hold *holds;
    int32_t hold_count;
} gated_mlp_options;

gated_mlp_options gated_mlp_defaults(const gated_mlp *m);

/* What happens inside, for those who look: each is [tokens, d_ff] or NULL. Units outside the
 * slice are left alone. `gate` is gate_proj's output; `act` and `up` are the factors of hidden as
 * they were used: held values, limit and shift included. `hidden` is their product, before a norm. */
typedef struct {
    real *gate;
    real *act;
    real *up;
    real *hidden;
} gated_mlp_record;

/* Gradients of sum(y * d_y), each accumulated with +=, each NULL if it is not wanted. Weights
 * are row-major in Hugging Face's shapes. Rows, columns and entries of units outside the slice
 * are left alone, but for gate_weight and gate_bias of a sparse MLP: all its gates count; and of one
 * with a norm those of gate and up: all its units do. overwrite: as if all had been 0 before, which is
 * faster than to clear them. */
typedef struct {
    real *x;           /* [tokens, d] */
    real *gate_weight; /* [d_ff, d] */
    real *gate_bias;   /* [d_ff] */
    real *up_weight;   /* [d_ff, d] */
    real *up_bias;     /* [d_ff] */
    real *down_weight; /* [d, d_ff] */
    real *down_bias;   /* [d] */
    real *norm_weight; /* [d_ff]; not looked at where there is no norm */
    int32_t overwrite;
} gated_mlp_gradients;

uint64_t gated_mlp_forward_scratch_bytes(const gated_mlp *m, int32_t tokens);
uint64_t gated_mlp_backward_scratch_bytes(const gated_mlp *m, int32_t tokens);

/* options NULL: gated_mlp_defaults. record NULL: nothing is kept. */
gated_mlp_status gated_mlp_forward(real *y, const real *x, const gated_mlp *m, int32_t tokens,
                                   const gated_mlp_options *options, const gated_mlp_record *record,
                                   void *scratch);

/* Several threads on one forward, as a job: stages one after the other, each of steps that threads may
 * take at once, in any order, whoever is free. No sum is divided among threads: the result is the same
 * to the bit for any number of them.
 *
 *     gated_mlp_job_begin(&job, ..., scratch, threads)       scratch: gated_mlp_job_scratch_bytes()
 *     for each stage from 0 to job.stages - 1:
 *         each step from 0 to gated_mlp_job_steps(&job, stage) - 1, once, by a thread < threads:
 *             gated_mlp_job_step(&job, stage, step, thread)
 *         all of them have returned before the next stage begins
 *
 * y is complete after the last stage. What the arguments point at must stay until then. */
typedef struct {
    const gated_mlp *mlp;
    gated_mlp_options options;
    gated_mlp_record record;
} gated_mlp_call;

typedef struct {
    real *y;
    const real *x;
    gated_mlp_call call; /* options filled in */
    int32_t tokens;
    int32_t threads;
    int32_t stages;
    void *scratch;
} gated_mlp_job;

uint64_t gated_mlp_job_scratch_bytes(const gated_mlp *m, int32_t tokens, int32_t threads);

gated_mlp_status gated_mlp_job_begin(gated_mlp_job *job, real *y, const real *x, const gated_mlp *m,
                                     int32_t tokens, const gated_mlp_options *options,
                                     const gated_mlp_record *record, void *scratch,
                                     int32_t threads);
int32_t gated_mlp_job_steps(const gated_mlp_job *job, int32_t stage);

/* Of the steps left of a stage a thread best takes one of so many shares at once, one step at least.
 * A few tokens take as long as memory takes to give their weights, which it does faster for a run of
 * panels than for every other one. Shares shrink with what is left, so that all threads end together. */
int32_t gated_mlp_job_shares(const gated_mlp_job *job);
void gated_mlp_job_step(const gated_mlp_job *job, int32_t stage, int32_t step, int32_t thread);

/* Backward of exactly the forward that `options` describes (scale included; accumulate has no
 * part in it): a held act is a constant, another activation is differentiated as what it is.
 * record: gate, act and up of that forward (hidden is not read); without it, without one of the
 * three, or where the MLP has a limit, a shift or a norm or is sparse, they are computed again. A
 * clamp has slope 1 at its ends and the cut slope 0 at its own, as in PyTorch. */
gated_mlp_status gated_mlp_backward(const gated_mlp_gradients *gradients, const real *d_y,
                                    const real *x, const gated_mlp *m, int32_t tokens,
                                    const gated_mlp_options *options,
                                    const gated_mlp_record *record, void *scratch);

/* -------------------------------------------------------------------- widths and initialization */

/* Meta's rule for the hidden width of a Llama: h = int(2 * (4d) / 3), then int(multiplier * h)
 * where a multiplier is given (has_multiplier), then up to a multiple of multiple_of; the
 * arithmetic is Python's. Source: FeedForward in meta-llama/llama3, llama/model.py. -1 where an
 * argument is not positive or the result passes int32_t. */
int32_t llama_ffn_dim(int32_t d, int32_t multiple_of, int32_t has_multiplier, double multiplier);

/* O'Neill's PCG XSH-RR 64/32 with its reference seeding (pcg32_srandom_r). */
typedef struct {
    uint64_t state;
    uint64_t increment;
} pcg32;

void pcg32_seed(pcg32 *rng, uint64_t seed, uint64_t stream);
uint32_t pcg32_next(pcg32 *rng);
real pcg32_float(pcg32 *rng); /* (next >> 8) / 2^24, in [0, 1) */

/* nn.Linear's default bounds: each of n values is (2u - 1) / sqrt(fan_in) with u = pcg32_float,
 * computed in float64 and rounded once to float32. */
void pcg32_fill_linear(float *values, int64_t n, int32_t fan_in, pcg32 *rng);

#endif
