/* Products of rows as 16-bit codes with block-quantised weights; see quant_gemm.h.
 *
 * One step of a kernel multiplies a pair of inputs, or of Q8_0 two that share lanes: eight 16-bit lanes are the codes of
 * four outputs, against the pair of one row in every lane pair.
 */
#include "quant_gemm.h"

#ifndef GATED_MLP_FLOAT64

#include "quads.h"
#include "quant_runs.h"

/* tile [rows][PANEL] *= scales of the rows of A, whose product began with block b0; products of nested pairs are
 * 256 times too large */
static void scale_as_rows(real *tile, const row_block *a, int32_t b0) {
    const real share = pairs_are_nested(a) ? 1.0f / 256 : 1;
    for (int32_t r = 0; r < a->rows; r++, tile += PANEL) {
        const int32_t among = r % a->group;
        const vreal scale = v_splat(a->data[scale_offset(a, r - among, b0) + (size_t)among]);
        for (int32_t i = 0; i < PANEL; i += LANES) {
            v_store(tile + i, v_load(tile + i) * share * scale);
        }
    }
}

/* Products of one row with PANEL outputs over a block. */
typedef struct {
    vmask of[PANEL / LANES];
} row_products;

/* products += 256 times a row's two pairs with a cache line of codes: the first or the second four of all strips. */
INLINE void add_line(row_products *products, const int32_t half, const real *pairs, int32_t step,
                     const unsigned char *codes) {
    const vcodes x = v_splat_pair(pairs), y = v_splat_pair(pairs + step);
    for (int32_t s = 0; s < PANEL_STRIPS; s++) {
        const vcodes both = v_load_codes(codes + half * 2 * PANEL + s * 2 * STRIP);
        vmask *of = &products->of[s * STRIP_VECTORS + half];
        *of += v_dot_pairs(both, x);
        *of += v_dot_pairs(both << 8, y);
    }
}

/* 256 times the products. Where code has no way out, V8 does all its loads first, for which there are not enough
 * registers: so the loop has one in its middle, which is never taken. */
INLINE row_products gemv_q8_0(const real *pairs, int32_t step, const unsigned char *codes) {
    row_products products = {0};
    const unsigned char *end = codes + PAIRS * 2 * PANEL;
    KEEP_POINTER(end);
    DO_NOT_UNROLL
    for (; codes != end; pairs += 2 * step, codes += 4 * PANEL) {
        add_line(&products, 0, pairs, step, codes);
        if (codes > end) {
            break;
        }
        add_line(&products, 1, pairs, step, codes);
    }
    return products;
}

/* Of four codes that lie together the first three are multiplied in their places. */
INLINE row_products gemv_q4_1(const real *pairs, int32_t step, const unsigned char *codes) {
    row_products products = {0};
    DO_NOT_UNROLL
    for (int32_t p = 0; p < PAIRS; p++, pairs += step, codes += PANEL) {
        const vcodes x = v_splat_pair(pairs);
        for (int32_t h = 0; h < 2; h++) {
            const vcodes four = v_load_codes(codes + h * 16);
            vmask *of = products.of + 4 * h;
            of[0] += v_dot_pairs(four & 0xf, x);
            of[1] += v_dot_pairs(four & 0xf0, x);
            of[2] += v_dot_pairs(four & 0xf00, x);
            of[3] += v_dot_pairs((vcodes)((vunsigned_codes)four >> 12), x);
        }
    }
    for (int32_t h = 0; h < 2; h++) {
        products.of[4 * h + 1] >>= 4;
        products.of[4 * h + 2] >>= 8;
    }
    return products;
}

/* tile [PANEL] += one row, whose pairs are `step` apart, times one block straight from the store. */
INLINE void gemv_block(const int32_t dtype, real *tile, const real *pairs, int32_t step, real sum,
                       const unsigned char *block) {
    const unsigned char *codes = block + codes_offset(dtype);
    const row_products products =
        dtype == DTYPE_Q8_0 ? gemv_q8_0(pairs, step, codes) : gemv_q4_1(pairs, step, codes);
    for (int32_t s = 0; s < PANEL_STRIPS; s++) {
        const strip_row scales = expand_scales(block, s);
        for (int32_t j = 0; j < STRIP_VECTORS; j++) {
            real *to = tile + s * STRIP + j * LANES;
            vreal y = add_block(v_load(to), products.of[s * STRIP_VECTORS + j], scales.v[j]);
            if (dtype == DTYPE_Q4_1) {
                y = v_madd(expand_minima(block, s).v[j], v_splat(sum), y);
            }
            v_store(to, y);
        }
    }
}

