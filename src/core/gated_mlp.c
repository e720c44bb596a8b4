/* Forward of the gated MLP: y = down( act(gate(x)) * up(x) ).
 *
 * Per row block of tokens, two stages. The first goes over panels of hidden units: gate and up of
 * 32 units are computed into tiles, and while these are in L1 the activation and the product are
 * taken, the record is written, and the hidden values are put in the form in which the second
 * stage, down, reads them. Called through exports.c.
 */
#include "units.h"

typedef struct {
    uint64_t bytes;
    real *x;      /* x in groups */
    real *hidden; /* [tokens, d_ff] as A of down, whole panels */
    real *gates;  /* where gates come first: the tiles of all; else NULL */
    gate_statistics *statistics;
    real *gate; /* tiles; `gate` becomes act, then hidden */
    real *up;
    real *strip;
} forward_scratch;

static const gated_mlp_team ALONE = {.member = 0, .members = 1, .wait = NULL, .barrier = NULL};

/* Whether all gates are projected before any up: where they are sparse, since all have to be known
 * first; for a few rows, since the weights then are read as one stream, which memory gives faster. */
static int gates_come_first(const gated_mlp *m, int32_t rows) {
    return m->sparse || rows <= GEMV_ROWS;
}

/* The hidden values and gates, which a team shares, and behind them what each member has for itself. */
static forward_scratch lay_out(const gated_mlp *m, int32_t tokens, const gated_mlp_team *team,
                               void *scratch) {
    const int32_t block = block_rows(tokens);
    const uint64_t rows = (uint64_t)padded_rows(block);
    const uint64_t units = (uint64_t)panel_count(m->d_ff) * PANEL;
    scratch_cursor cursor = {scratch, 0};
    forward_scratch s = {0};
    s.hidden = take(&cursor, rows, units);
    s.gates = take(&cursor, rows, gates_come_first(m, block) ? units : 0);
    for (int32_t member = 0; member < team->members; member++) {
        forward_scratch own = s;
        own.x = take(&cursor, rows, (uint64_t)panel_count(m->d) * PANEL);
        own.gate = take(&cursor, rows, PANEL);
        own.up = take(&cursor, rows, PANEL);
        own.strip = take(&cursor, 1, STRIP_REALS);
        own.statistics = take_statistics(&cursor, m, rows);
        if (member == team->member) {
            s = own;
        }
    }
    s.bytes = scratch_total(&cursor);
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
    return gated_mlp_team_scratch_bytes(m, tokens, 1);
}

uint64_t gated_mlp_team_scratch_bytes(const gated_mlp *m, int32_t tokens, int32_t members) {
    if (m->d <= 0 || m->d_ff <= 0 || tokens < 0 || members <= 0) {
        return 0;
    }
    const gated_mlp_team team = {.member = 0, .members = members, .wait = NULL, .barrier = NULL};
    return lay_out(m, tokens, &team, NULL).bytes;
}

/* record [tokens, d_ff] = the tile's units that are in the slice */
static void keep(real *record, const real *tile, const mlp_call *call, const token_block *block,
                 int32_t panel) {
    if (record == NULL) {
        return;
    }
    const column_range units = units_in_slice(call, panel);
    const size_t d_ff = (size_t)call->mlp->d_ff;
    real *to = record + (size_t)block->token * d_ff + (size_t)(panel * PANEL + units.begin);
    for (int32_t r = 0; r < block->x.rows; r++) {
        memcpy(to + (size_t)r * d_ff, tile + r * PANEL + units.begin,
               (size_t)(units.end - units.begin) * sizeof(real));
    }
}

/* First stage: hidden = act(gate(x)) * up(x), panels [panels.begin, panels.end) of it. */
static void forward_hidden(const row_block *hidden, const mlp_call *call, const token_block *block,
                           column_range panels, const forward_scratch *s) {
    real *act = s->gate;
    for (int32_t p = panels.begin; p < panels.end; p++) {
        units_project(s->gate, s->up, call, block, p, s->strip);
        keep(call->record.gate, s->gate, call, block, p);
        vary_ups(s->up, call->mlp, block->x.rows);
        keep(call->record.up, s->up, call, block, p);
        units_activate(act, s->gate, call, block, p);
        keep(call->record.act, act, call, block, p);
        for (int32_t i = 0; i < hidden->rows * PANEL; i += LANES) {
            v_store(act + i, v_load(act + i) * v_load(s->up + i));
        }
        keep(call->record.hidden, act, call, block, p);
        units_clear_outside(act, call, block, p);
        pack_columns(s->hidden, hidden, p * PANEL, act, PANEL, PANEL);
    }
}

