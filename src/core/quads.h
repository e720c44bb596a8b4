/* Rows as bytes, and their products with weights in quads (quant.h): what block-quantised weights are
 * multiplied by where one instruction adds up four products of bytes (v_dot_quads).
 *
 * A byte is too coarse for an input, and two bytes each would take twice the products; so two inputs
 * share a third. Inputs a and b in the same place of a pair of quads become
 *
 *     a = unit (coarse_a + fine / 128)        b = unit (coarse_b + ratio fine / 128)
 *
 * One fine serves both: b is met as finely as it counts, and a at one of `ratio` steps between two
 * units. Two inputs are then three products, since some byte has A + ratio B of the weights A and B in
 * that place: of Q8_0 it is the mean (A + 7 B) / 8, of Q4_1 the byte that holds both as A + 16 B.
 *
 *     Q8_0   a A + b B = unit / 16 (16 (coarse_a A + coarse_b B) + fine mean)
 *     Q4_1   a A + b B = unit / 128 (128 (coarse_a A + coarse_b B) + fine both)
 *
 * That is about 11 bits beside the block's largest input. Where one input is larger than all others of
 * its block together, they may be the ones that count: such a block is rounded to units, and what that
 * leaves is rounded again, to a second set of codes, and takes the products once more. Of two inputs that
 * are as large as each other and outweigh the rest, the rest is met to those 11 bits only.
 *
 * Called by quant_gemm.c and quant_pack.c; private to the kernels.
 */
#ifndef GATED_MLP_QUADS_H
#define GATED_MLP_QUADS_H

#include "quant_gemm.h"

/* A row's codes of a block: a word for each quad's coarse bytes, then one for each pair's fine ones. */
#define QUADS      (BLOCK / 4)
#define QUAD_PAIRS (QUADS / 2)
_Static_assert(QUAD_CODES == QUADS + QUAD_PAIRS, "QUAD_CODES counts them");

/* One block of a strip expanded: what fine codes are multiplied by, 8 scales; of Q4_1 8 minima and what
 * coarse codes are multiplied by. */
#define SCALES_AT (QUAD_PAIRS * STRIP)
#define MINIMA_AT (SCALES_AT + STRIP)
#define COARSE_AT (MINIMA_AT + STRIP)

INLINE int32_t quads_strip_reals(int32_t dtype) {
    return dtype == DTYPE_Q8_0_QUADS ? MINIMA_AT : COARSE_AT + QUADS * STRIP;
}

/* Blocks that are gone through at a time: those of a strip stay in L1 beside a group's rows. */
#define Q8_0_BLOCKS 64
#define Q4_1_BLOCKS 24
_Static_assert(Q8_0_BLOCKS *MINIMA_AT <= QUANT_STRIP_REALS &&
                   Q4_1_BLOCKS * (COARSE_AT + QUADS * STRIP) <= QUANT_STRIP_REALS,
               "a strip fits");

INLINE int32_t blocks_together(int32_t dtype) {
    return dtype == DTYPE_Q8_0_QUADS ? Q8_0_BLOCKS : Q4_1_BLOCKS;
}

#ifndef GATED_MLP_FLOAT64

/* How a type's codes are made: the ratio of quads.h; by how many bits coarse products are shifted; and
 * the largest input in units: with half of ratio + 1 more, which fine may take off, it is a byte still. */
typedef struct {
    int32_t ratio, shift;
    real most;
} code_form;

INLINE code_form form_of(int32_t dtype) {
    return dtype == DTYPE_Q8_0_QUADS ? (code_form){7, 4, 122} : (code_form){16, 7, 118};
}

/* Codes, scales, sums and starts of A (pack.h), and behind them the same of what they leave. A start is
 * an integer: what sums of Q8_0's coarse products begin from, for the 128 in its weights. */
INLINE row_block rest_of(const row_block *a) {
    row_block rest = *a;
    rest.data += (size_t)padded_rows(a->rows) * (size_t)(a->blocks * (QUAD_CODES + 3));
    return rest;
}

/* pack_codes for weights in quads */
void quads_pack(real *room, const row_block *a, int32_t block, const real *src, size_t ld,
                int32_t columns);

/* tile [rows][PANEL] += A times blocks b0 to b1 of a panel: the first `grouped` rows by the register tile, those behind
 * them one by one. room is for QUANT_STRIP_REALS. */
void quads_panel_product(real *tile, const row_block *a, int32_t grouped, const linear *l,
                         int32_t panel, int32_t b0, int32_t b1, real *room);

#endif

#endif
