/* Numbers. Only unsigned integers mean something in a header; any other number may stand in a field
 * that is ignored, where it must still be one that serde_json accepts, and that refuses numbers
 * past the range of float64. */
#include "json.h"

#include <float.h>

static int is_digit(const json_cursor *c) {
    return c->at < c->count && c->text[c->at] >= '0' && c->text[c->at] <= '9';
}

static int is_one_of(const json_cursor *c, uint8_t a, uint8_t b) {
    return c->at < c->count && (c->text[c->at] == a || c->text[c->at] == b);
}

/* *value = *value * 10 + the digit under the cursor, unless that passes 64 bits. */
static int append_digit(const json_cursor *c, uint64_t *value) {
    uint64_t digit = (uint64_t)(c->text[c->at] - '0');
    if (*value > (UINT64_MAX - digit) / 10) {
        return 0;
    }
    *value = *value * 10 + digit;
    return 1;
}

int json_unsigned(json_cursor *c, uint64_t *value) {
    json_peek(c);
    uint64_t start = c->at;
    *value = 0;
    while (is_digit(c) && append_digit(c, value)) {
        c->at++;
    }
    int leading_zero = c->at > start + 1 && c->text[start] == '0';
    if (c->at == start || leading_zero || is_digit(c) || is_one_of(c, 'e', 'E') ||
        is_one_of(c, '.', '.')) {
        return json_fail(c, SAFETENSORS_REASON_NOT_UNSIGNED, start);
    }
    return 1;
}

/* serde_json's own arithmetic, which is not correctly rounded: 1.7976931348623158e308 is refused
 * though it is below the limit. A 64-bit significand times 10^288 or less is always finite. */
static int in_range(uint64_t significand, int64_t exponent) {
    static const double power_of_ten[] = {1e289, 1e290, 1e291, 1e292, 1e293, 1e294, 1e295,
                                          1e296, 1e297, 1e298, 1e299, 1e300, 1e301, 1e302,
                                          1e303, 1e304, 1e305, 1e306, 1e307, 1e308};
    if (significand == 0 || exponent < 289) {
        return 1;
    }
    return exponent <= 308 && (double)significand * power_of_ten[exponent - 289] <= DBL_MAX;
}

/* The digits before the point: those that fit the significand, then only counted. */
static int integer_part(json_cursor *c, uint64_t *significand, int64_t *exponent) {
    if (!is_digit(c)) {
        return json_fail(c, SAFETENSORS_REASON_BAD_NUMBER, c->at);
    }
    int leading_zero = c->text[c->at] == '0';
    while (is_digit(c) && append_digit(c, significand)) {
        c->at++;
        if (leading_zero && is_digit(c)) {
            return json_fail(c, SAFETENSORS_REASON_BAD_NUMBER, c->at);
        }
    }
    for (; is_digit(c); c->at++) {
        (*exponent)++;
    }
    return 1;
}

/* The digits after the point: those that fit the significand, the rest dropped. */
static int fraction_part(json_cursor *c, uint64_t *significand, int64_t *exponent) {
    c->at++;
    if (!is_digit(c)) {
        return json_fail(c, SAFETENSORS_REASON_BAD_NUMBER, c->at);
    }
    for (; is_digit(c) && append_digit(c, significand); c->at++) {
        (*exponent)--;
    }
    while (is_digit(c)) {
        c->at++;
    }
    return 1;
}

/* An exponent past 32 bits is as good as infinite, and stays there. */
static int exponent_part(json_cursor *c, int64_t *exponent) {
    c->at++;
    int negative = is_one_of(c, '-', '-');
    if (is_one_of(c, '+', '-')) {
        c->at++;
    }
    if (!is_digit(c)) {
        return json_fail(c, SAFETENSORS_REASON_BAD_NUMBER, c->at);
    }
    int64_t written = 0;
    for (; is_digit(c); c->at++) {
        if (written <= INT32_MAX) {
            written = written * 10 + (c->text[c->at] - '0');
        }
    }
    *exponent += negative ? -written : written;
    return 1;
}

int json_number(json_cursor *c) {
    uint64_t start = c->at;
    uint64_t significand = 0;
    int64_t exponent = 0;
    if (c->text[c->at] == '-') {
        c->at++;
    }
    if (!integer_part(c, &significand, &exponent)) {
        return 0;
    }
    if (is_one_of(c, '.', '.') && !fraction_part(c, &significand, &exponent)) {
        return 0;
    }
    if (is_one_of(c, 'e', 'E') && !exponent_part(c, &exponent)) {
        return 0;
    }
    if (!in_range(significand, exponent)) {
        return json_fail(c, SAFETENSORS_REASON_NUMBER_RANGE, start);
    }
    return 1;
}
