/* The header of a safetensors file, read with the verdict of the reference parser (PyPI `safetensors`).
 *
 * Three calls, none of which allocates. The caller has the file's first bytes:
 *
 *     safetensors_prefix    8 bytes               -> how long the header is
 *     safetensors_measure   the header's bytes    -> how large a block the tables need
 *     safetensors_read      the header, a block   -> the tables, every rule checked
 *
 * Each returns enum safetensors_kind: SAFETENSORS_OK, or the kind of error with *error filled in. The reference's
 * verdict is departed from on purpose in three places: a name given twice is refused (kind duplicate), and so are two
 * accidents of the reference's deserializer, a record written as an array and a dtype written as an object (kind json).
 *
 * Everything that leaves here can be read from memory by field offset: fixed-width fields, the wide ones first, no
 * pointers. Offsets below are bytes; little-endian. Header positions fit 32 bits because a header is at most 100 MB;
 * every size and offset of tensor data is 64 bits wide.
 */
#ifndef SAFETENSORS_H
#define SAFETENSORS_H

#include "dtype.h"

#include <stdint.h>

#define SAFETENSORS_PREFIX_BYTES     8u
#define SAFETENSORS_MAX_HEADER_BYTES 100000000u /* the reference's cap, itself accepted */
#define SAFETENSORS_UNKNOWN          UINT64_MAX /* a file's length, where it is not known yet */

/* X(identifier, name): the name is what a caller sees as an error's `kind`. */
#define SAFETENSORS_KINDS(X)                                                                       \
    X(OK, "ok")                                                                                    \
    X(TOO_SMALL, "too-small")         /* fewer than 8 bytes */                                     \
    X(TOO_LARGE, "too-large")         /* the header is longer than the cap */                      \
    X(HEADER_LENGTH, "header-length") /* the header reaches past the end of the file */            \
    X(UTF8, "utf8")                   /* the header is not UTF-8 */                                \
    X(JSON, "json")                   /* not JSON, or not the JSON of a header */                  \
    X(DUPLICATE, "duplicate")         /* a tensor name or metadata key given twice */              \
    X(OFFSET, "offset")               /* a tensor does not begin where the one before it ends */   \
    X(OVERFLOW, "overflow")           /* the shape's size in bits passes 64 bits */                \
    X(MISALIGNED, "misaligned")       /* a sub-byte dtype's size is not whole bytes */             \
    X(SIZE_MISMATCH, "size-mismatch") /* shape and dtype disagree with data_offsets */             \
    X(INCOMPLETE, "incomplete")       /* the last tensor does not end at the end of the file */

/* X(identifier, words): what was wrong, in words that follow "byte N: " or the kind. */
#define SAFETENSORS_REASONS(X)                                                                     \
    X(NONE, "")                                                                                    \
    X(FILE_TOO_SHORT, "a safetensors file has at least 8 bytes")                                   \
    X(HEADER_TOO_LONG, "the header is longer than 100000000 bytes")                                \
    X(HEADER_PAST_END, "the header reaches past the end of the file")                              \
    X(NOT_UTF8, "not UTF-8")                                                                       \
    X(END_OF_HEADER, "the header ends inside its JSON")                                            \
    X(AFTER_OBJECT, "only white space may follow the header's object")                             \
    X(ROOT_NOT_OBJECT, "the header must be one JSON object")                                       \
    X(EXPECTED_VALUE, "expected a JSON value")                                                     \
    X(EXPECTED_KEY, "expected a key in double quotes")                                             \
    X(EXPECTED_COLON, "expected ':'")                                                              \
    X(EXPECTED_COMMA_OR_BRACE, "expected ',' or '}'")                                              \
    X(EXPECTED_COMMA_OR_BRACKET, "expected ',' or ']'")                                            \
    X(TRAILING_COMMA, "a comma must be followed by another entry")                                 \
    X(CONTROL_CHARACTER, "a control character in a string must be escaped")                        \
    X(BAD_ESCAPE, "not an escape that JSON has")                                                   \
    X(LONE_SURROGATE, "half of a surrogate pair")                                                  \
    X(BAD_NUMBER, "not a JSON number")                                                             \
    X(NUMBER_RANGE, "a number outside the range of float64")                                       \
    X(TOO_DEEP, "nested deeper than 127 levels")                                                   \
    X(METADATA_TWICE, "__metadata__ is given twice")                                               \
    X(METADATA_NOT_OBJECT, "__metadata__ must be an object of strings, or null")                   \
    X(METADATA_NOT_STRING, "a value in __metadata__ must be a string")                             \
    X(RECORD_NOT_OBJECT, "a tensor must be an object with dtype, shape and data_offsets")          \
    X(FIELD_TWICE, "this key is given twice for one tensor")                                       \
    X(DTYPE_MISSING, "dtype is missing")                                                           \
    X(SHAPE_MISSING, "shape is missing")                                                           \
    X(OFFSETS_MISSING, "data_offsets is missing")                                                  \
    X(DTYPE_NOT_STRING, "dtype must be a string")                                                  \
    X(DTYPE_UNKNOWN, "not a dtype of the format (names are case-sensitive)")                       \
    X(SHAPE_NOT_ARRAY, "shape must be an array of unsigned integers")                              \
    X(OFFSETS_NOT_PAIR, "data_offsets must be an array of exactly two unsigned integers")          \
    X(NOT_UNSIGNED, "expected an unsigned decimal integer below 2^64")                             \
    X(TENSOR_TWICE, "two tensors have this name")                                                  \
    X(METADATA_KEY_TWICE, "__metadata__ has this key twice")                                       \
    X(BEGIN_WRONG, "must begin where the tensor before it ends")                                   \
    X(END_BEFORE_BEGIN, "ends before it begins")                                                   \
    X(SHAPE_OVERFLOW, "its size in bits passes 2^64")                                              \
    X(PARTIAL_BYTE, "its size in bits is not a whole number of bytes")                             \
    X(SIZE_WRONG, "its shape and dtype need another number of bytes than data_offsets give")       \
    X(FILE_SHORT, "the file ends before the last tensor does")                                     \
    X(FILE_LONG, "the file goes on after the last tensor")

