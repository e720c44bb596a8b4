/* Strings: checked where they stand, and decoded only when somebody wants their bytes. */
#include "json.h"

#include <string.h>

/* Length of the well-formed sequence that starts a lead byte >= 0x80, or 0. Table 3-7 of the
 * Unicode standard: the second byte's range excludes overlongs, surrogates and what lies past
 * U+10FFFF. */
static uint64_t sequence_bytes(const uint8_t *text, uint64_t count) {
    uint8_t lead = text[0];
    uint64_t length = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
    if (length == 0 || length > count) {
        return 0;
    }
    uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (text[1] < low || text[1] > high) {
        return 0;
    }
    for (uint64_t i = 2; i < length; i++) {
        if ((text[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    return length;
}

uint64_t utf8_valid_bytes(const uint8_t *text, uint64_t count) {
    uint64_t at = 0;
    while (at < count) {
        uint64_t eight;
        if (count - at >= sizeof eight) {
            memcpy(&eight, text + at, sizeof eight);
            if ((eight & 0x8080808080808080u) == 0) {
                at += sizeof eight;
                continue;
            }
        }
        uint64_t length = text[at] < 0x80 ? 1 : sequence_bytes(text + at, count - at);
        if (length == 0) {
            return at;
        }
        at += length;
    }
    return at;
}

static int32_t hex_digit(uint8_t byte) {
    return byte >= '0' && byte <= '9'   ? byte - '0'
           : byte >= 'a' && byte <= 'f' ? byte - 'a' + 10
           : byte >= 'A' && byte <= 'F' ? byte - 'A' + 10
                                        : -1;
}

/* Four hexadecimal digits, which are known to be ones. */
static uint32_t code_unit(const uint8_t *digits) {
    uint32_t unit = 0;
    for (int i = 0; i < 4; i++) {
        unit = unit << 4 | (uint32_t)hex_digit(digits[i]);
    }
    return unit;
}

/* Takes "\uXXXX" up to its digits' end. */
static int take_code_unit(json_cursor *c, uint32_t *unit) {
    if (c->at >= c->count || c->text[c->at] != '\\') {
        return json_fail(c, SAFETENSORS_REASON_LONE_SURROGATE, c->at);
    }
    c->at++;
    if (c->at >= c->count || c->text[c->at] != 'u') {
        return json_fail(c, SAFETENSORS_REASON_LONE_SURROGATE, c->at);
    }
    c->at++;
    for (int i = 0; i < 4; i++, c->at++) {
        if (c->at >= c->count || hex_digit(c->text[c->at]) < 0) {
            return json_fail(c, SAFETENSORS_REASON_BAD_ESCAPE, c->at);
        }
    }
    *unit = code_unit(c->text + c->at - 4);
    return 1;
}

static int is_high_surrogate(uint32_t unit) {
    return unit >= 0xD800 && unit < 0xDC00;
}

static int is_low_surrogate(uint32_t unit) {
    return unit >= 0xDC00 && unit < 0xE000;
}

/* Takes the escape whose backslash is under the cursor. */
static int take_escape(json_cursor *c) {
    uint64_t start = c->at;
    uint32_t unit;
    if (c->at + 1 >= c->count) {
        return json_fail(c, SAFETENSORS_REASON_BAD_ESCAPE, c->count);
    }
    uint8_t kind = c->text[c->at + 1];
    if (kind != 'u') {
        if (kind == '\0' || strchr("\"\\/bfnrt", kind) == NULL) {
            return json_fail(c, SAFETENSORS_REASON_BAD_ESCAPE, start);
        }
        c->at += 2;
        return 1;
    }
    if (!take_code_unit(c, &unit)) {
        return 0;
    }
    if (is_high_surrogate(unit)) {
        if (!take_code_unit(c, &unit)) {
            return 0;
        }
        return is_low_surrogate(unit) || json_fail(c, SAFETENSORS_REASON_LONE_SURROGATE, start);
    }
    return !is_low_surrogate(unit) || json_fail(c, SAFETENSORS_REASON_LONE_SURROGATE, start);
}

int json_string(json_cursor *c, json_span *string) {
    uint64_t start = c->at++;
    while (c->at < c->count) {
        uint8_t byte = c->text[c->at];
        if (byte == '"') {
            c->at++;
            *string = (json_span){(uint32_t)start, (uint32_t)(c->at - start)};
            return 1;
        }
        if (byte < 0x20) {
            return json_fail(c, SAFETENSORS_REASON_CONTROL_CHARACTER, c->at);
        }
        if (byte != '\\') {
            c->at++;
        } else if (!take_escape(c)) {
            return 0;
        }
    }
    return json_fail(c, SAFETENSORS_REASON_END_OF_HEADER, c->at);
}

static uint32_t encode_utf8(uint8_t out[4], uint32_t code) {
    if (code < 0x80) {
        out[0] = (uint8_t)code;
        return 1;
    }
    uint32_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const uint8_t lead_bits[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (uint32_t i = length - 1; i > 0; i--, code >>= 6) {
        out[i] = (uint8_t)(0x80 | (code & 0x3F));
    }
    out[0] = (uint8_t)(lead_bits[length] | code);
    return length;
}

/* The character an escape stands for; *taken: bytes of the escape. */
static uint32_t escaped_code(const uint8_t *escape, uint32_t *taken) {
    static const char letters[] = "bfnrt";
    static const char values[] = "\b\f\n\r\t";
    *taken = 2;
    if (escape[1] != 'u') {
        const char *letter = strchr(letters, escape[1]);
        return letter == NULL ? escape[1] : (uint32_t)values[letter - letters];
    }
    *taken = 6;
    uint32_t unit = code_unit(escape + 2);
    if (!is_high_surrogate(unit)) {
        return unit;
    }
    *taken = 12;
    return 0x10000 + ((unit - 0xD800) << 10) + (code_unit(escape + 8) - 0xDC00);
}

uint32_t json_decode(uint8_t *out, uint32_t capacity, const uint8_t *text, json_span string) {
    const uint8_t *from = text + string.position + 1;
    const uint8_t *end = text + string.position + string.bytes - 1;
    uint32_t length = 0;
    while (from < end) {
        uint8_t encoded[4] = {*from};
        uint32_t taken = 1;
        uint32_t bytes = *from == '\\' ? encode_utf8(encoded, escaped_code(from, &taken)) : 1;
        for (uint32_t i = 0; i < bytes && length + i < capacity; i++) {
            out[length + i] = encoded[i];
        }
        from += taken;
        length += bytes;
    }
    return length;
}

int json_is(const uint8_t *text, json_span string, const char *ascii) {
    uint8_t decoded[16];
    uint32_t length = json_decode(decoded, sizeof decoded, text, string);
    return length == strlen(ascii) && length <= sizeof decoded &&
           memcmp(decoded, ascii, length) == 0;
}
