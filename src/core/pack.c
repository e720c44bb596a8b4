/* Operands put into the order in which the register tile reads them; see pack.h. */
#include "pack.h"

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

void expand_strip(real *dst, const unsigned char *src, size_t src_step, int32_t dtype,
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

/* The 4x4 block at src, rows ld apart, turned over into dst, rows dst_ld apart. */
INLINE void transpose_4x4(real *dst, size_t dst_ld, const real *src, size_t ld) {
#if LANES == 4
    const vreal a = v_load(src), b = v_load(src + ld);
    const vreal c = v_load(src + 2 * ld), d = v_load(src + 3 * ld);
    const vreal ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    const vreal ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const vreal cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    const vreal cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    v_store(dst, __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5));
    v_store(dst + dst_ld, __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7));
    v_store(dst + 2 * dst_ld, __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5));
    v_store(dst + 3 * dst_ld, __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7));
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
        memset(lines, 0, STRIP * PANEL * sizeof(real));
        for (int32_t i = 0; i < inputs; i++) {
            expand_strip(lines + i * PANEL, panel_row(l, (k0 + done) / PANEL, input + i),
                         STRIP * held_bytes(l->dtype), l->dtype, PANEL_STRIPS);
        }
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

void pack_rows(real *dst, int32_t depth, const real *src, size_t ld, int32_t rows,
               int32_t columns) {
    for (int32_t r = 0; r < rows; r += GROUP) {
        const int32_t n = min_i32(GROUP, rows - r);
        const real *from = src + (size_t)r * ld;
        real *to = dst + (size_t)r * (size_t)depth;
        int32_t k = 0;
        for (; n == GROUP && k + 4 <= columns; k += 4) {
            transpose_4x4(to + (size_t)k * GROUP, GROUP, from + k, ld);
        }
        for (; k < columns; k++) {
            for (int32_t i = 0; i < n; i++) {
                to[(size_t)k * GROUP + (size_t)i] = from[(size_t)i * ld + (size_t)k];
            }
        }
    }
}

row_block pack_row_block(real *dst, const real *src, int32_t rows, int32_t depth) {
    if (rows <= GEMV_ROWS) {
        return (row_block){src, rows, depth, 1};
    }
    pack_rows(dst, depth, src, (size_t)depth, rows, depth);
    return (row_block){dst, rows, depth, GROUP};
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
