/* The micro-kernels and the loops around them; see gemm.h.
 *
 * The register tile is 4 rows x 8 columns, k not unrolled: the one shape that keeps V8's register
 * allocator near peak in every version (8 accumulators, 2 weight vectors, 1 splat, 1 product of 15
 * registers).
 */
#include "gemm.h"

#include "quant_gemm.h"

_Static_assert(QUANT_STRIP_REALS <= STRIP_REALS, "one buffer serves both kinds of strip");

/* Rows expanded at a time by a GEMV that cannot expand in registers. */
#define BUFFER_ROWS 32

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

/* F16 takes too many registers to be expanded beside eight sums, and blocks in double are no
 * stream: a few rows at a time, through a buffer in L1. */
static void gemv_buffered(panel_sums *sums, const real *row, const linear *l, int32_t panel,
                          int32_t k0, int32_t depth) {
    real expanded[BUFFER_ROWS * PANEL];
    for (int32_t k = 0; k < depth; k += BUFFER_ROWS) {
        const int32_t n = min_i32(BUFFER_ROWS, depth - k);
        expand_panel_rows(expanded, l, panel, k0 + k, n);
        gemv_typed(DTYPE_REAL, sums, row + k, (const unsigned char *)expanded, n);
    }
}

/* One row times one panel, straight from the store. */
static void gemv_panel(real *tile, const real *row, const linear *l, int32_t panel, int32_t k0,
                       int32_t k1) {
    for (int32_t k = k0; k < k1; k += K_BLOCK) {
        const int32_t depth = min_i32(K_BLOCK, k1 - k);
        const unsigned char *weights = panel_row(l, panel, k);
        panel_sums sums = {0};
        switch (l->dtype) {
#ifdef GATED_MLP_FLOAT64
        case DTYPE_F64: gemv_typed(DTYPE_F64, &sums, row + k, weights, depth); break;
#endif
        case DTYPE_F32: gemv_typed(DTYPE_F32, &sums, row + k, weights, depth); break;
        case DTYPE_BF16: gemv_typed(DTYPE_BF16, &sums, row + k, weights, depth); break;
        default: gemv_buffered(&sums, row + k, l, panel, k, depth); break;
        }
        for (int32_t i = 0; i < PANEL / LANES; i++) {
            const vreal block = sums.strips[i / STRIP_VECTORS].v[i % STRIP_VECTORS];
            v_store(tile + i * LANES, k == k0 ? block : v_load(tile + i * LANES) + block);
        }
    }
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

void panel_product(real *tile, const row_block *a, const linear *l, int32_t panel, int32_t k0,
                   int32_t k1, real *strip) {
    if (k0 == k1) {
        clear_past_edge(tile, a->rows, 0);
        return;
    }
#ifndef GATED_MLP_FLOAT64
    if (a->blocks > 0) {
        quant_panel_product(tile, a, l, panel, k0, k1, strip);
        return;
    }
#endif
    if (a->group == 1) {
        for (int32_t r = 0; r < a->rows; r++) {
            gemv_panel(tile + r * PANEL, a->data + (size_t)r * (size_t)a->depth, l, panel, k0, k1);
        }
        return;
    }
    const int32_t strips = strips_in(l->out_features, panel);
    clear_past_edge(tile, a->rows, strips);
    for (int32_t k = k0; k < k1; k += K_BLOCK) {
        const int32_t depth = min_i32(K_BLOCK, k1 - k);
        for (int32_t s = 0; s < strips; s++) {
            expand_strip(strip, l, panel, s, k, depth);
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

void write_tile(real *y, size_t ld, const real *tile, int32_t rows, int32_t columns, real scale,
                int accumulate) {
    for (int32_t r = 0; r < rows; r++, y += ld, tile += PANEL) {
        for (int32_t j = 0; j < columns; j++) {
            const real value = scale * tile[j];
            y[j] = accumulate ? y[j] + value : value;
        }
    }
}