/* Second stage: y [tokens, d] (+)= scale * down(hidden), panels [panels.begin, panels.end) of
 * its outputs. */
static void forward_down(real *y, const row_block *hidden, const mlp_call *call,
                         column_range panels, const forward_scratch *s) {
    const gated_mlp_options *o = &call->options;
    const linear *down = &call->mlp->down_proj;
    const int has_bias = down->bias != NULL && o->unit_begin == 0 && o->unit_end > 0;
    for (int32_t p = panels.begin; p < panels.end; p++) {
        const int32_t columns = min_i32(PANEL, down->out_features - p * PANEL);
        panel_product(s->gate, hidden, down, p, o->unit_begin, o->unit_end, s->strip);
        if (has_bias) {
            add_bias(s->gate, down->bias + p * PANEL, hidden->rows, columns);
        }
        write_tile(y + p * PANEL, (size_t)down->out_features, s->gate, hidden->rows, columns,
                   o->scale, o->accumulate);
    }
}

/* A member's share of the panels in a range. */
static column_range share(column_range all, const gated_mlp_team *team) {
    const int64_t count = all.end - all.begin;
    return (column_range){all.begin + (int32_t)(count * team->member / team->members),
                          all.begin + (int32_t)(count * (team->member + 1) / team->members)};
}

static void wait_for_all(const gated_mlp_team *team) {
    if (team->wait != NULL) {
        team->wait(team->barrier);
    }
}

gated_mlp_status gated_mlp_forward(real *y, const real *x, const gated_mlp *m, int32_t tokens,
                                   const gated_mlp_options *options, const gated_mlp_record *record,
                                   void *scratch) {
    return gated_mlp_forward_member(y, x, m, tokens, options, record, scratch, &ALONE);
}

gated_mlp_status gated_mlp_forward_member(real *y, const real *x, const gated_mlp *m,
                                          int32_t tokens, const gated_mlp_options *options,
                                          const gated_mlp_record *record, void *scratch,
                                          const gated_mlp_team *team) {
    mlp_call call;
    const gated_mlp_status status = mlp_call_begin(&call, m, tokens, options, record);
    if (status != GATED_MLP_OK) {
        return status;
    }
    const forward_scratch s = lay_out(m, tokens, team, scratch);
    if (s.bytes == 0) {
        return GATED_MLP_ERR_OVERFLOW;
    }
    const column_range unit_panels = share(panels_in_slice(&call), team);
    const column_range gate_panels = share((column_range){0, panel_count(m->d_ff)}, team);
    const column_range output_panels = share((column_range){0, panel_count(m->d)}, team);
    for (int32_t t = 0; t < tokens; t += ROW_BLOCK) {
        const size_t start = (size_t)t * (size_t)m->d;
        const int32_t rows = min_i32(ROW_BLOCK, tokens - t);
        const token_block block = {t,
                                   pack_row_block(s.x, x + start, rows, m->d, m->gate_proj.dtype),
                                   s.gates, s.statistics};
        const row_block hidden =
            row_block_in(s.hidden, rows, panel_count(m->d_ff) * PANEL, m->down_proj.dtype);
        if (s.gates != NULL) {
            units_project_gates(&call, &block, m->sparse ? gate_panels : unit_panels, s.strip);
        }
        if (m->sparse) {
            wait_for_all(team);
            units_measure_gates(&call, &block);
        }
        forward_hidden(&hidden, &call, &block, unit_panels, &s);
        wait_for_all(team); /* down reads every unit's hidden value */
        forward_down(y + start, &hidden, &call, output_panels, &s);
        wait_for_all(team); /* the next block overwrites them, and y may be read */
    }
    return GATED_MLP_OK;
}
