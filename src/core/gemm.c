/* The micro-kernels and the loops around them; see gemm.h.
 *
 * The register tile is 4 rows x 8 columns, one k after the other: the one shape that keeps V8's register
 * allocator near peak in every version (8 accumulators, 2 weight vectors, 1 splat, 1 product of 15
 * registers). Where multiplying and adding are one operation it is 6 x 8 (12 accumulators, 2 weight
 * vectors, 1 splat): 8 sums are just what the latency of that operation needs, and none may wait.
 */
#include "gemm.h"

#include "quant_gemm.h"

_Static_assert(QUANT_STRIP_REALS <= STRIP_REALS, "one buffer serves both kinds of strip");

/* Rows expanded at a time by a GEMV that cannot expand in registers. */
#define BUFFER_ROWS 32

/* STRIP columns of weights held as dtype, a row every `step` bytes. */
typedef struct {
    const unsigned char *rows;
    size_t step;
    int32_t dtype;
} weight_strip;

INLINE weight_strip strip_of_reals(const real *rows, size_t ld) {
    return (weight_strip){(const unsigned char *)rows, ld * sizeof(real), DTYPE_REAL};
}

/* As expand_strip_row, with a mask that is read anew, as a constant would take a sum's register. */
INLINE strip_row expand_in_tile(const unsigned char *at, const int32_t dtype) {
    strip_row row = expand_strip_row(at, dtype);
#ifdef FUSED_MADD
    if (dtype == DTYPE_BF16) {
        static const volatile vbits upper_halves = {0xffff0000u, 0xffff0000u, 0xffff0000u,
                                                    0xffff0000u};
        vbits pairs;
        memcpy(&pairs, at, sizeof pairs);
        row.v[1] = (vreal)(pairs & upper_halves);
    }
#endif
    return row;
}

/* Whether a tile that need not add stores its sums as they are. What follows the loop decides in which order V8
 * does a step: with two ways out, and up to V8 12 with none but stores, it loads everything first, which is
 * 4 % faster where there are registers for it, and half as fast where there are none: there zeros are added. */
#ifdef FUSED_MADD
#define STORES_SUMS 0
#else
#define STORES_SUMS 1
#endif

/* Whether a tile subtracts its products and is then subtracted itself, to the same bits. Of an addition LLVM 14 leaves
 * the sum on the left and LLVM 19 the product, which V8 passes on to the processor; Zen 5 is a fifth slower with the
 * latter. The sides of a subtraction stay. */
#if !defined(FUSED_MADD) && defined(__clang_major__) && __clang_major__ > 14
#define SUBTRACTS_PRODUCTS 1
#else
#define SUBTRACTS_PRODUCTS 0
#endif

INLINE vreal with_product(vreal sum, vreal a, vreal b) {
    return SUBTRACTS_PRODUCTS ? sum - a * b : v_madd(a, b, sum);
}

INLINE vreal with_sum(vreal before, vreal sum) {
    return SUBTRACTS_PRODUCTS ? before - sum : before + sum;
}

/* Steps of a turn of the tile's loop. Two are 51 instructions instead of 60: up to 5 % on a processor that
 * takes in six a cycle (Zen 4). Between them there is a way out, without which V8 loads for both at once, and spills, as
 * it does with what LLVM 19 makes of this; the 6 x 8 tile has no register for them in either case. */
#if defined(FUSED_MADD) || SUBTRACTS_PRODUCTS
#define STEPS 1
#else
#define STEPS 2
#endif

typedef struct {
    vreal of[TILE_ROWS][STRIP_VECTORS];
} tile_sums;

/* sums += a [rows] times a row of weights; keep: kept [STRIP] = these as numbers. */
INLINE void tile_step(const int32_t rows, const int32_t dtype, tile_sums *sums, const real *a,
                      const unsigned char *weights, const int keep, real *kept) {
    const strip_row w = expand_in_tile(weights, dtype);
    if (keep) {
        memcpy(kept, &w, sizeof w);
    }
    for (int32_t i = 0; i < rows; i++) {
        const vreal value = v_splat(a[i]);
        for (int32_t j = 0; j < STRIP_VECTORS; j++) {
            sums->of[i][j] = with_product(sums->of[i][j], value, w.v[j]);
        }
    }
}

