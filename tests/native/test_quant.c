/* Block-quantised weights: that they are ggml's Q8_0 and Q4_1, whatever a weight comes in, that
 * blocks come whole, and what becomes of numbers that are none.
 *
 * That kernels compute with them is in test_linear.c, test_forward.c and test_gradients.c.
 */
#include "layer.h"

#include "quant_gemm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A float rounded to F16, subnormals too; not past its range. */
static double to_f16(double value) {
    if (value == 0) {
        return 0;
    }
    const int exponent = ilogb(value);
    const double step = ldexp(1, (exponent < -14 ? -14 : exponent) - 10);
    return nearbyint(value / step) * step;
}

/* What becomes of n <= 32 weights, as ggml's reference quantiser has it, in float32. */
static void by_definition(double *held, const float *weights, int32_t n, int32_t dtype) {
    float least = n < BLOCK ? 0 : weights[0], most = least;
    for (int32_t i = 0; i < n; i++) {
        least = fminf(least, weights[i]);
        most = fmaxf(most, weights[i]);
    }
    const float magnitude = fmaxf(most, -least);
    const int32_t definition = quantised_as(dtype);
    const float scale = definition == DTYPE_Q8_0 ? magnitude / 127.0f : (most - least) / 15.0f;
    const float inverse = scale != 0 ? 1.0f / scale : 0;
    for (int32_t i = 0; i < n; i++) {
        if (definition == DTYPE_Q8_0) {
            held[i] = to_f16((double)scale) * (double)roundf(weights[i] * inverse);
        } else {
            const float code = fminf(15, truncf((weights[i] - least) * inverse + 0.5f));
            held[i] = to_f16((double)scale) * (double)code + to_f16((double)least);
        }
    }
}

static linear create(int32_t out, int32_t in, int32_t dtype) {
    linear l = {out, in, dtype, need(linear_weight_bytes(out, in, dtype)), NULL};
    linear_clear(&l);
    return l;
}

/* Random weights, each row of another magnitude, down to where F16 has no more than a few bits. */
static float *random_weights(int32_t out, int32_t in) {
    float *weights = need((uint64_t)out * (uint64_t)in * sizeof *weights);
    for (int32_t i = 0; i < out * in; i++) {
        weights[i] = (float)ldexp(random_normal(), -(i / in) % 24);
        if (i / BLOCK % 5 == 0) { /* some blocks of zeros of either sign, some of one value */
            weights[i] = i / in % 3 == 0 ? 0.0f : i / in % 3 == 1 ? -0.0f : -0.3f;
        }
    }
    return weights;
}

static void test_values(int32_t out, int32_t in, int32_t dtype) {
    linear l = create(out, in, dtype);
    float *weights = random_weights(out, in), *held = need((uint64_t)in * sizeof *held);
    double *expected = need((uint64_t)in * sizeof *expected);
    int right = linear_set_block(&l, 0, out, 0, in, weights, DTYPE_F32, in, 1) == GATED_MLP_OK;
    for (int32_t o = 0; o < out; o++) {
        for (int32_t k = 0; k < in; k += BLOCK) {
            by_definition(expected + k, weights + o * in + k, in - k < BLOCK ? in - k : BLOCK,
                          dtype);
        }
        right &= linear_get_rows(held, DTYPE_F32, &l, o, 1) == GATED_MLP_OK;
        for (int32_t k = 0; k < in; k++) {
            right &= held[k] == (float)expected[k];
        }
    }
    check(right, "%d x %d weights become what dtype %d's definition says", out, in, dtype);
    free(weights);
    free(held);
    free(expected);
    free(l.weight);
}

/* A weight whose numbers are BF16's, set at once from F32, and piece by piece from F64, F32 or BF16
 * in either order: the same store. */
