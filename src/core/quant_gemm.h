/* Products of block-quantised weights with rows that are quantised too, in integers: the float
 * build's forward path. See quant.h for the weights, pack.h for the rows.
 *
 * The products of a block of 32 codes are added up exactly in 32 bits and scaled once as the weights want it, then
 * blocks are added up in order and scaled as the row does: how few rows there are makes no difference to the
 * bits. Many have a way of their own (quant_runs.h). Called by pack.c and gemm.c; private to the kernels.
 */
#ifndef GATED_MLP_QUANT_GEMM_H
#define GATED_MLP_QUANT_GEMM_H

#include "pack.h"

/* Blocks of pairs that are gone through at a time. STRIP_BLOCKS of a strip that is expanded: codes, 8 scales,
 * 8 minima of each, which stay in L1 beside a group's rows. Quads take more room (quads.h). STORE_BLOCKS straight
 * from the store, of all panels that lie abreast: their first strip fetches the lines of all in one run, of 272 KB, for
 * the others to find in L2. */
#define STRIP_BLOCKS      24
#define STORE_BLOCKS      256
#define STRIP_BLOCK_REALS ((PAIRS + 2) * STRIP)
#define QUANT_STRIP_REALS (2 * K_BLOCK * STRIP)
_Static_assert(STRIP_BLOCKS *STRIP_BLOCK_REALS <= QUANT_STRIP_REALS, "a strip fits");
_Static_assert(STORE_BLOCKS *STRIP <= QUANT_STRIP_REALS, "a strip's scales fit");

/* From so many rows on there are runs (quant_runs.h). */
#define RUN_ROWS 32

#ifndef GATED_MLP_FLOAT64

#define SMALLEST_STEP 0x1p-126f
#define CODE_MAX      32639.0f /* with a 256th more it still fits in 16 bits */
/* Added to a number of magnitude under 2^22, it rounds it to nearest and leaves it, as an integer,
 * in the lowest bits. */
#define TO_INTEGER 0x1.8p23f

/* Whether A is to be multiplied with Q8_0's codes as they lie, two in a lane: every second pair of a row then is
 * given less a 256th of the pair before it. A lane times the first is 256 a x + b x, and the same shifted left
 * by 8 bits, times the second, 256 b (y - x / 256): together 256 (a x + b y), but for what rounding x / 256 leaves, at
 * most half a unit of a code. */
INLINE int pairs_are_nested(const row_block *a) {
    return a->kind == DTYPE_Q8_0 && a->rows < RUN_ROWS;
}

/* `count` values of which the rest of a block is 0: themselves, or in `padded`. */
INLINE const real *whole_block(real *padded, const real *values, int32_t count) {
    if (count >= BLOCK) {
        return values;
    }
    memset(padded, 0, BLOCK * sizeof *padded);
    memcpy(padded, values, (size_t)count * sizeof *padded);
    return padded;
}

/* A block's share of sums, added to them. */
INLINE vreal add_block(vreal before, vmask products, vreal scale) {
    return v_madd(v_from_integers(products), scale, before);
}

/* Four numbers rounded to integers of 16 bits, each twice: a factor for pairs of codes. */
INLINE vcodes pairs_of(vreal numbers) {
    const vbits low = (vbits)(numbers + TO_INTEGER) & 0xffff;
    return (vcodes)(low | low << 16);
}

/* numerator / denominator where that is above 0, else 0 */
INLINE vreal quotient(vreal numerator, vreal denominator) {
    return v_select(denominator > v_splat(0), numerator / denominator, v_splat(0));
}

/* Before block b of a row: if it is the first of four, reads a number of each cache line of their codes, `count` a
 * block, for nothing but to have them in L1, out of which a panel's weights push them. While memory is busy with
 * weights, a line that is not there is waited for long, and several, asked for together, no longer than one. Where
 * codes of several rows lie side by side, step apart, a block is as many lines, which are left alone. */
INLINE void touch_blocks(const real *codes, int32_t step, int32_t count, int32_t b, int32_t b1) {
    if (step == 1 && b % 4 == 0 && b + 4 <= b1) {
        for (int32_t i = 0; i < 4 * count; i += GATED_MLP_ALIGN / (int32_t)sizeof(real)) {
            (void)*(const volatile real *)(codes + i);
        }
    }
}

/* What is added up of one block: 4 rows, 8 columns. */
typedef struct {
    vmask sum[GROUP][STRIP_VECTORS];
} tile_products;

/* products += a pair of inputs of a strip's outputs, first four and second, times that of each row; begins: they
 * are nothing before, which spares zeros and additions. V8 12 keeps the order, rows inside, the other being slower. */
INLINE void add_pairs(tile_products *products, vcodes first, vcodes second, const real *pairs,
                      const int begins) {
    const vcodes weights[STRIP_VECTORS] = {first, second};
    vcodes x[GROUP];
    for (int32_t i = 0; i < GROUP; i++) {
        x[i] = v_splat_pair(pairs + i);
    }
    for (int32_t j = 0; j < STRIP_VECTORS; j++) {
        for (int32_t i = 0; i < GROUP; i++) {
            const vmask sums = v_dot_pairs(weights[j], x[i]);
            products->sum[i][j] = begins ? sums : products->sum[i][j] + sums;
        }
    }
}

/* c [GROUP][PANEL] += what was added up of blocks whose weights have these scales. */
INLINE void add_products(real *c, const tile_products *products, const vreal *scales) {
    for (int32_t i = 0; i < GROUP; i++) {
        for (int32_t j = 0; j < STRIP_VECTORS; j++) {
            real *to = c + i * PANEL + j * LANES;
            v_store(to, add_block(v_load(to), products->sum[i][j], scales[j]));
        }
    }
}

/* Fills blocks of A from `block` on with src [rows, columns], rows ld apart: codes and
 * a scale for each row. A value that is not finite makes its block's scale NaN. */
void pack_codes(real *room, const row_block *a, int32_t block, const real *src, size_t ld,
                int32_t columns);

/* Gives the group of rows from r on its scales of blocks b0 to b1, when these are all packed as pairs: one for
 * each row, which is that of block b0; and nests the pairs, if they are to be. Once, as it is done in place. */
void align_codes(real *room, const row_block *a, int32_t r, int32_t b0, int32_t b1);

/* tiles (tile_at) = A[:, k0..k1) weight[panels' outputs, k0..k1)^T; A is 0 in the rest of the
 * blocks at the ends. A has room for whole groups; strip is of QUANT_STRIP_REALS. */
void quant_panel_products(real *tiles, const row_block *a, const linear *l, span panels, int32_t k0,
                          int32_t k1, real *strip);

#endif

#endif