/* X(identifier, words): what bytes that are no safetensors file may be. */
#define SAFETENSORS_LOOKS(X)                                                                       \
    X(UNKNOWN, "")                                                                                 \
    X(LFS_POINTER, "a Git LFS pointer, not the file it points to")                                 \
    X(HTML, "an HTML page")                                                                        \
    X(XML, "an XML document")                                                                      \
    X(JSON, "a JSON document")                                                                     \
    X(GZIP, "gzip-compressed data")                                                                \
    X(ZSTD, "Zstandard-compressed data")                                                           \
    X(GGUF, "a GGUF file")                                                                         \
    X(ZIP, "a ZIP archive, as PyTorch's pytorch_model.bin and .pt files are")                      \
    X(PICKLE, "a Python pickle, as old PyTorch files are")                                         \
    X(HDF5, "an HDF5 file, as Keras .h5 files are")                                                \
    X(NPY, "a NumPy .npy file")

enum safetensors_kind {
#define X(identifier, name) SAFETENSORS_##identifier,
    SAFETENSORS_KINDS(X)
#undef X
        SAFETENSORS_KIND_COUNT
};

enum safetensors_reason {
#define X(identifier, words) SAFETENSORS_REASON_##identifier,
    SAFETENSORS_REASONS(X)
#undef X
        SAFETENSORS_REASON_COUNT
};

enum safetensors_look {
#define X(identifier, words) SAFETENSORS_LOOK_##identifier,
    SAFETENSORS_LOOKS(X)
#undef X
        SAFETENSORS_LOOK_COUNT
};

/* The words of the three tables above, NUL-terminated; "" for a code outside its table. */
const char *safetensors_kind_name(uint32_t kind);
const char *safetensors_reason_words(uint32_t reason);
const char *safetensors_look_words(uint32_t look);

/* 48 bytes. A name is given as the place in the header (prefix not included) of its JSON string with its quotes, so that
 * JSON.parse gives the name, and 0 bytes where there is none. What `expected` and `found` count depends on the reason:
 *
 *     FILE_TOO_SHORT, HEADER_TOO_LONG, HEADER_PAST_END   bytes needed or allowed; bytes there are or were claimed
 *     TENSOR_TWICE, METADATA_KEY_TWICE                   the file position of the first of the two; of the second
 *     BEGIN_WRONG                                        the right begin; the begin that was given
 *     END_BEFORE_BEGIN                                   begin; end
 *     SHAPE_OVERFLOW                                     -; the dimension's index at which the product passed 64 bits
 *     PARTIAL_BYTE                                       -; bits
 *     SIZE_WRONG                                         bytes that shape and dtype need; end - begin
 *     FILE_SHORT, FILE_LONG                              the file's length by its header; the length it has
 */
