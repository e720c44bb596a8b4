/* The forward against the reference over odd shapes, held types, slices, holds and scales; and what
 * must hold to the bit: a token's result whatever its company, NaN kept to its token, units outside
 * the slice out of everything.
 */
#include "scene.h"

#include "quant_runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double worse(double a, double b) {
    return !(b <= a) ? b : a;
}

static void test_scene(int32_t d, int32_t d_ff, int32_t tokens, int32_t dtype, int sliced,
                       int held) {
    for (int32_t activation = 0; activation < ACT_COUNT; activation++) {
        scene s;
        scene_start(&s, d, d_ff, tokens, dtype, activation, sliced, held);
        const int64_t inner = (int64_t)tokens * d_ff;
        double worst = distance(s.y, s.y64, NULL, (int64_t)tokens * d);
        worst = worse(worst, distance(s.record.gate, s.record64.gate, NULL, inner));
        worst = worse(worst, distance(s.record.act, s.record64.act, NULL, inner));
        worst = worse(worst, distance(s.record.up, s.record64.up, NULL, inner));
        worst = worse(worst, distance(s.record.hidden, s.record64.hidden, NULL, inner));
        check(worst <= tolerance_of(dtype, tokens),
              "d %d, d_ff %d, %d tokens, dtype %d, activation %d, units %d..%d, %d holds: %.2g", d,
              d_ff, tokens, dtype, activation, s.options.unit_begin, s.options.unit_end,
              s.options.hold_count, worst);
        scene_free(&s);
    }
}

/* y = mlp(x) of `tokens` tokens from `first` on, alone and without a record */
static real *forward_alone(const scene *s, int32_t first, int32_t tokens) {
    const int64_t d = s->l.mlp.d;
    real *y = need((uint64_t)(tokens * d) * sizeof(real));
    real *x = need((uint64_t)(tokens * d) * sizeof(real));
    memcpy(x, s->x + first * d, (size_t)(tokens * d) * sizeof(real));
    void *scratch = need(gated_mlp_forward_scratch_bytes(&s->l.mlp, tokens));
    const gated_mlp_status status =
        gated_mlp_forward(y, x, &s->l.mlp, tokens, &s->options, NULL, scratch);
    if (status != GATED_MLP_OK) {
        check(0, "forward alone gives status %d", (int)status);
    }
    free(scratch);
    free(x);
    return y;
}

/* Every token of a call of T, computed in calls of every smaller size, to the bit. Of quantised weights that
 * are no quads many tokens have codes of their own (quant_runs.h): the same among many, and among few. */
static void test_company(int32_t d, int32_t d_ff, int32_t tokens, int32_t dtype) {
    scene s;
    scene_start(&s, d, d_ff, tokens, dtype, ACT_silu, 0, 0);
    const int has_runs = DTYPE_REAL != DTYPE_F64 && (dtype == DTYPE_Q8_0 || dtype == DTYPE_Q4_1);
    real *of_few = need((uint64_t)(tokens * d) * sizeof(real));
    for (int32_t t = 0; t < tokens; t++) {
        real *y = forward_alone(&s, t, 1);
        memcpy(of_few + (int64_t)t * d, y, (size_t)d * sizeof(real));
        free(y);
    }
    for (int32_t size = 1; size <= tokens; size = size < 9 ? size + 1 : size * 3) {
        const real *expected = has_runs && size < RUN_ROWS ? of_few : s.y;
        int same = 1;
        for (int32_t first = 0; first + size <= tokens; first += size) {
            real *y = forward_alone(&s, first, size);
            same &=
                memcmp(y, expected + (int64_t)first * d, (size_t)(size * d) * sizeof(real)) == 0;
            free(y);
        }
        check(same, "%d tokens %d at a time give the same bits (d %d, d_ff %d, dtype %d)", tokens,
              size, d, d_ff, dtype);
    }
    free(of_few);
    scene_free(&s);
}

/* One token with a NaN: its row is NaN, all other rows keep their bits. */
static void test_nan_token(int32_t tokens, int32_t which, int32_t dtype) {
    scene s;
    scene_start(&s, 21, 37, tokens, dtype, ACT_gelu_tanh, 0, 0);
    const int32_t d = s.l.mlp.d;
    real *before = need((uint64_t)(tokens * d) * sizeof(real));
    memcpy(before, s.y, (size_t)(tokens * d) * sizeof(real));
    s.x[which * d + random_below(d)] = (real)NAN;
    scene_forward(&s);
    int right = 1;
    for (int32_t i = 0; i < tokens * d; i++) {
        right &= i / d == which ? isnan(s.y[i]) : memcmp(&s.y[i], &before[i], sizeof(real)) == 0;
    }
    check(right, "a NaN token stays alone: token %d of %d, dtype %d", which, tokens, dtype);
    free(before);
    scene_free(&s);
}

