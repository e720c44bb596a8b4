/* Many rows times block-quantised weights: a run of RUN_BLOCKS blocks is added up as integers, as if it
 * were one block, and scaled once.
 *
 * For that an output's weights are brought to one unit in a run: codes of 12 bits, which say what a code of
 * 8 or 4 bits, its scale and its minimum say to 1/32 of the run's coarsest step. That is done once for all rows;
 * fewer than RUN_ROWS would not make up for it, and are multiplied block by block (quant_gemm.h). So here alone
 * a row's result depends on how many there are, by a few thousandths of the whole.
 *
 * Sums fit in 32 bits: a row's codes of a block add up to 65535 at most (quant_pack.c), and those of a run
 * times one more than CODE_MOST, as Q4_1's are rounded twice, to less than 2^31. Called by quant_gemm.c;
 * private to the kernels.
 */
#ifndef GATED_MLP_QUANT_RUNS_H
#define GATED_MLP_QUANT_RUNS_H

#include "quant_gemm.h"

#define RUN_BLOCKS 8

/* Largest code of a weight: 32 times the largest of Q8_0. */
#define CODE_MOST 4064

/* A strip of a run expanded: pairs of codes, then 8 units. RUNS of them are gone through at a time. */
#define RUN_REALS ((RUN_BLOCKS * PAIRS + 1) * STRIP)
#define RUNS      3
_Static_assert(RUNS *RUN_REALS <= QUANT_STRIP_REALS, "runs of a strip fit");

#ifndef GATED_MLP_FLOAT64

/* tile [rows][PANEL] += A's codes times blocks b0 to b1 of a panel. room is for QUANT_STRIP_REALS. */
void runs_panel_product(real *tile, const row_block *a, const linear *l, int32_t panel, int32_t b0,
                        int32_t b1, real *room);

#endif

#endif
