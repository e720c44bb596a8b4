/* Products of rows as bytes with weights in quads; see quads.h.
 *
 * Sums of a block fit in 32 bits: of Q8_0 16 times 32 * 127 * 255 coarse products, since its weights
 * have 128 added to them, and 16 * 83 * 255 fine ones; of Q4_1 128 times 32 * 127 * 15, and
 * 16 * 69 * 255. What they are without the 128 is below 2^24, so that it is exact as a float32, too.
 */
#include "quads.h"

#if HAS_QUADS && !defined(GATED_MLP_FLOAT64)

/* Where the quads of strip s of a block begin. */
INLINE const unsigned char *strip_quads(const unsigned char *block, int32_t dtype, int32_t s) {
    return block + codes_offset(dtype) + quads_offset(dtype, 0, s * STRIP_VECTORS);
}

/* What the three codes of two inputs are multiplied by, of four outputs. */
typedef struct {
    vunsigned_bytes a, b, both;
} weight_quads;

/* at: the quads of the pair's first input */
INLINE weight_quads expand_quads(const int32_t dtype, const unsigned char *at) {
    const vunsigned_bytes first = v_load_bytes(at);
    if (dtype == DTYPE_Q4_1_QUADS) {
        return (weight_quads){first & 15, (vunsigned_bytes)((vbits)first >> 4) & 15, first};
    }
    const vunsigned_bytes second = v_load_bytes(at + quads_offset(dtype, 4, 0));
    const vunsigned_bytes mean = v_mean(v_mean(v_mean(first, second), second), second);
    return (weight_quads){first, second, mean};
}

/* Scales and minima of strip s of a block, behind what fine codes are multiplied by. */
INLINE void expand_ranges(const int32_t dtype, real *to, const unsigned char *block, int32_t s) {
    const strip_row scales = expand_scales(block, s);
    memcpy(to + SCALES_AT, &scales, sizeof scales);
    if (dtype == DTYPE_Q4_1_QUADS) {
        const strip_row minima = expand_minima(block, s);
        memcpy(to + MINIMA_AT, &minima, sizeof minima);
    }
}

/* to [blocks] = strip s of `blocks` blocks of Q4_1. */
NOINLINE void expand_q4_1(real *to, const unsigned char *block, int32_t s, int32_t blocks) {
    const int32_t dtype = DTYPE_Q4_1_QUADS;
    DO_NOT_UNROLL
    for (int32_t n = 0; n < blocks;
         n++, block += block_bytes(dtype), to += quads_strip_reals(dtype)) {
        const unsigned char *quads = strip_quads(block, dtype, s);
        DO_NOT_UNROLL
        for (int32_t p = 0; p < QUAD_PAIRS; p++, quads += quads_offset(dtype, 8, 0)) {
            for (int32_t j = 0; j < STRIP_VECTORS; j++) {
                const weight_quads w = expand_quads(dtype, quads + quads_offset(dtype, 0, j));
                v_store(to + p * STRIP + j * LANES, (vreal)w.both);
                v_store(to + COARSE_AT + 2 * p * STRIP + j * LANES, (vreal)w.a);
                v_store(to + COARSE_AT + (2 * p + 1) * STRIP + j * LANES, (vreal)w.b);
            }
        }
        expand_ranges(dtype, to, block, s);
    }
}

/* products += a quad of inputs of a strip's outputs times that of each row */
INLINE void add_quad(tile_products *products, const vunsigned_bytes *weights, const real *codes) {
    for (int32_t i = 0; i < GROUP; i++) {
        const vbytes x = v_splat_quad(codes + i);
        for (int32_t j = 0; j < STRIP_VECTORS; j++) {
            products->sum[i][j] = v_dot_quads(x, weights[j], products->sum[i][j]);
        }
    }
}

INLINE void add_quads(tile_products *products, const void *weights, const real *codes,
                      int32_t count) {
    const unsigned char *at = weights;
    DO_NOT_UNROLL
    for (int32_t q = 0; q < count; q++, at += STRIP_VECTORS * 16, codes += GROUP) {
        const vunsigned_bytes w[STRIP_VECTORS] = {v_load_bytes(at), v_load_bytes(at + 16)};
        add_quad(products, w, codes);
    }
}

