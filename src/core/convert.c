/* Conversions between element types; see convert.h.
 *
 * The 16-bit and 8-bit floats are one family that differs in field widths, bias and what its
 * topmost codes mean, so they are rows of a table rather than functions. Called by store.c; knows
 * nothing of matrices.
 */
#include "convert.h"

#include <string.h>

/* What the codes with all exponent bits set mean. */
enum specials {
    SPECIALS_IEEE, /* infinities and NaNs, as in IEEE 754 */
    SPECIALS_FN,   /* numbers, but for the all-ones code, which is NaN; no infinity */
    SPECIALS_FNUZ, /* numbers; the only NaN is the code of -0 */
};

typedef struct {
    int32_t dtype;
    int32_t exponent_bits;
    int32_t mantissa_bits;
    int32_t bias;
    enum specials specials;
} small_float;

static const small_float SMALL_FLOATS[] = {
    {DTYPE_F16, 5, 10, 15, SPECIALS_IEEE},       {DTYPE_BF16, 8, 7, 127, SPECIALS_IEEE},
    {DTYPE_F8_E4M3, 4, 3, 7, SPECIALS_FN},       {DTYPE_F8_E5M2, 5, 2, 15, SPECIALS_IEEE},
    {DTYPE_F8_E4M3FNUZ, 4, 3, 8, SPECIALS_FNUZ}, {DTYPE_F8_E5M2FNUZ, 5, 2, 16, SPECIALS_FNUZ},
};

static const small_float *find_small_float(int32_t dtype) {
    for (size_t i = 0; i < sizeof SMALL_FLOATS / sizeof *SMALL_FLOATS; i++) {
        if (SMALL_FLOATS[i].dtype == dtype) {
            return &SMALL_FLOATS[i];
        }
    }
    return NULL;
}

static int32_t small_float_bytes(const small_float *format) {
    return (1 + format->exponent_bits + format->mantissa_bits) / 8;
}

int32_t convert_source_bytes(int32_t dtype) {
    const small_float *format = find_small_float(dtype);
    if (format != NULL) {
        return small_float_bytes(format);
    }
    return dtype == DTYPE_F32 ? 4 : dtype == DTYPE_F64 ? 8 : 0;
}

int32_t convert_target_bytes(int32_t dtype) {
    switch (dtype) {
    case DTYPE_F64: return 8;
    case DTYPE_F32: return 4;
    case DTYPE_F16:
    case DTYPE_BF16: return 2;
    default: return 0;
    }
}

static double double_from_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* 2^exponent for exponents of normal doubles. */
static double power_of_two(int32_t exponent) {
    return double_from_bits((uint64_t)(exponent + 1023) << 52);
}

static const uint64_t QUIET_NAN = 0x7ff8000000000000u;
static const uint64_t INFINITE = 0x7ff0000000000000u;

static double decode_small(uint32_t bits, const small_float *format) {
    const int32_t width = 8 * small_float_bytes(format);
    const uint32_t magnitude = bits & ((1u << (width - 1)) - 1);
    const uint64_t sign = (uint64_t)(bits >> (width - 1)) << 63;
    const int32_t exponent = (int32_t)(magnitude >> format->mantissa_bits);
    const uint32_t mantissa = magnitude & ((1u << format->mantissa_bits) - 1);
    const int32_t top = (1 << format->exponent_bits) - 1;

    if (format->specials == SPECIALS_IEEE && exponent == top) {
        return double_from_bits(sign | (mantissa != 0 ? QUIET_NAN : INFINITE));
    }
    if ((format->specials == SPECIALS_FN && magnitude == (1u << (width - 1)) - 1) ||
        (format->specials == SPECIALS_FNUZ && bits == 1u << (width - 1))) {
        return double_from_bits(sign | QUIET_NAN);
    }
    const uint32_t implicit = exponent > 0 ? 1u << format->mantissa_bits : 0;
    const int32_t scale = (exponent > 0 ? exponent : 1) - format->bias - format->mantissa_bits;
    const double value = (double)(implicit | mantissa) * power_of_two(scale);
    return sign != 0 ? -value : value;
}

