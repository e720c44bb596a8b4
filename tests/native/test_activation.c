/* Every gate and its derivative against long double, at the ends of the number line, on every length of tail and in
 * place; the fused products and their gradients as what they are made of. exhaustive_activation.c goes through all of
 * float32, here is a sample of each gate in either type.
 */
#include "layer.h"
#include "oracle.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALL_LENGTHS 34 /* past eight vectors of either type */

static const char *const NAMES[] = {
#define X(name) #name,
    GATED_MLP_ACTIVATIONS(X)
#undef X
};

#ifdef GATED_MLP_FLOAT64
#define REAL_EPSILON DBL_EPSILON
#define REAL_MAX     DBL_MAX
#define GOES_UNDER   (-1000)
#else
#define REAL_EPSILON FLT_EPSILON
#define REAL_MAX     FLT_MAX
#define GOES_UNDER   (-110)
#endif

/* Gates whose limits are those of z times an opening that goes from 0 to 1. */
static int is_opening(int32_t activation) {
    return activation == ACT_silu || activation == ACT_gelu_tanh || activation == ACT_gelu ||
           activation == ACT_quick_gelu;
}

static real act_at(real z, int32_t activation) {
    real act = 0;
    activation_forward(&act, &z, activation, 1);
    return act;
}

static real slope_at(real z, int32_t activation) {
    real slope = 0;
    activation_derivative(&slope, &z, activation, 1);
    return slope;
}

static int same_bits(const real *a, const real *b, int64_t n) {
    return memcmp(a, b, (uint64_t)n * sizeof(real)) == 0;
}

/* act owes ulps alone, exact gelu twice as many as the others. A derivative crosses 0, where no number of ulps would do:
 * it owes 4, or float32's 2e-7 in its own epsilon. */
static void test_accuracy(int32_t activation) {
    const double ulps = activation == ACT_gelu ? 8 : 4;
    const double lax = 2e-7 / FLT_EPSILON * REAL_EPSILON;
    double act_error = 0, slope_error = 0;
    for (int i = -60000; i <= 60000; i++) {
        const real z = (real)(i % 3 == 0 ? i * 2e-3 : i % 3 == 1 ? i * 1e-4 : i * 1e-9);
        const oracle_values want = oracle(activation, z);
        const double off = (double)fabsl(act_at(z, activation) - want.act);
        act_error = fmax(act_error, off / (double)ulp_of(want.act));
        const double slope_off = (double)fabsl(slope_at(z, activation) - want.derivative);
        if (slope_off > lax) {
            slope_error = fmax(slope_error, slope_off / (double)ulp_of(want.derivative));
        }
    }
    check(act_error <= ulps, "%s is within %.0f ulp of long double (%.2f)", NAMES[activation], ulps,
          act_error);
    check(slope_error <= 4, "%s' is within %.1g or 4 ulp of long double", NAMES[activation], lax);
}

static void test_ends(int32_t a) {
    const real huge = REAL_MAX;
    const char *name = NAMES[a];
    check(isnan(act_at(NAN, a)), "%s of NaN is NaN", name);
    if (a == ACT_none) {
        check(act_at(-INFINITY, a) == -INFINITY && slope_at(-INFINITY, a) == 1, "none is z");
        return;
    }
    const real top = a == ACT_sigmoid ? 1 : INFINITY;
    check(act_at(INFINITY, a) == top, "%s(+inf) is its limit", name);
    check(act_at(-INFINITY, a) == 0 && slope_at(-INFINITY, a) == 0, "%s is shut at -inf", name);
    check(act_at(-huge, a) == 0 && slope_at(-huge, a) == 0, "%s is shut at the lowest z", name);
    check(act_at(GOES_UNDER, a) == 0 && slope_at(GOES_UNDER, a) == 0, "%s is shut at %d", name,
          GOES_UNDER);
    if (is_opening(a)) {
        check(isnan(slope_at(NAN, a)), "%s' of NaN is NaN", name);
        check(act_at(huge, a) == huge && slope_at(huge, a) == 1, "%s is open at the highest z",
              name);
        check(slope_at(INFINITY, a) == 1, "%s'(+inf) is 1", name);
        check(slope_at(45, a) == 1 && act_at(45, a) == 45, "%s is open at 45", name);
    }
}

