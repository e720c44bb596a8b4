/* The walk over containers and the values nobody wants; strings are in json_string.c, numbers in
 * json_number.c. */
#include "json.h"

int json_fail(json_cursor *c, uint32_t reason, uint64_t position) {
    if (c->reason == SAFETENSORS_REASON_NONE) {
        c->reason = position >= c->count ? SAFETENSORS_REASON_END_OF_HEADER : reason;
        c->wrong = position;
    }
    return 0;
}

uint8_t json_peek(json_cursor *c) {
    while (c->at < c->count) {
        uint8_t byte = c->text[c->at];
        if (byte != ' ' && byte != '\n' && byte != '\r' && byte != '\t') {
            return byte;
        }
        c->at++;
    }
    return 0;
}

int json_open(json_cursor *c) {
    if (c->depth + 1 == JSON_DEPTH_LIMIT) {
        return json_fail(c, SAFETENSORS_REASON_TOO_DEEP, c->at);
    }
    c->depth++;
    c->at++;
    return 1;
}

int json_more(json_cursor *c, uint8_t close, int first) {
    uint8_t byte = json_peek(c);
    if (byte == close) {
        c->depth--;
        c->at++;
        return 0;
    }
    if (first) {
        return 1;
    }
    if (byte != ',') {
        return json_fail(c,
                         close == '}' ? SAFETENSORS_REASON_EXPECTED_COMMA_OR_BRACE
                                      : SAFETENSORS_REASON_EXPECTED_COMMA_OR_BRACKET,
                         c->at);
    }
    c->at++;
    if (json_peek(c) == close) {
        return json_fail(c, SAFETENSORS_REASON_TRAILING_COMMA, c->at);
    }
    return 1;
}

int json_key(json_cursor *c, json_span *key) {
    if (json_peek(c) != '"') {
        return json_fail(c, SAFETENSORS_REASON_EXPECTED_KEY, c->at);
    }
    if (!json_string(c, key)) {
        return 0;
    }
    if (json_peek(c) != ':') {
        return json_fail(c, SAFETENSORS_REASON_EXPECTED_COLON, c->at);
    }
    c->at++;
    return 1;
}

static int take_word(json_cursor *c, const char *word) {
    for (; *word != '\0'; word++, c->at++) {
        if (c->at == c->count || c->text[c->at] != (uint8_t)*word) {
            return json_fail(c, SAFETENSORS_REASON_EXPECTED_VALUE, c->at);
        }
    }
    return 1;
}

/* Takes a scalar, or opens a container. */
static int take_or_open(json_cursor *c) {
    json_span unused;
    uint8_t byte = json_peek(c);
    switch (byte) {
    case '{':
    case '[': return json_open(c);
    case '"': return json_string(c, &unused);
    case 't': return take_word(c, "true");
    case 'f': return take_word(c, "false");
    case 'n': return take_word(c, "null");
    default:
        if (byte == '-' || (byte >= '0' && byte <= '9')) {
            return json_number(c);
        }
        return json_fail(c, SAFETENSORS_REASON_EXPECTED_VALUE, c->at);
    }
}

int json_skip(json_cursor *c) {
    uint8_t closes[JSON_DEPTH_LIMIT]; /* by depth: what ends the container */
    json_span unused;
    uint32_t base = c->depth;
    int first = 0;
    do {
        if (c->depth > base) {
            uint8_t close = closes[c->depth];
            if (!json_more(c, close, first)) {
                first = 0;
                continue;
            }
            if (close == '}' && !json_key(c, &unused)) {
                return 0;
            }
        }
        uint32_t before = c->depth;
        uint8_t byte = json_peek(c);
        if (!take_or_open(c)) {
            return 0;
        }
        first = c->depth > before;
        if (first) {
            closes[c->depth] = byte == '{' ? '}' : ']';
        }
    } while (c->depth > base && c->reason == SAFETENSORS_REASON_NONE);
    return c->reason == SAFETENSORS_REASON_NONE;
}
