/* linear_forward and its three gradients against plain loops, over odd shapes and held types. */
#include "layer.h"

#include "quant_gemm.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    int32_t tokens, out, in;
    layer l; /* of which gate_proj is looked at */
    real *x, *d_y;
    double *x64, *d_y64;
    const double *weight;
} problem;

static void start(problem *p, int32_t tokens, int32_t out, int32_t in, int32_t dtype) {
    *p = (problem){.tokens = tokens, .out = out, .in = in};
    p->l = layer_create(in, out, dtype, out % 2, ACT_none);
    p->x = random_reals((int64_t)tokens * in);
    p->d_y = random_reals((int64_t)tokens * out);
    p->x64 = to_doubles(p->x, (int64_t)tokens * in);
    p->d_y64 = to_doubles(p->d_y, (int64_t)tokens * out);
    p->weight = p->l.reference.gate_weight;
}

static void finish(problem *p) {
    layer_free(&p->l);
    free(p->x);
    free(p->d_y);
    free(p->x64);
    free(p->d_y64);
}

static void verdict(const problem *p, const char *what, gated_mlp_status status, const real *ours,
                    const double *expected, const double *before, int64_t n) {
    const double apart = distance(ours, expected, before, n);
    const double allowed = tolerance_of(p->l.mlp.gate_proj.dtype, p->tokens);
    check(status == GATED_MLP_OK && apart <= allowed, "%s: %d tokens, %d -> %d, dtype %d: %.2g",
          what, p->tokens, p->in, p->out, p->l.mlp.gate_proj.dtype, apart);
}

static void test_forward(const problem *p, void *scratch) {
    const int64_t n = (int64_t)p->tokens * p->out;
    real *y = filled_reals(n, 9);
    double *expected = to_doubles(y, n);
    for (int64_t i = 0; i < n; i++) {
        const int64_t t = i / p->out, o = i % p->out;
        expected[i] = p->l.reference.gate_bias != NULL ? p->l.reference.gate_bias[o] : 0;
        for (int64_t k = 0; k < p->in; k++) {
            expected[i] += p->x64[t * p->in + k] * p->weight[o * p->in + k];
        }
    }
    const gated_mlp_status status =
        linear_forward(y, p->x, &p->l.mlp.gate_proj, p->tokens, scratch);
    verdict(p, "forward", status, y, expected, NULL, n);
    free(y);
    free(expected);
}

static void test_backward_input(const problem *p, void *scratch) {
    const int64_t n = (int64_t)p->tokens * p->in;
    real *d_x = random_reals(n);
    double *before = to_doubles(d_x, n), *expected = to_doubles(d_x, n);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t o = 0; o < p->out; o++) {
            expected[i] += p->d_y64[i / p->in * p->out + o] * p->weight[o * p->in + i % p->in];
        }
    }
    const gated_mlp_status status =
        linear_backward_input(d_x, p->d_y, &p->l.mlp.gate_proj, p->tokens, scratch);
    verdict(p, "gradient of the input", status, d_x, expected, before, n);
    free(d_x);
    free(before);
    free(expected);
}

static void test_backward_weight(const problem *p, void *scratch) {
    const int64_t n = (int64_t)p->out * p->in;
    real *d_weight = random_reals(n);
    double *before = to_doubles(d_weight, n), *expected = to_doubles(d_weight, n);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t t = 0; t < p->tokens; t++) {
            expected[i] += p->d_y64[t * p->out + i / p->in] * p->x64[t * p->in + i % p->in];
        }
    }
    const gated_mlp_status status =
        linear_backward_weight(d_weight, p->d_y, p->x, p->out, p->in, p->tokens, scratch);
    verdict(p, "gradient of the weight", status, d_weight, expected, before, n);
    free(d_weight);
    free(before);
    free(expected);
}

static void test_backward_bias(const problem *p) {
    real *d_bias = random_reals(p->out);
    double *before = to_doubles(d_bias, p->out), *expected = to_doubles(d_bias, p->out);
    for (int64_t i = 0; i < (int64_t)p->tokens * p->out; i++) {
        expected[i % p->out] += p->d_y64[i];
    }
    const gated_mlp_status status = linear_backward_bias(d_bias, p->d_y, p->out, p->tokens);
    verdict(p, "gradient of the bias", status, d_bias, expected, before, p->out);
    free(d_bias);
    free(before);
    free(expected);
}

static void test_problem(int32_t tokens, int32_t out, int32_t in, int32_t dtype) {
    problem p;
    start(&p, tokens, out, in, dtype);
    void *scratch = need(linear_scratch_bytes(out, in, tokens));
    test_forward(&p, scratch);
    test_backward_input(&p, scratch);
    test_backward_weight(&p, scratch);
    test_backward_bias(&p);
    free(scratch);
    finish(&p);
}

int main(void) {
    static const int32_t dtypes[] = {DTYPE_F32, DTYPE_F16, DTYPE_BF16, DTYPE_REAL};
    for (int32_t size = 1; size <= 33; size++) {
        test_problem(size % 10, size, 34 - size, dtypes[size % 4]);
        test_problem(size, 35 - size, size + 30, dtypes[size % 3]);
        test_problem(size % 10, 3 * size, 70 - size, size % 2 ? DTYPE_Q8_0 : DTYPE_Q4_1);
    }
    test_problem(131, 65, 70, DTYPE_BF16);
    test_problem(7, 300, 530, DTYPE_F16);
    test_problem(2, 300, 530, DTYPE_F16);
    test_problem(131, 65, 70, DTYPE_Q8_0);
    test_problem(131, 70, 65, DTYPE_Q4_1);
    test_problem(7, 300, 530, DTYPE_Q4_1);
    test_problem(3, 300, 530, DTYPE_Q8_0);
    for (int32_t size = 1; size <= 33; size++) {
        test_problem(size % 10, 3 * size, 70 - size,
                     size % 2 ? DTYPE_Q8_0_QUADS : DTYPE_Q4_1_QUADS);
    }
    test_problem(131, 65, 70, DTYPE_Q8_0_QUADS);
    test_problem(131, 70, 65, DTYPE_Q4_1_QUADS);
    test_problem(7, 300, 530, DTYPE_Q8_0_QUADS);
    test_problem(1, 300, 530, DTYPE_Q4_1_QUADS);
    /* More blocks than are gone through at a time, in groups of rows and one left over. */
    for (int32_t tokens = 5; tokens <= 37; tokens += 4) {
        test_problem(tokens, 40, 2100, tokens % 8 == 1 ? DTYPE_Q8_0 : DTYPE_Q4_1);
        test_problem(tokens, 40, 2100, tokens % 8 == 1 ? DTYPE_Q8_0_QUADS : DTYPE_Q4_1_QUADS);
    }
    test_problem(5, 9, (STORE_BLOCKS + 3) * BLOCK, DTYPE_Q8_0);
    test_problem(28, 9, (STORE_BLOCKS + 3) * BLOCK, DTYPE_Q8_0);
    /* The same of panels abreast, the last of which are fewer and has strips missing. */
    for (int32_t panels = 2; panels <= 5; panels++) {
        const int32_t blocks = STORE_BLOCKS / (panels < ABREAST ? panels : ABREAST) + 3;
        test_problem(3 + 5 * panels, panels * PANEL - 9 * panels / 2, blocks * BLOCK, DTYPE_Q8_0);
        test_problem(panels - 1, panels * PANEL - 9 * panels / 2, 1200, DTYPE_Q8_0);
    }
    /* Large panels, more of them than are taken at a time. */
    test_problem(2, 2081, 260, DTYPE_F32);
    return report();
}
