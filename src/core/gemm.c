/* The micro-kernels and the loops around them; see gemm.h.
 *
 * The register tile is 4 rows x 8 columns, k not unrolled: the one shape that keeps V8's register
 * allocator near peak in every version (8 accumulators, 2 weight vectors, 1 splat, 1 product of 15
 * registers).
 */
#include "gemm.h"

#ifdef __clang__
#define DO_NOT_UNROLL _Pragma("clang loop unroll(disable)")
#else
#define DO_NOT_UNROLL _Pragma("GCC unroll 1")
#endif

#define STRIP_VECTORS (STRIP / LANES)
#define PANEL_STRIPS  (PANEL / STRIP)
#define F16_ROWS      32

/* c [rows][STRIP] (+)= sum_k a[k * a_step + row] b[k * b_step + column] */
INLINE void tile_rows(const int32_t rows, real *c, size_t ldc, const real *a, size_t a_step,
                      const real *b, size_t b_step, int32_t depth, int accumulate) {
    vreal sum[GROUP][STRIP_VECTORS];
    for (int32_t i = 0; i < rows; i++) {
        for (int32_t j = 0; j < STRIP_VECTORS; j++) {
            sum[i][j] = v_splat(0);
        }
    }
    DO_NOT_UNROLL
    for (int32_t k = 0; k < depth; k++, a += a_step, b += b_step) {
        vreal weights[STRIP_VECTORS];
        for (int32_t j = 0; j < STRIP_VECTORS; j++) {
            weights[j] = v_load(b + j * LANES);
        }
        for (int32_t i = 0; i < rows; i++) {
            const vreal value = v_splat(a[i]);
            for (int32_t j = 0; j < STRIP_VECTORS; j++) {
                sum[i][j] = v_madd(value, weights[j], sum[i][j]);
            }
        }
    }
    for (int32_t i = 0; i < rows; i++) {
        real *row = c + (size_t)i * ldc;
        for (int32_t j = 0; j < STRIP_VECTORS; j++) {
            const vreal before = accumulate ? v_load(row + j * LANES) : v_splat(0);
            v_store(row + j * LANES, accumulate ? before + sum[i][j] : sum[i][j]);
        }
    }
}

NOINLINE void tile_4x8(real *c, size_t ldc, const real *a, size_t a_step, const real *b,
                       size_t b_step, int32_t rows, int32_t depth, int accumulate) {
    switch (rows) {
    case 1: tile_rows(1, c, ldc, a, a_step, b, b_step, depth, accumulate); break;
    case 2: tile_rows(2, c, ldc, a, a_step, b, b_step, depth, accumulate); break;
    case 3: tile_rows(3, c, ldc, a, a_step, b, b_step, depth, accumulate); break;
    default: tile_rows(4, c, ldc, a, a_step, b, b_step, depth, accumulate); break;
    }
}

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

NOINLINE void expand_strip(real *dst, const unsigned char *src, size_t src_step, int32_t dtype,
                           int32_t depth) {
    switch (dtype) {
#ifdef GATED_MLP_FLOAT64
    case DTYPE_F64: expand_typed(DTYPE_F64, dst, src, src_step, depth); break;
#endif
    case DTYPE_F16: expand_typed(DTYPE_F16, dst, src, src_step, depth); break;
    case DTYPE_BF16: expand_typed(DTYPE_BF16, dst, src, src_step, depth); break;
    default: expand_typed(DTYPE_F32, dst, src, src_step, depth); break;
    }
}

/* PANEL running sums of one row. */
typedef struct {
    strip_row strips[PANEL_STRIPS];
} panel_sums;

/* sums += sum_k row[k] weights[k], a stream of weights, each expanded just before its use. */
INLINE void gemv_typed(const int32_t dtype, panel_sums *sums, const real *row,
                       const unsigned char *weights, int32_t depth) {
    const size_t eight = STRIP * held_bytes(dtype);
    panel_sums sum = *sums;
    DO_NOT_UNROLL
    for (int32_t k = 0; k < depth; k++, weights += PANEL_STRIPS * eight) {
        const vreal value = v_splat(row[k]);
        for (int32_t s = 0; s < PANEL_STRIPS; s++) {
            const strip_row w = expand_strip_row(weights + (size_t)s * eight, dtype);
            for (int32_t j = 0; j < STRIP_VECTORS; j++) {
                sum.strips[s].v[j] = v_madd(value, w.v[j], sum.strips[s].v[j]);
            }
        }
    }
    *sums = sum;
}

