/* The packed store: its size, filling it from any layout, reading it back. See store.h for the
 * layout.
 *
 * Not for computing: kernels read the store through store.h. Called by the binding through
 * exports.c, once per tensor or per piece of one as it arrives.
 */
#include "pack.h"

#include <string.h>

/* Elements placed at a time: a run of a panel's rows stays in the caches while its 32 columns are. */
#define RUN 256

uint64_t linear_weight_bytes(int32_t out_features, int32_t in_features, int32_t dtype) {
    const size_t element = held_bytes(dtype), block = block_bytes(dtype);
    if (out_features <= 0 || in_features <= 0 || (element == 0 && block == 0)) {
        return 0;
    }
    if (block != 0) {
        return byte_count((uint64_t)panel_count(out_features), (uint64_t)block_count(in_features),
                          block);
    }
    return byte_count((uint64_t)panel_count(out_features) * PANEL, (uint64_t)in_features, element);
}

/* Byte offset of weight element (o, k). */
static size_t element_offset(const linear *l, int32_t o, int32_t k) {
    const size_t element = held_bytes(l->dtype);
    const size_t row = (size_t)(o / PANEL) * (size_t)l->in_features + (size_t)k;
    const int32_t column = o % PANEL;
    const int32_t place = element == 2 ? paired_place(column) : column;
    return (row * PANEL + (size_t)place) * element;
}

static void copy_run(unsigned char *dst, ptrdiff_t dst_step, const unsigned char *src,
                     ptrdiff_t src_step, size_t element, int32_t n) {
    for (int32_t i = 0; i < n; i++, dst += dst_step, src += src_step) {
        if (element == 2) {
            memcpy(dst, src, 2);
        } else if (element == 4) {
            memcpy(dst, src, 4);
        } else {
            memcpy(dst, src, sizeof(real)); /* the widest that is held */
        }
    }
}

static void move_run(unsigned char *dst, ptrdiff_t dst_step, int32_t dst_dtype,
                     const unsigned char *src, ptrdiff_t src_step, int32_t src_dtype, int32_t n) {
    if (dst_dtype == src_dtype) {
        copy_run(dst, dst_step, src, src_step, (size_t)convert_target_bytes(dst_dtype), n);
    } else {
        double values[RUN];
        convert_decode(values, src, src_step, src_dtype, n);
        convert_encode(dst, dst_step, dst_dtype, values, n);
    }
}

static gated_mlp_status check_range(int32_t begin, int32_t count, int32_t size) {
    const int inside = begin >= 0 && count >= 0 && begin <= size && count <= size - begin;
    return inside ? GATED_MLP_OK : GATED_MLP_ERR_SHAPE;
}

/* What linear_set_block is asked to take in. */
typedef struct {
    int32_t row0, rows, col0, cols;
    const unsigned char *src;
    int32_t src_dtype;
    ptrdiff_t row_step; /* bytes */
    ptrdiff_t col_step;
} source_block;

static gated_mlp_status check_source(const linear *l, const source_block *from) {
    gated_mlp_status status = check_linear(l);
    if (status == GATED_MLP_OK && convert_source_bytes(from->src_dtype) == 0) {
        status = GATED_MLP_ERR_DTYPE;
    }
    if (status == GATED_MLP_OK) {
        status = check_range(from->row0, from->rows, l->out_features);
    }
    if (status == GATED_MLP_OK) {
        status = check_range(from->col0, from->cols, l->in_features);
    }
    if (status == GATED_MLP_OK && block_bytes(l->dtype) != 0) {
        const int32_t end = from->col0 + from->cols;
        const int whole = from->col0 % BLOCK == 0 && (end % BLOCK == 0 || end == l->in_features);
        status = whole ? GATED_MLP_OK : GATED_MLP_ERR_SHAPE;
    }
    return status;
}

/* Of the source's rows from r on, up to `end`, how many can be packed together: those that make a
 * vector in each row of the store, else one. */