/* Each length from 0 in buffers that are exactly as long: the same bits as one at a time, nothing else touched. */
static void test_lengths(int32_t activation) {
    int same = 1;
    for (int64_t n = 0; n < ALL_LENGTHS; n++) {
        real *z = random_reals(n), *act = filled_reals(n, 7), *slope = filled_reals(n, 7);
        activation_forward(act, z, activation, n);
        activation_derivative(slope, z, activation, n);
        for (int64_t i = 0; i < n; i++) {
            same &= act[i] == act_at(z[i], activation) && slope[i] == slope_at(z[i], activation);
        }
        activation_forward(z, z, activation, n);
        same &= same_bits(z, act, n);
        free(z);
        free(act);
        free(slope);
    }
    check(same, "%s gives the same bits at any place of any length, and in place",
          NAMES[activation]);
}

/* Every short length, then some on both sides of the blocks that the products work in. */
static int64_t next_length(int64_t n) {
    return n < ALL_LENGTHS ? n + 1 : n + 31;
}

static void test_product(int32_t activation) {
    int same = 1;
    for (int64_t n = 0; n < 300; n = next_length(n)) {
        real *gate = random_reals(n), *up = random_reals(n), *out = filled_reals(n, 7);
        act_mul(out, gate, up, activation, n);
        for (int64_t i = 0; i < n; i++) {
            same &= out[i] == act_at(gate[i], activation) * up[i];
        }
        real *in_gate = need((uint64_t)n * sizeof(real));
        memcpy(in_gate, gate, (uint64_t)n * sizeof(real));
        act_mul(in_gate, in_gate, up, activation, n);
        act_mul(up, gate, up, activation, n);
        same &= same_bits(in_gate, out, n) && same_bits(up, out, n);
        free(gate);
        free(up);
        free(out);
        free(in_gate);
    }
    check(same, "act_mul is %s(gate) * up, in place of gate or up too", NAMES[activation]);
}

static void test_product_gradients(int32_t activation) {
    int right = 1;
    for (int64_t n = 0; n < 300; n = next_length(n)) {
        real *gate = random_reals(n), *up = random_reals(n), *d_out = random_reals(n);
        real *d_gate = filled_reals(n, 3), *d_up = filled_reals(n, 5);
        act_mul_backward(d_gate, d_up, d_out, gate, up, activation, n);
        for (int64_t i = 0; i < n; i++) {
            right &= d_gate[i] == 3 + d_out[i] * up[i] * slope_at(gate[i], activation);
            right &= d_up[i] == 5 + d_out[i] * act_at(gate[i], activation);
        }
        real *d_gate_alone = filled_reals(n, 3), *d_up_alone = filled_reals(n, 5);
        act_mul_backward(d_gate_alone, NULL, d_out, gate, up, activation, n);
        act_mul_backward(NULL, d_up_alone, d_out, gate, up, activation, n);
        right &= same_bits(d_gate_alone, d_gate, n) && same_bits(d_up_alone, d_up, n);
        real *buffers[] = {gate, up, d_out, d_gate, d_up, d_gate_alone, d_up_alone};
        for (int b = 0; b < 7; b++) {
            free(buffers[b]);
        }
    }
    check(right, "the gradients of act_mul with %s accumulate, and either may be NULL",
          NAMES[activation]);
}

/* [tokens, 2 d_ff] is act_mul and its gradients row by row, gate half first. */
static void test_fused_rows(int32_t activation) {
    int same = 1;
    for (int64_t d_ff = 1; d_ff < 10; d_ff++) {
        const int64_t tokens = 3, n = tokens * d_ff;
        real *gate_up = random_reals(2 * n), *d_out = random_reals(n);
        real *out = filled_reals(n, 7), *d_gate_up = filled_reals(2 * n, 3);
        real *row = filled_reals(d_ff, 0), *d_row = filled_reals(2 * d_ff, 0);
        act_and_mul(out, gate_up, activation, tokens, d_ff);
        act_and_mul_backward(d_gate_up, d_out, gate_up, activation, tokens, d_ff);
        for (int64_t t = 0; t < tokens; t++) {
            const real *gate = gate_up + 2 * t * d_ff, *up = gate + d_ff;
            for (int64_t i = 0; i < 2 * d_ff; i++) {
                d_row[i] = 3;
            }
            act_mul(row, gate, up, activation, d_ff);
            act_mul_backward(d_row, d_row + d_ff, d_out + t * d_ff, gate, up, activation, d_ff);
            same &= same_bits(row, out + t * d_ff, d_ff);
            same &= same_bits(d_row, d_gate_up + 2 * t * d_ff, 2 * d_ff);
        }
        real *buffers[] = {gate_up, d_out, out, d_gate_up, row, d_row};
        for (int b = 0; b < 6; b++) {
            free(buffers[b]);
        }
    }
    check(same, "act_and_mul with %s takes the gate half first, row by row", NAMES[activation]);
}

