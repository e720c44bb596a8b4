/* A gated MLP held twice, and the small change of native tests; see layer.h. */
#include "layer.h"

#include "quant_runs.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int checks, failures;
static uint64_t random_state = 0x9e3779b97f4a7c15u;

void check(int passed, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    printf(passed ? "ok - " : "not ok - ");
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
    checks++;
    failures += !passed;
}

int report(void) {
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0 || checks == 0;
}

void *need(uint64_t bytes) {
    void *block = malloc(bytes > 0 ? (size_t)bytes : 1);
    if (block == NULL) {
        abort();
    }
    return block;
}

static uint64_t random_bits(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

int32_t random_below(int32_t n) {
    return (int32_t)(random_bits() >> 33) % n;
}

/* Twelve uniforms, less six: near enough to a normal for weights. */
double random_normal(void) {
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        sum += (double)(random_bits() >> 11) * 0x1p-53;
    }
    return sum;
}

real *random_reals(int64_t n) {
    real *values = need((uint64_t)n * sizeof(real));
    for (int64_t i = 0; i < n; i++) {
        values[i] = (real)random_normal();
    }
    return values;
}

real *filled_reals(int64_t n, real value) {
    real *values = need((uint64_t)n * sizeof(real));
    for (int64_t i = 0; i < n; i++) {
        values[i] = value;
    }
    return values;
}

double *to_doubles(const real *values, int64_t n) {
    double *doubles = need((uint64_t)n * sizeof(double));
    for (int64_t i = 0; i < n; i++) {
        doubles[i] = (double)values[i];
    }
    return doubles;
}

double distance(const real *ours, const double *expected, const double *before, int64_t n) {
    double largest = 0, apart = 0;
    for (int64_t i = 0; i < n; i++) {
        if (isnan(expected[i]) || isnan((double)ours[i])) {
            if (!isnan(expected[i]) || !isnan((double)ours[i])) {
                return INFINITY;
            }
            continue;
        }
        largest = fmax(largest, fabs(expected[i]));
        largest = fmax(largest, before != NULL ? fabs(before[i]) : 0);
        apart = fmax(apart, fabs((double)ours[i] - expected[i]));
    }
    return apart == 0 ? 0 : apart / largest;
}

/* Fills a projection with random numbers and gives back, in float64, what it then holds. */
static void create_projection(linear *l, double **weight, double **bias, int32_t out, int32_t in,
                              int32_t dtype, int with_bias) {
    const int64_t n = (int64_t)out * in;
    *l = (linear){out, in, dtype, need(linear_weight_bytes(out, in, dtype)), NULL};
    double *drawn = need((uint64_t)n * sizeof(double));
    for (int64_t i = 0; i < n; i++) {
        drawn[i] = random_normal() / sqrt((double)in);
    }
    if (dtype == DTYPE_Q8_0 || dtype == DTYPE_Q4_1) {
        /* A code is added to others in a word; that they do not matter is more than valgrind sees. */
        linear_clear(l);
    } else {
        linear_clear_padding(l);
    }
    linear_set_block(l, 0, out, 0, in, drawn, DTYPE_F64, in, 1);
    free(drawn);
    real *held = need((uint64_t)n * sizeof(real));
    linear_get_rows(held, DTYPE_REAL, l, 0, out);
    *weight = to_doubles(held, n);
    free(held);
    *bias = NULL;
    if (with_bias) {
        l->bias = random_reals(out);
        *bias = to_doubles(l->bias, out);
    }
}

int32_t quantised_as(int32_t dtype) {
    return dtype == DTYPE_Q8_0 || dtype == DTYPE_Q8_0_QUADS   ? DTYPE_Q8_0
           : dtype == DTYPE_Q4_1 || dtype == DTYPE_Q4_1_QUADS ? DTYPE_Q4_1
                                                              : 0;
}

double tolerance_of(int32_t dtype, int32_t tokens) {
    if (DTYPE_REAL == DTYPE_F64) {
        return 1e-13;
    }
    if (quantised_as(dtype) == 0) {
        return 4e-6;
    }
    return dtype != quantised_as(dtype) ? 2e-2 : tokens < RUN_ROWS ? 2e-3 : 4e-3;
}

layer layer_create(int32_t d, int32_t d_ff, int32_t dtype, int with_bias, int32_t activation) {
    layer l;
    memset(&l, 0, sizeof l);
    l.mlp.d = l.reference.d = d;
    l.mlp.d_ff = l.reference.d_ff = d_ff;
    l.mlp.activation = l.reference.activation = activation;
    reference_mlp *r = &l.reference;
    create_projection(&l.mlp.gate_proj, &r->gate_weight, &r->gate_bias, d_ff, d, dtype, with_bias);
    create_projection(&l.mlp.up_proj, &r->up_weight, &r->up_bias, d_ff, d, dtype, with_bias);
    create_projection(&l.mlp.down_proj, &r->down_weight, &r->down_bias, d, d_ff, dtype, with_bias);
    return l;
}

void layer_norm(layer *l, int32_t dtype, double eps) {
    double *none;
    create_projection(&l->mlp.ffn_sub_norm, &l->reference.norm_weight, &none, l->mlp.d_ff, 1, dtype,
                      0);
    l->mlp.norm_eps = (real)eps;
    l->reference.norm_eps = eps;
}

void layer_free(layer *l) {
    linear *projections[] = {&l->mlp.gate_proj, &l->mlp.up_proj, &l->mlp.down_proj,
                             &l->mlp.ffn_sub_norm};
    for (int i = 0; i < 4; i++) {
        free(projections[i]->weight);
        free(projections[i]->bias);
    }
    free(l->reference.gate_weight);
    free(l->reference.gate_bias);
    free(l->reference.up_weight);
    free(l->reference.up_bias);
    free(l->reference.down_weight);
    free(l->reference.down_bias);
    free(l->reference.norm_weight);
}