double convert_decode_bits(uint32_t bits, int32_t dtype) {
    return decode_small(bits, find_small_float(dtype));
}

/* The IEEE formats only: no F8 type is ever a target. */
static uint32_t encode_small(double value, const small_float *format) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const int32_t width = 8 * small_float_bytes(format);
    const uint32_t sign = (uint32_t)(bits >> 63) << (width - 1);
    const uint64_t magnitude = bits & ~(1ull << 63);
    const uint32_t infinite = ((1u << format->exponent_bits) - 1) << format->mantissa_bits;
    const int32_t drop = 52 - format->mantissa_bits;

    if (magnitude > INFINITE) {
        const uint32_t payload =
            (uint32_t)(magnitude >> drop) & ((1u << format->mantissa_bits) - 1);
        return sign | infinite | payload | 1u << (format->mantissa_bits - 1);
    }
    const int32_t exponent = (int32_t)(magnitude >> 52) - 1023;
    const int32_t smallest = 1 - format->bias; /* exponent of the smallest normal number */
    const int32_t below = exponent < smallest ? smallest - exponent : 0;
    if (below > format->mantissa_bits + 1) {
        return sign; /* under half of the smallest subnormal, as doubles' own subnormals are */
    }
    const uint64_t significand = (magnitude & ((1ull << 52) - 1)) | 1ull << 52;
    const int32_t shift = drop + below;
    const uint64_t lowest_kept = significand >> shift & 1;
    const uint64_t rounded = (significand + (1ull << (shift - 1)) - 1 + lowest_kept) >> shift;
    /* A carry out of the significand moves into the exponent field by itself. */
    const int64_t field = below > 0 ? 0 : (int64_t)(exponent - smallest) << format->mantissa_bits;
    const uint64_t code = (uint64_t)field + rounded;
    return sign | (code >= infinite ? infinite : (uint32_t)code);
}

/* BF16 is the upper half of a F32, which is what checkpoints hold most: no need for the table. */
static double decode_bf16(uint32_t bits) {
    const uint32_t wide = bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return (double)value;
}

static uint32_t load_16(const unsigned char *at) {
    uint16_t bits;
    memcpy(&bits, at, sizeof bits);
    return bits;
}

void convert_decode(double *values, const void *src, int64_t step, int32_t dtype, int32_t n) {
    const unsigned char *at = src;
    const small_float *format = find_small_float(dtype);
    if (dtype == DTYPE_BF16) {
        for (int32_t i = 0; i < n; i++, at += step) {
            values[i] = decode_bf16(load_16(at));
        }
    } else if (format != NULL) {
        const int wide = small_float_bytes(format) == 2;
        for (int32_t i = 0; i < n; i++, at += step) {
            values[i] = decode_small(wide ? load_16(at) : *at, format);
        }
    } else if (dtype == DTYPE_F32) {
        for (int32_t i = 0; i < n; i++, at += step) {
            float value;
            memcpy(&value, at, sizeof value);
            values[i] = (double)value;
        }
    } else {
        for (int32_t i = 0; i < n; i++, at += step) {
            memcpy(&values[i], at, sizeof *values);
        }
    }
}

void convert_encode(void *dst, int64_t step, int32_t dtype, const double *values, int32_t n) {
    unsigned char *at = dst;
    const small_float *format = find_small_float(dtype);
    for (int32_t i = 0; i < n; i++, at += step) {
        if (format != NULL) {
            const uint16_t bits = (uint16_t)encode_small(values[i], format);
            memcpy(at, &bits, sizeof bits);
        } else if (dtype == DTYPE_F32) {
            const float value = (float)values[i];
            memcpy(at, &value, sizeof value);
        } else {
            memcpy(at, &values[i], sizeof *values);
        }
    }
}
