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
    if (m->d <= 0 || m->d_ff <= 0 || tokens < 0) {
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
    if (status == GATED_MLP_OK &&
        (block_bytes(m->gate_proj.dtype) != 0) != (block_bytes(m->up_proj.dtype) != 0)) {
        status = GATED_MLP_ERR_DTYPE; /* x is quantised for both or for neither */
    }
    if (status == GATED_MLP_OK) {
        status = check_options(&call->options, m->d_ff, tokens);
    }
    if (status == GATED_MLP_OK && (!fits(tokens, m->d) || !fits(tokens, m->d_ff))) {
        status = GATED_MLP_ERR_OVERFLOW;
    }
    return status;
}

static void project(real *tile, const linear *l, const row_block *x, int32_t panel, real *strip) {
    panel_product(tile, x, l, panel, 0, l->in_features, strip);
    if (l->bias != NULL) {
        add_bias(tile, l->bias + panel * PANEL, x->rows,
                 min_i32(PANEL, l->out_features - panel * PANEL));
    }
}

void units_project(real *gate, real *up, const mlp_call *call, const token_block *block,
                   int32_t panel, real *strip) {
    project(gate, &call->mlp->gate_proj, &block->x, panel, strip);
    project(up, &call->mlp->up_proj, &block->x, panel, strip);
}

void units_activate(real *act, const real *gate, const mlp_call *call, const token_block *block,
                    int32_t panel) {
    activation_forward(act, gate, call->options.activation, (int64_t)block->x.rows * PANEL);
    units_hold(act, call, block, panel, 0);
}

void units_hold(real *tile, const mlp_call *call, const token_block *block, int32_t panel,
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

column_range units_in_slice(const mlp_call *call, int32_t panel) {
    const int32_t first = panel * PANEL;
    return (column_range){max_i32(0, call->options.unit_begin - first),
                          min_i32(PANEL, call->options.unit_end - first)};
}

column_range panels_in_slice(const mlp_call *call) {
    const int32_t begin = call->options.unit_begin, end = call->options.unit_end;
    return (column_range){begin / PANEL, begin == end ? begin / PANEL : panel_count(end)};
}
