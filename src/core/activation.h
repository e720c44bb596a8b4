/* The gates and their derivatives, one vector at a time and inline, for activation.c. gated_mlp.h says what each gate
 * is.
 *
 * Every formula is written so that neither side loses digits: exp of the negative side alone, 1 - s as exp(-u) s, and
 * scaled powers where the result goes under. Below LOWEST_* a gate and its derivative are 0; there z is held, so that
 * no product overflows and -inf gives 0. NaN fails every comparison and passes through.
 */
#ifndef GATED_MLP_ACTIVATION_H
#define GATED_MLP_ACTIVATION_H

#include "vmath.h"

/* HIGHEST_*: from there up act(z) = z and act'(z) = 1 to the last bit. */
#ifdef GATED_MLP_FLOAT64
#define LOWEST_SILU        (-752.0)
#define HIGHEST_SILU       45.0
#define LOWEST_GELU_TANH   (-21.7)
#define HIGHEST_GELU_TANH  8.0
#define FURTHEST_GELU      39.0
#define LOWEST_QUICK_GELU  (-442.0)
#define HIGHEST_QUICK_GELU 26.0
/* 2 sqrt(2/pi) and 2 sqrt(2/pi) 0.044715 as short heads and their rests, and what is cleared of z and of z's factor:
 * together they make the products of heads exact. */
#define CUBIC_Z_CLEARED      36
#define CUBIC_FACTOR_CLEARED 17
#define CUBIC_B_HIGH         1.5957691216057128258
#define CUBIC_B_LOW          1.7885919910836426752e-14
#define CUBIC_A_HIGH         0.07135486602783203125
#define CUBIC_A_LOW          (-4.9755231782473661248e-8)
#define QUICK_HIGH           1.701999992132187
#define QUICK_LOW            7.8678131103515625e-9
#else
#define LOWEST_SILU          (-109.5f)
#define HIGHEST_SILU         30.0f
#define LOWEST_GELU_TANH     (-10.95f)
#define HIGHEST_GELU_TANH    8.0f
#define FURTHEST_GELU        14.7f
#define LOWEST_QUICK_GELU    (-64.3f)
#define HIGHEST_QUICK_GELU   17.5f
#define CUBIC_Z_CLEARED      16
#define CUBIC_FACTOR_CLEARED 8
#define CUBIC_B_HIGH         1.5957698822021484375f
#define CUBIC_B_LOW          (-7.6059641774e-7f)
#define CUBIC_A_HIGH         0.0712890625f
#define CUBIC_A_LOW          6.5753772600e-5f
#define QUICK_HIGH           1.7021484375f
#define QUICK_LOW            (-1.484375e-4f)
#endif
#define CUBIC_B             ((real)1.5957691216057307118)
#define CUBIC_A             ((real)0.071354816272600248776)
#define QUICK               ((real)1.702)
#define NORMAL_DENSITY_AT_0 ((real)0.39894228040143267794)

INLINE vreal v_clamp(vreal z, real low, real high) {
    return v_at_most(v_at_least(z, v_splat(low)), v_splat(high));
}

/* z sigmoid(u), with e = exp(-u) 2^-EXP_SHIFT of the held z */
INLINE vreal v_sigmoid_gate(vreal z, vreal held, vreal e, real highest) {
    vreal unshift = v_splat(EXP_UNSHIFT);
    return v_select(z > v_splat(highest), z, held / (e + unshift) * unshift);
}

/* (z sigmoid(u))' = s (1 + z u' (1 - s)) */
INLINE vreal v_sigmoid_gate_derivative(vreal z_slope, vreal e) {
    vreal unshift = v_splat(EXP_UNSHIFT);
    vreal s = v_splat(1) / (e + unshift);
    return s * (v_splat(1) + z_slope * (e * s)) * unshift;
}

INLINE vreal v_silu(vreal z) {
    vreal held = v_clamp(z, LOWEST_SILU, HIGHEST_SILU);
    return v_sigmoid_gate(z, held, v_exp(-held, -EXP_SHIFT), HIGHEST_SILU);
}

INLINE vreal v_silu_derivative(vreal z) {
    vreal held = v_clamp(z, LOWEST_SILU, HIGHEST_SILU);
    return v_sigmoid_gate_derivative(held, v_exp(-held, -EXP_SHIFT));
}

/* exp(-z (B + A z^2)) 2^-EXP_SHIFT. exp turns the absolute error of its argument into a relative one, so the argument
 * is a high and a low number: heads of z and of the bracket whose product is exact, and everything else. */
