/* Backward of the gated MLP: every gradient of exactly the forward that the options describe.
 *
 * Per row block of tokens and panel of 32 units: gate, act and up come from the record or are
 * computed again; the hidden gradient, d_gate and d_up are tiles, from which the weights' gradients
 * take what they need while the tiles are in L1. d_gate and d_up of all units are kept packed for
 * d_x, which sums over them. Of a sparse MLP d_gate is known when all panels have been seen: its
 * mean and deviation are every unit's. So is a norm's scale: what is needed of it is found in a pass
 * before. Called through exports.c.
 *
 *     d_hidden = scale d_y down          d_down += (d_y)^T (scale hidden)      normed, where it is
 *     d_gate = d_hidden up f'(gate)      d_up = d_hidden act
 *     d_gate_weight += d_gate^T x        d_up_weight += d_up^T x
 *     d_x += d_gate gate_proj + d_up up_proj
 */
#include "units.h"

typedef struct {
    uint64_t bytes;
    real *x_groups; /* x as A of a recomputed forward */
    real *x_tiles;
    real *d_y_groups;
    real *d_y_tiles;
    real *d_gate_groups;
    real *d_up_groups;
    real *gate; /* tiles from here on */
    real *act;
    real *up;
    real *raw_up;   /* up_proj's output: `up` itself where the MLP is plain */
    real *d_gate;   /* first f'(gate); `gate` itself where the MLP is plain */
    real *d_hidden; /* becomes d_up */
    real *strip;
    real *gates; /* where the gate is sparse, all tiles: gates and d_gates */
    real *d_gates;
    gate_statistics *statistics;
    double *scales; /* these [rows], where there is a norm */
    double *squares;
    double *d_scales;
} backward_scratch;

static backward_scratch lay_out(const gated_mlp *m, int32_t tokens, void *scratch) {
    const uint64_t rows = (uint64_t)packed_rows(block_rows(tokens));
    const uint64_t d = (uint64_t)panel_count(m->d) * PANEL;
    const uint64_t d_ff = (uint64_t)panel_count(m->d_ff) * PANEL;
    scratch_cursor cursor = {scratch, 0};
    backward_scratch s = {0};
    s.x_groups = take(&cursor, rows, d);
    s.x_tiles = take(&cursor, rows, d);
    s.d_y_groups = take(&cursor, rows, d);
    s.d_y_tiles = take(&cursor, rows, d);
    s.d_gate_groups = take(&cursor, rows, d_ff);
    s.d_up_groups = take(&cursor, rows, d_ff);
    s.gate = take(&cursor, rows, PANEL);
    s.act = take(&cursor, rows, PANEL);
    s.up = take(&cursor, rows, PANEL);
    s.d_hidden = take(&cursor, rows, PANEL);
    s.strip = take(&cursor, 1, STRIP_REALS);
    s.raw_up = is_plain(m) ? s.up : take(&cursor, rows, PANEL);
    s.d_gate = is_plain(m) ? s.gate : take(&cursor, rows, PANEL);
    s.gates = take(&cursor, rows, m->sparse ? d_ff : 0);
    s.d_gates = take(&cursor, rows, m->sparse ? d_ff : 0);
    s.statistics = take_statistics(&cursor, m, rows);
    s.bytes = scratch_total(&cursor);
    return s;
}

uint64_t gated_mlp_backward_scratch_bytes(const gated_mlp *m, int32_t tokens) {
    return m->d <= 0 || m->d_ff <= 0 || tokens < 0 ? 0 : lay_out(m, tokens, NULL).bytes;
}

/* Whether gate, act and up come from the record. */
static int is_recorded(const mlp_call *call) {
    const gated_mlp_record *record = &call->record;
    return is_plain(call->mlp) && record->gate != NULL && record->act != NULL && record->up != NULL;
}