/* c [rows][STRIP] += sum_k a[k * a_step + row] b[k][column]; fresh: c is taken to be 0, whatever it
 * holds. keep: kept [depth][STRIP] = b as numbers. */
INLINE void tile_rows(const int32_t rows, const int32_t dtype, real *c, size_t ldc, const real *a,
                      size_t a_step, const weight_strip *b, int32_t depth, int fresh,
                      const int keep, real *kept) {
    tile_sums sums = {0};
    const unsigned char *weights = b->rows;
    const size_t step = b->step;
    const real *end = a + (size_t)depth * a_step;
    KEEP_POINTER(end);
    DO_NOT_UNROLL
    while (a != end) {
        for (int32_t i = 0; i < STEPS && a != end; i++) {
            tile_step(rows, dtype, &sums, a, weights, keep, kept);
            a += a_step;
            KEEP_POINTER(a);
            weights += step;
            if (keep) {
                kept += STRIP;
            }
        }
    }
    static const vreal zeros[STRIP_VECTORS]; /* what a tile adds to that has nothing yet */
    for (int32_t i = 0; i < rows; i++) {
        real *row = c + (size_t)i * ldc;
        const real *before = fresh && !STORES_SUMS ? (const real *)zeros : row;
        for (int32_t j = 0; j < STRIP_VECTORS; j++) {
            const vreal alone = SUBTRACTS_PRODUCTS ? v_splat(0) - sums.of[i][j] : sums.of[i][j];
            v_store(row + j * LANES, fresh && STORES_SUMS
                                         ? alone
                                         : with_sum(v_load(before + j * LANES), sums.of[i][j]));
        }
    }
}

INLINE void tile_typed(const int32_t dtype, real *c, size_t ldc, const real *a, size_t a_step,
                       const weight_strip *b, int32_t rows, int32_t depth, int fresh) {
    switch (rows) {
    case 1: tile_rows(1, dtype, c, ldc, a, a_step, b, depth, fresh, 0, NULL); break;
    case 2: tile_rows(2, dtype, c, ldc, a, a_step, b, depth, fresh, 0, NULL); break;
    case 3: tile_rows(3, dtype, c, ldc, a, a_step, b, depth, fresh, 0, NULL); break;
#if TILE_ROWS == 6
    case 4: tile_rows(4, dtype, c, ldc, a, a_step, b, depth, fresh, 0, NULL); break;
    case 5: tile_rows(5, dtype, c, ldc, a, a_step, b, depth, fresh, 0, NULL); break;
#endif
    default: tile_rows(TILE_ROWS, dtype, c, ldc, a, a_step, b, depth, fresh, 0, NULL); break;
    }
}

/* The register tile over numbers, up to TILE_ROWS rows. fresh: c is taken to be 0 and is not read, which takes long
 * out of memory. */
NOINLINE void tile_nx8(real *c, size_t ldc, const real *a, size_t a_step, const weight_strip *b,
                       int32_t rows, int32_t depth, int fresh) {
    tile_typed(DTYPE_REAL, c, ldc, a, a_step, b, rows, depth, fresh);
}

#ifdef FUSED_MADD
/* The same over weights that it expands as it reads them. */
NOINLINE void tile_nx8_bf16(real *c, size_t ldc, const real *a, size_t a_step,
                            const weight_strip *b, int32_t rows, int32_t depth) {
    tile_typed(DTYPE_BF16, c, ldc, a, a_step, b, rows, depth, 0);
}
#else
/* The same, whole, which leaves the weights that it has expanded for the groups of rows to come: stores
 * between its products cost half of what they do in a loop of their own. */
static void first_tile_bf16(real *c, const real *a, const weight_strip *b, int32_t depth, int zero,
                            real *kept) {
    tile_rows(TILE_ROWS, DTYPE_BF16, c, PANEL, a, TILE_ROWS, b, depth, zero, 1, kept);
}
#endif

/* PANEL running sums of one row. */
typedef struct {
    strip_row strips[PANEL_STRIPS];
} panel_sums;