/* tiles += row r times blocks b0 to b1 of `count` panels abreast from `panel` on, straight from the store. */
INLINE void gemv_typed(const int32_t dtype, real *tiles, const row_block *a, int32_t r,
                       const linear *l, int32_t panel, int32_t count, int32_t b0, int32_t b1) {
    const int32_t step = a->group;
    const size_t next = block_step(l, panel);
    const unsigned char *block = panel_block(l, panel, b0);
    const real *pairs = a->data + (size_t)r * (size_t)a->depth + (size_t)(b0 * PAIRS * step);
    for (int32_t b = b0; b < b1; b++, pairs += PAIRS * step, block += next) {
        if (!lies_abreast(dtype)) { /* else the first panel's pairs are in L1 for the others */
            touch_blocks(pairs, step, PAIRS, b, b1);
        }
        const real sum = dtype == DTYPE_Q4_1 ? a->data[sum_offset(a, r, b)] : 0;
        const unsigned char *at = block;
        DO_NOT_UNROLL
        for (int32_t i = 0; i < count; i++, at += block_bytes(dtype)) {
            gemv_block(dtype, tile_at(tiles, a->rows, i) + r * PANEL, pairs, step, sum, at);
        }
    }
}

static void gemv(real *tiles, const row_block *a, int32_t r, const linear *l, int32_t panel,
                 int32_t count, int32_t b0, int32_t b1) {
    if (l->dtype == DTYPE_Q8_0) {
        gemv_typed(DTYPE_Q8_0, tiles, a, r, l, panel, count, b0, b1);
    } else {
        gemv_typed(DTYPE_Q4_1, tiles, a, r, l, panel, 1, b0, b1);
    }
}

/* Q4_1's codes of a strip in one block, widened to 16 bits; its first vector of each pair is `vector`. */
INLINE void expand_strip_codes(const int32_t vector, real *to, const unsigned char *codes) {
    DO_NOT_UNROLL
    for (int32_t p = 0; p < PAIRS; p++, to += STRIP, codes += PANEL) {
        for (int32_t j = 0; j < STRIP_VECTORS; j++) {
            v_store(to + j * LANES, (vreal)expand_codes(codes, DTYPE_Q4_1, 0, vector + j));
        }
    }
}

/* Q4_1's block of strip s: codes, scales, minima. Strips 2 n and 2 n + 1 lie together. */
static void expand_block(real *to, const unsigned char *block, int32_t s) {
    const unsigned char *codes = block + codes_offset(DTYPE_Q4_1) + s / 2 * 16;
    if (s % 2 == 0) {
        expand_strip_codes(0, to, codes);
    } else {
        expand_strip_codes(STRIP_VECTORS, to, codes);
    }
    const strip_row scales = expand_scales(block, s), minima = expand_minima(block, s);
    memcpy(to + PAIRS * STRIP, &scales, sizeof scales);
    memcpy(to + (PAIRS + 1) * STRIP, &minima, sizeof minima);
}

/* c [GROUP][PANEL] += a group of rows, whose pairs these are, times strip s of a block straight from the store, but
 * for its scales [STRIP]: is_first leaves them for other groups, as it has fetched their line, too. */