/* Partial outputs of the slices between `cuts` add up to the whole, the down bias once. */
static void test_slices_sum(const int32_t *cuts, int32_t count, int32_t tokens) {
    scene s;
    scene_start(&s, 30, 100, tokens, DTYPE_F32, ACT_silu, 0, 0);
    const int64_t outer = (int64_t)tokens * s.l.mlp.d;
    memset(s.y, 0, (size_t)outer * sizeof(real));
    s.options.accumulate = 1;
    for (int32_t i = 0; i + 1 < count; i++) {
        s.options.unit_begin = cuts[i];
        s.options.unit_end = cuts[i + 1];
        scene_forward(&s);
    }
    const double apart = distance(s.y, s.y64, NULL, outer);
    check(apart <= tolerance_of(DTYPE_F32, tokens), "%d slices of %d tokens add up: %.2g",
          count - 1, tokens, apart);
    scene_free(&s);
}

/* Infinite and NaN parameters of units outside the slice do not reach y, nor are their records
 * written. */
static void test_outside_is_out(int32_t tokens) {
    scene s;
    scene_start(&s, 17, 50, tokens, DTYPE_F32, ACT_relu, 0, 0);
    s.options.unit_begin = 13;
    s.options.unit_end = 41;
    const double worst_values[] = {INFINITY, (double)NAN};
    for (int32_t unit = 0; unit < 50; unit++) {
        if (unit >= s.options.unit_begin && unit < s.options.unit_end) {
            continue;
        }
        for (int32_t k = 0; k < 17; k++) {
            const double *value = &worst_values[k % 2];
            linear_set_block(&s.l.mlp.gate_proj, unit, 1, k, 1, value, DTYPE_F64, 1, 1);
            linear_set_block(&s.l.mlp.up_proj, unit, 1, k, 1, value, DTYPE_F64, 1, 1);
            linear_set_block(&s.l.mlp.down_proj, k, 1, unit, 1, value, DTYPE_F64, 1, 1);
        }
    }
    real *records[] = {s.record.gate, s.record.act, s.record.up, s.record.hidden};
    for (int32_t i = 0; i < 4 * tokens * 50; i++) {
        records[i % 4][i / 4] = UNTOUCHED;
    }
    scene_forward(&s);
    reference_forward(s.y64, &s.record64, s.x64, &s.l.reference, tokens, &s.options);
    int untouched = 1;
    for (int32_t i = 0; i < 4 * tokens * 50; i++) {
        const int32_t unit = i / 4 % 50;
        const int inside = unit >= s.options.unit_begin && unit < s.options.unit_end;
        untouched &= inside || records[i % 4][i / 4] == UNTOUCHED;
    }
    const double apart = distance(s.y, s.y64, NULL, tokens * 17);
    check(apart <= tolerance_of(DTYPE_F32, tokens) && untouched,
          "units outside the slice are out, %d tokens: %.2g", tokens, apart);
    scene_free(&s);
}

/* An empty slice is a zero y, without the down bias. */
static void test_empty_slice(int32_t tokens) {
    scene s;
    scene_start(&s, 9, 9, tokens, DTYPE_F32, ACT_silu, 0, 0);
    s.options.unit_begin = s.options.unit_end = 0;
    scene_forward(&s);
    int zero = 1;
    for (int32_t i = 0; i < tokens * 9; i++) {
        zero &= s.y[i] == 0;
    }
    check(zero, "an empty slice gives zeros, %d tokens", tokens);
    scene_free(&s);
}

/* What is not plain about some families' formulas: all of the above that a variant may change. */
static void test_variants(void) {
    for (int32_t v = LIMITED; v < VARIANTS; v++) {
        scene_vary((variant)v);
        for (int32_t size = 1; size <= 71; size += 10) {
            test_scene(72 - size, size, size % 9, DTYPE_F32, size % 3 == 0, size % 4 == 1);
        }
        test_scene(40, 70, 131, DTYPE_BF16, 1, 1);
        test_scene(70, 40, 5, v % 2 ? DTYPE_Q8_0 : DTYPE_Q4_1, 0, 1);
        test_company(33, 100, 9, DTYPE_F32);
        test_company(33, 100, 9, DTYPE_Q8_0);
        test_nan_token(6, 2, DTYPE_F32);
        test_slices_sum((const int32_t[]){0, 33, 34, 100}, 4, 6);
        test_empty_slice(3);
    }
    scene_vary(PLAIN);
}