/* As expand_strip_row. V8 13 makes a mask anew in each step, with three instructions, and zeros with none. */
INLINE strip_row expand_in_stream(const unsigned char *at, const int32_t dtype) {
    strip_row row = expand_strip_row(at, dtype);
#ifdef __wasm_relaxed_simd__
    if (dtype == DTYPE_BF16) {
        row.v[1] = v_upper_halves(at);
    }
#endif
    return row;
}

/* sums += sum_k row[k] weights[k], a stream of weights, each expanded just before its use. The value is
 * loaded by a pointer of its own, so that it comes before the weights: memory gives them up to a tenth
 * faster. */
INLINE void gemv_typed(const int32_t dtype, panel_sums *sums, const real *row,
                       const unsigned char *weights, int32_t depth) {
    const size_t eight = STRIP * held_bytes(dtype);
    panel_sums sum = *sums;
    DO_NOT_UNROLL
    for (int32_t k = 0; k < depth; k++, row++, weights += PANEL_STRIPS * eight) {
        KEEP_POINTER(row);
        const vreal value = v_splat(*row);
        for (int32_t s = 0; s < PANEL_STRIPS; s++) {
            const strip_row w = expand_in_stream(weights + (size_t)s * eight, dtype);
            for (int32_t j = 0; j < STRIP_VECTORS; j++) {
                sum.strips[s].v[j] = v_madd(value, w.v[j], sum.strips[s].v[j]);
            }
        }
    }
    *sums = sum;
}

/* tile [PANEL] = the sums of a block of K_BLOCK rows, or + them after the first. */
INLINE void add_sums(real *tile, const panel_sums *sums, int first) {
    for (int32_t i = 0; i < PANEL / LANES; i++) {
        const vreal block = sums->strips[i / STRIP_VECTORS].v[i % STRIP_VECTORS];
        v_store(tile + i * LANES, first ? block : v_load(tile + i * LANES) + block);
    }
}

NOINLINE void gemv_reals(panel_sums *sums, const real *row, const unsigned char *weights,
                         int32_t depth) {
    gemv_typed(DTYPE_REAL, sums, row, weights, depth);
}

/* F16 takes too many registers to be expanded beside eight sums, and blocks in double are no
 * stream: a few rows at a time, through a buffer in L1. */
static void gemv_buffered(panel_sums *sums, const real *row, const linear *l, int32_t panel,
                          int32_t k0, int32_t depth) {
    real expanded[BUFFER_ROWS * PANEL];
    for (int32_t k = 0; k < depth; k += BUFFER_ROWS) {
        const int32_t n = min_i32(BUFFER_ROWS, depth - k);
        expand_panel_rows(expanded, l, panel, k0 + k, n);
        gemv_reals(sums, row + k, (const unsigned char *)expanded, n);
    }
}

/* tile [PANEL] = one row times `depth` rows of a panel, straight from the store; the sums never leave
 * their registers, which for numbers made V8 11 slower. */
NOINLINE void gemv_bf16(real *tile, const real *row, const unsigned char *weights, int32_t depth) {
    for (int32_t k = 0; k < depth; k += K_BLOCK) {
        panel_sums sums = {0};
        gemv_typed(DTYPE_BF16, &sums, row + k, weights + (size_t)k * PANEL * held_bytes(DTYPE_BF16),
                   min_i32(K_BLOCK, depth - k));
        add_sums(tile, &sums, k == 0);
    }
}

/* tile [PANEL] = one row, from its column k0 on, times one panel. */
static void gemv_panel(real *tile, const real *row, const linear *l, int32_t panel, int32_t k0,
                       int32_t k1) {
    if (l->dtype == DTYPE_BF16) {
        gemv_bf16(tile, row, panel_row(l, panel, k0), k1 - k0);
        return;
    }
    for (int32_t k = k0; k < k1; k += K_BLOCK) {
        const int32_t depth = min_i32(K_BLOCK, k1 - k);
        panel_sums sums = {0};
        if (l->dtype == DTYPE_REAL) {
            gemv_reals(&sums, row + (k - k0), panel_row(l, panel, k), depth);
        } else {
            gemv_buffered(&sums, row + (k - k0), l, panel, k, depth);
        }
        add_sums(tile, &sums, k == k0);
    }
}

/* Whether the tile reads held weights where they lie in the panel. Bfloat16 where registers are left to
 * expand it in; numbers where one group of rows is all that reads them, as memory gives them faster to
 * the loop that only puts them into L1. */