/* The same for fine codes and Q8_0's means, which are made of `quads` and left in `means`. */
INLINE void add_means(tile_products *products, real *means, const unsigned char *quads,
                      const real *codes) {
    const int32_t dtype = DTYPE_Q8_0_QUADS;
    DO_NOT_UNROLL
    for (int32_t p = 0; p < QUAD_PAIRS;
         p++, quads += quads_offset(dtype, 8, 0), codes += GROUP, means += STRIP) {
        vunsigned_bytes w[STRIP_VECTORS];
        for (int32_t j = 0; j < STRIP_VECTORS; j++) {
            w[j] = expand_quads(dtype, quads + quads_offset(dtype, 0, j)).both;
            v_store(means + j * LANES, (vreal)w[j]);
        }
        add_quad(products, w, codes);
    }
}

/* c [GROUP][PANEL] += the group of rows from r on times strip s of `blocks` blocks. first: of the groups that
 * the strip meets. Of Q8_0 it makes of the store what the others find in `strip`, which beside products takes
 * half the time that a loop of its own would. */
INLINE void tile_typed(const int32_t dtype, const int first, real *c, const row_block *a, int32_t r,
                       int32_t b0, const unsigned char *block, int32_t s, real *strip,
                       int32_t blocks) {
    const real *codes = a->data + (size_t)r * (size_t)a->depth + (size_t)(b0 * QUAD_CODES * GROUP);
    const real *scales = a->data + scale_offset(a, r, b0);
    const real *sums = a->data + sum_offset(a, r, b0);
    const real *starts = a->data + start_offset(a, r, b0);
    for (int32_t b = 0; b < blocks; b++, codes += QUAD_CODES * GROUP,
                 strip += quads_strip_reals(dtype), scales += GROUP, sums += GROUP, starts += GROUP,
                 block += block_bytes(dtype)) {
        tile_products products = {0};
        for (int32_t i = 0; dtype == DTYPE_Q8_0_QUADS && i < GROUP; i++) {
            for (int32_t j = 0; j < STRIP_VECTORS; j++) {
                products.sum[i][j] = (vmask)v_splat_quad(starts + i);
            }
        }
        const void *coarse = dtype == DTYPE_Q8_0_QUADS ? strip_quads(block, dtype, s)
                                                       : (const void *)(strip + COARSE_AT);
        add_quads(&products, coarse, codes, QUADS);
        for (int32_t i = 0; i < GROUP; i++) {
            for (int32_t j = 0; j < STRIP_VECTORS; j++) {
                products.sum[i][j] <<= form_of(dtype).shift;
            }
        }
        if (dtype == DTYPE_Q8_0_QUADS && first) {
            add_means(&products, strip, strip_quads(block, dtype, s), codes + QUADS * GROUP);
            expand_ranges(dtype, strip, block, s);
        } else {
            add_quads(&products, strip, codes + QUADS * GROUP, QUAD_PAIRS);
        }
        LEAVE_IN_MEMORY();
        UNROLL
        for (int32_t j = 0; j < STRIP_VECTORS; j++) {
            const vreal weight_scale = v_load(strip + SCALES_AT + j * LANES);
            for (int32_t i = 0; i < GROUP; i++) {
                real *to = c + i * PANEL + j * LANES;
                vreal y = v_load(to);
                if (dtype == DTYPE_Q4_1_QUADS) {
                    y = v_madd(v_load(strip + MINIMA_AT + j * LANES), v_splat(sums[i]), y);
                }
                v_store(to, add_block(y, products.sum[i][j], weight_scale * v_splat(scales[i])));
            }
        }
    }
}

NOINLINE void first_tile_q8_0(real *c, const row_block *a, int32_t b0, const unsigned char *block,
                              int32_t s, real *strip, int32_t blocks) {
    tile_typed(DTYPE_Q8_0_QUADS, 1, c, a, 0, b0, block, s, strip, blocks);
}

