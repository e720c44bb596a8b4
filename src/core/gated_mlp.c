/* Forward of the gated MLP: y = down( act(gate(x)) * up(x) ), a norm before down where there is one.
 *
 * Per row block of tokens there are stages, and a step of one is some panels of 32 outputs. In that over
 * hidden units gate and up of these become tiles, and while they are in L1 the activation and the product
 * are taken, the record is written, and the hidden values are put in the form in which the last stage,
 * down, reads them; gates have a stage of their own before it where they are wanted first. Called
 * through exports.c.
 */
#include "units.h"

/* A row block's stages, in order. A few panels are a step, in the third a group of rows. The first has steps only where
 * gates come first, the third where hidden values become pairs of codes. */
typedef enum { STAGE_GATES, STAGE_HIDDEN, STAGE_ROWS, STAGE_DOWN, STAGES } stage_kind;

/* What a thread has made of a row block's x for itself: the block's first token, or -1. */
typedef struct {
    int32_t packed;
    int32_t measured;
    row_block x;
} thread_state;

typedef struct {
    real *hidden;    /* [tokens, d_ff] as A of down, whole panels */
    real *gates;     /* where gates come first: the tiles of all; else NULL */
    double *squares; /* where there is a norm: [panels][tokens], sums over a panel of hidden^2 */
    thread_state *state;
    real *x; /* in groups */
    gate_statistics *statistics;
    real *gate; /* tiles of a step's panels; `gate` becomes act, then hidden */
    real *up;
    real *strip;
    uint64_t bytes; /* up to the end of this thread's */
} forward_scratch;

/* Whether all gates are projected before any up: where they are sparse, since all have to be known
 * first; for a few rows, since the weights then are read as one stream, which memory gives faster. */
static int gates_come_first(const gated_mlp *m, int32_t tokens) {
    return m->sparse || tokens <= GEMV_ROWS;
}

static void lay_out_own(forward_scratch *s, scratch_cursor *cursor, const gated_mlp *m,
                        uint64_t rows) {
    s->state = (thread_state *)(void *)take(cursor, 1, sizeof(thread_state) / sizeof(real) + 1);
    s->x = take(cursor, rows, (uint64_t)panel_count(m->d) * PANEL);
    s->gate = take(cursor, tiles_rows(rows), PANEL);
    s->up = take(cursor, tiles_rows(rows), PANEL);
    s->strip = take(cursor, 1, STRIP_REALS);
    s->statistics = take_statistics(cursor, m, rows);
}

/* What all share, and of what each has for itself a thread's. */
static forward_scratch lay_out(const gated_mlp *m, int32_t tokens, int32_t thread, void *scratch) {
    const uint64_t rows = (uint64_t)packed_rows(block_rows(tokens));
    const uint64_t panels = (uint64_t)panel_count(m->d_ff), units = panels * PANEL;
    forward_scratch s;
    scratch_cursor own = {NULL, 0}, all = {scratch, 0};
    lay_out_own(&s, &own, m, rows);
    s.hidden = take(&all, rows, units);
    s.gates = take(&all, rows, gates_come_first(m, tokens) ? units : 0);
    s.squares = (double *)(void *)take(&all, is_normed(m) ? rows * panels : 0,
                                       sizeof(double) / sizeof(real));
    all.used += (uint64_t)thread * own.used;
    lay_out_own(&s, &all, m, rows);
    s.bytes = scratch_total(&all);
    return s;
}

gated_mlp_options gated_mlp_defaults(const gated_mlp *m) {
    return (gated_mlp_options){.unit_begin = 0,
                               .unit_end = m->d_ff,
                               .scale = 1,
                               .accumulate = 0,
                               .activation = -1,
                               .holds = NULL,
                               .hold_count = 0};
}

uint64_t gated_mlp_forward_scratch_bytes(const gated_mlp *m, int32_t tokens) {
    return gated_mlp_job_scratch_bytes(m, tokens, 1);
}

uint64_t gated_mlp_job_scratch_bytes(const gated_mlp *m, int32_t tokens, int32_t threads) {
    if (m->d <= 0 || m->d_ff <= 0 || tokens < 0 || threads <= 0) {
        return 0;
    }
    return lay_out(m, tokens, threads - 1, NULL).bytes;
}

/* record [tokens, d_ff] = the tile's units that are in the slice */
static void keep(real *record, const real *tile, const mlp_call *call, const token_block *block,
                 int32_t panel) {
    if (record == NULL) {
        return;
    }
    const span units = units_in_slice(call, panel);
    const size_t d_ff = (size_t)call->mlp->d_ff;
    real *to = record + (size_t)block->token * d_ff + (size_t)(panel * PANEL + units.begin);
    for (int32_t r = 0; r < block->x.rows; r++) {
        memcpy(to + (size_t)r * d_ff, tile + r * PANEL + units.begin,
               (size_t)(units.end - units.begin) * sizeof(real));
    }
}