INLINE void tile_block(real *c, const real *pairs, const unsigned char *block, int32_t s,
                       real *scales, int is_first) {
    const unsigned char *codes = block + codes_offset(DTYPE_Q8_0) + s * STRIP * 2;
    tile_products products; /* 256 times */
    vcodes first = v_load_codes(codes), second = v_load_codes(codes + 2 * PANEL);
    add_pairs(&products, first, second, pairs, 1);
    const real *end = pairs + PAIRS * GROUP;
    KEEP_POINTER(end);
    DO_NOT_UNROLL
    do {
        pairs += GROUP;
        KEEP_POINTER(pairs);
        add_pairs(&products, first << 8, second << 8, pairs, 0);
        pairs += GROUP;
        KEEP_POINTER(pairs);
        if (pairs == end) {
            break;
        }
        codes += 4 * PANEL;
        first = v_load_codes(codes);
        second = v_load_codes(codes + 2 * PANEL);
        add_pairs(&products, first, second, pairs, 0);
    } while (pairs < end); /* never false: a way out as in gemv_q8_0 */
    if (is_first) {
        const strip_row of = expand_scales(block, s);
        memcpy(scales, &of, sizeof of);
    }
    const vreal weight_scales[STRIP_VECTORS] = {v_load(scales), v_load(scales + LANES)};
    add_products(c, &products, weight_scales);
}

/* The group of rows from r on times strip s of blocks b0 to b1 of `count` panels abreast, added to their tiles at c;
 * scales [b1 - b0][count][STRIP] are those of the strip, which the first group makes. */
INLINE void tile_strips(const int is_first, real *c, const row_block *a, int32_t r, const linear *l,
                        int32_t panel, int32_t count, int32_t b0, int32_t b1, int32_t s,
                        real *scales) {
    const real *pairs = a->data + (size_t)r * (size_t)a->depth + (size_t)(b0 * PAIRS * GROUP);
    const unsigned char *block = panel_block(l, panel, b0);
    const size_t next = block_step(l, panel);
    const ptrdiff_t next_tile = tile_at(c, a->rows, 1) - c;
    for (int32_t b = b0; b < b1; b++, block += next, pairs += PAIRS * GROUP) {
        real *to = c;
        const unsigned char *end = block + (size_t)count * block_bytes(DTYPE_Q8_0);
        KEEP_POINTER(end);
        for (const unsigned char *at = block; at != end; at += block_bytes(DTYPE_Q8_0)) {
            tile_block(to, pairs, at, s, scales, is_first);
            to += next_tile;
            scales += STRIP;
        }
    }
}

/* Both are called by address: binaryen puts a function that has one caller into that, where V8 had to spill more, and
 * 16 tokens took 2 % longer. */
static void first_tile_q8_0(real *c, const row_block *a, int32_t r, const linear *l, int32_t panel,
                            int32_t count, int32_t b0, int32_t b1, int32_t s, real *scales) {
    tile_strips(1, c, a, r, l, panel, count, b0, b1, s, scales);
}

static void other_tile_q8_0(real *c, const row_block *a, int32_t r, const linear *l, int32_t panel,
                            int32_t count, int32_t b0, int32_t b1, int32_t s, real *scales) {
    tile_strips(0, c, a, r, l, panel, count, b0, b1, s, scales);
}

/* The same for a strip of Q4_1 that has been expanded. */
NOINLINE void tile_q4_1(real *c, const row_block *a, int32_t r, int32_t b0, const real *strip,
                        int32_t blocks) {
    const real *pairs = a->data + (size_t)r * (size_t)a->depth + (size_t)(b0 * PAIRS * GROUP);
    const real *sums = a->data + sum_offset(a, r, b0);
    for (int32_t b = 0; b < blocks; b++, sums += GROUP) {
        tile_products products;
        add_pairs(&products, v_load_codes(strip), v_load_codes(strip + LANES), pairs, 1);
        pairs += GROUP;
        strip += STRIP;
        DO_NOT_UNROLL
        for (int32_t p = 1; p < PAIRS; p++, pairs += GROUP, strip += STRIP) {
            add_pairs(&products, v_load_codes(strip), v_load_codes(strip + LANES), pairs, 0);
        }
        const vreal weight_scales[STRIP_VECTORS] = {v_load(strip), v_load(strip + LANES)};
        add_products(c, &products, weight_scales);
        for (int32_t i = 0; i < GROUP; i++) {
            for (int32_t j = 0; j < STRIP_VECTORS; j++) {
                real *to = c + i * PANEL + j * LANES;
                const vreal minimum = v_load(strip + STRIP + j * LANES);
                v_store(to, v_madd(minimum, v_splat(sums[i]), v_load(to)));
            }
        }
        strip += 2 * STRIP;
    }
}