INLINE vreal v_exp_cubic(vreal z) {
    vreal z_head = v_head(z, CUBIC_Z_CLEARED);
    vreal z_rest = z - z_head;
    vreal square = z_head * z_head;
    vreal square_rest = (z + z_head) * z_rest;
    vreal product = v_splat(CUBIC_A_HIGH) * square;
    vreal product_rest =
        (v_splat(CUBIC_A_LOW) * square + v_splat(CUBIC_B_LOW)) + v_splat(CUBIC_A) * square_rest;
    vreal factor = v_head(v_splat(CUBIC_B_HIGH) + product, CUBIC_FACTOR_CLEARED);
    vreal factor_rest = ((v_splat(CUBIC_B_HIGH) - factor) + product) + product_rest;
    return v_exp_sum(-(z_head * factor), -(z * factor_rest + z_rest * factor), -EXP_SHIFT);
}

INLINE vreal v_gelu_tanh(vreal z) {
    vreal held = v_clamp(z, LOWEST_GELU_TANH, HIGHEST_GELU_TANH);
    return v_sigmoid_gate(z, held, v_exp_cubic(held), HIGHEST_GELU_TANH);
}

INLINE vreal v_gelu_tanh_derivative(vreal z) {
    vreal held = v_clamp(z, LOWEST_GELU_TANH, HIGHEST_GELU_TANH);
    vreal slope = v_splat(CUBIC_B) + v_splat(3 * CUBIC_A) * held * held;
    return v_sigmoid_gate_derivative(held * slope, v_exp_cubic(held));
}

/* z Phi(z) = z Q(-z) where z < 0, and z (1 - Q(z)) elsewhere */
INLINE vreal v_gelu(vreal z) {
    vreal held = v_clamp(z, -FURTHEST_GELU, FURTHEST_GELU);
    vreal a = v_abs(held);
    vreal tail = v_exp_half_square(a) * v_tail_ratio(a);
    vreal unshift = v_splat(EXP_UNSHIFT);
    return v_select(z < v_splat(0), held * tail * unshift, z * (v_splat(1) - tail * unshift));
}

/* Phi(z) + z phi(z), which is t where z < 0 and 1 - t elsewhere, with t = Q(a) - a phi(a), a = |z| */
INLINE vreal v_gelu_derivative(vreal z) {
    vreal a = v_abs(v_clamp(z, -FURTHEST_GELU, FURTHEST_GELU));
    vreal density_ratio = a * v_splat(NORMAL_DENSITY_AT_0);
    vreal t = v_exp_half_square(a) * (v_tail_ratio(a) - density_ratio) * v_splat(EXP_UNSHIFT);
    return v_select(z < v_splat(0), t, v_splat(1) - t);
}

INLINE vreal v_relu(vreal z) {
    return v_select(z <= v_splat(0), v_splat(0), z);
}

INLINE vreal v_relu_derivative(vreal z) {
    return v_select(z <= v_splat(0), v_splat(0), v_splat(1));
}

INLINE vreal v_relu2(vreal z) {
    return v_relu(z) * v_relu(z);
}

INLINE vreal v_relu2_derivative(vreal z) {
    return v_relu(z) + v_relu(z);
}

/* exp(-|z|) */
INLINE vreal v_exp_minus_abs(vreal z) {
    vreal held = v_at_least(-v_abs(z), v_splat(LOWEST_SILU));
    return v_exp(held, EXP_SHIFT) * v_splat(EXP_UNSHIFT);
}

INLINE vreal v_sigmoid(vreal z) {
    vreal t = v_exp_minus_abs(z);
    return v_select(z < v_splat(0), t, v_splat(1)) / (v_splat(1) + t);
}

INLINE vreal v_sigmoid_derivative(vreal z) {
    vreal t = v_exp_minus_abs(z);
    vreal sum = v_splat(1) + t;
    return t / (sum * sum);
}

/* exp(-1.702 z) 2^-EXP_SHIFT */
INLINE vreal v_exp_quick(vreal z) {
    vreal head = v_head(z, HEAD_CLEARED);
    vreal rest = v_splat(QUICK_LOW) * head + v_splat(QUICK) * (z - head);
    return v_exp_sum(-(v_splat(QUICK_HIGH) * head), -rest, -EXP_SHIFT);
}

INLINE vreal v_quick_gelu(vreal z) {
    vreal held = v_clamp(z, LOWEST_QUICK_GELU, HIGHEST_QUICK_GELU);
    return v_sigmoid_gate(z, held, v_exp_quick(held), HIGHEST_QUICK_GELU);
}

INLINE vreal v_quick_gelu_derivative(vreal z) {
    vreal held = v_clamp(z, LOWEST_QUICK_GELU, HIGHEST_QUICK_GELU);
    return v_sigmoid_gate_derivative(v_splat(QUICK) * held, v_exp_quick(held));
}

INLINE vreal v_none(vreal z) {
    return z;
}

INLINE vreal v_none_derivative(vreal z) {
    (void)z;
    return v_splat(1);
}

#endif