static void test_closed_gate(int32_t activation) {
    const real gate = -1000, up = (real)1e30, d_out = (real)1e30;
    real out = 7, d_gate = 0, d_up = 0;
    act_mul(&out, &gate, &up, activation, 1);
    act_mul_backward(&d_gate, &d_up, &d_out, &gate, &up, activation, 1);
    check(out == 0 && d_up == 0, "%s shut: whatever up says, nothing comes out and no gradient in",
          NAMES[activation]);
}

static void test_statuses(void) {
    real z[4] = {1, 2, 3, 4}, out[4] = {7, 7, 7, 7}, seven[4] = {7, 7, 7, 7};
    const int32_t wrong[] = {-1, ACT_COUNT, INT32_MAX, INT32_MIN};
    for (int i = 0; i < 4; i++) {
        const int32_t a = wrong[i];
        const int all = activation_forward(out, z, a, 4) == GATED_MLP_ERR_ACTIVATION &&
                        activation_derivative(out, z, a, 4) == GATED_MLP_ERR_ACTIVATION &&
                        act_mul(out, z, z, a, 4) == GATED_MLP_ERR_ACTIVATION &&
                        act_mul_backward(out, out, z, z, z, a, 4) == GATED_MLP_ERR_ACTIVATION &&
                        act_and_mul(out, z, a, 1, 2) == GATED_MLP_ERR_ACTIVATION &&
                        act_and_mul_backward(out, z, z, a, 1, 2) == GATED_MLP_ERR_ACTIVATION;
        check(all, "activation %d is unknown", (int)a);
    }
    check(activation_forward(out, z, ACT_silu, -1) == GATED_MLP_ERR_SHAPE &&
              act_mul(out, z, z, ACT_silu, -1) == GATED_MLP_ERR_SHAPE &&
              act_mul_backward(out, out, z, z, z, ACT_silu, -1) == GATED_MLP_ERR_SHAPE &&
              activation_derivative(out, z, ACT_silu, -1) == GATED_MLP_ERR_SHAPE,
          "a negative length is refused");
    check(act_and_mul(out, z, ACT_silu, -1, 2) == GATED_MLP_ERR_SHAPE &&
              act_and_mul(out, z, ACT_silu, 1, 0) == GATED_MLP_ERR_SHAPE &&
              act_and_mul_backward(out, z, z, ACT_silu, 1, -2) == GATED_MLP_ERR_SHAPE,
          "negative tokens and widths below 1 are refused");
    check(act_and_mul(out, z, ACT_silu, INT64_MAX / 4, 2) == GATED_MLP_ERR_OVERFLOW &&
              act_and_mul_backward(out, z, z, ACT_silu, 2, INT64_MAX / 4) == GATED_MLP_ERR_OVERFLOW,
          "a product of sizes past 64 bits is refused");
    check(act_and_mul(out, z, ACT_silu, 0, 2) == GATED_MLP_OK &&
              activation_forward(out, z, ACT_silu, 0) == GATED_MLP_OK && same_bits(out, seven, 4),
          "zero tokens are fine, and nothing was written by any of these");
}

int main(void) {
    for (int32_t activation = 0; activation < ACT_COUNT; activation++) {
        test_accuracy(activation);
        test_ends(activation);
        test_lengths(activation);
        test_product(activation);
        test_product_gradients(activation);
        test_fused_rows(activation);
        if (activation != ACT_none) {
            test_closed_gate(activation);
        }
    }
    test_statuses();
    return report();
}