/* The first `rows` rows, whole groups of which the last may have none for some, against Q4_1 of a panel. */
static void tiles_q4_1(real *tile, const row_block *a, int32_t rows, const linear *l, int32_t panel,
                       int32_t b0, int32_t b1, real *strip) {
    for (int32_t b = b0; b < b1; b += STRIP_BLOCKS) {
        const int32_t blocks = min_i32(STRIP_BLOCKS, b1 - b);
        for (int32_t s = 0; s < strips_in(l->out_features, panel); s++) {
            for (int32_t i = 0; i < blocks; i++) {
                expand_block(strip + i * STRIP_BLOCK_REALS, panel_block(l, panel, b + i), s);
            }
            for (int32_t r = 0; r < rows; r += GROUP) {
                tile_q4_1(tile + r * PANEL + s * STRIP, a, r, b, strip, blocks);
            }
        }
    }
}

/* The same against Q8_0 of `count` panels abreast. */
static void tiles_q8_0(real *tiles, const row_block *a, int32_t rows, const linear *l,
                       int32_t panel, int32_t count, int32_t b0, int32_t b1, real *scales) {
    const int32_t in_last = strips_in(l->out_features, panel + count - 1);
    for (int32_t b = b0; b < b1; b += STORE_BLOCKS / count) {
        const int32_t end = min_i32(b1, b + STORE_BLOCKS / count);
        for (int32_t s = 0; s < strips_in(l->out_features, panel); s++) {
            for (int32_t r = 0; r < rows; r += GROUP) {
                (r == 0 ? first_tile_q8_0 : other_tile_q8_0)(tiles + r * PANEL + s * STRIP, a, r, l,
                                                             panel, count - (s >= in_last), b, end,
                                                             s, scales);
            }
        }
    }
}

/* Rows that are pairs of codes, but no runs, times `count` panels abreast, of Q4_1 one; `grouped` go through the tile, the
 * others each by itself. */
static void pair_products(real *tiles, const row_block *a, int32_t grouped, const linear *l,
                          int32_t panel, int32_t count, int32_t b0, int32_t b1, real *strip) {
    if (grouped > 0 && l->dtype == DTYPE_Q8_0) {
        tiles_q8_0(tiles, a, grouped, l, panel, count, b0, b1, strip);
    } else if (grouped > 0) {
        tiles_q4_1(tiles, a, grouped, l, panel, b0, b1, strip);
    }
    for (int32_t r = grouped; r < a->rows; r++) {
        gemv(tiles, a, r, l, panel, count, b0, b1);
    }
}

void quant_panel_products(real *tiles, const row_block *a, const linear *l, span panels, int32_t k0,
                          int32_t k1, real *strip) {
    const int32_t b0 = k0 / BLOCK, b1 = block_count(k1);
    /* A row that would have a group for itself is cheaper without the tile. */
    const int32_t alone = a->group == 1 ? a->rows : a->rows % GROUP == 1;
    const int32_t grouped = a->rows - alone;
    const int32_t count = panels.end - panels.begin;
    memset(tiles, 0, (size_t)(tile_at(tiles, a->rows, count) - tiles) * sizeof(real));
    for (int32_t i = 0, abreast; i < count; i += abreast) {
        const int32_t panel = panels.begin + i;
        real *tile = tile_at(tiles, a->rows, i);
        abreast = 1;
        if (in_quads(l->dtype)) {
            quads_panel_product(tile, a, grouped, l, panel, b0, b1, strip);
        } else if (a->rows >= RUN_ROWS) {
            runs_panel_product(tile, a, l, panel, b0, b1, strip);
        } else {
            abreast = min_i32(count - i, first_abreast(l, panel) + count_abreast(l, panel) - panel);
            pair_products(tile, a, grouped, l, panel, abreast, b0, b1, strip);
        }
    }
    for (int32_t i = 0; !in_quads(l->dtype) && i < count; i++) {
        scale_as_rows(tile_at(tiles, a->rows, i), a, b0);
    }
}

#endif
