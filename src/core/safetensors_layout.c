/* What can only be judged with all tensors at hand: names given twice, and data that fills the file
 * without a hole. Sorting is a merge sort, so that a hostile header of a million names costs n log
 * n like any other. */
#include "safetensors_impl.h"

#include <string.h>

/* ---------------------------------------------------------------------------------------- the
 * block */

static uint32_t *as_words(uint8_t *bytes) {
    return (uint32_t *)(void *)bytes;
}

safetensors_tables safetensors_place(void *block, const safetensors_summary *s) {
    uint64_t scratch_count = s->tensor_count > 2 * (uint64_t)s->pair_count
                                 ? s->tensor_count
                                 : 2 * (uint64_t)s->pair_count;
    uint64_t tensors = sizeof(safetensors_block);
    uint64_t dims = tensors + s->tensor_count * sizeof(safetensors_tensor);
    uint64_t pairs = dims + s->dim_count * sizeof(uint64_t);
    uint64_t file_order = pairs + s->pair_count * sizeof(safetensors_pair);
    uint64_t scratch = file_order + s->tensor_count * sizeof(uint32_t);
    uint64_t pool = scratch + scratch_count * sizeof(uint32_t);
    safetensors_tables t = {.end = (pool + s->pool_bytes + 7) / 8 * 8};
    if (block != NULL) {
        uint8_t *bytes = block;
        t.block = block;
        t.tensors = (safetensors_tensor *)(void *)(bytes + tensors);
        t.dims = (uint64_t *)(void *)(bytes + dims);
        t.pairs = (safetensors_pair *)(void *)(bytes + pairs);
        t.file_order = as_words(bytes + file_order);
        t.scratch = as_words(bytes + scratch);
        t.pool = bytes + pool;
        *t.block = (safetensors_block){
            .tensor_count = s->tensor_count,
            .pair_count = s->pair_count,
            .tensors = (uint32_t)tensors,
            .file_order = (uint32_t)file_order,
            .dims = (uint32_t)dims,
            .pairs = (uint32_t)pairs,
            .pool = (uint32_t)pool,
            .pool_bytes = s->pool_bytes,
        };
    }
    return t;
}

/* ---------------------------------------------------------------------------------------- sorting
 */

/* < 0, 0 or > 0 as entry a comes before, with or after entry b */
typedef int compare_entries(const safetensors_tables *t, uint32_t a, uint32_t b);