static void test_sources(int32_t out, int32_t in, int32_t dtype, int32_t src_dtype,
                         int transposed) {
    linear whole = create(out, in, dtype), pieces = create(out, in, dtype);
    const int64_t n = (int64_t)out * in;
    const size_t width = src_dtype == DTYPE_F64 ? 8 : src_dtype == DTYPE_F32 ? 4 : 2;
    float *weights = random_weights(out, in);
    unsigned char *src = need((uint64_t)n * width);
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &weights[i], sizeof bits);
        bits &= 0xffff0000u;
        memcpy(&weights[i], &bits, sizeof bits);
        const double wide = (double)weights[i];
        const uint16_t half = (uint16_t)(bits >> 16);
        const size_t at = (size_t)(transposed ? i % in * out + i / in : i) * width;
        memcpy(src + at,
               width == 8   ? (const void *)&wide
               : width == 4 ? (void *)&bits
                            : &half,
               width);
    }
    int right = linear_set_block(&whole, 0, out, 0, in, weights, DTYPE_F32, in, 1) == GATED_MLP_OK;
    const int32_t rows = 1 + random_below(out), cols = BLOCK * (1 + random_below(3));
    for (int32_t c = 0; c < in; c += cols) {
        const int32_t c_count = in - c < cols ? in - c : cols;
        for (int32_t r = 0; r < out; r += rows) {
            const int32_t r_count = out - r < rows ? out - r : rows;
            const size_t first = (size_t)(transposed ? c * out + r : r * in + c);
            right &=
                linear_set_block(&pieces, r, r_count, c, c_count, src + first * width, src_dtype,
                                 transposed ? 1 : in, transposed ? out : 1) == GATED_MLP_OK;
        }
    }
    right &= memcmp(whole.weight, pieces.weight, linear_weight_bytes(out, in, dtype)) == 0;
    check(right, "%d x %d of dtype %d from dtype %d, %s, in pieces of %d x %d", out, in, dtype,
          src_dtype, transposed ? "transposed" : "row-major", rows, cols);
    free(weights);
    free(src);
    free(whole.weight);
    free(pieces.weight);
}

static void test_refusals(int32_t dtype) {
    linear l = create(40, 70, dtype);
    const double weights[128] = {1};
    const int refused =
        linear_set_block(&l, 0, 1, 1, 32, weights, DTYPE_F64, 70, 1) == GATED_MLP_ERR_SHAPE &&
        linear_set_block(&l, 0, 1, 32, 33, weights, DTYPE_F64, 70, 1) == GATED_MLP_ERR_SHAPE &&
        linear_set_block(&l, 0, 1, 32, 1, weights, DTYPE_F64, 70, 1) == GATED_MLP_ERR_SHAPE;
    const int taken =
        linear_set_block(&l, 0, 1, 32, 38, weights, DTYPE_F64, 70, 1) == GATED_MLP_OK &&
        linear_set_block(&l, 39, 1, 64, 6, weights, DTYPE_F64, 70, 1) == GATED_MLP_OK;
    check(refused && taken, "dtype %d takes whole blocks only, the last one short", dtype);
    check(linear_get_rows(NULL, dtype, &l, 0, 1) == GATED_MLP_ERR_DTYPE,
          "dtype %d is given back as numbers only", dtype);
    check(linear_weight_bytes(64, 96, dtype) ==
              64 * 96 / 32 * (quantised_as(dtype) == DTYPE_Q8_0 ? 34u : 20u),
          "dtype %d takes the bytes of ggml's blocks", dtype);
    free(l.weight);
}

/* A weight that is no finite number, or is past what a scale can say: its output is NaN, and no
 * other one, in every number of tokens. */
static void test_no_numbers(int32_t dtype, double value, int32_t tokens) {
    linear l = create(40, 64, dtype);
    double row[64];
    for (int32_t o = 0; o < 40; o++) {
        for (int32_t k = 0; k < 64; k++) {
            row[k] = o == 7 && k == 40 ? value : random_normal();
        }
        linear_set_block(&l, o, 1, 0, 64, row, DTYPE_F64, 64, 1);
    }
    real *x = filled_reals(tokens * 64, 1), *y = filled_reals(tokens * 40, 0);
    void *scratch = need(linear_scratch_bytes(40, 64, tokens));
    int right = linear_forward(y, x, &l, tokens, scratch) == GATED_MLP_OK;
    for (int32_t i = 0; i < tokens * 40; i++) {
        right &= (i % 40 == 7) == (isnan(y[i]) != 0);
    }
    check(right, "a weight of %g spoils its output only, dtype %d, %d tokens", value, dtype,
          tokens);
    free(x);
    free(y);
    free(scratch);
    free(l.weight);
}

