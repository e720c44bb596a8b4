/* Limits, shifts and sparse gates; see variants.h. */
#include "variants.h"

#include <math.h>

void measure_gates(gate_statistics *of, const real *gates, ptrdiff_t stride, const gated_mlp *m) {
    double sum = 0, squares = 0;
    for (int32_t i = 0; i < m->d_ff; i++) {
        sum += (double)gates[i / PANEL * stride + i % PANEL];
    }
    const double mean = sum / m->d_ff;
    for (int32_t i = 0; i < m->d_ff; i++) {
        const double apart = (double)gates[i / PANEL * stride + i % PANEL] - mean;
        squares += apart * apart;
    }
    const double deviation = sqrt(squares / m->d_ff);
    *of = (gate_statistics){mean, deviation, mean + (double)m->cutoff * deviation, 0};
}

/* A gate less the cutoff, which a gate that is not sparse does not have. */
static double above(real gate, const gate_statistics *statistics, int32_t row) {
    return statistics == NULL ? (double)gate : (double)gate - statistics[row].cutoff;
}

/* Comparisons are such that NaN passes. */
void vary_gates(real *z, const real *gate, const gated_mlp *m, const gate_statistics *statistics,
                int32_t rows) {
    for (int32_t i = 0; i < rows * PANEL; i++) {
        const double seen = above(gate[i], statistics, i / PANEL);
        z[i] = m->sparse && seen < 0                     ? 0
               : m->limit > 0 && seen > (double)m->limit ? m->limit
                                                         : (real)seen;
    }
}

void shut_gates(real *slope, const real *gate, const gated_mlp *m,
                const gate_statistics *statistics, int32_t rows) {
    for (int32_t i = 0; i < rows * PANEL; i++) {
        const double seen = above(gate[i], statistics, i / PANEL);
        if ((m->sparse && !(seen > 0)) || (m->limit > 0 && !(seen <= (double)m->limit))) {
            slope[i] = 0;
        }
    }
}

void vary_ups(real *up, const gated_mlp *m, int32_t rows) {
    if (m->limit == 0 && m->up_shift == 0) {
        return;
    }
    const real limit = m->limit > 0 ? m->limit : (real)INFINITY;
    for (int32_t i = 0; i < rows * PANEL; i++) {
        up[i] = (up[i] > limit ? limit : up[i] < -limit ? -limit : up[i]) + m->up_shift;
    }
}

void shut_ups(real *d_up, const real *raw_up, const gated_mlp *m, int32_t rows) {
    for (int32_t i = 0; m->limit > 0 && i < rows * PANEL; i++) {
        if (!(raw_up[i] >= -m->limit && raw_up[i] <= m->limit)) {
            d_up[i] = 0;
        }
    }
}

void add_cutoff_gradient(gate_statistics *statistics, const real *d_z, int32_t rows) {
    for (int32_t i = 0; i < rows * PANEL; i++) {
        statistics[i / PANEL].d_cutoff -= (double)d_z[i];
    }
}

void add_statistics_gradient(real *d_gate, const real *gate, const gated_mlp *m,
                             const gate_statistics *statistics, int32_t rows) {
    for (int32_t i = 0; i < rows * PANEL; i++) {
        const gate_statistics *s = &statistics[i / PANEL];
        const double apart = (double)gate[i] - s->mean;
        const double slope = s->deviation == 0 ? 0 : (double)m->cutoff * apart / s->deviation;
        d_gate[i] += (real)(s->d_cutoff / m->d_ff * (1 + slope));
    }
}
