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

static int32_t activation_of(const reference_mlp *m, const gated_mlp_options *o) {
    return o->activation == -1 ? m->activation : o->activation;
}

/* Everything about one token, each [d_ff]: all units, whatever the slice. */
typedef struct {
    double *gate, *raw_up, *up, *act, *hidden;
    double *normed; /* what down sees */
    double cutoff, root;
} token_state;

static token_state start_token(const reference_mlp *m) {
    const size_t n = (size_t)m->d_ff;
    double *room = malloc(6 * n * sizeof *room);
    return (token_state){room, room + n, room + 2 * n, room + 3 * n, room + 4 * n, room + 5 * n,
                         0,    1};
}

static void find_token(token_state *s, const double *x, const reference_mlp *m, int32_t t,
                       const gated_mlp_options *o) {
    const double *token = x + t * m->d;
    for (int32_t i = 0; i < m->d_ff; i++) {
        s->gate[i] =
            dot(token, m->gate_weight + i * m->d, m->gate_bias ? m->gate_bias + i : NULL, m->d);
        s->raw_up[i] =
            dot(token, m->up_weight + i * m->d, m->up_bias ? m->up_bias + i : NULL, m->d);
    }
    s->cutoff = cutoff_of(m, s->gate);
    double squares = 0;
    for (int32_t i = 0; i < m->d_ff; i++) {
        const gated_mlp_hold *hold = find_hold(o, t, i);
        s->up[i] = clamp(s->raw_up[i], m->limit) + m->up_shift;
        s->act[i] = hold != NULL
                        ? (double)hold->value
                        : reference_activation(activation_of(m, o), seen(m, s->cutoff, s->gate[i]));
        s->hidden[i] = s->act[i] * s->up[i];
        squares += s->hidden[i] * s->hidden[i];
    }
    s->root = m->norm_weight != NULL ? sqrt(squares / m->d_ff + m->norm_eps) : 1;
    for (int32_t i = 0; i < m->d_ff; i++) {
        s->normed[i] = s->hidden[i] / s->root * (m->norm_weight != NULL ? m->norm_weight[i] : 1);
    }
}

void reference_forward(double *y, const reference_record *record, const double *x,
                       const reference_mlp *m, int32_t tokens, const gated_mlp_options *o) {
    token_state s = start_token(m);
    for (int32_t t = 0; t < tokens; t++) {
        find_token(&s, x, m, t, o);
        for (int32_t i = o->unit_begin; i < o->unit_end; i++) {
            const int32_t at = t * m->d_ff + i;
            record->gate[at] = s.gate[i];
            record->up[at] = s.up[i];
            record->act[at] = s.act[i];
            record->hidden[at] = s.hidden[i];
        }
        const int with_bias = m->down_bias != NULL && o->unit_begin == 0 && o->unit_end > 0;
        for (int32_t j = 0; j < m->d; j++) {
            const double sum =
                dot(s.normed + o->unit_begin, m->down_weight + j * m->d_ff + o->unit_begin,
                    with_bias ? m->down_bias + j : NULL, o->unit_end - o->unit_begin);
            double *to = &y[t * m->d + j];
            *to = (double)o->scale * sum + (o->accumulate ? *to : 0);
        }
    }
    free(s.gate);
}

/* d_normed [d_ff], 0 outside the slice, and the gradient of down. */
static void backward_down(double *d_normed, const reference_gradients *g, const double *d_y,
                          const token_state *s, const reference_mlp *m,
                          const gated_mlp_options *o) {
    memset(d_normed, 0, (size_t)m->d_ff * sizeof *d_normed);
    for (int32_t i = o->unit_begin; i < o->unit_end; i++) {
        for (int32_t j = 0; j < m->d; j++) {
            const double d_out = (double)o->scale * d_y[j];
            d_normed[i] += d_out * m->down_weight[j * m->d_ff + i];
            g->down_weight[j * m->d_ff + i] += d_out * s->normed[i];
        }
    }
    const int with_bias = o->unit_begin == 0 && o->unit_end > 0;
    for (int32_t j = 0; g->down_bias != NULL && with_bias && j < m->d; j++) {
        g->down_bias[j] += (double)o->scale * d_y[j];
    }
}

/* In place: d_normed becomes d_hidden. Every hidden value is also a part of its token's root. */
static void backward_norm(double *d, const reference_gradients *g, const token_state *s,
                          const reference_mlp *m) {
    if (m->norm_weight == NULL) {
        return;
    }
    double d_root = 0;
    for (int32_t i = 0; i < m->d_ff; i++) {
        d_root -= d[i] * m->norm_weight[i] * s->hidden[i] / (s->root * s->root);
    }
    for (int32_t i = 0; i < m->d_ff; i++) {
        if (g->norm_weight != NULL) {
            g->norm_weight[i] += d[i] * s->hidden[i] / s->root;
        }
        d[i] = d[i] * m->norm_weight[i] / s->root + d_root * s->hidden[i] / (m->d_ff * s->root);
    }
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

/* Of one projection, from the gradient of its output for one token. */
static void backward_projection(double *d_x, double *d_weight, double *d_bias,
                                const double *d_units, const double *x, const double *weight,
                                const reference_mlp *m) {
    for (int32_t i = 0; i < m->d_ff; i++) {
        for (int32_t k = 0; k < m->d; k++) {
            d_x[k] += d_units[i] * weight[i * m->d + k];
            d_weight[i * m->d + k] += d_units[i] * x[k];
        }
        if (d_bias != NULL) {
            d_bias[i] += d_units[i];
        }
    }
}

void reference_backward(const reference_gradients *g, const double *d_y, const double *x,
                        const reference_mlp *m, int32_t tokens, const gated_mlp_options *o) {
    token_state s = start_token(m);
    double *d_hidden = malloc(3 * (size_t)m->d_ff * sizeof *d_hidden);
    double *d_gates = d_hidden + m->d_ff, *d_ups = d_gates + m->d_ff;
    for (int32_t t = 0; t < tokens; t++) {
        const double *token = x + t * m->d;
        find_token(&s, x, m, t, o);
        backward_down(d_hidden, g, d_y + t * m->d, &s, m, o);
        backward_norm(d_hidden, g, &s, m);
        for (int32_t i = 0; i < m->d_ff; i++) {
            d_ups[i] = clamp(s.raw_up[i], m->limit) == s.raw_up[i] ? d_hidden[i] * s.act[i] : 0;
            d_gates[i] =
                find_hold(o, t, i) != NULL
                    ? 0
                    : d_hidden[i] * s.up[i] * seen_slope(m, s.cutoff, s.gate[i]) *
                          reference_derivative(activation_of(m, o), seen(m, s.cutoff, s.gate[i]));
        }
        if (m->sparse) {
            backward_cutoff(d_gates, s.gate, m);
        }
        backward_projection(g->x + t * m->d, g->gate_weight, g->gate_bias, d_gates, token,
                            m->gate_weight, m);
        backward_projection(g->x + t * m->d, g->up_weight, g->up_bias, d_ups, token, m->up_weight,
                            m);
    }
    free(d_hidden);
    free(s.gate);
}