/* The tile's units that are at work, from record [tokens, d_ff]; the others are 0. */
static void recall(real *tile, const real *record, const mlp_call *call, const token_block *block,
                   int32_t panel) {
    const span units = units_at_work_in(call, panel);
    const size_t d_ff = (size_t)call->mlp->d_ff;
    const real *from = record + (size_t)block->token * d_ff + (size_t)(panel * PANEL);
    for (int32_t r = 0; r < block->x.rows; r++, tile += PANEL, from += d_ff) {
        if (units.end - units.begin == PANEL) {
            for (int32_t j = 0; j < PANEL; j += LANES) {
                v_store(tile + j, v_load(from + j));
            }
        } else {
            memset(tile, 0, PANEL * sizeof(real));
            memcpy(tile + units.begin, from + units.begin,
                   (size_t)(units.end - units.begin) * sizeof(real));
        }
    }
}

/* gate, act and up */
static void find_units(const mlp_call *call, const token_block *block, int32_t panel,
                       const backward_scratch *s) {
    const gated_mlp_record *record = &call->record;
    if (is_recorded(call)) {
        recall(s->gate, record->gate, call, block, panel);
        recall(s->act, record->act, call, block, panel);
        recall(s->up, record->up, call, block, panel);
    } else {
        units_project(s->gate, s->raw_up, call, block, (span){panel, panel + 1}, s->strip);
        units_activate(s->act, s->gate, call, block, panel);
    }
    if (!is_plain(call->mlp)) {
        memcpy(s->up, s->raw_up, (size_t)(block->x.rows * PANEL) * sizeof(real));
        vary_ups(s->up, call->mlp, block->x.rows);
    }
}

/* tile = scale act up */
static void multiply_units(real *tile, real scale, int32_t rows, const backward_scratch *s) {
    const vreal splat = v_splat(scale);
    for (int32_t i = 0; i < rows * PANEL; i += LANES) {
        v_store(tile + i, v_load(s->act + i) * v_load(s->up + i) * splat);
    }
}

/* The gradient of what down sees of a panel, but for the scale of y, into the d_hidden tile. */
static void find_down_input_gradient(const mlp_call *call, const token_block *block, int32_t panel,
                                     const backward_scratch *s) {
    const gated_mlp *m = call->mlp;
    const row_block d_y = grouped_values(s->d_y_groups, block->x.rows, m->d);
    panel_product_transposed(s->d_hidden, &d_y, &m->down_proj, panel, 0, m->d, 0, s->strip);
    units_clear_outside(s->d_hidden, units_in_slice(call, panel), block->x.rows);
}

/* Whether the weights' gradients of a row block are added to what is there, or are the first. */
static int accumulates(const gated_mlp_gradients *g, const token_block *block) {
    return !g->overwrite || block->token > 0;
}

/* d_weight [.., in] of a panel's units (+)= d_units^T x */
static void add_projection_gradient(real *d_weight, real *d_bias, const real *d_units,
                                    const mlp_call *call, const token_block *block, int32_t panel,
                                    span units, const real *x_tiles, int accumulate) {
    const int32_t rows = block->x.rows, d = call->mlp->d;
    if (d_bias != NULL) {
        add_column_sums(d_bias + panel * PANEL + units.begin, d_units + units.begin, PANEL, rows,
                        units.end - units.begin, 1);
    }
    if (d_weight != NULL) {
        real *unit_rows = d_weight + (size_t)(panel * PANEL) * (size_t)d;
        for (int32_t i = 0; i < d; i += PANEL) {
            outer_product(unit_rows + i, (size_t)d, d_units, units,
                          x_tiles + (size_t)i * (size_t)rows, (span){0, min_i32(PANEL, d - i)},
                          rows, accumulate);
        }
    }
}

/* d_down [d, d_ff] (+)= d_y^T (scale hidden) for a panel's units. Uses the d_hidden tile for scale
 * * hidden. */
