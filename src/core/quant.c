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

static int32_t bits_of(float value) {
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static int all_finite(const float *weights) {
    vfloat zeros = {0};
    DO_NOT_UNROLL
    for (int32_t i = 0; i < BLOCK; i += VFLOATS) {
        zeros += vf_load(weights + i) * 0.0f;
    }
    return zeros[0] + zeros[1] + zeros[2] + zeros[3] == 0;
}

/* Q8_0 is symmetric about 0, Q4_1 starts at the smallest weight. */
static block_range range_of(const float *weights, int32_t dtype) {
    vfloat low = vf_load(weights), high = low;
    DO_NOT_UNROLL
    for (int32_t i = VFLOATS; i < BLOCK; i += VFLOATS) {
        const vfloat w = vf_load(weights + i);
        low = vf_select(w < low, w, low);
        high = vf_select(w > high, w, high);
    }
    float least = low[0], most = high[0];
    for (int32_t i = 1; i < VFLOATS; i++) {
        least = low[i] < least ? low[i] : least;
        most = high[i] > most ? high[i] : most;
    }
    if (has_minima(dtype)) {
        return (block_range){(most - least) / 15.0f, least};
    }
    const float magnitude = most > -least ? most : -least;
    return (block_range){magnitude / 127.0f + 0.0f, 0}; /* +0 of zeros, of any sign */
}

/* A finite number to F16, to nearest even; past its range an infinity. */
static uint16_t to_f16(float value) {
    const int32_t sign = bits_of(value) >> 16 & 0x8000;
    const float magnitude = value < 0 ? -value : value;
    int32_t half;
    if (magnitude < 0x1p-14f) { /* subnormal: the addition rounds to multiples of 2^-24 */
        half = bits_of(magnitude + 0.5f) - bits_of(0.5f);
    } else if (magnitude < 0x1p16f) {
        const int32_t bits = bits_of(magnitude) - bits_of(0x1p-15f);
        half = (bits + 0xfff + (bits >> 13 & 1)) >> 13;
    } else {
        half = F16_INFINITY;
    }
    return (uint16_t)(sign | half);
}

static void put_f16(unsigned char *values, int32_t column, uint16_t bits) {
    memcpy(values + 2 * paired_place(column), &bits, sizeof bits);
}

static double get_f16(const unsigned char *values, int32_t column) {
    uint16_t bits;
    memcpy(&bits, values + 2 * paired_place(column), sizeof bits);
    return convert_decode_bits(bits, DTYPE_F16);
}

/* Byte of the 16 bits that have input k of an output, and perhaps other codes. */
static size_t pair_place(int32_t dtype, int32_t column, int32_t k) {
    const int32_t lane = column % 4 * 4 + k % 2 * 2;
    const int32_t vector = dtype == DTYPE_Q4_1
                               ? k / 2 * PANEL + column / 16 * 16
                               : (k / 4 * 2 + column % STRIP / 4) * 2 * PANEL + column / STRIP * 16;
    return (size_t)(vector + lane);
}

#if HAS_QUADS

/* Byte of the codes that has input k of an output; the others of its quad follow it. */
static size_t quad_place(int32_t dtype, int32_t column, int32_t k) {
    return quads_offset(dtype, k, column / 4) + (size_t)(column % 4 * 4 + k % 4);
}

static void put_quads(unsigned char *codes, int32_t dtype, int32_t column, const int32_t *of) {
    const int whole = dtype == DTYPE_Q8_0_QUADS;
    unsigned char *at = codes + quad_place(dtype, column, 0);
    DO_NOT_UNROLL
    for (int32_t k = 0; k < BLOCK; k += whole ? 4 : 8, at += quads_offset(dtype, 8, 0) >> whole) {
        uint32_t quad = 0;
        for (int32_t i = 3; i >= 0; i--) {
            const int32_t byte = whole ? of[k + i] + 128 : of[k + i] | of[k + 4 + i] << 4;
            quad = quad << 8 | (uint32_t)byte;
        }
        memcpy(at, &quad, sizeof quad);
    }
}

static int32_t get_quad(const unsigned char *codes, int32_t dtype, int32_t column, int32_t k) {
    const int32_t code = codes[quad_place(dtype, column, k)];
    return dtype == DTYPE_Q8_0_QUADS ? code - 128 : code >> k / 4 % 2 * 4 & 15;
}

#endif

static void put_codes(unsigned char *codes, int32_t dtype, int32_t column, const int32_t *of) {
#if HAS_QUADS
    if (in_quads(dtype)) {
        put_quads(codes, dtype, column, of);
        return;
    }
#endif
    const int32_t shift = column % 16 / 4 * 4; /* Q4_1 only, whose other outputs stay */
    /* Of Q8_0 inputs k and k + 2 share a lane: 0, 1, 4, 5, ... */
    DO_NOT_UNROLL
    for (int32_t k = 0; k < BLOCK; k += k % 4 == 1 && dtype == DTYPE_Q8_0 ? 3 : 1) {
        unsigned char *at = codes + pair_place(dtype, column, k);
        uint16_t lane;
        memcpy(&lane, at, sizeof lane);
        lane = (uint16_t)(dtype == DTYPE_Q8_0 ? 256 * of[k] + of[k + 2]
                                              : (lane & ~(15 << shift)) | of[k] << shift);
        memcpy(at, &lane, sizeof lane);
    }
}

static int32_t get_code(const unsigned char *codes, int32_t dtype, int32_t column, int32_t k) {
#if HAS_QUADS
    if (in_quads(dtype)) {
        return get_quad(codes, dtype, column, k);
    }
#endif
    uint16_t lane;
    memcpy(&lane, codes + pair_place(dtype, column, k), sizeof lane);
    if (dtype == DTYPE_Q4_1) {
        return lane >> column % 16 / 4 * 4 & 15;
    }
    /* The lower code borrows from the upper one where it is negative. */
    return (int8_t)(k % 4 < 2 ? (lane + 128) >> 8 : lane);
}

/* Q8_0 rounds halves away from zero. */
INLINE vfloat_bits codes_of(vfloat weights, int32_t dtype, float minimum, float inverse) {
    if (has_minima(dtype)) {
        const vfloat code = (weights - minimum) * inverse + 0.5f;
        return __builtin_convertvector(vf_select(code > 15.0f, (vfloat){15, 15, 15, 15}, code),
                                       vfloat_bits);
    }
    const vfloat exact = weights * inverse;
    const vfloat_bits towards_zero = __builtin_convertvector(exact, vfloat_bits);
    const vfloat rest = exact - __builtin_convertvector(towards_zero, vfloat);
    return towards_zero - (rest >= 0.5f) + (rest <= -0.5f);
}

void block_encode(unsigned char *block, int32_t dtype, int32_t column, const float *weights) {
    const block_range range = range_of(weights, dtype);
    uint16_t scale = to_f16(range.scale), minimum = to_f16(range.minimum);
    if (!all_finite(weights) || scale >= F16_INFINITY || (minimum & 0x7fff) >= F16_INFINITY) {
        scale = F16_NAN;
        minimum = 0;
    }
    /* A scale that rounds to zero makes the codes meaningless. */
    const float inverse = scale == 0 || scale == F16_NAN ? 0 : 1.0f / range.scale;
    int32_t codes[BLOCK] = {0};
    if (inverse != 0) {
        DO_NOT_UNROLL
        for (int32_t i = 0; i < BLOCK; i += VFLOATS) {
            const vfloat_bits four = codes_of(vf_load(weights + i), dtype, range.minimum, inverse);
            memcpy(codes + i, &four, sizeof four);
        }
    }
    put_codes(block + codes_offset(dtype), dtype, column, codes);
    put_f16(block, column, scale);
    if (has_minima(dtype)) {
        put_f16(block + 2 * PANEL, column, minimum);
    }
}

double block_decode(const unsigned char *block, int32_t dtype, int32_t column, int32_t k) {
    const double minimum = has_minima(dtype) ? get_f16(block + 2 * PANEL, column) : 0;
    return get_f16(block, column) * get_code(block + codes_offset(dtype), dtype, column, k) +
           minimum;
}

#ifdef __wasm_relaxed_simd__

/* Whether v_dot_quads takes an unsigned byte whole, which the processor decides. */
static int dots_all_bytes(void) {
    /* volatile: no compiler may answer for the processor (binaryen 120 tries to, and breaks off). */
    static const volatile vbytes ends = {-128, -128, -128, -128, 127, 127, 127, 127};
    const vmask sums = v_dot_quads(ends, (vunsigned_bytes)(vmask){-1, -1, -1, -1}, (vmask){0});
    return sums[0] == 4 * -128 * 255 && sums[1] == 4 * 127 * 255;
}

int32_t linear_layout(int32_t dtype) {
    const int quads = block_bytes(dtype) != 0 && dots_all_bytes();
    return !quads ? dtype : dtype == DTYPE_Q4_1 ? DTYPE_Q4_1_QUADS : DTYPE_Q8_0_QUADS;
}

#else

int32_t linear_layout(int32_t dtype) {
    return dtype;
}

#endif
