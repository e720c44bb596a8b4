/* What the corpus cannot hold the safetensors reader to: where an error points and which numbers it gives, files whose
 * length is not known yet, headers at odd addresses, and half a million tensors. Verdicts on files are the corpus's. */
#include "layer.h"
#include "read_file.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    uint8_t *bytes; /* exactly `count` of them, so that a step outside is seen */
    uint64_t count;
} header_copy;

static header_copy copy_header(const char *text) {
    header_copy h = {.count = strlen(text)};
    h.bytes = need(h.count);
    memcpy(h.bytes, text, h.count);
    return h;
}

/* Measures and reads a header; the block is NULL after an error. */
static safetensors_block *read_header(const char *text, uint64_t file_bytes,
                                      safetensors_error *error) {
    header_copy h = copy_header(text);
    safetensors_summary summary;
    safetensors_block *block = NULL;
    *error = (safetensors_error){0};
    if (safetensors_measure(&summary, error, h.bytes, h.count) == SAFETENSORS_OK) {
        block = need(summary.block_bytes);
        if (safetensors_read(block, error, &summary, h.bytes, h.count, file_bytes) !=
            SAFETENSORS_OK) {
            free(block);
            block = NULL;
        }
    }
    free(h.bytes);
    return block;
}

/* ---------------------------------------------------------------------------------------- errors */

typedef struct {
    const char *header;
    const char *at;   /* text that begins at the wrong byte; "" is the header's end */
    const char *name; /* JSON strings, or "" */
    const char *key;
    uint32_t kind, reason;
    uint64_t expected, found;
} error_case;

#define KIND(k, r) SAFETENSORS_##k, SAFETENSORS_REASON_##r