static int32_t rows_at_once(const linear *l, const source_block *from, int32_t r, int32_t end) {
    const int32_t element = (int32_t)held_bytes(l->dtype), rows = 16 / element;
    const int plain = LANES == 4 && l->dtype == from->src_dtype && from->col_step == element;
    return plain && (from->row0 + r) % rows == 0 && end - r >= rows ? rows : 1;
}

/* Columns c to c + n of row r. */
static void set_run(linear *l, const source_block *from, int32_t r, int32_t c, int32_t n) {
    unsigned char *store = l->weight;
    move_run(store + element_offset(l, from->row0 + r, from->col0 + c),
             (ptrdiff_t)(PANEL * held_bytes(l->dtype)), l->dtype,
             from->src + r * from->row_step + c * from->col_step, from->col_step, from->src_dtype,
             n);
}

/* The same of `rows` rows that can be packed together; what is less than a vector goes by itself. */
static void set_rows(linear *l, const source_block *from, int32_t r, int32_t rows, int32_t c,
                     int32_t n) {
    unsigned char *store = l->weight;
    unsigned char *dst = store + element_offset(l, from->row0 + r, from->col0 + c);
    const unsigned char *src = from->src + r * from->row_step + c * from->col_step;
    const int32_t packed = rows == 4 ? pack_words(dst, src, from->row_step, n)
                                     : pack_halves(dst, src, from->row_step, n);
    for (int32_t i = r; packed < n && i < r + rows; i++) {
        set_run(l, from, i, c + packed, n - packed);
    }
}

static void set_elements(linear *l, const source_block *from) {
    for (int32_t r0 = 0; r0 < from->rows; r0 += PANEL) {
        const int32_t r1 = min_i32(from->rows, r0 + PANEL);
        for (int32_t c = 0; c < from->cols; c += RUN) {
            const int32_t n = min_i32(RUN, from->cols - c);
            for (int32_t r = r0, rows; r < r1; r += rows) {
                rows = rows_at_once(l, from, r, r1);
                if (rows > 1) {
                    set_rows(l, from, r, rows, c, n);
                } else {
                    set_run(l, from, r, c, n);
                }
            }
        }
    }
}

/* Offset of the blocks that weight (o, k) is in. */
static size_t block_offset(const linear *l, int32_t o, int32_t k) {
    const unsigned char *block = panel_block(l, o / PANEL, k / BLOCK);
    return (size_t)(block - (const unsigned char *)l->weight);
}

/* weights [BLOCK] = n elements in float32, then zeros */
static void decode_block(float *weights, const unsigned char *src, ptrdiff_t step, int32_t dtype,
                         int32_t n) {
    memset(weights, 0, BLOCK * sizeof *weights);
    if (dtype == DTYPE_F32) {
        for (int32_t i = 0; i < n; i++, src += step) {
            memcpy(&weights[i], src, 4);
        }
    } else if (dtype == DTYPE_BF16) { /* the upper half of a F32 */
        for (int32_t i = 0; i < n; i++, src += step) {
            memcpy((unsigned char *)&weights[i] + 2, src, 2);
        }
    } else {
        double wide[BLOCK];
        convert_decode(wide, src, step, dtype, n);
        for (int32_t i = 0; i < n; i++) {
            weights[i] = (float)wide[i];
        }
    }
}

static void set_blocks(linear *l, const source_block *from) {
    unsigned char *store = l->weight;
    for (int32_t r0 = 0; r0 < from->rows; r0 += PANEL) {
        const int32_t r1 = min_i32(from->rows, r0 + PANEL);
        for (int32_t c = 0; c < from->cols; c += BLOCK) {
            const int32_t n = min_i32(BLOCK, from->cols - c);
            for (int32_t r = r0; r < r1; r++) {
                float weights[BLOCK];
                decode_block(weights, from->src + r * from->row_step + c * from->col_step,
                             from->col_step, from->src_dtype, n);
                const int32_t o = from->row0 + r;
                block_encode(store + block_offset(l, o, from->col0 + c), l->dtype, o % PANEL,
                             weights);
            }
        }
    }
}

