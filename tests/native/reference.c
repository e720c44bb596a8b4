/* The gated MLP written as its definition; see reference.h. */
#include "reference.h"

#include <math.h>
#include <stddef.h>

static const double SQRT_2_OVER_PI = 0.79788456080286535588;
static const double SQRT_HALF = 0.70710678118654752440;
static const double INV_SQRT_2PI = 0.39894228040143267794;
static const double GELU_CUBIC = 0.044715;
static const double QUICK_GELU = 1.702;

static double sigmoid(double z) {
    return 1 / (1 + exp(-z));
}

double reference_activation(int32_t activation, double z) {
    switch (activation) {
    case ACT_silu: return z * sigmoid(z);
    case ACT_gelu_tanh: return 0.5 * z * (1 + tanh(SQRT_2_OVER_PI * (z + GELU_CUBIC * z * z * z)));
    case ACT_gelu: return 0.5 * z * erfc(-z * SQRT_HALF);
    case ACT_relu: return z > 0 ? z : 0;
    case ACT_relu2: return z > 0 ? z * z : 0;
    case ACT_sigmoid: return sigmoid(z);
    case ACT_quick_gelu: return z * sigmoid(QUICK_GELU * z);
    default: return z;
    }
}

double reference_derivative(int32_t activation, double z) {
    const double s = sigmoid(z);
    switch (activation) {
    case ACT_silu: return s + z * s * (1 - s);
    case ACT_gelu_tanh: {
        const double t = tanh(SQRT_2_OVER_PI * (z + GELU_CUBIC * z * z * z));
        const double inner = SQRT_2_OVER_PI * (1 + 3 * GELU_CUBIC * z * z);
        return 0.5 * (1 + t) + 0.5 * z * (1 - t * t) * inner;
    }
    case ACT_gelu: return 0.5 * erfc(-z * SQRT_HALF) + z * INV_SQRT_2PI * exp(-0.5 * z * z);
    case ACT_relu: return z > 0;
    case ACT_relu2: return z > 0 ? 2 * z : 0;
    case ACT_sigmoid: return s * (1 - s);
    case ACT_quick_gelu: {
        const double q = sigmoid(QUICK_GELU * z);
        return q + QUICK_GELU * z * q * (1 - q);
    }
    default: return 1;
    }
}

/* The hold that counts for one cell: the last that covers it, or NULL. */
static const gated_mlp_hold *find_hold(const gated_mlp_options *o, int32_t token, int32_t unit) {
    for (int32_t i = o->hold_count - 1; i >= 0; i--) {
        const gated_mlp_hold *hold = &o->holds[i];
        if (hold->unit == unit && (hold->token == -1 || hold->token == token)) {
            return hold;
        }
    }
    return NULL;
}

/* sum_k x[k] w[k] + bias */
static double dot(const double *x, const double *w, const double *bias, int32_t n) {
    double sum = 0;
    for (int32_t k = 0; k < n; k++) {
        sum += x[k] * w[k];
    }
    return bias != NULL ? sum + *bias : sum;
}

static int32_t activation_of(const reference_mlp *m, const gated_mlp_options *o) {
    return o->activation == -1 ? m->activation : o->activation;
}

void reference_forward(double *y, const reference_record *record, const double *x,
                       const reference_mlp *m, int32_t tokens, const gated_mlp_options *o) {
    for (int32_t t = 0; t < tokens; t++) {
        for (int32_t i = o->unit_begin; i < o->unit_end; i++) {
            const double *gate_row = m->gate_weight + i * m->d, *up_row = m->up_weight + i * m->d;
            const int32_t at = t * m->d_ff + i;
            const gated_mlp_hold *hold = find_hold(o, t, i);
            const double *token = x + t * m->d;
            record->gate[at] = dot(token, gate_row, m->gate_bias ? m->gate_bias + i : NULL, m->d);
            record->up[at] = dot(token, up_row, m->up_bias ? m->up_bias + i : NULL, m->d);
            record->act[at] = hold != NULL
                                  ? (double)hold->value
                                  : reference_activation(activation_of(m, o), record->gate[at]);
            record->hidden[at] = record->act[at] * record->up[at];
        }
        const int with_bias = m->down_bias != NULL && o->unit_begin == 0 && o->unit_end > 0;
        for (int32_t j = 0; j < m->d; j++) {
            const double sum =
                dot(record->hidden + t * m->d_ff + o->unit_begin,
                    m->down_weight + j * m->d_ff + o->unit_begin,
                    with_bias ? m->down_bias + j : NULL, o->unit_end - o->unit_begin);
            double *to = &y[t * m->d + j];
            *to = (double)o->scale * sum + (o->accumulate ? *to : 0);
        }
    }
}

static void backward_unit(const reference_gradients *g, const double *d_y, const double *x,
                          const reference_record *record, const reference_mlp *m, int32_t t,
                          int32_t i, const gated_mlp_options *o) {
    const int32_t at = t * m->d_ff + i;
    double d_hidden = 0;
    for (int32_t j = 0; j < m->d; j++) {
        const double d_out = (double)o->scale * d_y[t * m->d + j];
        d_hidden += d_out * m->down_weight[j * m->d_ff + i];
        g->down_weight[j * m->d_ff + i] += d_out * record->hidden[at];
    }
    const double slope = find_hold(o, t, i) != NULL
                             ? 0
                             : reference_derivative(activation_of(m, o), record->gate[at]);
    const double d_gate = d_hidden * record->up[at] * slope;
    const double d_up = d_hidden * record->act[at];
    for (int32_t k = 0; k < m->d; k++) {
        g->x[t * m->d + k] += d_gate * m->gate_weight[i * m->d + k];
        g->x[t * m->d + k] += d_up * m->up_weight[i * m->d + k];
        g->gate_weight[i * m->d + k] += d_gate * x[t * m->d + k];
        g->up_weight[i * m->d + k] += d_up * x[t * m->d + k];
    }
    if (g->gate_bias != NULL) {
        g->gate_bias[i] += d_gate;
    }
    if (g->up_bias != NULL) {
        g->up_bias[i] += d_up;
    }
}

void reference_backward(const reference_gradients *g, const double *d_y, const double *x,
                        const reference_record *record, const reference_mlp *m, int32_t tokens,
                        const gated_mlp_options *o) {
    for (int32_t t = 0; t < tokens; t++) {
        for (int32_t i = o->unit_begin; i < o->unit_end; i++) {
            backward_unit(g, d_y, x, record, m, t, i, o);
        }
        const int with_bias = o->unit_begin == 0 && o->unit_end > 0;
        for (int32_t j = 0; g->down_bias != NULL && with_bias && j < m->d; j++) {
            g->down_bias[j] += (double)o->scale * d_y[t * m->d + j];
        }
    }
}
