/* The middle of the gated MLP; see units.h. */
#include "units.h"

static gated_mlp_status check_projection(const linear *l, int32_t out, int32_t in) {
    return l->out_features != out || l->in_features != in ? GATED_MLP_ERR_SHAPE : check_linear(l);
}

static gated_mlp_status check_options(const gated_mlp_options *o, int32_t d_ff, int32_t tokens) {
    if (o->unit_begin < 0 || o->unit_begin > o->unit_end || o->unit_end > d_ff ||
        o->hold_count < 0 || (o->hold_count > 0 && o->holds == NULL)) {
        return GATED_MLP_ERR_SHAPE;
    }
    for (int32_t i = 0; i < o->hold_count; i++) {
        const gated_mlp_hold *hold = &o->holds[i];
        if (hold->unit < 0 || hold->unit >= d_ff || hold->token < -1 || hold->token >= tokens) {
            return GATED_MLP_ERR_SHAPE;
        }
    }
    return o->activation < 0 || o->activation >= ACT_COUNT ? GATED_MLP_ERR_ACTIVATION
                                                           : GATED_MLP_OK;
}

gated_mlp_status mlp_call_begin(mlp_call *call, const gated_mlp *m, int32_t tokens,
                                const gated_mlp_options *options, const gated_mlp_record *record) {
    if (m->d <= 0 || m->d_ff <= 0 || tokens < 0 || !(m->limit >= 0) || !(m->norm_eps >= 0)) {
        return GATED_MLP_ERR_SHAPE;
    }
    call->mlp = m;
    call->options = options != NULL ? *options : gated_mlp_defaults(m);
    call->record = record != NULL ? *record : (gated_mlp_record){0};
    if (call->options.activation == -1) {
        call->options.activation = m->activation;
    }
    gated_mlp_status status = check_projection(&m->gate_proj, m->d_ff, m->d);
    if (status == GATED_MLP_OK) {
        status = check_projection(&m->up_proj, m->d_ff, m->d);
    }
    if (status == GATED_MLP_OK) {
        status = check_projection(&m->down_proj, m->d, m->d_ff);
    }
    if (status == GATED_MLP_OK && is_normed(m)) {
        status = check_projection(&m->ffn_sub_norm, m->d_ff, 1);
    }
    if (status == GATED_MLP_OK && code_kind(m->gate_proj.dtype) != code_kind(m->up_proj.dtype)) {
        status = GATED_MLP_ERR_DTYPE; /* x is quantised once, for both */
    }
    if (status == GATED_MLP_OK) {
        status = check_options(&call->options, m->d_ff, tokens);
    }
    if (status == GATED_MLP_OK && (!fits(tokens, m->d) || !fits(tokens, m->d_ff))) {
        status = GATED_MLP_ERR_OVERFLOW;
    }
    return status;
}

static void project(real *tiles, const linear *l, const row_block *x, span panels, real *strip) {
    panel_products(tiles, x, l, panels, 0, l->in_features, strip);
    for (int32_t p = panels.begin; l->bias != NULL && p < panels.end; p++) {
        add_bias(tile_at(tiles, x->rows, p - panels.begin), l->bias + p * PANEL, x->rows,
                 min_i32(PANEL, l->out_features - p * PANEL));
    }
}

void units_project_gates(const mlp_call *call, const token_block *block, span panels, real *strip) {
    project(tile_at(block->gates, block->x.rows, panels.begin), &call->mlp->gate_proj, &block->x,
            panels, strip);
}

void units_measure_gates(const mlp_call *call, const token_block *block) {
    for (int32_t r = 0; r < block->x.rows; r++) {
        measure_gates(&block->statistics[r], block->gates + r * PANEL,
                      tile_at(block->gates, block->x.rows, 1) - block->gates, call->mlp);
    }
}

void units_project(real *gate, real *up, const mlp_call *call, const token_block *block,
                   span panels, real *strip) {
    if (block->gates != NULL) {
        const real *from = tile_at(block->gates, block->x.rows, panels.begin);
        memcpy(gate, from,
               (size_t)(tile_at(block->gates, block->x.rows, panels.end) - from) * sizeof(real));
    } else {
        project(gate, &call->mlp->gate_proj, &block->x, panels, strip);
    }
    project(up, &call->mlp->up_proj, &block->x, panels, strip);
}

/* Sets the tile's cells that a hold covers: to the hold's value, or to 0 where `derivative`. */
static void apply_holds(real *tile, const mlp_call *call, const token_block *block, int32_t panel,
                        int derivative) {
    const gated_mlp_options *o = &call->options;
    for (int32_t i = 0; i < o->hold_count; i++) {
        const gated_mlp_hold *hold = &o->holds[i];
        if (hold->unit / PANEL != panel) {
            continue;
        }
        for (int32_t r = 0; r < block->x.rows; r++) {
            if (hold->token == -1 || hold->token == block->token + r) {
                tile[r * PANEL + hold->unit % PANEL] = derivative ? 0 : hold->value;
            }
        }
    }
}

void units_activate(real *act, const real *gate, const mlp_call *call, const token_block *block,
                    int32_t panel) {
    const gated_mlp *m = call->mlp;
    if (!is_plain(m)) {
        vary_gates(act, gate, m, block->statistics, block->x.rows);
        gate = act;
    }
    activation_forward(act, gate, call->options.activation, (int64_t)block->x.rows * PANEL);
    apply_holds(act, call, block, panel, 0);
}

void units_slope(real *slope, const real *gate, const mlp_call *call, const token_block *block,
                 int32_t panel) {
    const gated_mlp *m = call->mlp;
    const int64_t cells = (int64_t)block->x.rows * PANEL;
    if (is_plain(m)) {
        activation_derivative(slope, gate, call->options.activation, cells);
    } else {
        vary_gates(slope, gate, m, block->statistics, block->x.rows);
        activation_derivative(slope, slope, call->options.activation, cells);
        shut_gates(slope, gate, m, block->statistics, block->x.rows);
    }
    apply_holds(slope, call, block, panel, 1);
}

void units_clear_outside(real *tile, span inside, int32_t rows) {
    if (inside.end - inside.begin == PANEL) {
        return;
    }
    for (int32_t r = 0; r < rows; r++, tile += PANEL) {
        memset(tile, 0, (size_t)inside.begin * sizeof(real));
        memset(tile + inside.end, 0, (size_t)(PANEL - inside.end) * sizeof(real));
    }
}

static span in_panel(span units, int32_t panel) {
    const int32_t first = panel * PANEL;
    const int32_t begin = min_i32(PANEL, max_i32(0, units.begin - first));
    return (span){begin, max_i32(begin, min_i32(PANEL, units.end - first))};
}

static span slice_of(const mlp_call *call) {
    return (span){call->options.unit_begin, call->options.unit_end};
}

span units_in_slice(const mlp_call *call, int32_t panel) {
    return in_panel(slice_of(call), panel);
}

span units_at_work(const mlp_call *call) {
    return is_normed(call->mlp) ? (span){0, call->mlp->d_ff} : slice_of(call);
}

span units_at_work_in(const mlp_call *call, int32_t panel) {
    return in_panel(units_at_work(call), panel);
}

span panels_at_work(const mlp_call *call) {
    const span units = units_at_work(call);
    const int32_t begin = units.begin / PANEL;
    return (span){begin, units.begin == units.end ? begin : panel_count(units.end)};
}
