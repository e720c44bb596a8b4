/* The RMSNorm before down_proj; see sub_norm.h. */
#include "sub_norm.h"

#include <math.h>

/* In double: a square may be more than float holds. */
void add_row_sums(double *sums, const real *a, const real *b, const gated_mlp *m, int32_t panel,
                  int32_t rows) {
    const int32_t units = min_i32(PANEL, m->d_ff - panel * PANEL);
    for (int32_t r = 0; r < rows; r++, a += PANEL, b += PANEL) {
        double sum = 0;
        for (int32_t i = 0; i < units; i++) {
            sum += (double)a[i] * (double)b[i];
        }
        sums[r] += sum;
    }
}

void find_scales(double *scales, const double *squares, int32_t parts, const gated_mlp *m,
                 int32_t rows) {
    for (int32_t r = 0; r < rows; r++) {
        double sum = 0;
        for (int32_t i = 0; i < parts; i++) {
            sum += squares[(size_t)i * (size_t)rows + (size_t)r];
        }
        scales[r] = 1 / sqrt(sum / m->d_ff + (double)m->norm_eps);
    }
}

void weigh_units(real *tile, const gated_mlp *m, int32_t panel, int32_t rows) {
    real weights[PANEL];
    expand_panel_rows(weights, &m->ffn_sub_norm, panel, 0, 1);
    for (int32_t i = 0; i < rows * PANEL; i++) {
        tile[i] *= weights[i % PANEL];
    }
}

/* The derivative of a token's scale is -scale^3 hidden / d_ff. Where one unit makes all of a norm the
 * two terms all but cancel: weight d_normed is therefore rounded as it was for d_scales. */
void norm_backward(real *d_normed, real *hidden, const gated_mlp *m, int32_t panel,
                   const double *scales, const double *d_scales, int32_t rows) {
    real weights[PANEL];
    expand_panel_rows(weights, &m->ffn_sub_norm, panel, 0, 1);
    for (int32_t i = 0; i < rows * PANEL; i++) {
        const double scale = scales[i / PANEL], value = (double)hidden[i];
        const double pull = d_scales[i / PANEL] * scale * scale / m->d_ff;
        const real weighed = d_normed[i] * weights[i % PANEL];
        hidden[i] = (real)(scale * value * (double)d_normed[i]);
        d_normed[i] = (real)(scale * ((double)weighed - pull * value));
    }
}
