/* The gates and their derivatives in long double, as their definitions but for forms that lose no digits on either side.
 *
 * For the tests that count units in the last place; reference.h is for everything else. A long double has a 64-bit
 * mantissa here (x86-64 Linux) and exponents so wide that nothing underflows.
 */
#ifndef GATED_MLP_TEST_ORACLE_H
#define GATED_MLP_TEST_ORACLE_H

#include "gated_mlp.h"

typedef struct {
    long double act;
    long double derivative;
} oracle_values;

/* For finite z. */
oracle_values oracle(int32_t activation, long double z);

/* One unit in the last place of the binade of `real` that holds x; subnormals share the smallest. */
long double ulp_of(long double x);

#endif
