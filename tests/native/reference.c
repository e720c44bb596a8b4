/* The gated MLP written as its definition; see reference.h. */
#include "reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* What the activation sees of a gate: itself, but for a cut from below and a limit from above. */
static double seen(const reference_mlp *m, double cutoff, double gate) {
    const double above = m->sparse ? fmax(0, gate - cutoff) : gate;
    return m->limit > 0 ? fmin(above, m->limit) : above;
}

static double seen_slope(const reference_mlp *m, double cutoff, double gate) {
    const int cut = m->sparse && gate - cutoff <= 0;
    const int limited = m->limit > 0 && (m->sparse ? gate - cutoff : gate) > m->limit;
    return !cut && !limited;
}

static double clamp(double v, double limit) {
    return limit > 0 ? fmax(-limit, fmin(v, limit)) : v;
}

static double mean_of(const double *v, int32_t n) {
    double sum = 0;
    for (int32_t i = 0; i < n; i++) {
        sum += v[i];
    }
    return sum / n;
}

static double deviation_of(const double *v, int32_t n) {
    double sum = 0;
    for (int32_t i = 0; i < n; i++) {
        sum += (v[i] - mean_of(v, n)) * (v[i] - mean_of(v, n));
    }
    return sqrt(sum / n);
}

static double cutoff_of(const reference_mlp *m, const double *gates) {
    return m->sparse ? mean_of(gates, m->d_ff) + m->cutoff * deviation_of(gates, m->d_ff) : 0;
}

static double up_of(const reference_mlp *m, const double *token, int32_t i) {
    return dot(token, m->up_weight + i * m->d, m->up_bias ? m->up_bias + i : NULL, m->d);
}

static int32_t activation_of(const reference_mlp *m, const gated_mlp_options *o) {
    return o->activation == -1 ? m->activation : o->activation;
}

/* gates [d_ff] = gate_proj of one token */
static void gates_of(double *gates, const reference_mlp *m, const double *token) {
    for (int32_t i = 0; i < m->d_ff; i++) {
        const double *row = m->gate_weight + i * m->d;
        gates[i] = dot(token, row, m->gate_bias ? m->gate_bias + i : NULL, m->d);
    }
}

void reference_forward(double *y, const reference_record *record, const double *x,
                       const reference_mlp *m, int32_t tokens, const gated_mlp_options *o) {
    double *gates = malloc((size_t)m->d_ff * sizeof *gates);
    for (int32_t t = 0; t < tokens; t++) {
        const double *token = x + t * m->d;
        gates_of(gates, m, token);
        const double cutoff = cutoff_of(m, gates);
        for (int32_t i = o->unit_begin; i < o->unit_end; i++) {
            const int32_t at = t * m->d_ff + i;
            const gated_mlp_hold *hold = find_hold(o, t, i);
            record->gate[at] = gates[i];
            record->up[at] = clamp(up_of(m, token, i), m->limit) + m->up_shift;
            record->act[at] =
                hold != NULL ? (double)hold->value
                             : reference_activation(activation_of(m, o), seen(m, cutoff, gates[i]));
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
    free(gates);
}

/* d_gates[i], and all else that one unit does for one token. */
static double backward_unit(const reference_gradients *g, const double *d_y, const double *x,
                            const reference_record *record, const reference_mlp *m, int32_t t,
                            int32_t i, double cutoff, const gated_mlp_options *o) {
    const int32_t at = t * m->d_ff + i;
    const double gate = record->gate[at], raw_up = up_of(m, x + t * m->d, i);
    double d_hidden = 0;
    for (int32_t j = 0; j < m->d; j++) {
        const double d_out = (double)o->scale * d_y[t * m->d + j];
        d_hidden += d_out * m->down_weight[j * m->d_ff + i];
        g->down_weight[j * m->d_ff + i] += d_out * record->hidden[at];
    }
    const double d_up = clamp(raw_up, m->limit) == raw_up ? d_hidden * record->act[at] : 0;
    for (int32_t k = 0; k < m->d; k++) {
        g->x[t * m->d + k] += d_up * m->up_weight[i * m->d + k];
        g->up_weight[i * m->d + k] += d_up * x[t * m->d + k];
    }
    if (g->up_bias != NULL) {
        g->up_bias[i] += d_up;
    }
    return find_hold(o, t, i) != NULL
               ? 0
               : d_hidden * record->up[at] * seen_slope(m, cutoff, gate) *
                     reference_derivative(activation_of(m, o), seen(m, cutoff, gate));
}

/* Every gate is also a part of its token's mean and deviation. */
static void backward_cutoff(double *d_gates, const double *gates, const reference_mlp *m) {
    const double d_cutoff = -m->d_ff * mean_of(d_gates, m->d_ff);
    const double mean = mean_of(gates, m->d_ff), deviation = deviation_of(gates, m->d_ff);
    for (int32_t i = 0; i < m->d_ff; i++) {
        d_gates[i] += d_cutoff / m->d_ff;
        if (deviation > 0) {
            d_gates[i] += d_cutoff * m->cutoff * (gates[i] - mean) / (m->d_ff * deviation);
        }
    }
}

static void backward_gate(const reference_gradients *g, const double *x, const reference_mlp *m,
                          int32_t t, int32_t i, double d_gate) {
    for (int32_t k = 0; k < m->d; k++) {
        g->x[t * m->d + k] += d_gate * m->gate_weight[i * m->d + k];
        g->gate_weight[i * m->d + k] += d_gate * x[t * m->d + k];
    }
    if (g->gate_bias != NULL) {
        g->gate_bias[i] += d_gate;
    }
}

void reference_backward(const reference_gradients *g, const double *d_y, const double *x,
                        const reference_record *record, const reference_mlp *m, int32_t tokens,
                        const gated_mlp_options *o) {
    double *gates = malloc((size_t)m->d_ff * sizeof *gates);
    double *d_gates = malloc((size_t)m->d_ff * sizeof *d_gates);
    for (int32_t t = 0; t < tokens; t++) {
        gates_of(gates, m, x + t * m->d);
        const double cutoff = cutoff_of(m, gates);
        memset(d_gates, 0, (size_t)m->d_ff * sizeof *d_gates);
        for (int32_t i = o->unit_begin; i < o->unit_end; i++) {
            d_gates[i] = backward_unit(g, d_y, x, record, m, t, i, cutoff, o);
        }
        if (m->sparse) {
            backward_cutoff(d_gates, gates, m);
        }
        for (int32_t i = 0; i < m->d_ff; i++) {
            backward_gate(g, x, m, t, i, d_gates[i]);
        }
        const int with_bias = o->unit_begin == 0 && o->unit_end > 0;
        for (int32_t j = 0; g->down_bias != NULL && with_bias && j < m->d; j++) {
            g->down_bias[j] += (double)o->scale * d_y[t * m->d + j];
        }
    }
    free(gates);
    free(d_gates);
}