static void add_down_gradient(const gated_mlp_gradients *g, const mlp_call *call,
                              const token_block *block, int32_t panel, const backward_scratch *s) {
    const int32_t rows = block->x.rows, d = call->mlp->d;
    const size_t d_ff = (size_t)call->mlp->d_ff;
    multiply_units(s->d_hidden, call->options.scale, rows, s);
    if (is_normed(call->mlp)) {
        weigh_units(s->d_hidden, call->mlp, panel, rows);
        scale_rows(s->d_hidden, s->scales, rows);
    }
    for (int32_t o = 0; o < d; o += PANEL) {
        outer_product(g->down_weight + (size_t)o * d_ff + panel * PANEL, d_ff,
                      s->d_y_tiles + (size_t)o * (size_t)rows, (span){0, min_i32(PANEL, d - o)},
                      s->d_hidden, units_in_slice(call, panel), rows, accumulates(g, block));
    }
}

/* The pass over all panels that finds the norm's scales and their gradients. */
static void begin_norm(const mlp_call *call, const token_block *block, const backward_scratch *s) {
    const gated_mlp *m = call->mlp;
    const int32_t rows = block->x.rows;
    real *hidden = s->gate; /* the gate has done its part */
    memset(s->squares, 0, (size_t)rows * sizeof(double));
    memset(s->d_scales, 0, (size_t)rows * sizeof(double));
    for (int32_t p = 0; p < panel_count(m->d_ff); p++) {
        find_units(call, block, p, s);
        multiply_units(hidden, 1, rows, s);
        add_row_sums(s->squares, hidden, hidden, m, p, rows);
        find_down_input_gradient(call, block, p, s);
        weigh_units(s->d_hidden, m, p, rows);
        add_row_sums(s->d_scales, hidden, s->d_hidden, m, p, rows);
    }
    find_scales(s->scales, s->squares, 1, m, rows);
}

/* The d_hidden tile becomes the gradient of hidden; the norm's weight gets its own. */
static void backward_norm(const gated_mlp_gradients *g, const mlp_call *call,
                          const token_block *block, int32_t panel, const backward_scratch *s) {
    const int32_t rows = block->x.rows;
    const span units = units_in_slice(call, panel);
    real *hidden = s->gate;
    multiply_units(hidden, 1, rows, s);
    norm_backward(s->d_hidden, hidden, call->mlp, panel, s->scales, s->d_scales, rows);
    if (g->norm_weight != NULL) {
        add_column_sums(g->norm_weight + panel * PANEL + units.begin, hidden + units.begin, PANEL,
                        rows, units.end - units.begin, call->options.scale);
    }
}

/* The panel's columns of groups [rows, d_ff] = tile [rows][PANEL] */
static void pack_panel(real *groups, const real *tile, int32_t rows, int32_t d_ff, int32_t panel) {
    const int32_t group = group_rows(rows);
    pack_rows(groups + panel * PANEL * group, group, panel_count(d_ff) * PANEL, tile, PANEL, rows,
              PANEL);
}

/* A panel's finished d_gate [rows][PANEL]: into the gradients, and kept for d_x. */
static void add_gate_gradient(const gated_mlp_gradients *g, const mlp_call *call,
                              const token_block *block, int32_t panel, span units,
                              const real *d_gate, const backward_scratch *s) {
    add_projection_gradient(g->gate_weight, g->gate_bias, d_gate, call, block, panel, units,
                            s->x_tiles, accumulates(g, block));
    if (g->x != NULL) {
        pack_panel(s->d_gate_groups, d_gate, block->x.rows, call->mlp->d_ff, panel);
    }
}

