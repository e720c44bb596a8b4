/* Products of many rows with runs of blocks; see quant_runs.h. */
#include "quant_runs.h"

#ifndef GATED_MLP_FLOAT64

/* What makes a block's codes those of its run: they are multiplied, then there is added. */
typedef struct {
    vcodes factor[STRIP_VECTORS];
    vcodes offset[STRIP_VECTORS]; /* Q4_1 only */
} code_change;

/* A strip's codes of a block, all in place to be multiplied: of Q8_0 256 times, of Q4_1 2048 times what
 * they are. Q8_0: of the pairs that share a lane pair `p`, 0 or 1; Q4_1: of the outputs that do vector `vector`. */
INLINE vcodes high_codes(const int32_t dtype, const unsigned char *codes, int32_t p,
                         int32_t vector) {
    const vcodes among = v_load_codes(codes);
    if (dtype == DTYPE_Q8_0) {
        return p == 0 ? (among + 128) & -256 : among << 8;
    }
    const vunsigned_codes four = (vunsigned_codes)among;
    switch (vector) {
    case 0: return (vcodes)(four << 11 & 0x7800);
    case 1: return (vcodes)(four << 7 & 0x7800);
    case 2: return (vcodes)(four << 3 & 0x7800);
    default: return (vcodes)(four >> 1 & 0x7800);
    }
}

/* to [PAIRS][STRIP] = a strip's codes of a block, changed; Q4_1: its first vector of each pair is `vector`. */
INLINE void change_codes(const int32_t dtype, const int32_t vector, real *to,
                         const unsigned char *codes, const code_change *change) {
    const int32_t together = dtype == DTYPE_Q8_0 ? 2 : 1; /* pairs that share lanes */
    const int32_t apart = dtype == DTYPE_Q8_0 ? 2 * PANEL : 0;
    const int32_t step = dtype == DTYPE_Q8_0 ? 4 * PANEL : PANEL;
    const code_change c = *change;
    DO_NOT_UNROLL
    for (int32_t p = 0; p < PAIRS; p += together, codes += step) {
        for (int32_t i = 0; i < together; i++, to += STRIP) {
            for (int32_t j = 0; j < STRIP_VECTORS; j++) {
                const vcodes high = high_codes(dtype, codes + j * apart, i, vector + j);
                vcodes code = v_scale_codes(high, c.factor[j]);
                if (dtype == DTYPE_Q4_1) {
                    code += c.offset[j];
                }
                v_store(to + j * LANES, (vreal)code);
            }
        }
    }
}

/* Of a strip's outputs the largest weight of a block in magnitude; NaN where the block is. */
INLINE strip_row largest_weights(const int32_t dtype, const unsigned char *block, int32_t s) {
    strip_row most = expand_scales(block, s);
    for (int32_t j = 0; j < STRIP_VECTORS; j++) {
        if (dtype == DTYPE_Q8_0) {
            most.v[j] *= 127;
        } else {
            const vreal low = expand_minima(block, s).v[j];
            most.v[j] = v_at_least(v_abs(low + 15 * most.v[j]), v_abs(low));
        }
    }
    return most;
}

/* to [blocks][PAIRS][STRIP], then [STRIP]: strip s of a run in codes that have a unit in common, and these. */
INLINE void expand_run(const int32_t dtype, real *to, const unsigned char *block, size_t step,
                       int32_t s, int32_t blocks) {
    strip_row most = {0}, poison = {0};
    for (int32_t b = 0; b < blocks; b++) {
        const strip_row of = largest_weights(dtype, block + (size_t)b * step, s);
        for (int32_t j = 0; j < STRIP_VECTORS; j++) {
            most.v[j] = v_at_least(of.v[j], most.v[j]);
            poison.v[j] += of.v[j] * 0;
        }
    }
    /* by how much high_codes are too high, and 2^15 that they are scaled by */
    const real high = dtype == DTYPE_Q8_0 ? 32768.0f / 256 : 32768.0f / 2048;
    for (int32_t b = 0; b < blocks; b++, block += step, to += PAIRS * STRIP) {
        const unsigned char *codes = block + codes_offset(dtype);
        const strip_row scales = expand_scales(block, s);
        const strip_row minima = dtype == DTYPE_Q4_1 ? expand_minima(block, s) : (strip_row){0};
        code_change change;
        for (int32_t j = 0; j < STRIP_VECTORS; j++) {
            const vreal inverse = quotient(v_splat(CODE_MOST), most.v[j]);
            change.factor[j] = pairs_of(scales.v[j] * inverse * high);
            change.offset[j] = pairs_of(minima.v[j] * inverse);
        }
        if (dtype == DTYPE_Q8_0) {
            change_codes(DTYPE_Q8_0, 0, to, codes + s * STRIP * 2, &change);
        } else if (s % 2 == 0) {
            change_codes(DTYPE_Q4_1, 0, to, codes + s / 2 * 16, &change);
        } else {
            change_codes(DTYPE_Q4_1, STRIP_VECTORS, to, codes + s / 2 * 16, &change);
        }
    }
    for (int32_t j = 0; j < STRIP_VECTORS; j++) {
        v_store(to + j * LANES, most.v[j] * (1.0f / CODE_MOST) + poison.v[j]);
    }
}

NOINLINE void expand(real *to, const linear *l, int32_t panel, int32_t b, int32_t s,
                     int32_t blocks) {
    const unsigned char *block = panel_block(l, panel, b);
    const size_t step = block_step(l, panel);
    if (l->dtype == DTYPE_Q8_0) {
        expand_run(DTYPE_Q8_0, to, block, step, s, blocks);
    } else {
        expand_run(DTYPE_Q4_1, to, block, step, s, blocks);
    }
}

/* c [GROUP][PANEL] += the codes of the group of rows from r on times a run of `blocks` blocks of a strip,
 * from block b on. */
NOINLINE void tile_run(real *c, const row_block *a, int32_t r, int32_t b, const real *strip,
                       int32_t blocks) {
    const real *pairs = a->data + (size_t)r * (size_t)a->depth + (size_t)(b * PAIRS * GROUP);
    const real *end = pairs + (size_t)(blocks * PAIRS * GROUP);
    KEEP_POINTER(end);
    tile_products products = {0};
    DO_NOT_UNROLL
    for (; pairs != end; pairs += GROUP, strip += STRIP) {
        KEEP_POINTER(pairs);
        add_pairs(&products, v_load_codes(strip), v_load_codes(strip + LANES), pairs, 0);
    }
    const vreal units[STRIP_VECTORS] = {v_load(strip), v_load(strip + LANES)};
    add_products(c, &products, units);
}

void runs_panel_product(real *tile, const row_block *a, const linear *l, int32_t panel, int32_t b0,
                        int32_t b1, real *room) {
    for (int32_t b = b0; b < b1; b += RUNS * RUN_BLOCKS) {
        const int32_t end = min_i32(b + RUNS * RUN_BLOCKS, b1);
        for (int32_t s = 0; s < strips_in(l->out_features, panel); s++) {
            real *strip = room;
            for (int32_t i = b; i < end; i += RUN_BLOCKS, strip += RUN_REALS) {
                expand(strip, l, panel, i, s, min_i32(RUN_BLOCKS, end - i));
            }
            for (int32_t r = 0; r < a->rows; r += GROUP) {
                strip = room;
                for (int32_t i = b; i < end; i += RUN_BLOCKS, strip += RUN_REALS) {
                    tile_run(tile + r * PANEL + s * STRIP, a, r, i, strip,
                             min_i32(RUN_BLOCKS, end - i));
                }
            }
        }
    }
}

#endif
