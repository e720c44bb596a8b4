/* Operands put into the order in which the register tile reads them; see pack.h. */
#include "quant_gemm.h"

/* dst [depth][STRIP], expanded from `depth` store rows of one type. */
INLINE void expand_typed(const int32_t dtype, real *dst, const unsigned char *src, size_t src_step,
                         int32_t depth) {
    for (int32_t k = 0; k < depth; k++, dst += STRIP, src += src_step) {
        const strip_row row = expand_strip_row(src, dtype);
        for (int32_t j = 0; j < STRIP_VECTORS; j++) {
            v_store(dst + j * LANES, row.v[j]);
        }
    }
}

/* F16 has no conversion in wasm: most of the cost is infinities and NaNs, so they are only looked
 * for, and a piece that has any is expanded again with all due care. */
static void expand_f16_rows(real *dst, const unsigned char *src, size_t src_step, int32_t depth) {
#if LANES == 4
    vbits specials = {0};
    real *to = dst;
    const unsigned char *from = src;
    for (int32_t k = 0; k < depth; k++, to += STRIP, from += src_step) {
        vbits pairs;
        memcpy(&pairs, from, sizeof pairs);
        v_store(to, expand_finite_f16(pairs << 16));
        v_store(to + LANES, expand_finite_f16(pairs));
        specials |= f16_specials(pairs);
    }
    const vbits signs = specials & bits_splat(0x80008000u);
    if ((signs[0] | signs[1] | signs[2] | signs[3]) == 0) {
        return;
    }
#endif
    expand_typed(DTYPE_F16, dst, src, src_step, depth);
}

/* dst [depth][STRIP], from eight held columns of `depth` store rows, src_step bytes apart. */
static void expand_held(real *dst, const unsigned char *src, size_t src_step, int32_t dtype,
                        int32_t depth) {
    switch (dtype) {
#ifdef GATED_MLP_FLOAT64
    case DTYPE_F64: expand_typed(DTYPE_F64, dst, src, src_step, depth); break;
#endif
    case DTYPE_F16: expand_f16_rows(dst, src, src_step, depth); break;
    case DTYPE_BF16: expand_typed(DTYPE_BF16, dst, src, src_step, depth); break;
    default: expand_typed(DTYPE_F32, dst, src, src_step, depth); break;
    }
}

/* dst [STRIP] = strip s of row k of a block. */
INLINE void expand_block_row(real *dst, const unsigned char *block, int32_t dtype, int32_t s,
                             int32_t k) {
#ifdef GATED_MLP_FLOAT64
    for (int32_t i = 0; i < STRIP; i++) {
        dst[i] = block_decode(block, dtype, s * STRIP + i, k);
    }
#else
    const strip_row scales = expand_scales(block, s);
    const strip_row minima = has_minima(dtype) ? expand_minima(block, s) : (strip_row){0};
    for (int32_t j = 0; j < STRIP_VECTORS; j++) {
        const vmask code =
            expand_code(block + codes_offset(dtype), dtype, k, s * STRIP_VECTORS + j);
        v_store(dst + j * LANES, v_from_integers(code) * scales.v[j] + minima.v[j]);
    }
#endif
}

static void expand_blocks(real *dst, const linear *l, int32_t panel, int32_t s, int32_t k0,
                          int32_t depth, size_t dst_ld) {
    for (int32_t k = k0; k < k0 + depth; k++, dst += dst_ld) {
        const unsigned char *block = panel_block(l, panel, k / BLOCK);
        if (HAS_QUADS && l->dtype == DTYPE_Q8_0_QUADS) {
            expand_block_row(dst, block, DTYPE_Q8_0_QUADS, s, k % BLOCK);
        } else if (HAS_QUADS && l->dtype == DTYPE_Q4_1_QUADS) {
            expand_block_row(dst, block, DTYPE_Q4_1_QUADS, s, k % BLOCK);
        } else if (l->dtype == DTYPE_Q8_0) {
            expand_block_row(dst, block, DTYPE_Q8_0, s, k % BLOCK);
        } else {
            expand_block_row(dst, block, DTYPE_Q4_1, s, k % BLOCK);
        }
    }
}

void expand_strip(real *dst, const linear *l, int32_t panel, int32_t s, int32_t k0, int32_t depth) {
    if (block_bytes(l->dtype) != 0) {
        expand_blocks(dst, l, panel, s, k0, depth, STRIP);
        return;
    }
    const size_t eight = STRIP * held_bytes(l->dtype);
    expand_held(dst, panel_row(l, panel, k0) + (size_t)s * eight, PANEL_STRIPS * eight, l->dtype,
                depth);
}