static const error_case error_cases[] = {
    {" [1]", "[1]", "", "", KIND(JSON, ROOT_NOT_OBJECT), 0, 0},
    {"{!a\":5}", "!a", "", "", KIND(JSON, EXPECTED_KEY), 0, 0},
    {"{'a':5}", "'a'", "", "", KIND(JSON, EXPECTED_KEY), 0, 0},
    {"{\"a\":5}", "5}", "\"a\"", "", KIND(JSON, RECORD_NOT_OBJECT), 0, 0},
    {"{} x", "x", "", "", KIND(JSON, AFTER_OBJECT), 0, 0},
    {"{\"a\":{\"dtype\":\"f32\"}}", "\"f32\"", "\"a\"", "\"dtype\"", KIND(JSON, DTYPE_UNKNOWN), 0,
     0},
    {"{\"a\":{\"shape\":[1, 2.0]}}", "2.0", "\"a\"", "\"shape\"", KIND(JSON, NOT_UNSIGNED), 0, 0},
    {"{\"a\":{\"shape\":[true]}}", "true", "\"a\"", "\"shape\"", KIND(JSON, NOT_UNSIGNED), 0, 0},
    {"{\"a\":{\"data_offsets\": [0]}}", "[0]", "\"a\"", "\"data_offsets\"",
     KIND(JSON, OFFSETS_NOT_PAIR), 0, 0},
    {"{\"a\":{\"data_offsets\": 0}}", "0}", "\"a\"", "\"data_offsets\"",
     KIND(JSON, OFFSETS_NOT_PAIR), 0, 0},
    {"{\"a\":{\"shape\":[1e5]}}", "1e5", "\"a\"", "\"shape\"", KIND(JSON, NOT_UNSIGNED), 0, 0},
    {"{\"a\":{\"shape\":[18446744073709551616]}}", "184", "\"a\"", "\"shape\"",
     KIND(JSON, NOT_UNSIGNED), 0, 0},
    {"{\"\xE2\x82", "\xE2", "", "", KIND(UTF8, NOT_UTF8), 0, 0},
    {"{\"a\":{\"data_offsets\":[1,2,3]}}", "[1,2,3]", "\"a\"", "\"data_offsets\"",
     KIND(JSON, OFFSETS_NOT_PAIR), 0, 0},
    {"{\"a\":{\"x\":[1,]}}", "]}}", "\"a\"", "\"x\"", KIND(JSON, TRAILING_COMMA), 0, 0},
    {"{\"a\":{\"x\":NaN}}", "NaN", "\"a\"", "\"x\"", KIND(JSON, EXPECTED_VALUE), 0, 0},
    {"{\"a\":{\"x\":+1}}", "+1", "\"a\"", "\"x\"", KIND(JSON, EXPECTED_VALUE), 0, 0},
    {"{\"a\":{\"x\":[1 2]}}", "2]", "\"a\"", "\"x\"", KIND(JSON, EXPECTED_COMMA_OR_BRACKET), 0, 0},
    {"{\"a\":{\"x\":1 \"y\":2}}", "\"y\"", "\"a\"", "", KIND(JSON, EXPECTED_COMMA_OR_BRACE), 0, 0},
    {"{\"a\" {}}", "{}}", "\"a\"", "", KIND(JSON, EXPECTED_COLON), 0, 0},
    {"{a:{}}", "a:", "", "", KIND(JSON, EXPECTED_KEY), 0, 0},
    {"{\"a\":{\"x\":01}}", "1}}", "\"a\"", "\"x\"", KIND(JSON, BAD_NUMBER), 0, 0},
    {"{\"a\":{\"x\":1e999}}", "1e999", "\"a\"", "\"x\"", KIND(JSON, NUMBER_RANGE), 0, 0},
    {"{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\"}}", "\"dtype\":\"U8\"}", "\"a\"", "\"dtype\"",
     KIND(JSON, FIELD_TWICE), 0, 0},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[]}}", "}}", "\"a\"", "", KIND(JSON, OFFSETS_MISSING), 0,
     0},
    {"{\"__metadata__\":{\"k\":7}}", "7}", "\"__metadata__\"", "\"k\"",
     KIND(JSON, METADATA_NOT_STRING), 0, 0},
    {"{\"__metadata__\":[]}", "[]", "\"__metadata__\"", "", KIND(JSON, METADATA_NOT_OBJECT), 0, 0},
    {"{\"__metadata__\":{},\"__metadata__\":{}}", "\"__metadata__\":{}}", "\"__metadata__\"", "",
     KIND(JSON, METADATA_TWICE), 0, 0},
    {"{\"a\\q\":1}", "\\q", "", "", KIND(JSON, BAD_ESCAPE), 0, 0},
    {"{\"a\\u004@\":1}", "@\":1}", "", "", KIND(JSON, BAD_ESCAPE), 0, 0},
    {"{\"a\\ud800\":1}", "\":1}", "", "", KIND(JSON, LONE_SURROGATE), 0, 0},
    {"{\"a\n\":1}", "\n", "", "", KIND(JSON, CONTROL_CHARACTER), 0, 0},
    {"{\"a\":{\"x\":[1", "", "\"a\"", "\"x\"", KIND(JSON, END_OF_HEADER), 0, 0},
    {"{\"\xFF", "\xFF", "", "", KIND(UTF8, NOT_UTF8), 0, 0},
    {"{\"\xC3\xA9\":\"\xE2\x82\"}", "\xE2\x82", "", "", KIND(UTF8, NOT_UTF8), 0, 0},
    {"{\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[3,5]}}", "\"b\"", "\"b\"", "",
     KIND(OFFSET, BEGIN_WRONG), 0, 3},
    {"{\"b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
     "\"c\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}",
     "\"c\"", "\"c\"", "", KIND(OFFSET, BEGIN_WRONG), 1, 0},
    {"{\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
     "\"c\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[2,1]}}",
     "\"c\"", "\"c\"", "", KIND(OFFSET, END_BEFORE_BEGIN), 2, 1},
    {"{\"b\":{\"dtype\":\"BF16\",\"shape\":[3,5],\"data_offsets\":[0,60]}}", "\"b\"", "\"b\"", "",
     KIND(SIZE_MISMATCH, SIZE_WRONG), 30, 60},
    {"{\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
     "\"c\":{\"dtype\":\"I16\",\"shape\":[5],\"data_offsets\":[2,5]}}",
     "\"c\"", "\"c\"", "", KIND(SIZE_MISMATCH, SIZE_WRONG), 10, 3},
    {"{\"b\":{\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":[0,2]}}", "\"b\"", "\"b\"", "",
     KIND(MISALIGNED, PARTIAL_BYTE), 0, 12},
    {"{\"b\":{\"dtype\":\"U8\",\"shape\":[1,8589934592,4294967296],\"data_offsets\":[0,2]}}",
     "\"b\"", "\"b\"", "", KIND(OVERFLOW, SHAPE_OVERFLOW), 0, 2},
};

