/* Matrix products over the packed store: what linear.c and gated_mlp*.c are made of.
 *
 * A is a block of at most ROW_BLOCK rows. Up to GEMV_ROWS of them are used as they are, row-major
 * (group 1); more are packed in groups of 4, [rows / 4][depth][4], so that one step of the register
 * tile finds its four values side by side (group 4). Every path adds up the products of one output
 * in the same order: blocks of K_BLOCK terms, each from zero, then the blocks; so a row's result
 * does not depend on how many rows there are.
 *
 * A product's result is a tile [rows][PANEL], which stays in L1 for whatever comes next. Private to
 * the kernels.
 */
#ifndef GATED_MLP_GEMM_H
#define GATED_MLP_GEMM_H

#include "sizes.h"

#define GEMV_ROWS 3
#define GROUP     4
#define K_BLOCK   256

/* Buffer that panel_product and panel_product_transposed expand weights into: reals. */
#define STRIP_REALS ((K_BLOCK + PANEL) * STRIP)

typedef struct {
    const real *data;
    int32_t rows;
    int32_t depth; /* values per row */
    int32_t group; /* 1 or GROUP */
} row_block;

/* How many rows of a group there is room for. */
INLINE int32_t padded_rows(int32_t rows) {
    return (rows + GROUP - 1) / GROUP * GROUP;
}

/* dst [rows / 4][depth][4], first `columns` of depth = src [rows, columns] with rows ld apart.
 * Places of rows that are missing from the last group are neither written nor read. */
void pack_rows(real *dst, int32_t depth, const real *src, size_t ld, int32_t rows, int32_t columns);

/* src [rows, depth] as A of a forward product: itself where rows are few, else packed into dst. */
row_block pack_row_block(real *dst, const real *src, int32_t rows, int32_t depth);

/* tile [rows][PANEL] = A[:, k0..k1) weight[panel's outputs, k0..k1)^T */
void panel_product(real *tile, const row_block *a, const linear *l, int32_t panel, int32_t k0,
                   int32_t k1, real *strip);

/* tile [rows][PANEL] (+)= A[:, k0..k1) weight[k0..k1), panel's inputs]; A in groups of 4; k runs
 * over outputs. */
void panel_product_transposed(real *tile, const row_block *a, const linear *l, int32_t panel,
                              int32_t k0, int32_t k1, int accumulate, real *strip);

/* A range [begin, end) of a panel's columns. */
typedef struct {
    int32_t begin;
    int32_t end;
} column_range;

/* dst [ceil(columns / 32)][rows][PANEL] = src [rows, columns]: columns cut into tiles, missing
 * ones zero. */
void pack_tiles(real *dst, const real *src, int32_t rows, int32_t columns);

/* c += a^T b for two tiles of `depth` rows: c[i * ldc + j] += sum_k a[k][i] b[k][j] for i and j
 * in their ranges; nothing else of c is touched. */
void outer_product(real *c, size_t ldc, const real *a, column_range a_columns, const real *b,
                   column_range b_columns, int32_t depth);

/* sums [columns] += scale * column sums of src [rows, columns], rows ld apart. */
void add_column_sums(real *sums, const real *src, size_t ld, int32_t rows, int32_t columns,
                     real scale);

/* tile [rows][PANEL] += bias, which has `columns` entries. */
void add_bias(real *tile, const real *bias, int32_t rows, int32_t columns);

/* y [rows, columns] (+)= scale * tile, y's rows ld apart. */
void write_tile(real *y, size_t ld, const real *tile, int32_t rows, int32_t columns, real scale,
                int accumulate);

#endif