/* Rows land in any order and share bytes: one that comes last leaves the others as they are. */
static void test_last_row(int32_t dtype, double value) {
    linear l = create(40, BLOCK, dtype);
    float *weights = need(40 * BLOCK * sizeof *weights), *held = need(40 * BLOCK * sizeof *held);
    double row[BLOCK], expected[BLOCK];
    for (int32_t i = 0; i < 40 * BLOCK; i++) {
        weights[i] = (float)random_normal();
    }
    for (int32_t k = 0; k < BLOCK; k++) {
        row[k] = value;
    }
    int right = 1;
    for (int32_t last = 0; last < 40; last++) {
        linear_set_block(&l, 0, 40, 0, BLOCK, weights, DTYPE_F32, BLOCK, 1);
        linear_set_block(&l, last, 1, 0, BLOCK, row, DTYPE_F64, BLOCK, 1);
        linear_get_rows(held, DTYPE_F32, &l, 0, 40);
        for (int32_t i = 0; i < 40 * BLOCK; i++) {
            if (i % BLOCK == 0) {
                by_definition(expected, weights + i, BLOCK, dtype);
            }
            right &= i / BLOCK == last || held[i] == (float)expected[i % BLOCK];
        }
    }
    check(right, "a row of %g that lands last changes no other, dtype %d", value, dtype);
    free(weights);
    free(held);
    free(l.weight);
}

/* Inputs of any magnitude, blocks of zeros among them, are rounded relative to the largest. */
static void test_magnitudes(int32_t dtype, double magnitude, int32_t tokens) {
    layer l = layer_create(96, 40, dtype, 0, ACT_none);
    real *x = random_reals(tokens * 96), *y = filled_reals(tokens * 40, 0);
    double *expected = to_doubles(y, tokens * 40);
    for (int32_t i = 0; i < tokens * 96; i++) {
        x[i] *= (real)(i % 96 < 32 ? 0 : magnitude);
    }
    for (int32_t i = 0; i < tokens * 40 * 96; i++) {
        const int32_t t = i / 96 / 40, o = i / 96 % 40, k = i % 96;
        expected[t * 40 + o] += (double)x[t * 96 + k] * l.reference.gate_weight[o * 96 + k];
    }
    void *scratch = need(linear_scratch_bytes(40, 96, tokens));
    linear_forward(y, x, &l.mlp.gate_proj, tokens, scratch);
    const double apart = distance(y, expected, NULL, tokens * 40);
    check(apart <= tolerance_of(dtype, tokens), "inputs of about %g, dtype %d, %d tokens: %.2g",
          magnitude, dtype, tokens, apart);
    free(x);
    free(y);
    free(expected);
    free(scratch);
    layer_free(&l);
}

/* An input that outweighs its block, and meets weights of 0: in quads the others count all the same. */
static void test_outlier(int32_t dtype, int32_t tokens) {
    linear l = create(40, 70, dtype);
    double row[70];
    for (int32_t o = 0; o < 40; o++) {
        for (int32_t k = 0; k < 70; k++) {
            row[k] = k == 37 ? 0 : random_normal();
        }
        linear_set_block(&l, o, 1, 0, 70, row, DTYPE_F64, 70, 1);
    }
    real *x = random_reals(tokens * 70), *y = filled_reals(tokens * 40, 0), held[40 * 70];
    linear_get_rows(held, DTYPE_REAL, &l, 0, 40);
    double *expected = to_doubles(y, tokens * 40);
    for (int32_t i = 0; i < tokens * 70; i++) {
        x[i] *= (real)(i % 70 == 37 ? 3000 : i % 70 < 32 || i % 70 > 63 ? 0 : 1);
        for (int32_t o = 0; o < 40 && i % 70 != 37; o++) {
            expected[i / 70 * 40 + o] += (double)x[i] * (double)held[o * 70 + i % 70];
        }
    }
    void *scratch = need(linear_scratch_bytes(40, 70, tokens));
    linear_forward(y, x, &l, tokens, scratch);
    double worst = 0;
    for (int32_t t = 0; t < tokens; t++) {
        const double *e = expected + t * 40;
        real *of = y + t * 40;
        for (int32_t o = 0; dtype == DTYPE_Q4_1_QUADS && o < 40; o++) {
            of[o] -= x[t * 70 + 37] * held[o * 70 + 37]; /* 0 is no code of Q4_1 */
        }
        worst = fmax(worst, distance(of, e, NULL, 40));
    }
    check(worst <= tolerance_of(dtype, tokens),
          "an outlier hides no input, dtype %d, %d tokens: %.2g", dtype, tokens, worst);
    free(x);
    free(y);
    free(expected);
    free(scratch);
    free(l.weight);
}