void expand_panel_rows(real *dst, const linear *l, int32_t panel, int32_t k0, int32_t depth) {
    if (block_bytes(l->dtype) != 0) {
        for (int32_t s = 0; s < PANEL_STRIPS; s++) {
            expand_blocks(dst + s * STRIP, l, panel, s, k0, depth, PANEL);
        }
        return;
    }
    expand_held(dst, panel_row(l, panel, k0), STRIP * held_bytes(l->dtype), l->dtype,
                depth * PANEL_STRIPS);
}

#if LANES == 4

/* Four rows of four turned over. */
INLINE void turn_over(vbits v[4]) {
    const vbits ab_low = __builtin_shufflevector(v[0], v[1], 0, 4, 1, 5);
    const vbits ab_high = __builtin_shufflevector(v[0], v[1], 2, 6, 3, 7);
    const vbits cd_low = __builtin_shufflevector(v[2], v[3], 0, 4, 1, 5);
    const vbits cd_high = __builtin_shufflevector(v[2], v[3], 2, 6, 3, 7);
    v[0] = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
    v[1] = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
    v[2] = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
    v[3] = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
}

/* Four rows, step bytes apart, from four columns. */
INLINE void store_turned(unsigned char *dst, size_t step, vbits columns[4]) {
    turn_over(columns);
    UNROLL
    for (size_t i = 0; i < 4; i++) {
        memcpy(dst + i * step, &columns[i], sizeof columns[i]);
    }
}

INLINE vbits load_bits(const unsigned char *from) {
    vbits v;
    memcpy(&v, from, sizeof v);
    return v;
}

int32_t pack_words(unsigned char *dst, const unsigned char *src, ptrdiff_t row_step, int32_t n) {
    const size_t step = PANEL * 4;
    int32_t k = 0;
    DO_NOT_UNROLL
    for (; k + 4 <= n; k += 4, src += 16, dst += 4 * step) {
        vbits columns[4];
        UNROLL
        for (ptrdiff_t i = 0; i < 4; i++) {
            columns[i] = load_bits(src + i * row_step);
        }
        store_turned(dst, step, columns);
    }
    return k;
}

int32_t pack_halves(unsigned char *dst, const unsigned char *src, ptrdiff_t row_step, int32_t n) {
    typedef uint16_t vhalves __attribute__((vector_size(16)));
    const size_t step = PANEL * 2;
    int32_t k = 0;
    DO_NOT_UNROLL
    for (; k + 8 <= n; k += 8, src += 16, dst += 8 * step) {
        vbits first[4], last[4]; /* pairs of columns i and i + 4 */
        UNROLL
        for (ptrdiff_t i = 0; i < 4; i++) {
            const vhalves low = (vhalves)load_bits(src + i * row_step);
            const vhalves high = (vhalves)load_bits(src + (i + 4) * row_step);
            first[i] = (vbits)__builtin_shufflevector(low, high, 0, 8, 1, 9, 2, 10, 3, 11);
            last[i] = (vbits)__builtin_shufflevector(low, high, 4, 12, 5, 13, 6, 14, 7, 15);
        }
        store_turned(dst, step, first);
        store_turned(dst + 4 * step, step, last);
    }
    return k;
}

#else

int32_t pack_words(unsigned char *dst, const unsigned char *src, ptrdiff_t row_step, int32_t n) {
    (void)dst, (void)src, (void)row_step, (void)n;
    return 0;
}

int32_t pack_halves(unsigned char *dst, const unsigned char *src, ptrdiff_t row_step, int32_t n) {
    return pack_words(dst, src, row_step, n);
}

#endif

/* The 4x4 block at src, rows ld apart, turned over into dst, rows dst_ld apart. */
INLINE void transpose_4x4(real *dst, size_t dst_ld, const real *src, size_t ld) {
#if LANES == 4
    vbits columns[4] = {(vbits)v_load(src), (vbits)v_load(src + ld), (vbits)v_load(src + 2 * ld),
                        (vbits)v_load(src + 3 * ld)};
    store_turned((unsigned char *)dst, dst_ld * sizeof *dst, columns);
#else
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < 4; j++) {
            dst[i * dst_ld + j] = src[j * ld + i];
        }
    }
#endif
}

void expand_strip_transposed(real *dst, real *lines, const linear *l, int32_t input, int32_t k0,
                             int32_t depth) {
    const int32_t inputs = min_i32(STRIP, l->in_features - input);
    for (int32_t done = 0; done < depth;) {
        const int32_t first = (k0 + done) % PANEL;
        const int32_t n = min_i32(PANEL - first, depth - done);
        expand_panel_rows(lines, l, (k0 + done) / PANEL, input, inputs);
        memset(lines + inputs * PANEL, 0, (size_t)((STRIP - inputs) * PANEL) * sizeof(real));
        int32_t k = 0;
        for (; k + 4 <= n; k += 4) {
            real *to = dst + (size_t)(done + k) * STRIP;
            transpose_4x4(to, STRIP, lines + first + k, PANEL);
            transpose_4x4(to + 4, STRIP, lines + 4 * PANEL + first + k, PANEL);
        }
        for (; k < n; k++) {
            for (int32_t i = 0; i < STRIP; i++) {
                dst[(size_t)(done + k) * STRIP + (size_t)i] = lines[i * PANEL + first + k];
            }
        }
        done += n;
    }
}

