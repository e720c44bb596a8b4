/* Matrix products over the packed store: what linear.c and gated_mlp*.c are made of.
 *
 * Every path adds up the products of one output in the same order: blocks of K_BLOCK terms, each
 * from zero, then the blocks (block-quantised weights: quant_gemm.h); so a row's result does not
 * depend on how many rows there are, but for many rows against quantised weights (quant_runs.h).
 *
 * A product's results are tiles [rows][PANEL], which stay in L1 for whatever comes next. Private to
 * the kernels.
 */
#ifndef GATED_MLP_GEMM_H
#define GATED_MLP_GEMM_H

#include "tile.h"

/* Buffer that panel_products and panel_product_transposed expand weights into: reals. */
#define STRIP_REALS (2 * K_BLOCK * STRIP)

/* How many of a matrix's panels are best multiplied at a time by so many rows, beginning at a multiple of that: at most
 * at_most, but no fewer than lie abreast, unless at_most is 0. */
int32_t panels_together(const linear *l, int32_t rows, int32_t at_most);

/* Rows of PANEL in which the tiles of so many rows have room, of all panels together (gemm.c asserts it). */
INLINE uint64_t tiles_rows(uint64_t rows) {
    return rows > ROW_BLOCK ? rows : ROW_BLOCK;
}

/* tiles (tile_at) = A[:, k0..k1) weight[panels' outputs, k0..k1)^T */
void panel_products(real *tiles, const row_block *a, const linear *l, span panels, int32_t k0,
                    int32_t k1, real *strip);

/* tile [rows][PANEL] (+)= A[:, k0..k1) weight[k0..k1), panel's inputs]; A in groups of 4; k runs
 * over outputs. */
void panel_product_transposed(real *tile, const row_block *a, const linear *l, int32_t panel,
                              int32_t k0, int32_t k1, int accumulate, real *strip);

/* c (+)= a^T b for two tiles of `depth` rows: c[i * ldc + j] (+)= sum_k a[k][i] b[k][j] for i and
 * j in their ranges; nothing else of c is touched. */
void outer_product(real *c, size_t ldc, const real *a, span a_columns, const real *b,
                   span b_columns, int32_t depth, int accumulate);

/* y [rows, columns] (+)= scale * tile, y's rows ld apart. */
void write_tile(real *y, size_t ld, const real *tile, int32_t rows, int32_t columns, real scale,
                int accumulate);

#endif
