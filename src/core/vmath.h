/* The two elementary functions that the gates are made of, on vectors: exp, and the ratio of the normal law's tail to
 * its density. wasm has no libm, and vectors want none: only + - * / and integer operations on lanes are used, so every
 * machine gives the same bits. Only activation.h includes this.
 *
 * Coefficients are minimax in relative error (Remez), their bound stands beside them; what they come to in the end is
 * measured over every float32 by tests/native/exhaustive_activation.c.
 */
#ifndef GATED_MLP_VMATH_H
#define GATED_MLP_VMATH_H

#include "simd.h"

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof(array)[0]))

#ifdef GATED_MLP_FLOAT64
#define MANTISSA_BITS 52
#define EXPONENT_BIAS 1023
#define HEAD_CLEARED  27 /* leaves 26 bits, whose square is exact */
#define EXP_SHIFT     128
#define EXP_UNSHIFT   0x1p-128
#define LN2_HIGH      6.93147180369123816490e-01 /* ends in zeros: times any exponent it is exact */
#define LN2_LOW       1.9082149292705878161e-10
/* 1 + r + r^2 polynomial(r) is exp(r) on |r| <= 0.35 within 4.1e-18 */
static const real EXP_COEFFICIENTS[] = {
    0.50000000000000116846,   0.16666666666666386697,   0.041666666666519276476,
    0.0083333333335073818634, 0.0013888888946887622669, 0.00019841269486714970193,
    2.4801489387250812351e-5, 2.7557596771944745463e-6, 2.7631674159329616015e-7,
    2.4999095129287618576e-8,
};
/* (0.5 + a numerator(a)) / (1 + a denominator(a)) is Q(a) exp(a^2/2) on 0 <= a <= 39 within 9.4e-19 */
static const real TAIL_NUMERATOR[] = {
    0.82808121530427086342,   0.67985412658971199564,    0.35753470253084514937,
    0.13213957780100926217,   0.035699666482219567789,   0.0071306591871774113329,
    0.0010410766635711005717, 0.00010673772357855807477, 6.9886638360176109599e-6,
    2.2466340089918714907e-7,
};
static const real TAIL_DENOMINATOR[] = {
    2.4540469914114072969,    2.8177544591112998198,    2.0022502086820593322,
    0.98064852306117241175,   0.34856923456543444804,   0.092060349924921168,
    0.018140337427033444915,  0.0026271101835406200337, 0.00026811494352161412519,
    1.7517982373282203613e-5, 5.6314763296853649493e-7,
};
#else
#define MANTISSA_BITS 23
#define EXPONENT_BIAS 127
#define HEAD_CLEARED  12 /* leaves 12 bits, whose square is exact */
#define EXP_SHIFT     40
#define EXP_UNSHIFT   0x1p-40f
#define LN2_HIGH      0.693145751953125f /* 15 bits: times any exponent it is exact */
#define LN2_LOW       1.42860682e-6f
/* 1 + r + r^2 polynomial(r) is exp(r) on |r| <= 0.35 within 3.3e-9 */
static const real EXP_COEFFICIENTS[] = {
    0.49999993055329392848f,   0.16666514859276174663f,   0.041668455997135233407f,
    0.0083694107545009697179f, 0.0013813160902342094399f,
};
/* (0.5 + a numerator(a)) / (1 + a denominator(a)) is Q(a) exp(a^2/2) on 0 <= a <= 14.8 within 6.2e-9 */
static const real TAIL_NUMERATOR[] = {
    0.43889406636856565174f,
    0.18367980561568862469f,
    0.040783354696707502944f,
    0.0041386550300596174319f,
};
static const real TAIL_DENOMINATOR[] = {
    1.6756731294853324252f,  1.2043483785174473612f,   0.47064470410789652624f,
    0.10223495526186639686f, 0.010373954921042436964f,
};
#endif

#define LOG2_E ((real)1.44269504088896340736)
/* c[0] + c[1] x + ... + c[count - 1] x^(count - 1), even and odd powers apart: half as long a chain of roundings */
INLINE vreal v_polynomial(vreal x, const real *c, int count) {
    vreal square = x * x;
    vreal last = v_splat(c[count - 1]);
    vreal before = v_splat(c[count - 2]);
    for (int i = count - 3; i >= 0; i--) {
        vreal next = last;
        last = before;
        before = next * square + v_splat(c[i]);
    }
    return last * x + before;
}

/* exp(r) 2^k, where the lowest bits of `rounded` hold k + EXPONENT_BIAS */
INLINE vreal v_exp_finish(vreal r, vreal rounded) {
    vreal power_of_two = (vreal)((vbits)rounded << MANTISSA_BITS);
    vreal curved = r * r * v_polynomial(r, EXP_COEFFICIENTS, COUNT_OF(EXP_COEFFICIENTS));
    return (v_splat(1) + (r + curved)) * power_of_two;
}

/* Added to a small number, it leaves in the lowest bits that number, rounded to an integer, plus the exponent field of
 * 2^shift. */
INLINE vreal v_exp_rounder(int shift) {
    return v_splat((real)1.5 * (real)((int64_t)1 << MANTISSA_BITS) + (real)(EXPONENT_BIAS + shift));
}

/* exp(x) 2^shift, for x whose result is normal. A shift of +-EXP_SHIFT keeps it so where the gates are subnormal. */
INLINE vreal v_exp(vreal x, int shift) {
    vreal rounder = v_exp_rounder(shift);
    vreal rounded = x * v_splat(LOG2_E) + rounder;
    vreal k = rounded - rounder;
    return v_exp_finish((x - k * v_splat(LN2_HIGH)) - k * v_splat(LN2_LOW), rounded);
}

/* exp(high + low) 2^shift; high may be any x of v_exp, low is the part that a single number cannot hold. */
INLINE vreal v_exp_sum(vreal high, vreal low, int shift) {
    vreal rounder = v_exp_rounder(shift);
    vreal rounded = (high + low) * v_splat(LOG2_E) + rounder;
    vreal k = rounded - rounder;
    return v_exp_finish((high - k * v_splat(LN2_HIGH)) + (low - k * v_splat(LN2_LOW)), rounded);
}

/* exp(-a^2/2) 2^EXP_SHIFT */
INLINE vreal v_exp_half_square(vreal a) {
    vreal head = v_head(a, HEAD_CLEARED);
    vreal half = v_splat((real)-0.5);
    return v_exp_sum(half * head * head, half * (a + head) * (a - head), EXP_SHIFT);
}

/* Q(a) exp(a^2/2), where Q(a) is the normal law's tail beyond a >= 0 */
INLINE vreal v_tail_ratio(vreal a) {
    vreal numerator = v_polynomial(a, TAIL_NUMERATOR, COUNT_OF(TAIL_NUMERATOR));
    vreal denominator = v_polynomial(a, TAIL_DENOMINATOR, COUNT_OF(TAIL_DENOMINATOR));
    return (v_splat((real)0.5) + a * numerator) / (v_splat(1) + a * denominator);
}

#endif
