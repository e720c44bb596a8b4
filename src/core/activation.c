/* The gates over whole buffers: activation_forward, act_mul, vLLM's act_and_mul and their derivatives. What a gate is
 * stands in activation.h; here are only loops. Each loop is compiled once for each gate, and the last, partial vector
 * goes the same way as the others, so an element's result does not depend on where it stands.
 */
#include "activation.h"

#include <stddef.h>

/* Values of act and act' that the products keep on the stack at a time. */
#define BLOCK 128

/* f of the whole vectors from z up to end; to may be z. */
typedef void vector_loop(real *to, const real *z, int32_t activation, const real *end);

static void forward_vectors(real *to, const real *z, int32_t activation, const real *end) {
    switch (activation) {
#define X(name)                                                                                    \
    case ACT_##name:                                                                               \
        for (; z != end; z += LANES, to += LANES) {                                                \
            v_store(to, v_##name(v_load(z)));                                                      \
        }                                                                                          \
        break;
        GATED_MLP_ACTIVATIONS(X)
#undef X
    default: break;
    }
}

static void derivative_vectors(real *to, const real *z, int32_t activation, const real *end) {
    switch (activation) {
#define X(name)                                                                                    \
    case ACT_##name:                                                                               \
        for (; z != end; z += LANES, to += LANES) {                                                \
            v_store(to, v_##name##_derivative(v_load(z)));                                         \
        }                                                                                          \
        break;
        GATED_MLP_ACTIVATIONS(X)
#undef X
    default: break;
    }
}

/* What is less than a vector goes through the same loop in a vector of its own. */
INLINE void for_all(vector_loop *loop, real *to, const real *z, int32_t activation, int64_t n) {
    const int64_t whole = n / LANES * LANES;
    if (whole > 0) {
        loop(to, z, activation, z + whole);
    }
    if (whole < n) {
        real last[LANES];
        v_store(last, v_load_first(z + whole, n - whole));
        loop(last, last, activation, last + LANES);
        v_store_first(to + whole, v_load(last), n - whole);
    }
}

static void forward(real *act, const real *z, int32_t activation, int64_t n) {
    for_all(forward_vectors, act, z, activation, n);
}

static void differentiate(real *derivative, const real *z, int32_t activation, int64_t n) {
    for_all(derivative_vectors, derivative, z, activation, n);
}

static gated_mlp_status check(int32_t activation, int64_t n) {
    if (activation < 0 || activation >= ACT_COUNT) {
        return GATED_MLP_ERR_ACTIVATION;
    }
    return n < 0 ? GATED_MLP_ERR_SHAPE : GATED_MLP_OK;
}

gated_mlp_status activation_forward(real *act, const real *z, int32_t activation, int64_t n) {
    gated_mlp_status status = check(activation, n);
    if (status == GATED_MLP_OK) {
        forward(act, z, activation, n);
    }
    return status;
}

gated_mlp_status activation_derivative(real *derivative, const real *z, int32_t activation,
                                       int64_t n) {
    gated_mlp_status status = check(activation, n);
    if (status == GATED_MLP_OK) {
        differentiate(derivative, z, activation, n);
    }
    return status;
}

/* out = f(gate) * up */
static void multiply(real *out, const real *gate, const real *up, int32_t activation, int64_t n) {
    real act[BLOCK];
    for (int64_t begin = 0; begin < n; begin += BLOCK) {
        int64_t count = n - begin < BLOCK ? n - begin : BLOCK;
        forward(act, gate + begin, activation, count);
        for (int64_t i = 0; i < count; i += LANES) {
            int64_t left = count - i;
            vreal product = v_load_first(act + i, left) * v_load_first(up + begin + i, left);
            v_store_first(out + begin + i, product, left);
        }
    }
}

gated_mlp_status act_mul(real *out, const real *gate, const real *up, int32_t activation,
                         int64_t n) {
    gated_mlp_status status = check(activation, n);
    if (status == GATED_MLP_OK) {
        multiply(out, gate, up, activation, n);
    }
    return status;
}

/* d += a * b * c, or d += a * b where c is NULL */
static void accumulate(real *d, const real *a, const real *b, const real *c, int64_t n) {
    for (int64_t i = 0; i < n; i += LANES) {
        vreal product = v_load_first(a + i, n - i) * v_load_first(b + i, n - i);
        if (c) {
            product = product * v_load_first(c + i, n - i);
        }
        v_store_first(d + i, v_load_first(d + i, n - i) + product, n - i);
    }
}

/* In the forward pass this was out = f(gate) * up; so now
 *     d_gate += d_out * up * f'(gate)      d_up += d_out * f(gate) */
static void backward(real *d_gate, real *d_up, const real *d_out, const real *gate, const real *up,
                     int32_t activation, int64_t n) {
    real values[BLOCK];
    for (int64_t begin = 0; begin < n; begin += BLOCK) {
        int64_t count = n - begin < BLOCK ? n - begin : BLOCK;
        if (d_gate) {
            differentiate(values, gate + begin, activation, count);
            accumulate(d_gate + begin, d_out + begin, up + begin, values, count);
        }
        if (d_up) {
            forward(values, gate + begin, activation, count);
            accumulate(d_up + begin, d_out + begin, values, NULL, count);
        }
    }
}

gated_mlp_status act_mul_backward(real *d_gate, real *d_up, const real *d_out, const real *gate,
                                  const real *up, int32_t activation, int64_t n) {
    gated_mlp_status status = check(activation, n);
    if (status == GATED_MLP_OK) {
        backward(d_gate, d_up, d_out, gate, up, activation, n);
    }
    return status;
}

static gated_mlp_status check_rows(int32_t activation, int64_t tokens, int64_t d_ff) {
    if (activation < 0 || activation >= ACT_COUNT) {
        return GATED_MLP_ERR_ACTIVATION;
    }
    if (tokens < 0 || d_ff <= 0) {
        return GATED_MLP_ERR_SHAPE;
    }
    return tokens > INT64_MAX / (int64_t)(2 * sizeof(real)) / d_ff ? GATED_MLP_ERR_OVERFLOW
                                                                   : GATED_MLP_OK;
}

gated_mlp_status act_and_mul(real *out, const real *gate_up, int32_t activation, int64_t tokens,
                             int64_t d_ff) {
    gated_mlp_status status = check_rows(activation, tokens, d_ff);
    for (int64_t t = 0; status == GATED_MLP_OK && t < tokens; t++) {
        const real *gate = gate_up + 2 * t * d_ff;
        multiply(out + t * d_ff, gate, gate + d_ff, activation, d_ff);
    }
    return status;
}

gated_mlp_status act_and_mul_backward(real *d_gate_up, const real *d_out, const real *gate_up,
                                      int32_t activation, int64_t tokens, int64_t d_ff) {
    gated_mlp_status status = check_rows(activation, tokens, d_ff);
    for (int64_t t = 0; status == GATED_MLP_OK && t < tokens; t++) {
        const real *gate = gate_up + 2 * t * d_ff;
        real *d_gate = d_gate_up + 2 * t * d_ff;
        backward(d_gate, d_gate + d_ff, d_out + t * d_ff, gate, gate + d_ff, activation, d_ff);
    }
    return status;
}
