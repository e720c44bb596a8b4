/* Reads the header of a safetensors file: safetensors.h is the manual.
 *
 * One walk over the JSON serves both passes: measuring counts what it meets, reading also writes it
 * into tables. What can only be judged with all tensors at hand (names given twice, the layout of
 * the data) is in safetensors_layout.c.
 */
#include "safetensors_impl.h"

#include "json.h"

#include <string.h>

enum field { FIELD_DTYPE, FIELD_SHAPE, FIELD_OFFSETS, FIELD_COUNT };

static const char *const field_names[FIELD_COUNT] = {"dtype", "shape", "data_offsets"};

static const char metadata_key[] = "__metadata__";

typedef struct {
    json_cursor json;
    safetensors_summary met; /* counts so far */
    safetensors_tables out;  /* all NULL while measuring */
    json_span name;          /* whose entry is being read, for errors */
    json_span key;
} reader;

/* Decodes a string into the pool; *offset and *bytes: where it is there. */
static void keep_string(reader *r, json_span string, uint32_t *offset, uint32_t *bytes) {
    uint8_t *to = r->out.pool == NULL ? NULL : r->out.pool + r->met.pool_bytes;
    *offset = r->met.pool_bytes;
    *bytes = json_decode(to, to == NULL ? 0 : string.bytes, r->json.text, string);
    r->met.pool_bytes += *bytes;
}

/* ----------------------------------------------------------------------------------------
 * __metadata__ */

static int read_pair(reader *r) {
    safetensors_pair pair = {0};
    json_span value;
    if (!json_key(&r->json, &r->key)) {
        return 0;
    }
    if (json_peek(&r->json) != '"') {
        return json_fail(&r->json, SAFETENSORS_REASON_METADATA_NOT_STRING, r->json.at);
    }
    if (!json_string(&r->json, &value)) {
        return 0;
    }
    pair.source_position = r->key.position;
    pair.source_bytes = r->key.bytes;
    keep_string(r, r->key, &pair.key, &pair.key_bytes);
    keep_string(r, value, &pair.value, &pair.value_bytes);
    if (r->out.pairs != NULL) {
        r->out.pairs[r->met.pair_count] = pair;
    }
    r->met.pair_count++;
    r->key = (json_span){0, 0};
    return 1;
}

static int read_metadata(reader *r) {
    uint8_t byte = json_peek(&r->json);
    if (byte == 'n') {
        return json_skip(&r->json);
    }
    if (byte != '{') {
        return json_fail(&r->json, SAFETENSORS_REASON_METADATA_NOT_OBJECT, r->json.at);
    }
    json_open(&r->json);
    for (int first = 1; json_more(&r->json, '}', first); first = 0) {
        if (!read_pair(r)) {
            return 0;
        }
    }
    return r->json.reason == SAFETENSORS_REASON_NONE;
}

/* ---------------------------------------------------------------------------------------- tensors
 */

static int read_dtype(reader *r, safetensors_tensor *tensor) {
    static const char *const names[] = {
#define X(name, bits) #name,
        SAFETENSORS_DTYPES(X)
#undef X
    };
    json_span string;
    if (json_peek(&r->json) != '"') {
        return json_fail(&r->json, SAFETENSORS_REASON_DTYPE_NOT_STRING, r->json.at);
    }
    uint64_t start = r->json.at;
    if (!json_string(&r->json, &string)) {
        return 0;
    }
    for (uint32_t code = 0; code < SAFETENSORS_DTYPE_COUNT; code++) {
        if (json_is(r->json.text, string, names[code])) {
            tensor->dtype = code;
            return 1;
        }
    }
    return json_fail(&r->json, SAFETENSORS_REASON_DTYPE_UNKNOWN, start);
}

static int read_shape(reader *r, safetensors_tensor *tensor) {
    if (json_peek(&r->json) != '[') {
        return json_fail(&r->json, SAFETENSORS_REASON_SHAPE_NOT_ARRAY, r->json.at);
    }
    json_open(&r->json);
    tensor->first_dim = r->met.dim_count;
    for (int first = 1; json_more(&r->json, ']', first); first = 0) {
        uint64_t dim;
        if (!json_unsigned(&r->json, &dim)) {
            return 0;
        }
        if (r->out.dims != NULL) {
            r->out.dims[r->met.dim_count] = dim;
        }
        r->met.dim_count++;
        tensor->rank++;
    }
    return r->json.reason == SAFETENSORS_REASON_NONE;
}

static int read_offsets(reader *r, safetensors_tensor *tensor) {
    uint64_t values[2] = {0, 0};
    uint32_t count = 0;
    json_peek(&r->json);
    uint64_t start = r->json.at;
    if (json_peek(&r->json) != '[') {
        return json_fail(&r->json, SAFETENSORS_REASON_OFFSETS_NOT_PAIR, start);
    }
    json_open(&r->json);
    for (; json_more(&r->json, ']', count == 0); count++) {
        if (count == 2) {
            return json_fail(&r->json, SAFETENSORS_REASON_OFFSETS_NOT_PAIR, start);
        }
        if (!json_unsigned(&r->json, &values[count])) {
            return 0;
        }
    }
    if (count < 2) {
        return json_fail(&r->json, SAFETENSORS_REASON_OFFSETS_NOT_PAIR, start);
    }
    tensor->begin = values[0];
    tensor->end = values[1];
    return r->json.reason == SAFETENSORS_REASON_NONE;
}