#ifndef GATED_MLP_FLOAT64

/* Code k of row r of A, which has one block: pair k / 2, its first or second. */
static int64_t code_of(const row_block *a, int32_t r, int32_t k) {
    int16_t pair[2];
    const int32_t at = a->group == 1 ? r * a->depth + k / 2 : k / 2 * a->group + r;
    memcpy(pair, a->data + at, sizeof pair);
    return pair[k % 2];
}

static int64_t nearest(double value) {
    return (int64_t)floor(value + 0.5);
}

/* Codes before and after they are aligned, of a block that is its row's only one: all times 32767 / 2^15, and where
 * pairs are nested every second pair less a 256th of what the one before it has become, to the last bit. */
static void test_nesting(int32_t rows, int32_t dtype) {
    real *x = need((uint64_t)(rows * BLOCK) * sizeof *x);
    for (int32_t i = 0; i < rows * BLOCK; i++) {
        x[i] = (real)(i % 3 == 0 ? random_normal() * 100 : random_normal());
    }
    real *room = need((uint64_t)(packed_rows(rows) * PANEL) * 4 * sizeof *room);
    const row_block a = row_block_in(room, rows, BLOCK, dtype);
    pack_columns(room, &a, 0, x, BLOCK, BLOCK);
    int64_t *before = need((uint64_t)(rows * BLOCK) * sizeof *before);
    for (int32_t i = 0; i < rows * BLOCK; i++) {
        before[i] = code_of(&a, i / BLOCK, i % BLOCK);
    }
    for (int32_t i = 0; i < groups_to_finish(&a); i++) {
        finish_rows(room, &a, i * a.group, 0, BLOCK);
    }
    int32_t differ = 0;
    for (int32_t i = 0; i < rows * BLOCK; i++) {
        const int32_t r = i / BLOCK, k = i % BLOCK;
        const double share =
            dtype == DTYPE_Q8_0 && k % 4 >= 2 ? (double)code_of(&a, r, k - 2) / 256 : 0;
        differ += code_of(&a, r, k) != nearest((double)before[i] * 32767 / 32768 - share);
    }
    check(differ == 0, "codes of %d rows, dtype %d: %d differ", rows, dtype, differ);
    free(before);
    free(room);
    free(x);
}

#endif

int main(void) {
#ifndef GATED_MLP_FLOAT64
    for (int32_t rows = 1; rows <= 4; rows++) {
        test_nesting(rows, DTYPE_Q8_0);
        test_nesting(rows, DTYPE_Q4_1);
    }
#endif
    static const int32_t dtypes[] = {DTYPE_Q8_0, DTYPE_Q4_1, DTYPE_Q8_0_QUADS, DTYPE_Q4_1_QUADS};
    static const int32_t sources[] = {DTYPE_F64, DTYPE_F32, DTYPE_BF16};
    for (int32_t i = 0; i < 4; i++) {
        const int32_t dtype = dtypes[i];
        test_values(70, 128, dtype);
        test_values(33, 71, dtype);
        test_values(1, 1, dtype);
        for (int32_t size = 1; size <= 33; size += 4) {
            test_sources(size, 134 - 3 * size, dtype, sources[size % 3], size % 8 == 1);
        }
        test_refusals(dtype);
        test_last_row(dtype, 0);
        test_last_row(dtype, -0.3);
        test_last_row(dtype, (double)NAN);
        for (int32_t tokens = 1; tokens <= 40; tokens += tokens < 6 ? 1 : 17) {
            test_no_numbers(dtype, (double)NAN, tokens);
            test_no_numbers(dtype, -INFINITY, tokens);
            test_no_numbers(dtype, 1e9, tokens);
            test_magnitudes(dtype, tokens % 2 ? 1e-25 : 1e25, tokens);
        }
    }
    for (int32_t tokens = 1; tokens <= 6; tokens++) {
        test_outlier(DTYPE_Q8_0_QUADS, tokens);
        test_outlier(DTYPE_Q4_1_QUADS, tokens);
    }
    return report();
}