static void backward_panel(const gated_mlp_gradients *g, const mlp_call *call,
                           const token_block *block, int32_t panel, const backward_scratch *s) {
    const gated_mlp *m = call->mlp;
    const int32_t rows = block->x.rows;
    const span units = units_at_work_in(call, panel);
    real *d_gate = m->sparse ? tile_at(s->d_gates, block->x.rows, panel) : s->d_gate;
    find_units(call, block, panel, s);
    units_slope(d_gate, s->gate, call, block, panel);
    if (g->down_weight != NULL) {
        add_down_gradient(g, call, block, panel, s);
    }
    find_down_input_gradient(call, block, panel, s);
    if (is_normed(m)) {
        backward_norm(g, call, block, panel, s);
    }
    const vreal scale = v_splat(call->options.scale);
    for (int32_t i = 0; i < rows * PANEL; i += LANES) {
        const vreal d_hidden = v_load(s->d_hidden + i) * scale;
        v_store(d_gate + i, v_load(d_gate + i) * (d_hidden * v_load(s->up + i)));
        v_store(s->d_hidden + i, d_hidden * v_load(s->act + i));
    }
    shut_ups(s->d_hidden, s->raw_up, m, rows);
    add_projection_gradient(g->up_weight, g->up_bias, s->d_hidden, call, block, panel, units,
                            s->x_tiles, accumulates(g, block));
    if (g->x != NULL) {
        pack_panel(s->d_up_groups, s->d_hidden, rows, m->d_ff, panel);
    }
    if (m->sparse) {
        units_clear_outside(d_gate, units, rows);
        add_cutoff_gradient(block->statistics, d_gate, rows);
    } else {
        add_gate_gradient(g, call, block, panel, units, d_gate, s);
    }
}

/* The gates of a sparse MLP, all panels: what they have done as parts of mean and deviation. */
static void backward_gates(const gated_mlp_gradients *g, const mlp_call *call,
                           const token_block *block, const backward_scratch *s) {
    const int32_t d_ff = call->mlp->d_ff;
    for (int32_t p = 0; p < panel_count(d_ff); p++) {
        real *d_gate = tile_at(s->d_gates, block->x.rows, p);
        add_statistics_gradient(d_gate, tile_at(block->gates, block->x.rows, p), call->mlp,
                                block->statistics, block->x.rows);
        add_gate_gradient(g, call, block, p, (span){0, min_i32(PANEL, d_ff - p * PANEL)}, d_gate,
                          s);
    }
}

/* The first pass over a sparse MLP's gates. */
static void begin_gates(const mlp_call *call, const token_block *block, const backward_scratch *s) {
    const int32_t panels = panel_count(call->mlp->d_ff);
    units_project_gates(call, block, (span){0, panels}, s->strip);
    units_measure_gates(call, block);
    memset(s->d_gates, 0,
           (size_t)(tile_at(s->d_gates, block->x.rows, panels) - s->d_gates) * sizeof(real));
}

/* d_x [tokens, d] += d_gate gate_proj + d_up up_proj */
static void add_input_gradient(real *d_x, const mlp_call *call, int32_t rows,
                               const backward_scratch *s) {
    const gated_mlp *m = call->mlp;
    const span units = units_at_work(call);
    const int32_t begin = units.begin, end = units.end;
    const int32_t depth = panel_count(m->d_ff) * PANEL;
    const row_block d_gate = grouped_values(s->d_gate_groups, rows, depth);
    const row_block d_up = grouped_values(s->d_up_groups, rows, depth);
    const int32_t gate_begin = m->sparse ? 0 : begin, gate_end = m->sparse ? m->d_ff : end;
    for (int32_t p = 0; begin < end && p < panel_count(m->d); p++) {
        panel_product_transposed(s->act, &d_gate, &m->gate_proj, p, gate_begin, gate_end, 0,
                                 s->strip);
        panel_product_transposed(s->act, &d_up, &m->up_proj, p, begin, end, 1, s->strip);
        write_tile(d_x + p * PANEL, (size_t)m->d, s->act, rows, min_i32(PANEL, m->d - p * PANEL), 1,
                   1);
    }
}

