/* Operands put into the order in which the register tile reads them: rows of A in groups, weights of
 * the store as strips of numbers in L1, and tiles for sums over tokens. Called by gemm.c and by the
 * row-block loops. Private to the kernels.
 *
 * A is a block of at most ROW_BLOCK rows. Up to GEMV_ROWS of them are row-major (group 1); more are
 * packed in groups, [rows / group][depth][group], so that one step of the register tile finds its
 * values side by side. Groups have up to TILE_ROWS rows, as equally many as can be.
 *
 * Against block-quantised weights A is quantised too: to 16 bits, a pair of codes in the place of a value, with
 * a scale for each row and, per block of the same 32 columns, a sum; to bytes where the weights are in quads
 * (quads.h). A row's codes do not depend on other rows, but of pairs on how many there are (pairs_are_nested).
 * In double nothing of this is done: weights are expanded.
 */
#ifndef GATED_MLP_PACK_H
#define GATED_MLP_PACK_H

#include "quant.h"
#include "sizes.h"

/* Words of codes that a row has per block against weights in quads (quads.h). */
#define QUAD_CODES 12

#define GEMV_ROWS 3
#define GROUP     4 /* rows of codes */
#ifdef FUSED_MADD
#define TILE_ROWS 6
#else
#define TILE_ROWS 4
#endif
#define K_BLOCK       256
#define STRIP_VECTORS (STRIP / LANES)
#define PANEL_STRIPS  (PANEL / STRIP)

typedef struct {
    const real *data; /* values, or pairs of codes */
    int32_t rows;
    int32_t depth;  /* values, pairs or words of bytes per row */
    int32_t group;  /* rows side by side, 1: none */
    int32_t blocks; /* per row; 0 where data are values */
    int32_t kind;   /* of the codes (store.h) */
} row_block;

/* [begin, end): panels, units, a panel's columns, or groups of rows. */
typedef struct {
    int32_t begin;
    int32_t end;
} span;

/* Rows up to the end of the last group of codes. */
INLINE int32_t padded_rows(int32_t rows) {
    return (rows + GROUP - 1) / GROUP * GROUP;
}

/* Rows of a group of values: evenly many, but rather one row is left over than two, for which the
 * tile takes as long as for three. */
INLINE int32_t group_rows(int32_t rows) {
    const int32_t groups = (rows + TILE_ROWS - 1) / TILE_ROWS;
    const int32_t even = (rows + groups - 1) / groups;
    return rows % even == 2 ? TILE_ROWS : even;
}

/* A whose values have been packed in groups. */
INLINE row_block grouped_values(const real *data, int32_t rows, int32_t depth) {
    return (row_block){.data = data, .rows = rows, .depth = depth, .group = group_rows(rows)};
}

/* Tile i of several, [rows][PANEL] each; with room for whole groups of GROUP, if rows are in groups. */
INLINE real *tile_at(real *tiles, int32_t rows, int32_t i) {
    const int32_t held = rows <= GEMV_ROWS ? rows : padded_rows(rows);
    return tiles + (size_t)i * (size_t)held * PANEL;
}

/* Rows that a packed A has room for: whole groups of either kind. */
INLINE int32_t packed_rows(int32_t rows) {
    return max_i32(padded_rows(rows), (rows + TILE_ROWS - 1) / TILE_ROWS * TILE_ROWS);
}

/* Behind the codes: scales [rows / group][blocks][group], of pairs only the first block's; then sums, the
 * same, of a block's codes, or in quads of its values as they are after rounding; nested pairs have none. Where
 * from the data on those of row r, the first of a group, are. */
INLINE size_t scale_offset(const row_block *a, int32_t r, int32_t block) {
    return (size_t)padded_rows(a->rows) * (size_t)a->depth + (size_t)r * (size_t)a->blocks +
           (size_t)(block * a->group);
}

INLINE size_t sum_offset(const row_block *a, int32_t r, int32_t block) {
    return (size_t)padded_rows(a->rows) * (size_t)a->blocks + scale_offset(a, r, block);
}

INLINE size_t start_offset(const row_block *a, int32_t r, int32_t block) {
    return (size_t)padded_rows(a->rows) * (size_t)a->blocks + sum_offset(a, r, block);
}

/* Strips of a panel that hold anything of a matrix `features` wide. */
INLINE int32_t strips_in(int32_t features, int32_t panel) {
    const int32_t columns = min_i32(PANEL, features - panel * PANEL);
    return (columns + STRIP - 1) / STRIP;
}

/* dst [rows / group][depth][group], first `columns` of depth = src [rows, columns] with rows ld
 * apart. Places of rows that are missing from the last group are neither written nor read. */
void pack_rows(real *dst, int32_t group, int32_t depth, const real *src, size_t ld, int32_t rows,
               int32_t columns);

/* A of a forward product with weights of dtype, to be filled by pack_columns. room is for
 * packed_rows(rows) of whole panels. */
row_block row_block_in(real *room, int32_t rows, int32_t columns, int32_t dtype);

/* Columns [column, column + columns) of A = src [rows, columns], rows ld apart; column is a multiple
 * of PANEL. What is missing from the last block of codes becomes 0. */
void pack_columns(real *room, const row_block *a, int32_t column, const real *src, size_t ld,
                  int32_t columns);

/* Groups of rows that are not done when their columns are packed. */
int32_t groups_to_finish(const row_block *a);

/* What is left to do for such a group, the rows from r on, when all columns [k0, k1) of a product to come are
 * packed: once, as it is done in place. */
void finish_rows(real *room, const row_block *a, int32_t r, int32_t k0, int32_t k1);

/* src [rows, columns] as A of a forward product: itself where few rows of values are wanted, else
 * packed into room. */
row_block pack_row_block(real *room, const real *src, int32_t rows, int32_t columns, int32_t dtype);

/* dst [ceil(columns / 32)][rows][PANEL] = src [rows, columns]: columns cut into tiles, missing
 * ones zero. */
void pack_tiles(real *dst, const real *src, int32_t rows, int32_t columns);

/* Rows of the store from a source held the same: the first n inputs, those that make whole vectors,
 * of four outputs of 32 bits, or of eight of 16. src rows are row_step bytes apart. Gives how many
 * inputs were packed; none in double. */
int32_t pack_words(unsigned char *dst, const unsigned char *src, ptrdiff_t row_step, int32_t n);
int32_t pack_halves(unsigned char *dst, const unsigned char *src, ptrdiff_t row_step, int32_t n);

/* dst [depth][STRIP] = strip `s` of a panel, rows k0 on. */
void expand_strip(real *dst, const linear *l, int32_t panel, int32_t s, int32_t k0, int32_t depth);

/* dst [depth][PANEL] = rows k0 on of a panel. */
void expand_panel_rows(real *dst, const linear *l, int32_t panel, int32_t k0, int32_t depth);

/* dst [depth][STRIP] = weight[k0..k0 + depth), input..input + STRIP): the store read across its
 * rows. Inputs past the last give zeros. `lines` is room for STRIP rows of a panel. */
void expand_strip_transposed(real *dst, real *lines, const linear *l, int32_t input, int32_t k0,
                             int32_t depth);

#endif
