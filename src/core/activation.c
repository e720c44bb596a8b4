/* The gates over whole buffers: activation_forward, act_mul, vLLM's act_and_mul and their derivatives. What a gate is
 * stands in activation.h; here are only loops. Each loop is compiled once for each gate, and the last, partial vector
 * goes the same way as the others, so an element's result does not depend on where it stands.
 */
#include "activation.h"

#include <stddef.h>

/* Values of act and act' that the backward pass keeps on the stack at a time. */
#define BLOCK 128

/* out[i] = act(z[i]) * up[i], or act(z[i]) where up is NULL */
INLINE void forward_loop(real *out, const real *z, const real *up, int32_t activation, int64_t n) {
    for (int64_t i = 0; i < n; i += LANES) {
        vreal act = v_act(v_load_first(z + i, n - i), activation);
        if (up) {
            act = act * v_load_first(up + i, n - i);
        }
        v_store_first(out + i, act, n - i);
    }
}

static void forward(real *out, const real *z, const real *up, int32_t activation, int64_t n) {
    switch (activation) {
#define X(name)                                                                                    \
    case ACT_##name: forward_loop(out, z, up, ACT_##name, n); break;
        GATED_MLP_ACTIVATIONS(X)
#undef X
    default: break;
    }
}

/* act[i] = f(z[i]), unless act is NULL, and derivative[i] = f'(z[i]); what the two share is computed once */
INLINE void derivative_loop(real *act, real *derivative, const real *z, int32_t activation,
                            int64_t n) {
    for (int64_t i = 0; i < n; i += LANES) {
        vreal zs = v_load_first(z + i, n - i);
        vreal f = v_act(zs, activation);
        vreal slope = v_act_derivative(zs, activation);
        if (act) {
            v_store_first(act + i, f, n - i);
        }
        v_store_first(derivative + i, slope, n - i);
    }
}

static void forward_and_derivative(real *act, real *derivative, const real *z, int32_t activation,
                                   int64_t n) {
    switch (activation) {
#define X(name)                                                                                    \
    case ACT_##name: derivative_loop(act, derivative, z, ACT_##name, n); break;
        GATED_MLP_ACTIVATIONS(X)
#undef X
    default: break;
    }
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
        forward(act, z, NULL, activation, n);
    }
    return status;
}

gated_mlp_status activation_derivative(real *derivative, const real *z, int32_t activation,
                                       int64_t n) {
    gated_mlp_status status = check(activation, n);
    if (status == GATED_MLP_OK) {
        forward_and_derivative(NULL, derivative, z, activation, n);
    }
    return status;
}

gated_mlp_status act_mul(real *out, const real *gate, const real *up, int32_t activation,
                         int64_t n) {
    gated_mlp_status status = check(activation, n);
    if (status == GATED_MLP_OK) {
        forward(out, gate, up, activation, n);
    }
    return status;
}

/* In the forward pass this was out = f(gate) * up; so now
 *     d_gate += d_out * up * f'(gate)      d_up += d_out * f(gate) */
static void backward(real *d_gate, real *d_up, const real *d_out, const real *gate, const real *up,
                     int32_t activation, int64_t n) {
    real act[BLOCK];
    real derivative[BLOCK];
    for (int64_t begin = 0; begin < n; begin += BLOCK) {
        int64_t count = n - begin < BLOCK ? n - begin : BLOCK;
        forward_and_derivative(d_up ? act : NULL, derivative, gate + begin, activation, count);
        for (int64_t i = 0; i < count; i++) {
            int64_t at = begin + i;
            real d = d_out[at];
            if (d_gate) {
                d_gate[at] += d * up[at] * derivative[i];
            }
            if (d_up) {
                d_up[at] += d * act[i];
            }
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
        forward(out + t * d_ff, gate, gate + d_ff, activation, d_ff);
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