/* Unsliced: of a single unit near 0, the rounding of x may be all there is. */
static void test_quads(void) {
    for (int32_t size = 1; size <= 33; size++) {
        test_scene(2 * size, 100 - size, size % 10, size % 2 ? DTYPE_Q8_0_QUADS : DTYPE_Q4_1_QUADS,
                   0, size % 3 == 0);
    }
    test_scene(290, 300, 5, DTYPE_Q8_0_QUADS, 1, 1);
    test_scene(300, 290, 6, DTYPE_Q4_1_QUADS, 1, 1);
    for (int32_t i = 0; i < 4; i++) {
        const int32_t dtype = i % 2 ? DTYPE_Q8_0_QUADS : DTYPE_Q4_1_QUADS;
        test_company(300 - i, 70 + i, i < 2 ? 9 : 131, dtype);
        for (int32_t tokens = 2 + i; tokens <= 9; tokens += 2) {
            test_nan_token(tokens, tokens - 1, dtype);
        }
    }
}

/* Tokens whose codes are in runs: whole ones and parts, in slices that begin within one, in groups of rows
 * that are not full. */
static void test_runs(void) {
    for (int32_t i = 0; i < 6; i++) {
        const int32_t dtype = i % 2 ? DTYPE_Q8_0 : DTYPE_Q4_1;
        test_scene(250 + 9 * i, 290 - 7 * i, RUN_ROWS + i, dtype, 1, i % 3 == 0);
        test_scene(33 + i, 300 + 10 * i, 131 + 7 * i, dtype, i % 2, 0);
        test_nan_token(RUN_ROWS + i, RUN_ROWS - 1 - i, dtype);
    }
    test_scene(900, 40, RUN_ROWS, DTYPE_Q8_0, 0, 0);
    test_scene(40, 900, RUN_ROWS, DTYPE_Q4_1, 0, 0);
}

int main(void) {
    static const int32_t dtypes[] = {DTYPE_F32, DTYPE_F16, DTYPE_BF16, DTYPE_REAL};
    test_variants();
    for (int32_t size = 1; size <= 33; size++) {
        test_scene(size, size, size % 10, dtypes[size % 4], 0, 0);
        test_scene(34 - size, size + 32 * (size % 3), 9 - size % 10, dtypes[size % 3], size % 2,
                   size % 3 == 0);
        test_scene(2 * size, 100 - size, size % 10, size % 2 ? DTYPE_Q8_0 : DTYPE_Q4_1,
                   size % 3 == 0, size % 5 == 0);
    }
    test_scene(40, 70, 131, DTYPE_BF16, 0, 1);
    test_scene(300, 290, 5, DTYPE_F32, 1, 1);
    test_scene(300, 290, 2, DTYPE_F16, 1, 1);
    test_scene(300, 290, 5, DTYPE_Q8_0, 1, 1);
    test_scene(290, 300, 2, DTYPE_Q4_1, 1, 1);
    /* Many panels at a time, more of them than are taken, in slices that begin anywhere. */
    for (int32_t tokens = 1; tokens <= 3; tokens++) {
        test_scene(525, 1060 + tokens, tokens, dtypes[tokens - 1], 1, 1);
        test_scene(1060, 200 + tokens, tokens, DTYPE_Q8_0, 1, 1);
    }
    test_scene(60, 530, ROW_BLOCK + 2, DTYPE_Q8_0, 1, 0); /* runs, then pairs abreast */
    test_scene(140, 530, 6, DTYPE_Q8_0, 1, 1);
    test_scene(530, 140, 29, DTYPE_Q8_0, 1, 0);
    test_runs();
    for (int32_t i = 0; i < 4; i++) {
        test_company(33 + i, 300, 9, dtypes[i]);
        test_company(260, 65 + i, 131, dtypes[i]);
        test_company(300 - i, 70 + i, i < 2 ? 9 : 131, i % 2 ? DTYPE_Q8_0 : DTYPE_Q4_1);
    }
    for (int32_t tokens = 2; tokens <= 9; tokens++) {
        test_nan_token(tokens, tokens / 2, DTYPE_BF16);
        test_nan_token(tokens, tokens - 1, DTYPE_BF16);
        test_nan_token(tokens, tokens / 2, DTYPE_Q8_0);
        test_nan_token(tokens, tokens - 1, DTYPE_Q4_1);
        test_outside_is_out(tokens);
    }
    test_slices_sum((const int32_t[]){0, 50, 100}, 3, 2);
    test_slices_sum((const int32_t[]){0, 33, 34, 100}, 4, 6);
    test_slices_sum((const int32_t[]){0, 0, 7, 31, 32, 33, 64, 99, 100}, 9, 5);
    test_empty_slice(1);
    test_empty_slice(6);
    test_quads();
    return report();
}