gated_mlp_status linear_set_block(linear *l, int32_t row0, int32_t rows, int32_t col0, int32_t cols,
                                  const void *src, int32_t src_dtype, int64_t row_stride,
                                  int64_t col_stride) {
    const int64_t element = convert_source_bytes(src_dtype);
    const source_block from = {row0,
                               rows,
                               col0,
                               cols,
                               src,
                               src_dtype,
                               (ptrdiff_t)(row_stride * element),
                               (ptrdiff_t)(col_stride * element)};
    const gated_mlp_status status = check_source(l, &from);
    if (status == GATED_MLP_OK && block_bytes(l->dtype) != 0) {
        set_blocks(l, &from);
    } else if (status == GATED_MLP_OK) {
        set_elements(l, &from);
    }
    return status;
}

void linear_clear(linear *l) {
    const uint64_t bytes = linear_weight_bytes(l->out_features, l->in_features, l->dtype);
    memset(l->weight, 0, (size_t)bytes);
}

void linear_clear_padding(linear *l) {
    const int32_t last = panel_count(l->out_features) - 1;
    unsigned char *store = l->weight;
    if (l->out_features % PANEL == 0) {
        return;
    }
    if (block_bytes(l->dtype) == 0) {
        memset(store + element_offset(l, last * PANEL, 0), 0,
               (size_t)l->in_features * PANEL * held_bytes(l->dtype));
        return;
    }
    for (int32_t b = 0; b < block_count(l->in_features); b++) {
        memset(store + block_offset(l, last * PANEL, b * BLOCK), 0, block_bytes(l->dtype));
    }
}

static void get_elements(unsigned char *to, int32_t dtype, const linear *l, int32_t o) {
    const unsigned char *store = l->weight;
    const ptrdiff_t element = convert_target_bytes(dtype);
    const ptrdiff_t src_step = (ptrdiff_t)(PANEL * held_bytes(l->dtype));
    for (int32_t k = 0; k < l->in_features; k += RUN) {
        const int32_t n = min_i32(RUN, l->in_features - k);
        move_run(to + k * element, element, dtype, store + element_offset(l, o, k), src_step,
                 l->dtype, n);
    }
}

static void get_blocks(unsigned char *to, int32_t dtype, const linear *l, int32_t o) {
    const ptrdiff_t element = convert_target_bytes(dtype);
    for (int32_t k = 0; k < l->in_features; k++) {
        const double weight =
            block_decode(panel_block(l, o / PANEL, k / BLOCK), l->dtype, o % PANEL, k % BLOCK);
        convert_encode(to + k * element, element, dtype, &weight, 1);
    }
}

gated_mlp_status linear_get_rows(void *dst, int32_t dst_dtype, const linear *l, int32_t row0,
                                 int32_t rows) {
    const int quantised = block_bytes(l->dtype) != 0;
    const int32_t exact = quantised ? DTYPE_F32 : l->dtype;
    gated_mlp_status status = check_linear(l);
    if (status == GATED_MLP_OK && dst_dtype != exact && dst_dtype != DTYPE_REAL) {
        status = GATED_MLP_ERR_DTYPE;
    }
    if (status == GATED_MLP_OK) {
        status = check_range(row0, rows, l->out_features);
    }
    unsigned char *to = dst;
    const ptrdiff_t row_bytes = (ptrdiff_t)l->in_features * convert_target_bytes(dst_dtype);
    for (int32_t r = 0; status == GATED_MLP_OK && r < rows; r++) {
        if (quantised) {
            get_blocks(to + r * row_bytes, dst_dtype, l, row0 + r);
        } else {
            get_elements(to + r * row_bytes, dst_dtype, l, row0 + r);
        }
    }
    return status;
}