NOINLINE void tile_q8_0(real *c, const row_block *a, int32_t r, int32_t b0,
                        const unsigned char *block, int32_t s, real *strip, int32_t blocks) {
    tile_typed(DTYPE_Q8_0_QUADS, 0, c, a, r, b0, block, s, strip, blocks);
}

NOINLINE void tile_q4_1(real *c, const row_block *a, int32_t r, int32_t b0,
                        const unsigned char *block, int32_t s, real *strip, int32_t blocks) {
    tile_typed(DTYPE_Q4_1_QUADS, 0, c, a, r, b0, block, s, strip, blocks);
}

/* tile [rows][PANEL] += the first `rows` rows, whole groups, times blocks b0 to b1 of a panel. */
static void tiles(real *tile, const row_block *a, int32_t rows, const linear *l, int32_t panel,
                  int32_t b0, int32_t b1, real *strip) {
    const int32_t together = blocks_together(l->dtype);
    for (int32_t b = b0; b < b1; b += together) {
        const int32_t blocks = min_i32(together, b1 - b);
        const unsigned char *first = panel_block(l, panel, b);
        for (int32_t s = 0; s < strips_in(l->out_features, panel); s++) {
            real *c = tile + s * STRIP;
            if (l->dtype == DTYPE_Q8_0_QUADS) {
                first_tile_q8_0(c, a, b, first, s, strip, blocks);
                for (int32_t r = GROUP; r < rows; r += GROUP) {
                    tile_q8_0(c + r * PANEL, a, r, b, first, s, strip, blocks);
                }
            } else {
                expand_q4_1(strip, first, s, blocks);
                for (int32_t r = 0; r < rows; r += GROUP) {
                    tile_q4_1(c + r * PANEL, a, r, b, first, s, strip, blocks);
                }
            }
        }
    }
}

/* Sums of one vector of outputs, a's and b's apart, since each waits for the product before. Q4_1's b are
 * 16 times what they count: such weights are multiplied where they are. */
typedef struct {
    vmask a, b, fine;
} row_sums;

INLINE vmask total_of(const int32_t dtype, row_sums sums) {
    const vmask coarse =
        dtype == DTYPE_Q4_1_QUADS ? (sums.a << 7) + (sums.b << 3) : (sums.a + sums.b) << 4;
    return coarse + sums.fine;
}

/* sums += the quads at `at` times the codes of a pair */
INLINE row_sums add_pair(const int32_t dtype, row_sums sums, const unsigned char *at, vbytes a,
                         vbytes b, vbytes fine) {
    weight_quads w = expand_quads(dtype, at);
    if (dtype == DTYPE_Q4_1_QUADS) {
        w.b = w.both & 0xf0;
    }
    sums.b = v_dot_quads(b, w.b, sums.b);
    sums.a = v_dot_quads(a, w.a, sums.a);
    sums.fine = v_dot_quads(fine, w.both, sums.fine);
    return sums;
}

/* tile [STRIP] += strip s of a block times one row's codes, which are `step` apart. */
INLINE void gemv_strip(const int32_t dtype, real *tile, const unsigned char *block, int32_t s,
                       const real *codes, size_t step, real scale, real sum, vmask start) {
    row_sums sums[STRIP_VECTORS] = {{start, {0}, {0}}, {start, {0}, {0}}};
    const unsigned char *quads = strip_quads(block, dtype, s);
    const real *fine_codes = codes + QUADS * step;
    DO_NOT_UNROLL
    for (int32_t p = 0; p < QUAD_PAIRS; p++, quads += quads_offset(dtype, 8, 0)) {
        const vbytes a = v_splat_quad(codes), b = v_splat_quad(codes + step);
        const vbytes fine = v_splat_quad(fine_codes);
        for (int32_t j = 0; j < STRIP_VECTORS; j++) {
            sums[j] = add_pair(dtype, sums[j], quads + quads_offset(dtype, 0, j), a, b, fine);
        }
        codes += 2 * step;
        fine_codes += step;
    }
    const strip_row scales = expand_scales(block, s);
    for (int32_t j = 0; j < STRIP_VECTORS; j++) {
        vreal y = v_load(tile + j * LANES);
        if (dtype == DTYPE_Q4_1_QUADS) {
            y = v_madd(expand_minima(block, s).v[j], v_splat(sum), y);
        }
        v_store(tile + j * LANES,
                add_block(y, total_of(dtype, sums[j]), scales.v[j] * v_splat(scale)));
    }
}