/* Every gradient's share of `rows` tokens from x and d_y on, of which the first is token t. */
static void backward_block(const gated_mlp_gradients *g, const real *d_y, const real *x,
                           const mlp_call *call, int32_t t, int32_t rows,
                           const backward_scratch *s) {
    const gated_mlp *m = call->mlp;
    const int32_t d = m->d;
    token_block block = {t, {.rows = rows}, s->gates, s->statistics};
    if (!is_recorded(call)) {
        block.x = pack_row_block(s->x_groups, x, rows, d, m->gate_proj.dtype);
    }
    pack_tiles(s->x_tiles, x, rows, d);
    pack_rows(s->d_y_groups, group_rows(rows), d, d_y, (size_t)d, rows, d);
    pack_tiles(s->d_y_tiles, d_y, rows, d);
    if (m->sparse) {
        begin_gates(call, &block, s);
    }
    if (is_normed(m)) {
        begin_norm(call, &block, s);
    }
    const span panels = panels_at_work(call);
    for (int32_t p = panels.begin; p < panels.end; p++) {
        backward_panel(g, call, &block, p, s);
    }
    if (m->sparse) {
        backward_gates(g, call, &block, s);
    }
    if (g->x != NULL) {
        add_input_gradient(g->x + (size_t)t * (size_t)d, call, rows, s);
    }
    if (g->down_bias != NULL && call->options.unit_begin == 0 && call->options.unit_end > 0) {
        add_column_sums(g->down_bias, d_y, (size_t)d, rows, d, call->options.scale);
    }
}

static void clear(real *values, size_t count) {
    if (values != NULL) {
        memset(values, 0, count * sizeof(real));
    }
}

/* The gradients as the row blocks see them. Of those to be overwritten weights need not be cleared if all
 * their entries will be stored. */
static gated_mlp_gradients begin_gradients(const gated_mlp_gradients *gradients,
                                           const mlp_call *call, int32_t tokens) {
    gated_mlp_gradients g = *gradients;
    const gated_mlp_options *o = &call->options;
    const size_t d = (size_t)call->mlp->d, d_ff = (size_t)call->mlp->d_ff;
    if (!g.overwrite) {
        return g;
    }
    clear(g.x, (size_t)tokens * d);
    clear(g.gate_bias, d_ff);
    clear(g.up_bias, d_ff);
    clear(g.down_bias, d);
    clear(is_normed(call->mlp) ? g.norm_weight : NULL, d_ff);
    g.overwrite = tokens > 0 && o->unit_begin == 0 && o->unit_end == call->mlp->d_ff;
    if (!g.overwrite) {
        clear(g.gate_weight, d_ff * d);
        clear(g.up_weight, d_ff * d);
        clear(g.down_weight, d * d_ff);
    }
    return g;
}

gated_mlp_status gated_mlp_backward(const gated_mlp_gradients *gradients, const real *d_y,
                                    const real *x, const gated_mlp *m, int32_t tokens,
                                    const gated_mlp_options *options,
                                    const gated_mlp_record *record, void *scratch) {
    mlp_call call;
    const gated_mlp_status status = mlp_call_begin(&call, m, tokens, options, record);
    if (status != GATED_MLP_OK) {
        return status;
    }
    backward_scratch s = lay_out(m, tokens, scratch);
    if (s.bytes == 0) {
        return GATED_MLP_ERR_OVERFLOW;
    }
    double scales[ROW_BLOCK], squares[ROW_BLOCK], d_scales[ROW_BLOCK];
    s.scales = scales;
    s.squares = squares;
    s.d_scales = d_scales;
    const gated_mlp_gradients g = begin_gradients(gradients, &call, tokens);
    for (int32_t t = 0; t < tokens; t += ROW_BLOCK) {
        const size_t start = (size_t)t * (size_t)m->d;
        backward_block(&g, d_y + start, x + start, &call, t, min_i32(ROW_BLOCK, tokens - t), &s);
    }
    return GATED_MLP_OK;
}
