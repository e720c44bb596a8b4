/* What is done to a tile [rows][PANEL], or to rows of a matrix, beside products: compiled for size,
 * as it takes little of their time. Called by linear.c, units.c and gated_mlp*.c. Private to the
 * kernels.
 */
#ifndef GATED_MLP_TILE_H
#define GATED_MLP_TILE_H

#include "pack.h"

/* sums [columns] += scale * column sums of src [rows, columns], rows ld apart. */
void add_column_sums(real *sums, const real *src, size_t ld, int32_t rows, int32_t columns,
                     real scale);

/* tile += bias, which has `columns` entries. */
void add_bias(real *tile, const real *bias, int32_t rows, int32_t columns);

/* tile *= scales [rows], row by row. */
void scale_rows(real *tile, const double *scales, int32_t rows);

#endif
