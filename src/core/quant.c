/* Blocks of quantised weights, made and read one output at a time; see quant.h.
 *
 * The arithmetic is that of ggml's reference quantiser, in float32: the codes come from the scale
 * before it is rounded to F16. Not for computing. Called by store.c and, for strips of real weights
 * in double, by pack.c.
 */
#include "quant.h"

typedef struct {
    float scale;
    float minimum;
} block_range;

static int all_finite(const float *weights) {
    float zero = 0;
    for (int32_t i = 0; i < BLOCK; i++) {
        zero += weights[i] * 0.0f;
    }
    return zero == 0;
}

/* Q8_0 is symmetric about 0, Q4_1 starts at the smallest weight. */
static block_range range_of(const float *weights, int32_t dtype) {
    float least = weights[0], most = weights[0], magnitude = 0;
    for (int32_t i = 0; i < BLOCK; i++) {
        least = weights[i] < least ? weights[i] : least;
        most = weights[i] > most ? weights[i] : most;
        magnitude = weights[i] > magnitude ? weights[i] : magnitude;
        magnitude = -weights[i] > magnitude ? -weights[i] : magnitude;
    }
    if (dtype == DTYPE_Q4_1) {
        return (block_range){(most - least) / 15.0f, least};
    }
    return (block_range){magnitude / 127.0f, 0}; /* +0 of zeros, of any sign */
}

static uint16_t to_f16(float value) {
    const double wide = (double)value;
    uint16_t bits;
    convert_encode(&bits, 0, DTYPE_F16, &wide, 1);
    return bits;
}

static void put_f16(unsigned char *values, int32_t column, uint16_t bits) {
    memcpy(values + 2 * paired_place(column), &bits, sizeof bits);
}

static double get_f16(const unsigned char *values, int32_t column) {
    uint16_t bits;
    memcpy(&bits, values + 2 * paired_place(column), sizeof bits);
    return convert_decode_bits(bits, DTYPE_F16);
}

/* Where the 16 bits with a Q4_1 code lie; *shift: the code's first bit. */
static ptrdiff_t nibble_place(int32_t column, int32_t k, int32_t *shift) {
    *shift = column % 16 / 4 * 4;
    return k / 2 * PANEL + column / 16 * 16 + (column % 4 * 2 + k % 2) * 2;
}

static void put_code(unsigned char *codes, int32_t dtype, int32_t column, int32_t k, int32_t code) {
    if (dtype == DTYPE_Q8_0) {
        codes[(k / 2 * PANEL + column) * 2 + k % 2] = (unsigned char)code;
        return;
    }
    int32_t shift;
    unsigned char *at = codes + nibble_place(column, k, &shift);
    uint16_t four;
    memcpy(&four, at, sizeof four);
    four = (uint16_t)((four & ~(15u << shift)) | (uint32_t)code << shift);
    memcpy(at, &four, sizeof four);
}

static int32_t get_code(const unsigned char *codes, int32_t dtype, int32_t column, int32_t k) {
    if (dtype == DTYPE_Q8_0) {
        return (int8_t)codes[(k / 2 * PANEL + column) * 2 + k % 2];
    }
    int32_t shift;
    const unsigned char *at = codes + nibble_place(column, k, &shift);
    uint16_t four;
    memcpy(&four, at, sizeof four);
    return four >> shift & 15;
}

/* Q8_0 rounds halves away from zero. */
static int32_t code_of(float weight, int32_t dtype, float minimum, float inverse) {
    if (dtype == DTYPE_Q4_1) {
        const int32_t code = (int32_t)((weight - minimum) * inverse + 0.5f);
        return code < 15 ? code : 15;
    }
    const double code = (double)(weight * inverse);
    return (int32_t)(code < 0 ? code - 0.5 : code + 0.5);
}

void block_encode(unsigned char *block, int32_t dtype, int32_t column, const double *weights,
                  int32_t n) {
    float padded[BLOCK] = {0};
    for (int32_t i = 0; i < n; i++) {
        padded[i] = (float)weights[i];
    }
    const block_range range = range_of(padded, dtype);
    uint16_t scale = to_f16(range.scale), minimum = to_f16(range.minimum);
    if (!all_finite(padded) || scale >= F16_INFINITY || (minimum & 0x7fff) >= F16_INFINITY) {
        scale = F16_NAN;
        minimum = 0;
    }
    /* A scale that rounds to zero makes the codes meaningless. */
    const float inverse = scale == 0 || scale == F16_NAN ? 0 : 1.0f / range.scale;
    unsigned char *codes = block + codes_offset(dtype);
    for (int32_t k = 0; k < BLOCK; k++) {
        put_code(codes, dtype, column, k,
                 inverse == 0 ? 0 : code_of(padded[k], dtype, range.minimum, inverse));
    }
    put_f16(block, column, scale);
    if (dtype == DTYPE_Q4_1) {
        put_f16(block + 2 * PANEL, column, minimum);
    }
}

double block_decode(const unsigned char *block, int32_t dtype, int32_t column, int32_t k) {
    const double minimum = dtype == DTYPE_Q4_1 ? get_f16(block + 2 * PANEL, column) : 0;
    return get_f16(block, column) * get_code(block + codes_offset(dtype), dtype, column, k) +
           minimum;
}
