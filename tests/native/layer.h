/* A gated MLP held twice, for native tests: packed for the kernels, and row-major in float64 for
 * the reference.
 *
 * Both hold the very same numbers (what the held type makes of random ones), every buffer is
 * exactly as large as the contract says and comes from malloc, so that AddressSanitizer sees any
 * step outside.
 */
#ifndef GATED_MLP_TEST_LAYER_H
#define GATED_MLP_TEST_LAYER_H

#include "reference.h"

typedef struct {
    gated_mlp mlp;
    reference_mlp reference;
} layer;

/* Q8_0 or Q4_1, in either layout; 0 for other types. */
int32_t quantised_as(int32_t dtype);

/* What rounding may do, of a tensor's largest magnitude; the sizes in the tests keep it well below.
 * Forward products with block-quantised weights round their input in float: to 16 bits, or in the
 * layout of quads to about 11. Of many tokens codes of weights are rounded once more, to 12 bits. */
double tolerance_of(int32_t dtype, int32_t tokens);

layer layer_create(int32_t d, int32_t d_ff, int32_t dtype, int with_bias, int32_t activation);
/* Gives it a norm before down, with random weights. */
void layer_norm(layer *l, int32_t dtype, double eps);
void layer_free(layer *l);

/* malloc that cannot fail, and gives a block of its own for 0 bytes. */
void *need(uint64_t bytes);

double random_normal(void); /* one fixed sequence per program */
int32_t random_below(int32_t n);

real *random_reals(int64_t n);
real *filled_reals(int64_t n, real value);
double *to_doubles(const real *values, int64_t n);

/* Largest |ours - expected|, relative to the largest |expected|; NaN must meet NaN, else
 * infinity. `before`, where given, is what both had before something was added: it counts as a
 * magnitude too, as it may cancel. */
double distance(const real *ours, const double *expected, const double *before, int64_t n);

/* Prints "ok - name" or "not ok - name: ..." and counts; report() gives main's exit code. */
void check(int passed, const char *format, ...) __attribute__((format(printf, 2, 3)));
int report(void);

#endif