static uint64_t place_of(const char *header, const char *text) {
    return (uint64_t)(*text == '\0' ? strlen(header) : (size_t)(strstr(header, text) - header));
}

static int is_span(const char *header, uint32_t position, uint32_t bytes, const char *text) {
    return bytes == strlen(text) && (bytes == 0 || memcmp(header + position, text, bytes) == 0);
}

static void test_errors(void) {
    for (size_t i = 0; i < sizeof error_cases / sizeof *error_cases; i++) {
        const error_case *c = &error_cases[i];
        safetensors_error e;
        safetensors_block *block = read_header(c->header, SAFETENSORS_UNKNOWN, &e);
        check(block == NULL && e.kind == c->kind && e.reason == c->reason &&
                  e.position == 8 + place_of(c->header, c->at) &&
                  is_span(c->header, e.name_position, e.name_bytes, c->name) &&
                  is_span(c->header, e.key_position, e.key_bytes, c->key) &&
                  e.expected == c->expected && e.found == c->found,
              "%s is refused at '%s': %s, byte %d", c->header, c->at,
              safetensors_reason_words(e.reason), (int)e.position);
        free(block);
    }
}

/* Every kind of text that a header may hold, ended after each of its bytes, in memory that ends there too. */
static void test_cut_short(void) {
    const char *whole = "{\"__metadata__\":{\"k\\n\":\"\\ud83d\\ude00\\u0041\"},"
                        "\"a\":{\"x\":[true,false,null,-12.5e+30,0.25E-7,10,{\"y\":[[]]}],"
                        "\"dtype\":\"U8\",\"shape\":[ 1 , 20 ],\"data_offsets\":[0,20]}} ";
    safetensors_error e;
    safetensors_block *block = read_header(whole, SAFETENSORS_UNKNOWN, &e);
    check(block != NULL, "the whole header is taken");
    free(block);
    char cut[256];
    int refused = 1;
    for (size_t length = 0; length + 1 < strlen(whole); length++) {
        memcpy(cut, whole, length);
        cut[length] = '\0';
        block = read_header(cut, SAFETENSORS_UNKNOWN, &e);
        refused = refused && block == NULL && e.kind == SAFETENSORS_JSON;
        free(block);
    }
    check(refused, "a header that ends before its last brace is refused wherever that is");
}

static void test_twins(void) {
    safetensors_error e;
    const char *header = "{\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},"
                         "\"\\u0061\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}";
    free(read_header(header, SAFETENSORS_UNKNOWN, &e));
    uint64_t second = 8 + place_of(header, "\"\\u0061\"");
    check(e.kind == SAFETENSORS_DUPLICATE && e.expected == 9 && e.found == second &&
              e.position == second && is_span(header, e.name_position, e.name_bytes, "\"\\u0061\""),
          "a tensor's name given twice: both places are told");
    const char *pairs = "{\"__metadata__\":{\"k\":\"v\",\"l\":\"v\",\"k\":\"w\"}}";
    free(read_header(pairs, SAFETENSORS_UNKNOWN, &e));
    second = 8 + place_of(pairs, "\"k\":\"w\"");
    check(e.kind == SAFETENSORS_DUPLICATE && e.reason == SAFETENSORS_REASON_METADATA_KEY_TWICE &&
              e.expected == 8 + place_of(pairs, "\"k\":\"v\"") && e.found == second &&
              is_span(pairs, e.key_position, e.key_bytes, "\"k\""),
          "a metadata key given twice: both places are told");
}

/* ---------------------------------------------------------------------------------------- lengths */

static uint32_t prefix_kind(uint64_t claimed, uint64_t file_bytes, uint64_t *header_bytes,
                            safetensors_error *e) {
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(claimed >> 8 * i);
    }
    return safetensors_prefix(header_bytes, e, bytes, 8, file_bytes);
}