/* F16 takes too many registers to be expanded beside eight sums: a few rows at a time, through a
 * buffer in L1. */
static void gemv_f16(panel_sums *sums, const real *row, const unsigned char *weights,
                     int32_t depth) {
    real expanded[F16_ROWS * PANEL];
    const size_t eight = STRIP * held_bytes(DTYPE_F16);
    for (int32_t k = 0; k < depth; k += F16_ROWS) {
        const int32_t n = min_i32(F16_ROWS, depth - k);
        expand_strip(expanded, weights + (size_t)k * PANEL_STRIPS * eight, eight, DTYPE_F16,
                     n * PANEL_STRIPS);
        gemv_typed(DTYPE_REAL, sums, row + k, (const unsigned char *)expanded, n);
    }
}

/* One row times one panel, straight from the store. */
static void gemv_panel(real *tile, const real *row, const linear *l, int32_t panel, int32_t k0,
                       int32_t k1) {
    for (int32_t k = k0; k < k1; k += K_BLOCK) {
        const unsigned char *weights = panel_row(l, panel, k);
        const int32_t depth = min_i32(K_BLOCK, k1 - k);
        panel_sums sums = {0};
        switch (l->dtype) {
#ifdef GATED_MLP_FLOAT64
        case DTYPE_F64: gemv_typed(DTYPE_F64, &sums, row + k, weights, depth); break;
#endif
        case DTYPE_F16: gemv_f16(&sums, row + k, weights, depth); break;
        case DTYPE_BF16: gemv_typed(DTYPE_BF16, &sums, row + k, weights, depth); break;
        default: gemv_typed(DTYPE_F32, &sums, row + k, weights, depth); break;
        }
        for (int32_t i = 0; i < PANEL / LANES; i++) {
            const vreal block = sums.strips[i / STRIP_VECTORS].v[i % STRIP_VECTORS];
            v_store(tile + i * LANES, k == k0 ? block : v_load(tile + i * LANES) + block);
        }
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

/* dst [depth][STRIP] = weight[k0..k0 + depth), input..input + STRIP): the store read across its
 * rows. Inputs past the last give zeros. dst holds `depth` rounded up to whole panels; `lines`
 * is room for STRIP rows of a panel. */
static void expand_strip_transposed(real *dst, real *lines, const linear *l, int32_t input,
                                    int32_t k0, int32_t depth) {
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

/* All row groups against the strip that was just expanded. */
static void strip_product(real *tile, const row_block *a, int32_t k0, const real *strip,
                          int32_t depth, int accumulate) {
    for (int32_t r = 0; r < a->rows; r += GROUP) {
        const real *group = a->data + (size_t)r * (size_t)a->depth + (size_t)k0 * GROUP;
        tile_4x8(tile + r * PANEL, PANEL, group, GROUP, strip, STRIP, min_i32(GROUP, a->rows - r),
                 depth, accumulate);
    }
}

/* Columns of the tile from `strips` strips on, which lie past the matrix, become zeros. */
static void clear_past_edge(real *tile, int32_t rows, int32_t strips) {
    for (int32_t r = 0; strips < PANEL_STRIPS && r < rows; r++) {
        memset(tile + r * PANEL + strips * STRIP, 0,
               (size_t)(PANEL - strips * STRIP) * sizeof(real));
    }
}

/* Strips of a panel that hold anything of a matrix `features` wide. */
static int32_t strips_in(int32_t features, int32_t panel) {
    const int32_t columns = min_i32(PANEL, features - panel * PANEL);
    return (columns + STRIP - 1) / STRIP;
}

void panel_product(real *tile, const row_block *a, const linear *l, int32_t panel, int32_t k0,
                   int32_t k1, real *strip) {
    if (k0 == k1) {
        clear_past_edge(tile, a->rows, 0);
        return;
    }
    if (a->group == 1) {
        for (int32_t r = 0; r < a->rows; r++) {
            gemv_panel(tile + r * PANEL, a->data + (size_t)r * (size_t)a->depth, l, panel, k0, k1);
        }
        return;
    }
    const int32_t strips = strips_in(l->out_features, panel);
    const size_t eight = STRIP * held_bytes(l->dtype);
    clear_past_edge(tile, a->rows, strips);
    for (int32_t k = k0; k < k1; k += K_BLOCK) {
        const int32_t depth = min_i32(K_BLOCK, k1 - k);
        for (int32_t s = 0; s < strips; s++) {
            expand_strip(strip, panel_row(l, panel, k) + (size_t)s * eight, PANEL_STRIPS * eight,
                         l->dtype, depth);
            strip_product(tile + s * STRIP, a, k, strip, depth, k > k0);
        }
    }
}

void panel_product_transposed(real *tile, const row_block *a, const linear *l, int32_t panel,
                              int32_t k0, int32_t k1, int accumulate, real *strip) {
    const int32_t strips = strips_in(l->in_features, panel);
    if (!accumulate) {
        clear_past_edge(tile, a->rows, strips);
    }
    for (int32_t k = k0; k < k1; k += K_BLOCK) {
        const int32_t depth = min_i32(K_BLOCK, k1 - k);
        for (int32_t s = 0; s < strips; s++) {
            expand_strip_transposed(strip, strip + K_BLOCK * STRIP, l, panel * PANEL + s * STRIP, k,
                                    depth);
            strip_product(tile + s * STRIP, a, k, strip, depth, accumulate || k > k0);
        }
    }
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

/* The register tile at (i, j), whose columns reach past `range`: through a buffer. */
static void outer_edge(real *c, size_t ldc, const real *a, int32_t rows, const real *b, int32_t j,
                       column_range range, int32_t depth) {
    real edge[GROUP * STRIP];
    tile_4x8(edge, STRIP, a, PANEL, b + j, PANEL, rows, depth, 0);
    const int32_t begin = max_i32(j, range.begin), end = min_i32(j + STRIP, range.end);
    for (int32_t i = 0; i < rows; i++) {
        for (int32_t column = begin; column < end; column++) {
            c[(size_t)i * ldc + (size_t)column] += edge[i * STRIP + column - j];
        }
    }
}

void outer_product(real *c, size_t ldc, const real *a, column_range a_columns, const real *b,
                   column_range b_columns, int32_t depth) {
    for (int32_t j = b_columns.begin / STRIP * STRIP; j < b_columns.end; j += STRIP) {
        const int whole = j >= b_columns.begin && j + STRIP <= b_columns.end;
        for (int32_t i = a_columns.begin; i < a_columns.end; i += GROUP) {
            const int32_t rows = min_i32(GROUP, a_columns.end - i);
            real *to = c + (size_t)i * ldc;
            if (whole) {
                tile_4x8(to + j, ldc, a + i, PANEL, b + j, PANEL, rows, depth, 1);
            } else {
                outer_edge(to, ldc, a + i, rows, b, j, b_columns, depth);
            }
        }
    }
}

void add_column_sums(real *sums, const real *src, size_t ld, int32_t rows, int32_t columns,
                     real scale) {
    for (int32_t j = 0; j < columns; j += PANEL) {
        const int32_t n = min_i32(PANEL, columns - j);
        real block[PANEL] = {0};
        for (int32_t r = 0; r < rows; r++) {
            for (int32_t i = 0; i < n; i++) {
                block[i] += src[(size_t)r * ld + (size_t)(j + i)];
            }
        }
        for (int32_t i = 0; i < n; i++) {
            sums[j + i] += scale * block[i];
        }
    }
}

void add_bias(real *tile, const real *bias, int32_t rows, int32_t columns) {
    for (int32_t r = 0; r < rows; r++) {
        for (int32_t j = 0; j < columns; j++) {
            tile[r * PANEL + j] += bias[j];
        }
    }
}

void write_tile(real *y, size_t ld, const real *tile, int32_t rows, int32_t columns, real scale,
                int accumulate) {
    for (int32_t r = 0; r < rows; r++, y += ld, tile += PANEL) {
        for (int32_t j = 0; j < columns; j++) {
            const real value = scale * tile[j];
            y[j] = accumulate ? y[j] + value : value;
        }
    }
}