/* hidden = act(gate) * up, one panel of it, whose tile act takes the place of gate's; before a norm with the norm's
 * weights */
static void forward_panel(const row_block *hidden, const mlp_call *call, const token_block *block,
                          int32_t panel, real *gate, real *up, const forward_scratch *s) {
    real *act = gate;
    keep(call->record.gate, gate, call, block, panel);
    vary_ups(up, call->mlp, block->x.rows);
    keep(call->record.up, up, call, block, panel);
    units_activate(act, gate, call, block, panel);
    keep(call->record.act, act, call, block, panel);
    for (int32_t i = 0; i < hidden->rows * PANEL; i += LANES) {
        v_store(act + i, v_load(act + i) * v_load(up + i));
    }
    keep(call->record.hidden, act, call, block, panel);
    if (is_normed(call->mlp)) {
        double *squares = s->squares + (size_t)panel * (size_t)hidden->rows;
        memset(squares, 0, (size_t)hidden->rows * sizeof *squares);
        add_row_sums(squares, act, act, call->mlp, panel, hidden->rows);
        weigh_units(act, call->mlp, panel, hidden->rows);
    }
    units_clear_outside(act, units_in_slice(call, panel), hidden->rows);
    pack_columns(s->hidden, hidden, panel * PANEL, act, PANEL, PANEL);
}

/* hidden, some panels of it, from x */
static void forward_hidden(const row_block *hidden, const mlp_call *call, const token_block *block,
                           span panels, const forward_scratch *s) {
    units_project(s->gate, s->up, call, block, panels, s->strip);
    for (int32_t p = panels.begin; p < panels.end; p++) {
        forward_panel(hidden, call, block, p, tile_at(s->gate, hidden->rows, p - panels.begin),
                      tile_at(s->up, hidden->rows, p - panels.begin), s);
    }
}

/* y [tokens, d] (+)= scale * down(hidden), some panels of its outputs */
static void forward_down(real *y, const row_block *hidden, const mlp_call *call, span panels,
                         const forward_scratch *s) {
    const gated_mlp_options *o = &call->options;
    const linear *down = &call->mlp->down_proj;
    const int has_bias = down->bias != NULL && o->unit_begin == 0 && o->unit_end > 0;
    double scales[ROW_BLOCK];
    if (is_normed(call->mlp)) {
        find_scales(scales, s->squares, panel_count(call->mlp->d_ff), call->mlp, hidden->rows);
    }
    panel_products(s->gate, hidden, down, panels, o->unit_begin, o->unit_end, s->strip);
    for (int32_t p = panels.begin; p < panels.end; p++) {
        real *tile = tile_at(s->gate, hidden->rows, p - panels.begin);
        const int32_t columns = min_i32(PANEL, down->out_features - p * PANEL);
        if (is_normed(call->mlp)) {
            scale_rows(tile, scales, hidden->rows);
        }
        if (has_bias) {
            add_bias(tile, down->bias + p * PANEL, hidden->rows, columns);
        }
        write_tile(y + p * PANEL, (size_t)down->out_features, tile, hidden->rows, columns, o->scale,
                   o->accumulate);
    }
}

static stage_kind kind_of(int32_t stage) {
    return (stage_kind)(stage % STAGES);
}

static int32_t first_token(int32_t stage) {
    return stage / STAGES * ROW_BLOCK;
}

static row_block hidden_of(const gated_mlp_job *job, int32_t stage, real *room) {
    const gated_mlp *m = job->call.mlp;
    const int32_t rows = min_i32(ROW_BLOCK, job->tokens - first_token(stage));
    return row_block_in(room, rows, panel_count(m->d_ff) * PANEL, m->down_proj.dtype);
}

/* The panels, or groups of rows, that a stage's steps go through. A sparse gate depends on all others, outside the
 * slice too. */
static span work_of(const gated_mlp_job *job, int32_t stage) {
    const gated_mlp *m = job->call.mlp;
    const row_block hidden = hidden_of(job, stage, NULL);
    switch (kind_of(stage)) {
    case STAGE_GATES:
        if (!gates_come_first(m, job->tokens)) {
            return (span){0, 0};
        }
        return m->sparse ? (span){0, panel_count(m->d_ff)} : panels_at_work(&job->call);
    case STAGE_HIDDEN: return panels_at_work(&job->call);
    case STAGE_ROWS: return (span){0, groups_to_finish(&hidden)};
    default: return (span){0, panel_count(m->d)};
    }
}

/* A row block as this thread sees it; its x is put in order when the thread first comes to it. */
static token_block token_block_at(const gated_mlp_job *job, int32_t token, int32_t rows,
                                  const forward_scratch *s) {
    const gated_mlp *m = job->call.mlp;
    if (s->state->packed != token) {
        const real *x = job->x + (size_t)token * (size_t)m->d;
        s->state->x = pack_row_block(s->x, x, rows, m->d, m->gate_proj.dtype);
        s->state->packed = token;
    }
    return (token_block){token, s->state->x, s->gates, s->statistics};
}

