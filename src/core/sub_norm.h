/* The RMSNorm between the product and down_proj, tile by tile, as struct gated_mlp says.
 *
 *     normed = weight hidden scale,    scale = 1 / sqrt(mean(hidden^2) + eps), one number per token
 *
 * Hidden values are seen a panel at a time, and a token's scale is known when all of them have been:
 * the weight goes onto the tile that down_proj reads, the scale onto its result. Called by
 * gated_mlp.c and gated_mlp_backward.c.
 */
#ifndef GATED_MLP_SUB_NORM_H
#define GATED_MLP_SUB_NORM_H

#include "gemm.h"

INLINE int is_normed(const gated_mlp *m) {
    return m->ffn_sub_norm.weight != NULL;
}

/* sums [rows] += row sums of a b, two tiles of a panel, over the units that there are */
void add_row_sums(double *sums, const real *a, const real *b, const gated_mlp *m, int32_t panel,
                  int32_t rows);

/* scales [rows], from squares [parts][rows] that together are those of all units */
void find_scales(double *scales, const double *squares, int32_t parts, const gated_mlp *m,
                 int32_t rows);

/* tile *= the weights of a panel's units */
void weigh_units(real *tile, const gated_mlp *m, int32_t panel, int32_t rows);

/* In place, from d_scales [rows], sums over all units of hidden (weight d_normed): d_normed becomes
 * d_hidden, and hidden the terms of the weight's gradient, to be added up over rows. */
void norm_backward(real *d_normed, real *hidden, const gated_mlp *m, int32_t panel,
                   const double *scales, const double *d_scales, int32_t rows);

#endif
