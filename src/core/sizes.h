/* Sizes and their checks: byte counts that cannot overflow, scratch that is laid out once for both
 * its size and its pointers, and the validity of a `linear`. Private to the kernels.
 */
#ifndef GATED_MLP_SIZES_H
#define GATED_MLP_SIZES_H

#include "store.h"

#include <stddef.h>
#include <stdint.h>

#define ROW_BLOCK 128 /* tokens worked on at a time; scratch never grows past it */

/* rows * columns * element, or 0 where that passes the address space. */
INLINE uint64_t byte_count(uint64_t rows, uint64_t columns, uint64_t element) {
    const uint64_t limit = (uint64_t)PTRDIFF_MAX / element;
    if (columns != 0 && rows > limit / columns) {
        return 0;
    }
    return rows * columns * element;
}

INLINE int fits(int32_t rows, int32_t columns) {
    return rows == 0 || byte_count((uint64_t)rows, (uint64_t)columns, sizeof(real)) != 0;
}

INLINE int32_t min_i32(int32_t a, int32_t b) {
    return a < b ? a : b;
}

INLINE int32_t max_i32(int32_t a, int32_t b) {
    return a > b ? a : b;
}

/* Tokens that scratch is laid out for. */
INLINE int32_t block_rows(int32_t tokens) {
    return max_i32(1, min_i32(tokens, ROW_BLOCK));
}

/* Hands out aligned pieces of a scratch buffer; NULL for nothing. With base NULL it only counts. */
typedef struct {
    unsigned char *base;
    uint64_t used;
} scratch_cursor;

INLINE real *take(scratch_cursor *cursor, uint64_t rows, uint64_t columns) {
    const uint64_t offset = cursor->used;
    const uint64_t bytes = rows * columns * sizeof(real);
    cursor->used += (bytes + GATED_MLP_ALIGN - 1) / GATED_MLP_ALIGN * GATED_MLP_ALIGN;
    return cursor->base == NULL || bytes == 0 ? NULL : (real *)(void *)(cursor->base + offset);
}

/* Size of what was laid out, 0 where it passes the address space. */
INLINE uint64_t scratch_total(const scratch_cursor *cursor) {
    return cursor->used <= (uint64_t)PTRDIFF_MAX ? cursor->used : 0;
}

INLINE gated_mlp_status check_linear(const linear *l) {
    if (l->out_features <= 0 || l->in_features <= 0) {
        return GATED_MLP_ERR_SHAPE;
    }
    if (held_bytes(l->dtype) == 0 && block_bytes(l->dtype) == 0) {
        return GATED_MLP_ERR_DTYPE;
    }
    return linear_weight_bytes(l->out_features, l->in_features, l->dtype) == 0
               ? GATED_MLP_ERR_OVERFLOW
               : GATED_MLP_OK;
}

#endif
