/* PCG XSH-RR 64/32 (M. E. O'Neill, "PCG: A Family of Simple Fast Space-Efficient Statistically Good
 * Algorithms for Random Number Generation", 2014) and nn.Linear's default initialization drawn from
 * it. The same bits on every platform.
 */
#include "gated_mlp.h"

#include <math.h>

static const uint64_t MULTIPLIER = 6364136223846793005u;

void pcg32_seed(pcg32 *rng, uint64_t seed, uint64_t stream) {
    rng->state = 0;
    rng->increment = stream << 1 | 1;
    pcg32_next(rng);
    rng->state += seed;
    pcg32_next(rng);
}

uint32_t pcg32_next(pcg32 *rng) {
    const uint64_t state = rng->state;
    rng->state = state * MULTIPLIER + rng->increment;
    const uint32_t mixed = (uint32_t)((state >> 18 ^ state) >> 27);
    const uint32_t rotation = (uint32_t)(state >> 59);
    return mixed >> rotation | mixed << (-rotation & 31);
}

real pcg32_float(pcg32 *rng) {
    return (real)(pcg32_next(rng) >> 8) / (real)16777216;
}

void pcg32_fill_linear(float *values, int64_t n, int32_t fan_in, pcg32 *rng) {
    const double root = sqrt((double)fan_in);
    for (int64_t i = 0; i < n; i++) {
        const double u = (double)pcg32_float(rng);
        values[i] = (float)((2 * u - 1) / root);
    }
}