/* Steps that a stage is cut into at least for each of several threads, if there are panels enough, so that none waits long
 * for the others. */
#define STEPS_PER_THREAD 16

/* How many of the panels, or groups of rows, are one step. */
static int32_t step_size(const gated_mlp_job *job, int32_t stage) {
    const gated_mlp *m = job->call.mlp;
    const linear *l = kind_of(stage) == STAGE_DOWN ? &m->down_proj : &m->gate_proj;
    if (kind_of(stage) == STAGE_ROWS) {
        return 1;
    }
    const int32_t share = panel_count(l->out_features) / (STEPS_PER_THREAD * job->threads);
    return panels_together(l, min_i32(job->tokens - first_token(stage), ROW_BLOCK),
                           job->threads == 1 ? INT32_MAX : share);
}

/* The panels of a step: from one multiple of its size to the next; the first and the last may be fewer. */
static span step_panels(const gated_mlp_job *job, int32_t stage, int32_t step) {
    const span all = work_of(job, stage);
    const int32_t size = step_size(job, stage);
    const int32_t begin = (all.begin / size + step) * size;
    return (span){max_i32(all.begin, begin), min_i32(all.end, begin + size)};
}

static void forward_step(const gated_mlp_job *job, int32_t stage, int32_t step,
                         const forward_scratch *s) {
    const mlp_call *call = &job->call;
    const gated_mlp *m = call->mlp;
    const stage_kind kind = kind_of(stage);
    const span panels = step_panels(job, stage, step);
    const int32_t token = first_token(stage);
    const row_block hidden = hidden_of(job, stage, s->hidden);
    if (kind == STAGE_ROWS) {
        finish_rows(s->hidden, &hidden, step * hidden.group, call->options.unit_begin,
                    call->options.unit_end);
        return;
    }
    if (kind == STAGE_DOWN) {
        forward_down(job->y + (size_t)token * (size_t)m->d, &hidden, call, panels, s);
        return;
    }
    const token_block block = token_block_at(job, token, hidden.rows, s);
    if (kind == STAGE_GATES) {
        units_project_gates(call, &block, panels, s->strip);
        return;
    }
    if (m->sparse && s->state->measured != token) {
        units_measure_gates(call, &block);
        s->state->measured = token;
    }
    forward_hidden(&hidden, call, &block, panels, s);
}

gated_mlp_status gated_mlp_job_begin(gated_mlp_job *job, real *y, const real *x, const gated_mlp *m,
                                     int32_t tokens, const gated_mlp_options *options,
                                     const gated_mlp_record *record, void *scratch,
                                     int32_t threads) {
    *job = (gated_mlp_job){
        .y = y, .x = x, .tokens = tokens, .threads = threads, .stages = 0, .scratch = scratch};
    const gated_mlp_status status = mlp_call_begin(&job->call, m, tokens, options, record);
    if (status != GATED_MLP_OK) {
        return status;
    }
    if (gated_mlp_job_scratch_bytes(m, tokens, threads) == 0) {
        return GATED_MLP_ERR_OVERFLOW;
    }
    const int32_t blocks = tokens / ROW_BLOCK + (tokens % ROW_BLOCK != 0);
    job->stages = blocks * STAGES;
    for (int32_t thread = 0; blocks > 0 && thread < threads; thread++) {
        *lay_out(m, tokens, thread, scratch).state = (thread_state){.packed = -1, .measured = -1};
    }
    return GATED_MLP_OK;
}

int32_t gated_mlp_job_steps(const gated_mlp_job *job, int32_t stage) {
    const span all = work_of(job, stage);
    const int32_t size = step_size(job, stage);
    return all.begin == all.end ? 0 : (all.end - 1) / size - all.begin / size + 1;
}

int32_t gated_mlp_job_shares(const gated_mlp_job *job) {
    return job->tokens <= GEMV_ROWS ? 2 * job->threads : INT32_MAX;
}

void gated_mlp_job_step(const gated_mlp_job *job, int32_t stage, int32_t step, int32_t thread) {
    const forward_scratch s = lay_out(job->call.mlp, job->tokens, thread, job->scratch);
    forward_step(job, stage, step, &s);
}

gated_mlp_status gated_mlp_forward(real *y, const real *x, const gated_mlp *m, int32_t tokens,
                                   const gated_mlp_options *options, const gated_mlp_record *record,
                                   void *scratch) {
    gated_mlp_job job;
    const gated_mlp_status status =
        gated_mlp_job_begin(&job, y, x, m, tokens, options, record, scratch, 1);
    if (status != GATED_MLP_OK || tokens == 0) {
        return status;
    }
    const forward_scratch s = lay_out(m, tokens, 0, scratch);
    for (int32_t stage = 0; stage < job.stages; stage++) {
        const int32_t steps = gated_mlp_job_steps(&job, stage);
        for (int32_t step = 0; step < steps; step++) {
            forward_step(&job, stage, step, &s);
        }
    }
    return status;
}