static void test_prefix(void) {
    safetensors_error e;
    uint64_t n = 1;
    check(prefix_kind(100000000, SAFETENSORS_UNKNOWN, &n, &e) == SAFETENSORS_OK && n == 100000000,
          "a header at the cap is taken while the file's length is not known");
    check(prefix_kind(100000001, SAFETENSORS_UNKNOWN, &n, &e) == SAFETENSORS_TOO_LARGE &&
              e.expected == 100000000 && e.found == 100000001,
          "a header past the cap is refused with both numbers");
    check(prefix_kind(UINT64_MAX, 100, &n, &e) == SAFETENSORS_TOO_LARGE,
          "the largest length is over the cap, not wrapped");
    check(prefix_kind(93, 100, &n, &e) == SAFETENSORS_HEADER_LENGTH && e.expected == 101 &&
              e.found == 100,
          "a header past the end is refused with both lengths");
    check(prefix_kind(92, 100, &n, &e) == SAFETENSORS_OK && n == 92,
          "a header to the end is taken");
    check(safetensors_prefix(&n, &e, (const uint8_t *)"1234567", 7, 7) == SAFETENSORS_TOO_SMALL &&
              e.expected == 8 && e.found == 7,
          "seven bytes are too few");
}

static void test_end(void) {
    const char *header = "{\"a\":{\"dtype\":\"U8\",\"shape\":[9007199254740993],"
                         "\"data_offsets\":[0,9007199254740993]}}";
    safetensors_error e;
    safetensors_block *block = read_header(header, SAFETENSORS_UNKNOWN, &e);
    check(block != NULL && block->data_bytes == 9007199254740993 &&
              block->data_start == 8 + strlen(header),
          "a tensor past 2^53 bytes keeps every bit of its size");
    if (block == NULL) {
        return;
    }
    uint64_t right = block->data_start + block->data_bytes;
    check(safetensors_check_end(&e, block, right) == SAFETENSORS_OK &&
              safetensors_check_end(&e, block, SAFETENSORS_UNKNOWN) == SAFETENSORS_OK,
          "the right length is right, an unknown one is not judged");
    check(safetensors_check_end(&e, block, right - 1) == SAFETENSORS_INCOMPLETE &&
              e.reason == SAFETENSORS_REASON_FILE_SHORT && e.expected == right &&
              e.found == right - 1 && e.position == right - 1,
          "a byte too few");
    check(safetensors_check_end(&e, block, right + 1) == SAFETENSORS_INCOMPLETE &&
              e.reason == SAFETENSORS_REASON_FILE_LONG && e.expected == right &&
              e.position == right,
          "a byte too many");
    check(safetensors_check_end(&e, block, 4) == SAFETENSORS_INCOMPLETE, "less than the header");
    free(block);
    block = read_header(header, right, &e);
    check(block != NULL, "the same with the length known from the start");
    free(block);
    check(read_header(header, 40, &e) == NULL && e.kind == SAFETENSORS_HEADER_LENGTH,
          "a header longer than the file is refused by safetensors_read too");
}

static void test_end_without_data(void) {
    safetensors_error e;
    safetensors_block *block = read_header("{}", SAFETENSORS_UNKNOWN, &e);
    check(block != NULL && safetensors_check_end(&e, block, 10) == SAFETENSORS_OK &&
              safetensors_check_end(&e, block, 9) == SAFETENSORS_INCOMPLETE,
          "a file without data that ends within its header");
    free(block);
}

static uint32_t look_of(const char *bytes, uint64_t count) {
    return safetensors_sniff((const uint8_t *)bytes, count);
}

static void test_looks(void) {
    check(look_of("\x80\x02}q\x00.", 6) == SAFETENSORS_LOOK_PICKLE, "a pickle");
    check(look_of("a\x02}q\x00.", 6) == SAFETENSORS_LOOK_UNKNOWN, "no pickle without its mark");
    check(look_of(" \n<html>", 8) == SAFETENSORS_LOOK_HTML, "a page after white space");
    check(look_of("\0\0<html>", 8) == SAFETENSORS_LOOK_UNKNOWN, "zeros are no white space");
}

static void test_changed(void) {
    header_copy h = copy_header("{\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}");
    safetensors_error e = {0};
    safetensors_summary summary;
    check(safetensors_measure(&summary, &e, h.bytes, h.count) == SAFETENSORS_OK, "measured");
    void *block = need(summary.block_bytes);
    h.bytes[h.count - 1] = ' ';
    check(safetensors_read(block, &e, &summary, h.bytes, h.count, SAFETENSORS_UNKNOWN) ==
              SAFETENSORS_JSON,
          "a header cut short after it was measured is still refused");
    free(block);
    free(h.bytes);
}