static int compare_numbers(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

static int compare_strings(const uint8_t *pool, uint32_t a, uint32_t a_bytes, uint32_t b,
                           uint32_t b_bytes) {
    int order = memcmp(pool + a, pool + b, a_bytes < b_bytes ? a_bytes : b_bytes);
    return order != 0 ? order : compare_numbers(a_bytes, b_bytes);
}

static int by_name(const safetensors_tables *t, uint32_t a, uint32_t b) {
    const safetensors_tensor *x = &t->tensors[a];
    const safetensors_tensor *y = &t->tensors[b];
    return compare_strings(t->pool, x->name, x->name_bytes, y->name, y->name_bytes);
}

static int by_key(const safetensors_tables *t, uint32_t a, uint32_t b) {
    const safetensors_pair *x = &t->pairs[a];
    const safetensors_pair *y = &t->pairs[b];
    return compare_strings(t->pool, x->key, x->key_bytes, y->key, y->key_bytes);
}

static int by_offsets(const safetensors_tables *t, uint32_t a, uint32_t b) {
    const safetensors_tensor *x = &t->tensors[a];
    const safetensors_tensor *y = &t->tensors[b];
    int order = compare_numbers(x->begin, y->begin);
    return order != 0 ? order : compare_numbers(x->end, y->end);
}

/* index[low..middle) and index[middle..high), each sorted, become one. */
static void merge(uint32_t *index, uint32_t *scratch, uint64_t low, uint64_t middle, uint64_t high,
                  compare_entries *compare, const safetensors_tables *t) {
    if (compare(t, index[middle - 1], index[middle]) <= 0) {
        return;
    }
    uint64_t left_count = middle - low;
    memcpy(scratch, index + low, (size_t)left_count * sizeof *index);
    uint64_t left = 0;
    uint64_t right = middle;
    uint64_t to = low;
    while (left < left_count) {
        int take_right = right < high && compare(t, scratch[left], index[right]) > 0;
        index[to++] = take_right ? index[right++] : scratch[left++];
    }
}

/* index = 0, 1, ... n - 1 sorted, entries that compare equal in the header's order. scratch: n. */
static void sort_entries(uint32_t *index, uint32_t *scratch, uint32_t n, compare_entries *compare,
                         const safetensors_tables *t) {
    for (uint32_t i = 0; i < n; i++) {
        index[i] = i;
    }
    for (uint64_t width = 1; width < n; width *= 2) {
        for (uint64_t low = 0; low + width < n; low += 2 * width) {
            uint64_t high = low + 2 * width < n ? low + 2 * width : n;
            merge(index, scratch, low, low + width, high, compare, t);
        }
    }
}

/* ---------------------------------------------------------------------------------------- checks
 */

static uint32_t fail(safetensors_error *error, uint32_t kind, uint32_t reason, uint64_t expected,
                     uint64_t found) {
    *error =
        (safetensors_error){.kind = kind, .reason = reason, .expected = expected, .found = found};
    return kind;
}

static uint32_t fail_tensor(safetensors_error *error, const safetensors_tensor *tensor,
                            uint32_t kind, uint32_t reason, uint64_t expected, uint64_t found) {
    fail(error, kind, reason, expected, found);
    error->name_position = tensor->source_position;
    error->name_bytes = tensor->source_bytes;
    error->position = SAFETENSORS_PREFIX_BYTES + (uint64_t)tensor->source_position;
    return kind;
}

/* The first pair of neighbours in a sorted index that compare equal; 0 if there is none, else the
 * second's place. */
static uint32_t find_twin(const uint32_t *index, uint32_t n, compare_entries *compare,
                          const safetensors_tables *t) {
    for (uint32_t i = 1; i < n; i++) {
        if (compare(t, index[i - 1], index[i]) == 0) {
            return i;
        }
    }
    return 0;
}

static uint32_t check_tensor_names(safetensors_error *error, const safetensors_tables *t) {
    uint32_t n = t->block->tensor_count;
    sort_entries(t->file_order, t->scratch, n, by_name, t);
    uint32_t twin = find_twin(t->file_order, n, by_name, t);
    if (twin == 0) {
        return SAFETENSORS_OK;
    }
    const safetensors_tensor *first = &t->tensors[t->file_order[twin - 1]];
    const safetensors_tensor *second = &t->tensors[t->file_order[twin]];
    return fail_tensor(error, second, SAFETENSORS_DUPLICATE, SAFETENSORS_REASON_TENSOR_TWICE,
                       SAFETENSORS_PREFIX_BYTES + (uint64_t)first->source_position,
                       SAFETENSORS_PREFIX_BYTES + (uint64_t)second->source_position);
}

static uint32_t check_metadata_keys(safetensors_error *error, const safetensors_tables *t) {
    uint32_t n = t->block->pair_count;
    sort_entries(t->scratch, t->scratch + n, n, by_key, t);
    uint32_t twin = find_twin(t->scratch, n, by_key, t);
    if (twin == 0) {
        return SAFETENSORS_OK;
    }
    const safetensors_pair *first = &t->pairs[t->scratch[twin - 1]];
    const safetensors_pair *second = &t->pairs[t->scratch[twin]];
    fail(error, SAFETENSORS_DUPLICATE, SAFETENSORS_REASON_METADATA_KEY_TWICE,
         SAFETENSORS_PREFIX_BYTES + (uint64_t)first->source_position,
         SAFETENSORS_PREFIX_BYTES + (uint64_t)second->source_position);
    error->position = error->found;
    error->key_position = second->source_position;
    error->key_bytes = second->source_bytes;
    return error->kind;
}

/* *product = a * b unless that passes 64 bits. */
static int multiply(uint64_t *product, uint64_t a, uint64_t b) {
    if (b != 0 && a > UINT64_MAX / b) {
        return 0;
    }
    *product = a * b;
    return 1;
}

/* Shape times width against end - begin. In bits, as the reference has it: a tensor of 2^61 bytes
 * is an overflow. */
static uint32_t check_size(safetensors_error *error, const safetensors_tables *t,
                           const safetensors_tensor *tensor) {
    static const uint8_t widths[] = {
#define X(name, bits) bits,
        SAFETENSORS_DTYPES(X)
#undef X
    };
    uint64_t bits = 1;
    uint32_t axis = 0;
    while (axis < tensor->rank && multiply(&bits, bits, t->dims[tensor->first_dim + axis])) {
        axis++;
    }
    if (axis < tensor->rank || !multiply(&bits, bits, widths[tensor->dtype])) {
        return fail_tensor(error, tensor, SAFETENSORS_OVERFLOW, SAFETENSORS_REASON_SHAPE_OVERFLOW,
                           0, axis);
    }
    if (bits % 8 != 0) {
        return fail_tensor(error, tensor, SAFETENSORS_MISALIGNED, SAFETENSORS_REASON_PARTIAL_BYTE,
                           0, bits);
    }
    if (bits / 8 != tensor->end - tensor->begin) {
        return fail_tensor(error, tensor, SAFETENSORS_SIZE_MISMATCH, SAFETENSORS_REASON_SIZE_WRONG,
                           bits / 8, tensor->end - tensor->begin);
    }
    return SAFETENSORS_OK;
}

static uint32_t check_data(safetensors_error *error, const safetensors_tables *t) {
    uint64_t end = 0;
    sort_entries(t->file_order, t->scratch, t->block->tensor_count, by_offsets, t);
    for (uint32_t i = 0; i < t->block->tensor_count; i++) {
        const safetensors_tensor *tensor = &t->tensors[t->file_order[i]];
        if (tensor->begin != end) {
            return fail_tensor(error, tensor, SAFETENSORS_OFFSET, SAFETENSORS_REASON_BEGIN_WRONG,
                               end, tensor->begin);
        }
        if (tensor->end < tensor->begin) {
            return fail_tensor(error, tensor, SAFETENSORS_OFFSET,
                               SAFETENSORS_REASON_END_BEFORE_BEGIN, tensor->begin, tensor->end);
        }
        uint32_t kind = check_size(error, t, tensor);
        if (kind != SAFETENSORS_OK) {
            return kind;
        }
        end = tensor->end;
    }
    t->block->data_bytes = end;
    return SAFETENSORS_OK;
}

uint32_t safetensors_check_layout(safetensors_error *error, const safetensors_tables *t) {
    uint32_t kind = check_tensor_names(error, t);
    if (kind == SAFETENSORS_OK) {
        kind = check_metadata_keys(error, t);
    }
    return kind == SAFETENSORS_OK ? check_data(error, t) : kind;
}

uint32_t safetensors_check_end(safetensors_error *error, const safetensors_block *block,
                               uint64_t file_bytes) {
    if (file_bytes == SAFETENSORS_UNKNOWN) {
        return SAFETENSORS_OK;
    }
    uint64_t there = file_bytes < block->data_start ? 0 : file_bytes - block->data_start;
    if (there == block->data_bytes && file_bytes >= block->data_start) {
        return SAFETENSORS_OK;
    }
    uint64_t room = UINT64_MAX - block->data_start;
    uint64_t right = block->data_start + (block->data_bytes < room ? block->data_bytes : room);
    int is_short = file_bytes < right;
    fail(error, SAFETENSORS_INCOMPLETE,
         is_short ? SAFETENSORS_REASON_FILE_SHORT : SAFETENSORS_REASON_FILE_LONG, right,
         file_bytes);
    error->position = is_short ? file_bytes : right;
    return error->kind;
}
