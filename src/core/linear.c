/* nn.Linear over the packed store: y = x W^T + b, and its three gradients.
 *
 * The loops here are row blocks and panels; the arithmetic is gemm.c's. Called by the binding
 * through exports.c; the gated MLP has loops of its own, because its middle never leaves L1.
 */
#include "gemm.h"

typedef struct {
    uint64_t bytes;
    real *rows; /* x or d_y in groups or tiles */
    real *tiles;
    real *tile;
    real *strip;
} linear_scratch;

static linear_scratch lay_out(int32_t out, int32_t in, int32_t tokens, void *scratch) {
    const uint64_t rows = (uint64_t)packed_rows(block_rows(tokens));
    scratch_cursor cursor = {scratch, 0};
    linear_scratch s = {0};
    s.rows = take(&cursor, rows, (uint64_t)panel_count(out) * PANEL);
    s.tiles = take(&cursor, rows, (uint64_t)panel_count(in) * PANEL);
    s.tile = take(&cursor, tiles_rows(rows), PANEL);
    s.strip = take(&cursor, 1, STRIP_REALS);
    s.bytes = scratch_total(&cursor);
    return s;
}

uint64_t linear_scratch_bytes(int32_t out_features, int32_t in_features, int32_t tokens) {
    if (out_features <= 0 || in_features <= 0 || tokens < 0) {
        return 0;
    }
    return lay_out(out_features, in_features, tokens, NULL).bytes;
}

static gated_mlp_status check_call(int32_t out, int32_t in, int32_t tokens) {
    if (out <= 0 || in <= 0 || tokens < 0) {
        return GATED_MLP_ERR_SHAPE;
    }
    const int sizes_fit = fits(tokens, in) && fits(tokens, out) && fits(out, in) &&
                          linear_scratch_bytes(out, in, tokens) != 0;
    return sizes_fit ? GATED_MLP_OK : GATED_MLP_ERR_OVERFLOW;
}

static gated_mlp_status check_forward(const linear *l, int32_t tokens) {
    const gated_mlp_status status = check_linear(l);
    return status != GATED_MLP_OK ? status : check_call(l->out_features, l->in_features, tokens);
}

gated_mlp_status linear_forward(real *y, const real *x, const linear *l, int32_t tokens,
                                void *scratch) {
    const gated_mlp_status status = check_forward(l, tokens);
    if (status != GATED_MLP_OK) {
        return status;
    }
    const int32_t in = l->in_features, out = l->out_features;
    const linear_scratch s = lay_out(out, in, tokens, scratch);
    for (int32_t t = 0; t < tokens; t += ROW_BLOCK) {
        const real *x_block = x + (size_t)t * (size_t)in;
        real *y_block = y + (size_t)t * (size_t)out;
        const row_block rows =
            pack_row_block(s.tiles, x_block, min_i32(ROW_BLOCK, tokens - t), in, l->dtype);
        const int32_t together = panels_together(l, rows.rows, INT32_MAX);
        for (int32_t first = 0; first < panel_count(out); first += together) {
            const span panels = {first, min_i32(panel_count(out), first + together)};
            panel_products(s.tile, &rows, l, panels, 0, in, s.strip);
            for (int32_t p = first; p < panels.end; p++) {
                const int32_t columns = min_i32(PANEL, out - p * PANEL);
                real *tile = tile_at(s.tile, rows.rows, p - first);
                if (l->bias != NULL) {
                    add_bias(tile, l->bias + p * PANEL, rows.rows, columns);
                }
                write_tile(y_block + p * PANEL, (size_t)out, tile, rows.rows, columns, 1, 0);
            }
        }
    }
    return GATED_MLP_OK;
}

gated_mlp_status linear_backward_input(real *d_x, const real *d_y, const linear *l, int32_t tokens,
                                       void *scratch) {
    const gated_mlp_status status = check_forward(l, tokens);
    if (status != GATED_MLP_OK || d_x == NULL) {
        return status;
    }
    const int32_t in = l->in_features, out = l->out_features;
    const linear_scratch s = lay_out(out, in, tokens, scratch);
    for (int32_t t = 0; t < tokens; t += ROW_BLOCK) {
        const int32_t n = min_i32(ROW_BLOCK, tokens - t);
        const row_block rows = grouped_values(s.rows, n, out);
        pack_rows(s.rows, rows.group, out, d_y + (size_t)t * (size_t)out, (size_t)out, n, out);
        for (int32_t p = 0; p < panel_count(in); p++) {
            panel_product_transposed(s.tile, &rows, l, p, 0, out, 0, s.strip);
            write_tile(d_x + (size_t)t * (size_t)in + p * PANEL, (size_t)in, s.tile, n,
                       min_i32(PANEL, in - p * PANEL), 1, 1);
        }
    }
    return GATED_MLP_OK;
}

gated_mlp_status linear_backward_weight(real *d_weight, const real *d_y, const real *x, int32_t out,
                                        int32_t in, int32_t tokens, void *scratch) {
    const gated_mlp_status status = check_call(out, in, tokens);
    if (status != GATED_MLP_OK || d_weight == NULL) {
        return status;
    }
    const linear_scratch s = lay_out(out, in, tokens, scratch);
    for (int32_t t = 0; t < tokens; t += ROW_BLOCK) {
        const int32_t n = min_i32(ROW_BLOCK, tokens - t);
        pack_tiles(s.rows, d_y + (size_t)t * (size_t)out, n, out);
        pack_tiles(s.tiles, x + (size_t)t * (size_t)in, n, in);
        for (int32_t o = 0; o < out; o += PANEL) {
            const span outputs = {0, min_i32(PANEL, out - o)};
            for (int32_t i = 0; i < in; i += PANEL) {
                const span inputs = {0, min_i32(PANEL, in - i)};
                outer_product(d_weight + (size_t)o * (size_t)in + i, (size_t)in,
                              s.rows + (size_t)o * (size_t)n, outputs,
                              s.tiles + (size_t)i * (size_t)n, inputs, n, 1);
            }
        }
    }
    return GATED_MLP_OK;
}

gated_mlp_status linear_backward_bias(real *d_bias, const real *d_y, int32_t out, int32_t tokens) {
    const gated_mlp_status status = check_call(out, 1, tokens);
    if (status != GATED_MLP_OK || d_bias == NULL) {
        return status;
    }
    for (int32_t t = 0; t < tokens; t += ROW_BLOCK) {
        add_column_sums(d_bias, d_y + (size_t)t * (size_t)out, (size_t)out,
                        min_i32(ROW_BLOCK, tokens - t), out, 1);
    }
    return GATED_MLP_OK;
}
