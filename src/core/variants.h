/* What some families' formulas do to gate and up before they meet, tile by tile: a limit, a shift of
 * up, and the cut of a sparse gate, as struct gated_mlp says. Backward has the same as derivatives.
 * The norm that another has after that is sub_norm.c's.
 *
 * Not the plain formula, which asks for none of it. Called by units.c, gated_mlp.c and
 * gated_mlp_backward.c.
 */
#ifndef GATED_MLP_VARIANTS_H
#define GATED_MLP_VARIANTS_H

#include "sub_norm.h"

/* One token's gates over all units; in double, since deviations are differences. */
typedef struct {
    double mean;
    double deviation;
    double cutoff;   /* mean + the MLP's cutoff * deviation */
    double d_cutoff; /* its gradient */
} gate_statistics;

INLINE int is_plain(const gated_mlp *m) {
    return m->limit == 0 && m->up_shift == 0 && !m->sparse && !is_normed(m);
}

/* [rows], or NULL where the gate is not sparse */
INLINE gate_statistics *take_statistics(scratch_cursor *cursor, const gated_mlp *m, uint64_t rows) {
    const uint64_t reals = sizeof(gate_statistics) / sizeof(real);
    return m->sparse ? (gate_statistics *)(void *)take(cursor, rows, reals) : NULL;
}

/* Of one token, whose gates of a panel are `stride` reals behind those of the panel before. */
void measure_gates(gate_statistics *of, const real *gates, ptrdiff_t stride, const gated_mlp *m);

/* z = what the activation sees of the gates. z may be gate. */
void vary_gates(real *z, const real *gate, const gated_mlp *m, const gate_statistics *statistics,
                int32_t rows);

/* slope = 0 where z does not follow the gate */
void shut_gates(real *slope, const real *gate, const gated_mlp *m,
                const gate_statistics *statistics, int32_t rows);

/* up = clamp(up) + shift, in place */
void vary_ups(real *up, const gated_mlp *m, int32_t rows);

/* d_up = 0 where the clamp holds up_proj's output */
void shut_ups(real *d_up, const real *raw_up, const gated_mlp *m, int32_t rows);

/* cutoff is subtracted from every gate: d_cutoff -= row sums of d_z */
void add_cutoff_gradient(gate_statistics *statistics, const real *d_z, int32_t rows);

/* d_gate += the gradient through mean and deviation, from the complete d_cutoff */
void add_statistics_gradient(real *d_gate, const real *gate, const gated_mlp *m,
                             const gate_statistics *statistics, int32_t rows);

#endif
