/* The packed store: its size, filling it from any layout, reading it back. See store.h for the
 * layout.
 *
 * Not for computing: kernels read the store through store.h. Called by the binding through
 * exports.c, once per tensor or per piece of one as it arrives.
 */
#include "store.h"

#include "sizes.h"

#include <string.h>

/* Elements converted at a time: a run of one panel column stays in L1 while 32 rows are placed. */
#define RUN 64

uint64_t linear_weight_bytes(int32_t out_features, int32_t in_features, int32_t dtype) {
    const size_t element = held_bytes(dtype);
    if (out_features <= 0 || in_features <= 0 || element == 0) {
        return 0;
    }
    return byte_count((uint64_t)panel_count(out_features) * PANEL, (uint64_t)in_features, element);
}

/* Byte offset of weight element (o, k). */
static size_t element_offset(const linear *l, int32_t o, int32_t k) {
    const size_t element = held_bytes(l->dtype);
    const size_t row = (size_t)(o / PANEL) * (size_t)l->in_features + (size_t)k;
    const int32_t column = o % PANEL;
    const int32_t in_eight = column % 8;
    const int32_t paired = in_eight < 4 ? 2 * in_eight : 2 * in_eight - 7;
    const int32_t place = element == 2 ? column - in_eight + paired : column;
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
            memcpy(dst, src, 8);
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

gated_mlp_status linear_set_block(linear *l, int32_t row0, int32_t rows, int32_t col0, int32_t cols,
                                  const void *src, int32_t src_dtype, int64_t row_stride,
                                  int64_t col_stride) {
    const int64_t src_element = convert_source_bytes(src_dtype);
    gated_mlp_status status = check_linear(l);
    if (status == GATED_MLP_OK && src_element == 0) {
        status = GATED_MLP_ERR_DTYPE;
    }
    if (status == GATED_MLP_OK) {
        status = check_range(row0, rows, l->out_features);
    }
    if (status == GATED_MLP_OK) {
        status = check_range(col0, cols, l->in_features);
    }
    if (status != GATED_MLP_OK) {
        return status;
    }
    unsigned char *store = l->weight;
    const unsigned char *from = src;
    const ptrdiff_t dst_step = (ptrdiff_t)(PANEL * held_bytes(l->dtype));
    const ptrdiff_t row_step = (ptrdiff_t)(row_stride * src_element);
    const ptrdiff_t col_step = (ptrdiff_t)(col_stride * src_element);
    for (int32_t r0 = 0; r0 < rows; r0 += PANEL) {
        const int32_t r1 = rows - r0 < PANEL ? rows : r0 + PANEL;
        for (int32_t c = 0; c < cols; c += RUN) {
            const int32_t n = cols - c < RUN ? cols - c : RUN;
            for (int32_t r = r0; r < r1; r++) {
                move_run(store + element_offset(l, row0 + r, col0 + c), dst_step, l->dtype,
                         from + r * row_step + c * col_step, col_step, src_dtype, n);
            }
        }
    }
    return GATED_MLP_OK;
}

void linear_clear(linear *l) {
    const uint64_t bytes = linear_weight_bytes(l->out_features, l->in_features, l->dtype);
    memset(l->weight, 0, (size_t)bytes);
}

gated_mlp_status linear_get_rows(void *dst, int32_t dst_dtype, const linear *l, int32_t row0,
                                 int32_t rows) {
    gated_mlp_status status = check_linear(l);
    if (status == GATED_MLP_OK && dst_dtype != l->dtype && dst_dtype != DTYPE_REAL) {
        status = GATED_MLP_ERR_DTYPE;
    }
    if (status == GATED_MLP_OK) {
        status = check_range(row0, rows, l->out_features);
    }
    if (status != GATED_MLP_OK) {
        return status;
    }
    unsigned char *to = dst;
    const unsigned char *store = l->weight;
    const ptrdiff_t element = convert_target_bytes(dst_dtype);
    const ptrdiff_t src_step = (ptrdiff_t)(PANEL * held_bytes(l->dtype));
    for (int32_t r = 0; r < rows; r++) {
        for (int32_t k = 0; k < l->in_features; k += RUN) {
            const int32_t n = l->in_features - k < RUN ? l->in_features - k : RUN;
            move_run(to, element, dst_dtype, store + element_offset(l, row0 + r, k), src_step,
                     l->dtype, n);
            to += n * element;
        }
    }
    return GATED_MLP_OK;
}