static int reads_in_place(int32_t dtype, int32_t rows) {
#ifdef FUSED_MADD
    if (dtype == DTYPE_BF16) {
        return 1;
    }
#endif
    return dtype == DTYPE_REAL && rows <= TILE_ROWS;
}

#ifndef FUSED_MADD
/* Whether a strip is expanded by the first tile that reads it. Not the first of a panel, which fetches the lines
 * of all four from memory: that a loop which only expands does faster, unless it is half of the work. */
static int expands_in_first_tile(const row_block *a, int32_t dtype, int32_t s) {
    return dtype == DTYPE_BF16 && a->group == TILE_ROWS && (s > 0 || a->rows <= 2 * TILE_ROWS);
}
#endif

/* Where the group of rows that begins with row r has its values of column k0. */
INLINE const real *group_at(const row_block *a, int32_t r, int32_t k0) {
    return a->data + (size_t)r * (size_t)a->depth + (size_t)k0 * (size_t)a->group;
}

/* tile += the row groups from row r on against one strip */
NOINLINE void strip_product(real *tile, const row_block *a, int32_t r, int32_t k0,
                            const weight_strip *b, int32_t depth, int zero) {
    for (; r < a->rows; r += a->group) {
        const real *group = group_at(a, r, k0);
        real *c = tile + r * PANEL;
        const int32_t rows = min_i32(a->group, a->rows - r);
#ifdef FUSED_MADD
        if (b->dtype == DTYPE_BF16) {
            tile_nx8_bf16(c, PANEL, group, (size_t)a->group, b, rows, depth);
            continue;
        }
#endif
        tile_nx8(c, PANEL, group, (size_t)a->group, b, rows, depth, zero);
    }
}

/* tile += all row groups against strip s of a panel, rows k on: read in place, or put into `room`
 * as numbers, by the first group's tile or by a loop that does nothing else. */
static void panel_strip_product(real *tile, const row_block *a, const linear *l, int32_t panel,
                                int32_t s, int32_t k, int32_t depth, int zero, real *room) {
    const size_t eight = STRIP * held_bytes(l->dtype);
    weight_strip b = strip_of_reals(room, STRIP);
    const weight_strip held = {panel_row(l, panel, k) + (size_t)s * eight, PANEL_STRIPS * eight,
                               l->dtype};
    int32_t done = 0;
    if (reads_in_place(l->dtype, a->rows)) {
        b = held;
#ifndef FUSED_MADD
    } else if (expands_in_first_tile(a, l->dtype, s)) {
        first_tile_bf16(tile, group_at(a, 0, k), &held, depth, zero, room);
        done = TILE_ROWS;
#endif
    } else {
        expand_strip(room, l, panel, s, k, depth);
    }
    strip_product(tile, a, done, k, &b, depth, zero);
}

static void panel_product(real *tile, const row_block *a, const linear *l, int32_t panel,
                          int32_t k0, int32_t k1, real *strip) {
    if (a->group == 1 && k0 < k1) {
        for (int32_t r = 0; r < a->rows; r++) {
            gemv_panel(tile + r * PANEL, group_at(a, r, k0), l, panel, k0, k1);
        }
        return;
    }
    memset(tile, 0, (size_t)(a->rows * PANEL) * sizeof(real));
    for (int32_t k = k0; k < k1; k += K_BLOCK) {
        const int32_t depth = min_i32(K_BLOCK, k1 - k);
        for (int32_t s = 0; s < strips_in(l->out_features, panel); s++) {
            panel_strip_product(tile + s * STRIP, a, l, panel, s, k, depth, k == k0, strip);
        }
    }
}

/* Panels that few rows read as one stream. What is done between two of them is pushed out of L1 by large ones, and the
 * stream waits while it is fetched again. */
#define STREAM_PANELS 32
#define LARGE_PANEL   32768 /* bytes */
_Static_assert(STREAM_PANELS % ABREAST == 0, "panels abreast stay in one step");
_Static_assert(STREAM_PANELS *GEMV_ROWS <= ROW_BLOCK && ABREAST * RUN_ROWS <= ROW_BLOCK,
               "a step's tiles fit in tiles_rows");

