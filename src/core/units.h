/* The middle of the gated MLP, after projections a panel of 32 hidden units at a time: what forward
 * and backward share.
 *
 * A tile is [rows][PANEL] of the tokens of one row block. Called by gated_mlp.c and
 * gated_mlp_backward.c only; variants.c has what is not plain about some families' formulas.
 */
#ifndef GATED_MLP_UNITS_H
#define GATED_MLP_UNITS_H

#include "variants.h"

/* One call's settings, options filled in. */
typedef gated_mlp_call mlp_call;

/* Checks everything a forward or a backward can be asked wrongly and fills in the call. */
gated_mlp_status mlp_call_begin(mlp_call *call, const gated_mlp *m, int32_t tokens,
                                const gated_mlp_options *options, const gated_mlp_record *record);

/* The tokens of one row block: the first one's index, x as A, all gates as tiles where they are
 * projected before the ups, and where the gate is sparse what is known of each token's. */
typedef struct {
    int32_t token;
    row_block x;
    real *gates;                 /* or NULL */
    gate_statistics *statistics; /* [rows], or NULL */
} token_block;

/* block->gates of panels [panels.begin, panels.end); then, when all are there, a sparse MLP's
 * statistics. */
void units_project_gates(const mlp_call *call, const token_block *block, span panels, real *strip);
void units_measure_gates(const mlp_call *call, const token_block *block);

/* gate, up = the projections of x with their biases, a tile for each of the panels */
void units_project(real *gate, real *up, const mlp_call *call, const token_block *block,
                   span panels, real *strip);

/* act = f(gate) with limit, cut and holds applied. act may be gate. */
void units_activate(real *act, const real *gate, const mlp_call *call, const token_block *block,
                    int32_t panel);

/* slope = its derivative. slope may be gate where the MLP is plain. */
void units_slope(real *slope, const real *gate, const mlp_call *call, const token_block *block,
                 int32_t panel);

/* The tile's columns that are not in the range become 0. */
void units_clear_outside(real *tile, span inside, int32_t rows);

/* The panel's columns that belong to the slice. */
span units_in_slice(const mlp_call *call, int32_t panel);

/* The units that are computed: those of the slice, or all where a norm wants their mean. */
span units_at_work(const mlp_call *call);
span units_at_work_in(const mlp_call *call, int32_t panel);

/* Panels that hold them: [begin, end). */
span panels_at_work(const mlp_call *call);

#endif