typedef struct {
    uint64_t expected;      /*  0 */
    uint64_t found;         /*  8 */
    uint64_t position;      /* 16  byte of the file, prefix included, that is wrong */
    uint32_t kind;          /* 24  enum safetensors_kind */
    uint32_t reason;        /* 28  enum safetensors_reason */
    uint32_t name_position; /* 32  the tensor, or "__metadata__": byte of the header */
    uint32_t name_bytes;    /* 36 */
    uint32_t key_position;  /* 40  the key inside it ("shape", a metadata key), likewise */
    uint32_t key_bytes;     /* 44 */
} safetensors_error;

/* 24 bytes: what safetensors_measure found. */
typedef struct {
    uint64_t block_bytes;  /*  0  size of the block that safetensors_read needs, in bytes */
    uint32_t tensor_count; /*  8 */
    uint32_t pair_count;   /* 12  entries of __metadata__ */
    uint32_t dim_count;    /* 16  ranks added up */
    uint32_t pool_bytes;   /* 20  all names, keys and values, decoded */
} safetensors_summary;

/* 48 bytes, at the start of the block; the offsets of tables are from the start of the block. */
typedef struct {
    uint64_t data_start; /*  0  where tensor data begins in the file: 8 + the header's bytes */
    uint64_t data_bytes; /*  8  where the last tensor ends, from data_start; the file ends there */
    uint32_t tensor_count; /* 16 */
    uint32_t pair_count;   /* 20 */
    uint32_t tensors;      /* 24  safetensors_tensor [tensor_count], in the header's order */
    uint32_t file_order;   /* 28  uint32_t [tensor_count]: into tensors, by (begin, end) */
    uint32_t dims;         /* 32  uint64_t [dim_count] */
    uint32_t pairs;        /* 36  safetensors_pair [pair_count], in the header's order */
    uint32_t pool;         /* 40  UTF-8 bytes, string after string with nothing between */
    uint32_t pool_bytes;   /* 44 */
} safetensors_block;

/* 48 bytes */
typedef struct {
    uint64_t begin;           /*  0  from data_start */
    uint64_t end;             /*  8 */
    uint32_t name;            /* 16  offset in the pool */
    uint32_t name_bytes;      /* 20 */
    uint32_t dtype;           /* 24  enum dtype */
    uint32_t rank;            /* 28 */
    uint32_t first_dim;       /* 32  index into dims */
    uint32_t source_position; /* 36  the name's JSON string in the header */
    uint32_t source_bytes;    /* 40 */
    uint32_t reserved;        /* 44  0 */
} safetensors_tensor;

/* 24 bytes */
typedef struct {
    uint32_t key; /*  0  offset in the pool */
    uint32_t key_bytes;
    uint32_t value; /*  8  offset in the pool */
    uint32_t value_bytes;
    uint32_t source_position; /* 16  the key's JSON string in the header */
    uint32_t source_bytes;
} safetensors_pair;

_Static_assert(sizeof(safetensors_error) == 48 && sizeof(safetensors_summary) == 24 &&
                   sizeof(safetensors_block) == 48 && sizeof(safetensors_tensor) == 48 &&
                   sizeof(safetensors_pair) == 24,
               "read by field offset outside C");

/* How long the header is, from the file's first bytes. Kinds: too-small, too-large, header-length.
 * bytes may be fewer than 8 only if they are the whole file; *header_bytes is set if they are not. file_bytes may be
 * SAFETENSORS_UNKNOWN: then only the cap is checked, and safetensors_read or safetensors_check_end checks the rest once
 * the length is known. */
uint32_t safetensors_prefix(uint64_t *header_bytes, safetensors_error *error, const uint8_t *bytes,
                            uint64_t byte_count, uint64_t file_bytes);

/* The header's text checked but for what needs the tables, and what the tables will hold counted.
 * header_bytes is at most SAFETENSORS_MAX_HEADER_BYTES. Kinds: utf8, json. */
uint32_t safetensors_measure(safetensors_summary *summary, safetensors_error *error,
                             const uint8_t *header, uint64_t header_bytes);

/* Fills the block: a safetensors_block and its tables. block: summary->block_bytes bytes, aligned to 8.
 * header must be the bytes that were measured. Kinds: all. After an error the block holds nothing of use. */
uint32_t safetensors_read(void *block, safetensors_error *error, const safetensors_summary *summary,
                          const uint8_t *header, uint64_t header_bytes, uint64_t file_bytes);

/* The last check, for a file whose length was not known when its header was read. Kinds: incomplete. */
uint32_t safetensors_check_end(safetensors_error *error, const safetensors_block *block,
                               uint64_t file_bytes);

/* What the first bytes of something that was refused really are (enum safetensors_look); 64 bytes are enough. */
uint32_t safetensors_sniff(const uint8_t *bytes, uint64_t byte_count);

#endif
