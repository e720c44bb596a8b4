/* The middle of the gated MLP, a panel of 32 hidden units at a time: what forward and backward
 * share.
 *
 * A tile is [rows][PANEL] of the tokens of one row block. Called by gated_mlp.c and
 * gated_mlp_backward.c only.
 */
#ifndef GATED_MLP_UNITS_H
#define GATED_MLP_UNITS_H

#include "gemm.h"

/* One call's settings, options filled in. */
typedef struct {
    const gated_mlp *mlp;
    gated_mlp_options options;
    gated_mlp_record record;
} mlp_call;

/* Checks everything a forward or a backward can be asked wrongly and fills in the call. */
gated_mlp_status mlp_call_begin(mlp_call *call, const gated_mlp *m, int32_t tokens,
                                const gated_mlp_options *options, const gated_mlp_record *record);

/* The tokens of one row block: the first one's index, and x as A. */
typedef struct {
    int32_t token;
    row_block x;
} token_block;

/* gate, up = the projections of x with their biases */
void units_project(real *gate, real *up, const mlp_call *call, const token_block *block,
                   int32_t panel, real *strip);

/* act = f(gate) with holds applied. act may be gate. */
void units_activate(real *act, const real *gate, const mlp_call *call, const token_block *block,
                    int32_t panel);

/* Sets the tile's cells that a hold covers: to the hold's value, or to 0 where `derivative`. */
void units_hold(real *tile, const mlp_call *call, const token_block *block, int32_t panel,
                int derivative);

/* The panel's columns that belong to the slice. */
column_range units_in_slice(const mlp_call *call, int32_t panel);

/* Panels that hold the slice: [begin, end). */
column_range panels_in_slice(const mlp_call *call);

#endif
