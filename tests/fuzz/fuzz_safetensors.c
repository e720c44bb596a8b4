/* libFuzzer target for the safetensors reader. Every input is read three times: as a whole file, as a header alone
 * whose file's length is not known, and as a header whose file then has exactly the right length. Whatever is accepted
 * must have tables that agree with each other, whatever is refused an error that points into the file. run.js builds
 * and starts it. */
#include "../native/read_file.h"
#include "json.h"

#include <stdio.h>
#include <string.h>

#define INSIST(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* Names are compared with each other only in small tables. */
#define FEW 64u

static const uint8_t widths[] = {
#define X(name, bits) bits,
    SAFETENSORS_DTYPES(X)
#undef X
};

static void check_string(const safetensors_block *block, uint32_t *next, uint32_t offset,
                         uint32_t bytes) {
    const uint8_t *pool = table_at(block, block->pool);
    INSIST(bytes <= block->pool_bytes && offset <= block->pool_bytes - bytes);
    INSIST(utf8_valid_bytes(pool + offset, bytes) == bytes);
    *next += bytes;
}

static void check_names_differ(const safetensors_block *block) {
    const uint8_t *pool = table_at(block, block->pool);
    const safetensors_tensor *t = table_at(block, block->tensors);
    for (uint32_t i = 0; i < block->tensor_count && block->tensor_count <= FEW; i++) {
        for (uint32_t k = 0; k < i; k++) {
            INSIST(t[i].name_bytes != t[k].name_bytes ||
                   memcmp(pool + t[i].name, pool + t[k].name, t[i].name_bytes) != 0);
        }
    }
    const safetensors_pair *p = table_at(block, block->pairs);
    for (uint32_t i = 0; i < block->pair_count && block->pair_count <= FEW; i++) {
        for (uint32_t k = 0; k < i; k++) {
            INSIST(p[i].key_bytes != p[k].key_bytes ||
                   memcmp(pool + p[i].key, pool + p[k].key, p[i].key_bytes) != 0);
        }
    }
}

/* Bytes that a tensor needs, in 128 bits, so that no product here can wrap unseen. */
static unsigned __int128 tensor_bits(const safetensors_block *block, const safetensors_tensor *t) {
    const uint64_t *dims = table_at(block, block->dims);
    unsigned __int128 bits = 1;
    for (uint32_t axis = 0; axis < t->rank; axis++) {
        bits *= dims[t->first_dim + axis];
        INSIST(bits <= UINT64_MAX);
    }
    return bits * widths[t->dtype];
}

static void check_tensors(const safetensors_block *block) {
    const safetensors_tensor *tensors = table_at(block, block->tensors);
    const safetensors_pair *pairs = table_at(block, block->pairs);
    const uint32_t *file_order = table_at(block, block->file_order);
    uint32_t dims = 0;
    uint32_t pool_used = 0;
    uint64_t end = 0;
    uint64_t order_sum = 0;
    for (uint32_t i = 0; i < block->tensor_count; i++) {
        const safetensors_tensor *t = &tensors[i];
        INSIST(t->dtype < SAFETENSORS_DTYPE_COUNT && t->reserved == 0 && t->first_dim <= dims);
        dims += t->rank;
        check_string(block, &pool_used, t->name, t->name_bytes);
    }
    for (uint32_t i = 0; i < block->pair_count; i++) {
        check_string(block, &pool_used, pairs[i].key, pairs[i].key_bytes);
        check_string(block, &pool_used, pairs[i].value, pairs[i].value_bytes);
    }
    INSIST(pool_used == block->pool_bytes);
    for (uint32_t i = 0; i < block->tensor_count; i++) {
        INSIST(file_order[i] < block->tensor_count);
        const safetensors_tensor *t = &tensors[file_order[i]];
        INSIST(t->begin == end && t->end >= t->begin);
        INSIST(tensor_bits(block, t) == (unsigned __int128)8 * (t->end - t->begin));
        end = t->end;
        order_sum += file_order[i];
    }
    INSIST(order_sum == (uint64_t)block->tensor_count * (block->tensor_count - 1) / 2 ||
           block->tensor_count == 0);
    INSIST(block->data_bytes == end);
}

static void check_span(const uint8_t *header, uint64_t header_bytes, uint32_t position,
                       uint32_t bytes) {
    if (bytes > 0) {
        INSIST(bytes >= 2 && position < header_bytes && bytes <= header_bytes - position);
        INSIST(header[position] == '"' && header[position + bytes - 1] == '"');
    }
}

static void check_error(const safetensors_error *error, uint32_t kind, const uint8_t *header,
                        uint64_t header_bytes, uint64_t file_bytes) {
    INSIST(kind == error->kind && kind < SAFETENSORS_KIND_COUNT);
    INSIST(error->reason != SAFETENSORS_REASON_NONE && error->reason < SAFETENSORS_REASON_COUNT);
    INSIST(error->position <= file_bytes);
    check_span(header, header_bytes, error->name_position, error->name_bytes);
    check_span(header, header_bytes, error->key_position, error->key_bytes);
}

/* The header alone, in memory of just its size: first with the file's length unknown, then with the right one. */
static void read_header(const uint8_t *bytes, uint64_t count) {
    uint8_t *header = malloc(count == 0 ? 1 : (size_t)count);
    INSIST(header != NULL);
    memcpy(header, bytes, (size_t)count);
    safetensors_summary summary;
    safetensors_error error;
    uint32_t kind = safetensors_measure(&summary, &error, header, count);
    if (kind != SAFETENSORS_OK) {
        INSIST(kind == SAFETENSORS_UTF8 || kind == SAFETENSORS_JSON);
        check_error(&error, kind, header, count, count + SAFETENSORS_PREFIX_BYTES);
        free(header);
        return;
    }
    safetensors_block *block = malloc((size_t)summary.block_bytes);
    INSIST(block != NULL);
    kind = safetensors_read(block, &error, &summary, header, count, SAFETENSORS_UNKNOWN);
    if (kind == SAFETENSORS_OK) {
        check_tensors(block);
        check_names_differ(block);
        uint64_t right = block->data_start + block->data_bytes;
        if (block->data_bytes < UINT64_MAX - block->data_start) {
            INSIST(safetensors_check_end(&error, block, right) == SAFETENSORS_OK);
            INSIST(safetensors_check_end(&error, block, right - 1) == SAFETENSORS_INCOMPLETE);
            INSIST(safetensors_read(block, &error, &summary, header, count, right) ==
                   SAFETENSORS_OK);
        }
    } else {
        INSIST(kind >= SAFETENSORS_DUPLICATE && kind < SAFETENSORS_INCOMPLETE);
        check_error(&error, kind, header, count, count + SAFETENSORS_PREFIX_BYTES);
    }
    free(block);
    free(header);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    safetensors_block *block;
    safetensors_error error;
    uint32_t kind = read_file(&block, &error, data, size);
    if (kind == SAFETENSORS_OK) {
        INSIST(block->data_start + block->data_bytes == size);
        check_tensors(block);
        free(block);
    } else {
        uint64_t header_bytes =
            size < SAFETENSORS_PREFIX_BYTES ? 0 : size - SAFETENSORS_PREFIX_BYTES;
        check_error(&error, kind, data + SAFETENSORS_PREFIX_BYTES, header_bytes, size);
    }
    INSIST(safetensors_sniff(data, size) < SAFETENSORS_LOOK_COUNT);
    read_header(data, size);
    if (size > SAFETENSORS_PREFIX_BYTES) {
        read_header(data + SAFETENSORS_PREFIX_BYTES, size - SAFETENSORS_PREFIX_BYTES);
    }
    return 0;
}