/* ---------------------------------------------------------------------------------------- tables */

static void test_tables(void) {
    const char *header = "{\"b\":{\"dtype\":\"BF16\",\"shape\":[2,3],\"data_offsets\":[1,13]},"
                         "\"__metadata__\":{\"\\u00e9\":\"x\"},"
                         "\"a\":{\"shape\":[],\"data_offsets\":[0,1],\"dtype\":\"U8\"}}";
    safetensors_error e;
    safetensors_block *block = read_header(header, 8 + strlen(header) + 13, &e);
    check(block != NULL && block->tensor_count == 2 && block->pair_count == 1, "two and one");
    if (block == NULL) {
        return;
    }
    const safetensors_tensor *t = table_at(block, block->tensors);
    const uint32_t *order = table_at(block, block->file_order);
    const uint64_t *dims = table_at(block, block->dims);
    const safetensors_pair *pair = table_at(block, block->pairs);
    const char *pool = table_at(block, block->pool);
    check(block->pool_bytes == 5 && memcmp(pool, "b\xC3\xA9xa", 5) == 0, "the pool is decoded");
    check(t[0].dtype == DTYPE_BF16 && t[0].rank == 2 && dims[t[0].first_dim] == 2 &&
              dims[t[0].first_dim + 1] == 3 && t[0].begin == 1 && t[0].end == 13,
          "tensors are in the header's order");
    check(t[1].dtype == DTYPE_U8 && t[1].rank == 0 && pool[t[1].name] == 'a', "a scalar");
    check(order[0] == 1 && order[1] == 0, "file_order is the file's");
    check(pair->key_bytes == 2 && pool[pair->value] == 'x', "metadata");
    free(block);
}

#define MANY 500000u

/* Tensors of a byte each, the last first, under names that share a long beginning; `twin`: the last has the first's. */
static char *many_tensors(int twin) {
    char *header = need(MANY * 128ull);
    char *to = header;
    for (uint32_t i = 0; i < MANY; i++) {
        uint32_t at = MANY - 1 - i;
        to += sprintf(to,
                      "%c\"model.language_model.layers.%07u.weight\":"
                      "{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[%u,%u]}",
                      i == 0 ? '{' : ',', twin && i == MANY - 1 ? MANY - 1 : at, at, at + 1);
    }
    strcpy(to, "}");
    return header;
}

static void test_many(void) {
    safetensors_error e;
    char *header = many_tensors(0);
    safetensors_block *block = read_header(header, 8 + strlen(header) + MANY, &e);
    const uint32_t *order = block == NULL ? NULL : table_at(block, block->file_order);
    check(block != NULL && block->tensor_count == MANY && order[0] == MANY - 1 &&
              order[MANY - 1] == 0,
          "half a million tensors in the reverse order");
    free(block);
    free(header);
    header = many_tensors(1);
    block = read_header(header, SAFETENSORS_UNKNOWN, &e);
    check(block == NULL && e.kind == SAFETENSORS_DUPLICATE && e.expected == 9,
          "the last of half a million has the first one's name");
    free(block);
    free(header);
}

static void test_words(void) {
    int named = 1;
    for (uint32_t kind = 0; kind < SAFETENSORS_KIND_COUNT; kind++) {
        named = named && *safetensors_kind_name(kind) != '\0';
    }
    for (uint32_t reason = 1; reason < SAFETENSORS_REASON_COUNT; reason++) {
        named = named && *safetensors_reason_words(reason) != '\0';
    }
    for (uint32_t look = 1; look < SAFETENSORS_LOOK_COUNT; look++) {
        named = named && *safetensors_look_words(look) != '\0';
    }
    check(named, "every kind, reason and look has words");
    check(*safetensors_kind_name(SAFETENSORS_KIND_COUNT) == '\0' &&
              *safetensors_reason_words(SAFETENSORS_REASON_COUNT) == '\0' &&
              *safetensors_look_words(SAFETENSORS_LOOK_COUNT) == '\0',
          "a code outside its table has none");
}

int main(void) {
    test_errors();
    test_cut_short();
    test_twins();
    test_prefix();
    test_end();
    test_end_without_data();
    test_looks();
    test_changed();
    test_tables();
    test_many();
    test_words();
    return report();
}
