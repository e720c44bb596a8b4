/* What is said about a file around its tables: the first eight bytes, the words of errors, and what
 * bytes that are no safetensors file may be instead. */
#include "safetensors_impl.h"

#include <string.h>

uint32_t safetensors_check_header_bytes(safetensors_error *error, uint64_t header_bytes,
                                        uint64_t file_bytes) {
    if (header_bytes > SAFETENSORS_MAX_HEADER_BYTES) {
        *error = (safetensors_error){.kind = SAFETENSORS_TOO_LARGE,
                                     .reason = SAFETENSORS_REASON_HEADER_TOO_LONG,
                                     .expected = SAFETENSORS_MAX_HEADER_BYTES,
                                     .found = header_bytes};
        return error->kind;
    }
    if (SAFETENSORS_PREFIX_BYTES + header_bytes > file_bytes) {
        *error = (safetensors_error){.kind = SAFETENSORS_HEADER_LENGTH,
                                     .reason = SAFETENSORS_REASON_HEADER_PAST_END,
                                     .expected = SAFETENSORS_PREFIX_BYTES + header_bytes,
                                     .found = file_bytes};
        return error->kind;
    }
    return SAFETENSORS_OK;
}

uint32_t safetensors_prefix(uint64_t *header_bytes, safetensors_error *error, const uint8_t *bytes,
                            uint64_t byte_count, uint64_t file_bytes) {
    if (byte_count < SAFETENSORS_PREFIX_BYTES) {
        *error = (safetensors_error){.kind = SAFETENSORS_TOO_SMALL,
                                     .reason = SAFETENSORS_REASON_FILE_TOO_SHORT,
                                     .expected = SAFETENSORS_PREFIX_BYTES,
                                     .found = byte_count};
        return error->kind;
    }
    *header_bytes = 0;
    for (uint32_t i = 0; i < SAFETENSORS_PREFIX_BYTES; i++) {
        *header_bytes |= (uint64_t)bytes[i] << 8 * i;
    }
    return safetensors_check_header_bytes(error, *header_bytes, file_bytes);
}

/* ---------------------------------------------------------------------------------------- words */

const char *safetensors_kind_name(uint32_t kind) {
    static const char *const names[] = {
#define X(identifier, name) name,
        SAFETENSORS_KINDS(X)
#undef X
    };
    return kind < SAFETENSORS_KIND_COUNT ? names[kind] : "";
}

const char *safetensors_reason_words(uint32_t reason) {
    static const char *const words[] = {
#define X(identifier, text) text,
        SAFETENSORS_REASONS(X)
#undef X
    };
    return reason < SAFETENSORS_REASON_COUNT ? words[reason] : "";
}

const char *safetensors_look_words(uint32_t look) {
    static const char *const words[] = {
#define X(identifier, text) text,
        SAFETENSORS_LOOKS(X)
#undef X
    };
    return look < SAFETENSORS_LOOK_COUNT ? words[look] : "";
}

/* ---------------------------------------------------------------------------------------- what it
 * really is */

/* Whether text starts with `lower`, whatever the case of its letters. */
static int starts_with(const uint8_t *text, uint64_t count, const char *lower) {
    uint64_t length = strlen(lower);
    if (count < length) {
        return 0;
    }
    for (uint64_t i = 0; i < length; i++) {
        uint8_t byte = text[i];
        if ((byte >= 'A' && byte <= 'Z' ? byte + 32 : byte) != (uint8_t)lower[i]) {
            return 0;
        }
    }
    return 1;
}

static uint32_t sniff_binary(const uint8_t *bytes, uint64_t count) {
    static const struct {
        uint32_t look;
        uint32_t length;
        const char *bytes;
    } magics[] = {
        {SAFETENSORS_LOOK_GZIP, 3, "\x1F\x8B\x08"}, {SAFETENSORS_LOOK_ZSTD, 4, "\x28\xB5\x2F\xFD"},
        {SAFETENSORS_LOOK_GGUF, 4, "GGUF"},         {SAFETENSORS_LOOK_ZIP, 4, "PK\x03\x04"},
        {SAFETENSORS_LOOK_HDF5, 4, "\x89HDF"},      {SAFETENSORS_LOOK_NPY, 6, "\x93NUMPY"},
    };
    for (uint32_t i = 0; i < sizeof magics / sizeof *magics; i++) {
        if (count >= magics[i].length && memcmp(bytes, magics[i].bytes, magics[i].length) == 0) {
            return magics[i].look;
        }
    }
    /* A pickle of protocol 2 to 5; the third byte is never 0, which a short header's length has
     * there. */
    int pickle = count >= 3 && bytes[0] == 0x80 && bytes[1] >= 2 && bytes[1] <= 5 && bytes[2] != 0;
    return pickle ? SAFETENSORS_LOOK_PICKLE : SAFETENSORS_LOOK_UNKNOWN;
}

uint32_t safetensors_sniff(const uint8_t *bytes, uint64_t byte_count) {
    uint64_t at = starts_with(bytes, byte_count, "\xEF\xBB\xBF") ? 3 : 0;
    while (at < byte_count && bytes[at] != '\0' && strchr(" \t\r\n", bytes[at]) != NULL) {
        at++;
    }
    const uint8_t *text = bytes + at;
    uint64_t count = byte_count - at;
    if (starts_with(text, count, "version https://git-lfs")) {
        return SAFETENSORS_LOOK_LFS_POINTER;
    }
    if (starts_with(text, count, "<!doctype html") || starts_with(text, count, "<html")) {
        return SAFETENSORS_LOOK_HTML;
    }
    if (starts_with(text, count, "<?xml")) {
        return SAFETENSORS_LOOK_XML;
    }
    /* A header's length may have these bytes too, but then zeros follow. */
    if (count >= 2 && (*text == '{' || *text == '[') &&
        memchr(bytes, 0, byte_count < 8 ? (size_t)byte_count : 8) == NULL) {
        return SAFETENSORS_LOOK_JSON;
    }
    return sniff_binary(bytes, byte_count);
}