int32_t panels_together(const linear *l, int32_t rows, int32_t at_most) {
    const int is_large = linear_weight_bytes(PANEL, l->in_features, l->dtype) > LARGE_PANEL;
    const int use_abreast = lies_abreast(l->dtype) && rows < RUN_ROWS && at_most > 0;
    const int32_t least = use_abreast ? ABREAST : 1;
    const int32_t most = rows <= GEMV_ROWS && is_large ? STREAM_PANELS : least;
    return max_i32(least, min_i32(most, at_most / least * least));
}

void panel_products(real *tiles, const row_block *a, const linear *l, span panels, int32_t k0,
                    int32_t k1, real *strip) {
#ifndef GATED_MLP_FLOAT64
    if (a->blocks > 0 && k0 < k1) {
        quant_panel_products(tiles, a, l, panels, k0, k1, strip);
        return;
    }
#endif
    for (int32_t p = panels.begin; p < panels.end; p++) {
        panel_product(tile_at(tiles, a->rows, p - panels.begin), a, l, p, k0, k1, strip);
    }
}

void panel_product_transposed(real *tile, const row_block *a, const linear *l, int32_t panel,
                              int32_t k0, int32_t k1, int accumulate, real *strip) {
    if (!accumulate) {
        memset(tile, 0, (size_t)(a->rows * PANEL) * sizeof(real));
    }
    for (int32_t k = k0; k < k1; k += K_BLOCK) {
        const int32_t depth = min_i32(K_BLOCK, k1 - k);
        for (int32_t s = 0; s < strips_in(l->in_features, panel); s++) {
            expand_strip_transposed(strip, strip + K_BLOCK * STRIP, l, panel * PANEL + s * STRIP, k,
                                    depth);
            const weight_strip b = strip_of_reals(strip, STRIP);
            strip_product(tile + s * STRIP, a, 0, k, &b, depth, !accumulate && k == k0);
        }
    }
}

/* The register tile at (i, j), whose columns reach past `range`: through a buffer. */
static void outer_edge(real *c, size_t ldc, const real *a, int32_t rows, const real *b, int32_t j,
                       span range, int32_t depth, int accumulate) {
    real edge[TILE_ROWS * STRIP];
    const weight_strip strip = strip_of_reals(b + j, PANEL);
    tile_nx8(edge, STRIP, a, PANEL, &strip, rows, depth, 1);
    const int32_t begin = max_i32(j, range.begin), end = min_i32(j + STRIP, range.end);
    for (int32_t i = 0; i < rows; i++) {
        for (int32_t column = begin; column < end; column++) {
            real *to = c + (size_t)i * ldc + (size_t)column;
            *to = edge[i * STRIP + column - j] + (accumulate ? *to : 0);
        }
    }
}

void outer_product(real *c, size_t ldc, const real *a, span a_columns, const real *b,
                   span b_columns, int32_t depth, int accumulate) {
    for (int32_t i = a_columns.begin, rows; i < a_columns.end; i += rows) {
        const int32_t left = a_columns.end - i;
        const int32_t groups = (left + TILE_ROWS - 1) / TILE_ROWS;
        rows = (left + groups - 1) / groups;
        real *to = c + (size_t)i * ldc;
        for (int32_t j = b_columns.begin / STRIP * STRIP; j < b_columns.end; j += STRIP) {
            const weight_strip strip = strip_of_reals(b + j, PANEL);
            if (j < b_columns.begin || j + STRIP > b_columns.end) {
                outer_edge(to, ldc, a + i, rows, b, j, b_columns, depth, accumulate);
            } else {
                tile_nx8(to + j, ldc, a + i, PANEL, &strip, rows, depth, !accumulate);
            }
        }
    }
}

void write_tile(real *y, size_t ld, const real *tile, int32_t rows, int32_t columns, real scale,
                int accumulate) {
    for (int32_t r = 0; r < rows; r++, y += ld, tile += PANEL) {
        for (int32_t j = 0; j < columns; j += LANES) {
            const vreal value = v_splat(scale) * v_load(tile + j);
            const vreal before = accumulate ? v_load_first(y + j, columns - j) : v_splat(0);
            v_store_first(y + j, accumulate ? before + value : value, columns - j);
        }
    }
}