INLINE void gemv_typed(const int32_t dtype, real *tile, const row_block *a, int32_t r,
                       const unsigned char *block, int32_t b0, int32_t b1) {
    const size_t step = (size_t)a->group;
    const real *codes = a->data + (size_t)r * (size_t)a->depth + (size_t)b0 * QUAD_CODES * step;
    for (int32_t b = b0; b < b1; b++, codes += QUAD_CODES * step, block += block_bytes(dtype)) {
        touch_blocks(codes, (int32_t)step, QUAD_CODES, b, b1);
        const real scale = a->data[scale_offset(a, r, b)], sum = a->data[sum_offset(a, r, b)];
        const vmask start = dtype == DTYPE_Q8_0_QUADS
                                ? (vmask)v_splat_quad(a->data + start_offset(a, r, b))
                                : (vmask){0};
        DO_NOT_UNROLL
        for (int32_t s = 0; s < PANEL_STRIPS; s++) {
            gemv_strip(dtype, tile + s * STRIP, block, s, codes, step, scale, sum, start);
        }
    }
}

/* tile [PANEL] += row r times blocks b0 to b1 of a panel, straight from the store. */
NOINLINE void gemv(real *tile, const row_block *a, int32_t r, const linear *l, int32_t panel,
                   int32_t b0, int32_t b1) {
    if (a->kind == DTYPE_Q8_0_QUADS) {
        gemv_typed(DTYPE_Q8_0_QUADS, tile, a, r, panel_block(l, panel, b0), b0, b1);
    } else {
        gemv_typed(DTYPE_Q4_1_QUADS, tile, a, r, panel_block(l, panel, b0), b0, b1);
    }
}

/* Whether a group has any codes in blocks b0 to b1: a scale that is not 0. */
static int has_codes(const row_block *a, int32_t r, int32_t b0, int32_t b1) {
    const real *scales = a->data + scale_offset(a, r, b0);
    const int32_t count = (b1 - b0) * a->group;
    vmask any = {0};
    int32_t i = 0;
    DO_NOT_UNROLL
    for (; i + LANES <= count; i += LANES) {
        any |= v_load(scales + i) != v_splat(0);
    }
    int found = (any[0] | any[1] | any[2] | any[3]) != 0;
    DO_NOT_UNROLL
    for (; i < count; i++) {
        found |= scales[i] != 0;
    }
    return found;
}

/* tile [rows][PANEL] += what A leaves times blocks b0 to b1 of a panel. */
static void add_rest(real *tile, const row_block *a, const linear *l, int32_t panel, int32_t b0,
                     int32_t b1) {
    const row_block rest = rest_of(a);
    for (int32_t r = 0; r < a->rows; r += a->group) {
        if (!has_codes(&rest, r, b0, b1)) {
            continue;
        }
        for (int32_t i = 0; i < min_i32(a->group, a->rows - r); i++) {
            row_block row = rest;
            row.data += i; /* its codes are those of the group's first, one place on */
            for (int32_t b = b0; b < b1; b++) {
                const int used = row.data[scale_offset(&row, r, b)] != 0;
                gemv(tile + (r + i) * PANEL, &row, r, l, panel, b, b + used);
            }
        }
    }
}

void quads_panel_product(real *tile, const row_block *a, int32_t grouped, const linear *l,
                         int32_t panel, int32_t b0, int32_t b1, real *room) {
    if (grouped > 0) {
        tiles(tile, a, grouped, l, panel, b0, b1, room);
    }
    for (int32_t r = grouped; r < a->rows; r++) {
        gemv(tile + r * PANEL, a, r, l, panel, b0, b1);
    }
    add_rest(tile, a, l, panel, b0, b1);
}

#endif