/* One "key": value of a record. `seen`: a bit for each field met before. */
static int read_field(reader *r, safetensors_tensor *tensor, uint32_t *seen) {
    static int (*const readers[FIELD_COUNT])(reader *, safetensors_tensor *) = {
        read_dtype, read_shape, read_offsets};
    if (!json_key(&r->json, &r->key)) {
        return 0;
    }
    for (uint32_t field = 0; field < FIELD_COUNT; field++) {
        if (json_is(r->json.text, r->key, field_names[field])) {
            if (*seen >> field & 1) {
                return json_fail(&r->json, SAFETENSORS_REASON_FIELD_TWICE, r->key.position);
            }
            *seen |= 1u << field;
            return readers[field](r, tensor);
        }
    }
    return json_skip(&r->json);
}

static int read_record(reader *r, safetensors_tensor *tensor) {
    static const uint32_t missing[FIELD_COUNT] = {SAFETENSORS_REASON_DTYPE_MISSING,
                                                  SAFETENSORS_REASON_SHAPE_MISSING,
                                                  SAFETENSORS_REASON_OFFSETS_MISSING};
    uint32_t seen = 0;
    if (json_peek(&r->json) != '{') {
        return json_fail(&r->json, SAFETENSORS_REASON_RECORD_NOT_OBJECT, r->json.at);
    }
    json_open(&r->json);
    for (int first = 1; json_more(&r->json, '}', first); first = 0) {
        if (!read_field(r, tensor, &seen)) {
            return 0;
        }
        r->key = (json_span){0, 0};
    }
    for (uint32_t field = 0; field < FIELD_COUNT; field++) {
        if (!(seen >> field & 1)) {
            return json_fail(&r->json, missing[field], r->json.at - 1);
        }
    }
    return r->json.reason == SAFETENSORS_REASON_NONE;
}

static int read_tensor(reader *r) {
    safetensors_tensor tensor = {0};
    tensor.source_position = r->name.position;
    tensor.source_bytes = r->name.bytes;
    keep_string(r, r->name, &tensor.name, &tensor.name_bytes);
    if (!read_record(r, &tensor)) {
        return 0;
    }
    if (r->out.tensors != NULL) {
        r->out.tensors[r->met.tensor_count] = tensor;
    }
    r->met.tensor_count++;
    return 1;
}

/* ---------------------------------------------------------------------------------------- the
 * whole header */

static int read_root(reader *r) {
    int metadata_seen = 0;
    if (json_peek(&r->json) != '{') {
        return json_fail(&r->json, SAFETENSORS_REASON_ROOT_NOT_OBJECT, r->json.at);
    }
    json_open(&r->json);
    for (int first = 1; json_more(&r->json, '}', first); first = 0) {
        if (!json_key(&r->json, &r->name)) {
            return 0;
        }
        int is_metadata = json_is(r->json.text, r->name, metadata_key);
        if (is_metadata && metadata_seen) {
            return json_fail(&r->json, SAFETENSORS_REASON_METADATA_TWICE, r->name.position);
        }
        metadata_seen |= is_metadata;
        if (is_metadata ? !read_metadata(r) : !read_tensor(r)) {
            return 0;
        }
        r->name = (json_span){0, 0};
    }
    json_peek(&r->json);
    if (r->json.reason == SAFETENSORS_REASON_NONE && r->json.at < r->json.count) {
        return json_fail(&r->json, SAFETENSORS_REASON_AFTER_OBJECT, r->json.at);
    }
    return r->json.reason == SAFETENSORS_REASON_NONE;
}

/* Walks over the header; *error says what is wrong with its text. */
static uint32_t walk(reader *r, safetensors_error *error) {
    if (read_root(r)) {
        return SAFETENSORS_OK;
    }
    *error = (safetensors_error){
        .position = SAFETENSORS_PREFIX_BYTES + r->json.wrong,
        .kind = SAFETENSORS_JSON,
        .reason = r->json.reason,
        .name_position = r->name.position,
        .name_bytes = r->name.bytes,
        .key_position = r->key.position,
        .key_bytes = r->key.bytes,
    };
    return error->kind;
}

uint32_t safetensors_measure(safetensors_summary *summary, safetensors_error *error,
                             const uint8_t *header, uint64_t header_bytes) {
    reader r = {.json = {.text = header, .count = header_bytes}};
    uint64_t valid = utf8_valid_bytes(header, header_bytes);
    if (valid < header_bytes) {
        *error = (safetensors_error){.position = SAFETENSORS_PREFIX_BYTES + valid,
                                     .kind = SAFETENSORS_UTF8,
                                     .reason = SAFETENSORS_REASON_NOT_UTF8};
        return error->kind;
    }
    uint32_t kind = walk(&r, error);
    if (kind == SAFETENSORS_OK) {
        *summary = r.met;
        summary->block_bytes = safetensors_place(NULL, summary).end;
    }
    return kind;
}

uint32_t safetensors_read(void *block, safetensors_error *error, const safetensors_summary *summary,
                          const uint8_t *header, uint64_t header_bytes, uint64_t file_bytes) {
    reader r = {.json = {.text = header, .count = header_bytes}};
    uint32_t kind = safetensors_check_header_bytes(error, header_bytes, file_bytes);
    if (kind != SAFETENSORS_OK) {
        return kind;
    }
    r.out = safetensors_place(block, summary);
    kind = walk(&r, error);
    if (kind != SAFETENSORS_OK) {
        return kind;
    }
    r.out.block->data_start = SAFETENSORS_PREFIX_BYTES + header_bytes;
    kind = safetensors_check_layout(error, &r.out);
    return kind == SAFETENSORS_OK ? safetensors_check_end(error, r.out.block, file_bytes) : kind;
}