/* One group of n rows: four rows at a time are turned over, the last four once more where n is no
 * multiple of that; fewer go one by one. */
static void pack_group(real *dst, int32_t group, const real *src, size_t ld, int32_t n,
                       int32_t columns) {
    int32_t k = 0;
    for (; n >= 4 && k + 4 <= columns; k += 4) {
        real *to = dst + (size_t)k * (size_t)group;
        for (int32_t i = 0; i < n; i += 4) {
            const int32_t first = min_i32(i, n - 4);
            transpose_4x4(to + first, (size_t)group, src + (size_t)first * ld + k, ld);
        }
    }
    for (; k < columns; k++) {
        for (int32_t i = 0; i < n; i++) {
            dst[k * group + i] = src[(size_t)i * ld + (size_t)k];
        }
    }
}

void pack_rows(real *dst, int32_t group, int32_t depth, const real *src, size_t ld, int32_t rows,
               int32_t columns) {
    for (int32_t r = 0; r < rows; r += group) {
        pack_group(dst + (size_t)r * (size_t)depth, group, src + (size_t)r * ld, ld,
                   min_i32(group, rows - r), columns);
    }
}

/* Whether weights of dtype are multiplied by codes. */
static int takes_codes(int32_t dtype) {
#ifdef GATED_MLP_FLOAT64
    (void)dtype;
    return 0;
#else
    return block_bytes(dtype) != 0;
#endif
}

row_block row_block_in(real *room, int32_t rows, int32_t columns, int32_t dtype) {
    const int32_t blocks = takes_codes(dtype) ? block_count(columns) : 0;
    const int32_t codes = in_quads(dtype) ? QUAD_CODES : PAIRS;
    const int32_t depth = blocks > 0 ? blocks * codes : columns;
    const int32_t group = rows <= GEMV_ROWS ? 1 : blocks > 0 ? GROUP : group_rows(rows);
    return (row_block){room, rows, depth, group, blocks, code_kind(dtype)};
}

void pack_columns(real *room, const row_block *a, int32_t column, const real *src, size_t ld,
                  int32_t columns) {
#ifndef GATED_MLP_FLOAT64
    if (a->blocks > 0) {
        pack_codes(room, a, column / BLOCK, src, ld, columns);
        return;
    }
#endif
    if (a->group > 1) {
        pack_rows(room + (size_t)column * (size_t)a->group, a->group, a->depth, src, ld, a->rows,
                  columns);
    } else {
        for (int32_t r = 0; r < a->rows; r++) {
            memcpy(room + (size_t)r * (size_t)a->depth + (size_t)column, src + (size_t)r * ld,
                   (size_t)columns * sizeof(real));
        }
    }
}

int32_t groups_to_finish(const row_block *a) {
    return a->blocks == 0 || in_quads(a->kind) ? 0 : (a->rows + a->group - 1) / a->group;
}

void finish_rows(real *room, const row_block *a, int32_t r, int32_t k0, int32_t k1) {
#ifdef GATED_MLP_FLOAT64
    (void)room, (void)a, (void)r, (void)k0, (void)k1;
#else
    if (k0 < k1) {
        align_codes(room, a, r, k0 / BLOCK, block_count(k1));
    }
#endif
}

row_block pack_row_block(real *room, const real *src, int32_t rows, int32_t columns,
                         int32_t dtype) {
    row_block a = row_block_in(room, rows, columns, dtype);
    if (a.blocks == 0 && a.group == 1) {
        a.data = src;
    } else {
        pack_columns(room, &a, 0, src, (size_t)columns, columns);
    }
    for (int32_t i = 0; i < groups_to_finish(&a); i++) {
        finish_rows(room, &a, i * a.group, 0, columns);
    }
    return a;
}

void pack_tiles(real *dst, const real *src, int32_t rows, int32_t columns) {
    for (int32_t j = 0; j < columns; j += PANEL) {
        const int32_t n = min_i32(PANEL, columns - j);
        for (int32_t r = 0; r < rows; r++, dst += PANEL) {
            const real *from = src + (size_t)r * (size_t)columns + (size_t)j;
            memcpy(dst, from, (size_t)n * sizeof(real));
            memset(dst + n, 0, (size_t)(PANEL - n) * sizeof(real));
        }
    }
}
