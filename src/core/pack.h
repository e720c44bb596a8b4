/* Operands put into the order in which the register tile reads them: rows of A in groups, weights of
 * the store as strips of numbers in L1, and tiles for sums over tokens. Called by gemm.c and by the
 * row-block loops. Private to the kernels.
 *
 * A is a block of at most ROW_BLOCK rows. Up to GEMV_ROWS of them are used as they are, row-major
 * (group 1); more are packed in groups of 4, [rows / 4][depth][4], so that one step of the register
 * tile finds its four values side by side (group 4).
 */
#ifndef GATED_MLP_PACK_H
#define GATED_MLP_PACK_H

#include "sizes.h"

#define GEMV_ROWS     3
#define GROUP         4
#define K_BLOCK       256
#define STRIP_VECTORS (STRIP / LANES)
#define PANEL_STRIPS  (PANEL / STRIP)

#ifdef __clang__
#define DO_NOT_UNROLL _Pragma("clang loop unroll(disable)")
#else
#define DO_NOT_UNROLL _Pragma("GCC unroll 1")
#endif

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

/* dst [ceil(columns / 32)][rows][PANEL] = src [rows, columns]: columns cut into tiles, missing
 * ones zero. */
void pack_tiles(real *dst, const real *src, int32_t rows, int32_t columns);

/* dst [depth][STRIP] = eight held columns of `depth` store rows, src_step bytes apart. */
void expand_strip(real *dst, const unsigned char *src, size_t src_step, int32_t dtype,
                  int32_t depth);

/* dst [depth][STRIP] = weight[k0..k0 + depth), input..input + STRIP): the store read across its
 * rows. Inputs past the last give zeros. `lines` is room for STRIP rows of a panel. */
void expand_strip_transposed(real *dst, real *lines, const linear *l, int32_t input, int32_t k0,
                             int32_t depth);

#endif
