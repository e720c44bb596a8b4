/* Conversions, every pattern of the small floats, and the packed store: whatever the order and
 * layout a weight comes in, what is read back is what was put in, to the bit.
 */
#include "convert.h"
#include "layer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *name;
    int32_t dtype, bytes, exponent_bits, mantissa_bits, bias;
    uint32_t nan_code,
        infinity_code; /* of the positive side; nan_code and above are NaN; 0: none */
    int negative_zero_is_nan;
} format;

static const format FORMATS[] = {
    {"F16", DTYPE_F16, 2, 5, 10, 15, 0x7c01, 0x7c00, 0},
    {"BF16", DTYPE_BF16, 2, 8, 7, 127, 0x7f81, 0x7f80, 0},
    {"F8_E4M3", DTYPE_F8_E4M3, 1, 4, 3, 7, 0x7f, 0, 0},
    {"F8_E5M2", DTYPE_F8_E5M2, 1, 5, 2, 15, 0x7d, 0x7c, 0},
    {"F8_E4M3FNUZ", DTYPE_F8_E4M3FNUZ, 1, 4, 3, 8, 0, 0, 1},
    {"F8_E5M2FNUZ", DTYPE_F8_E5M2FNUZ, 1, 5, 2, 16, 0, 0, 1},
};

/* The value of a code by the format's definition, with the library's ldexp. */
static double by_definition(uint32_t code, const format *f) {
    const uint32_t sign_bit = 1u << (8 * f->bytes - 1), magnitude = code & (sign_bit - 1);
    const double sign = code & sign_bit ? -1 : 1;
    if ((f->nan_code != 0 && magnitude >= f->nan_code) ||
        (f->negative_zero_is_nan && code == sign_bit)) {
        return (double)NAN;
    }
    if (f->infinity_code != 0 && magnitude == f->infinity_code) {
        return sign * (double)INFINITY;
    }
    const int exponent = (int)(magnitude >> f->mantissa_bits);
    const double fraction =
        ldexp((double)(magnitude & ((1u << f->mantissa_bits) - 1)), -f->mantissa_bits);
    return sign *
           (exponent > 0 ? ldexp(1 + fraction, exponent - f->bias) : ldexp(fraction, 1 - f->bias));
}

static int same_number(double a, double b) {
    return isnan(a) || isnan(b) ? isnan(a) && isnan(b) : a == b && signbit(a) == signbit(b);
}

static void test_decode(const format *f) {
    int right = convert_source_bytes(f->dtype) == f->bytes;
    for (uint32_t code = 0; code < 1u << (8 * f->bytes); code++) {
        unsigned char bytes[2] = {(unsigned char)code, (unsigned char)(code >> 8)};
        double value;
        convert_decode(&value, bytes, f->bytes, f->dtype, 1);
        right &= same_number(value, by_definition(code, f));
    }
    check(right, "every code of %s is the number it stands for", f->name);
}

static uint32_t encode(double value, int32_t dtype) {
    unsigned char bytes[2];
    convert_encode(bytes, 2, dtype, &value, 1);
    return (uint32_t)(bytes[0] | bytes[1] << 8);
}

/* Every finite code, the midpoints between neighbours, and the numbers next to the midpoints. */
static void test_encode(const format *f) {
    int codes = 1, ties = 1, near = 1;
    const uint32_t last = f->infinity_code - 1;
    for (uint32_t code = 0; code <= last; code++) {
        const double value = by_definition(code, f);
        /* past the last finite number, half a step further rounds to infinity */
        const double next =
            code < last ? by_definition(code + 1, f) : value + (value - by_definition(code - 1, f));
        const double middle = value + (next - value) / 2;
        const uint32_t even = code % 2 == 0 ? code : code + 1;
        codes &= encode(value, f->dtype) == code && encode(-value, f->dtype) == (code | 0x8000);
        ties &= encode(middle, f->dtype) == even && encode(-middle, f->dtype) == (even | 0x8000);
        near &= encode(nextafter(middle, 0), f->dtype) == code;
        near &= encode(nextafter(middle, (double)INFINITY), f->dtype) == code + 1;
    }
    check(codes, "%s: every finite code is encoded as itself", f->name);
    check(ties, "%s: every midpoint goes to the even neighbour", f->name);
    check(near, "%s: next to a midpoint, the nearer neighbour", f->name);
    const uint32_t nan = encode((double)NAN, f->dtype) & 0x7fff;
    check(encode((double)INFINITY, f->dtype) == f->infinity_code &&
              encode(1e300, f->dtype) == f->infinity_code && encode(5e-324, f->dtype) == 0 &&
              nan >= f->nan_code,
          "%s: infinity, what is too large, what is too small, NaN", f->name);
}

static int32_t element_bytes(int32_t dtype) {
    return convert_target_bytes(dtype);
}

/* A matrix of random bits (NaN patterns among them), put in piece by piece in a random order
 * from a transposed or a row-major source at this address of four, and read back. */
static void round_trip(int32_t out, int32_t in, int32_t dtype, int transposed, int address) {
    const int32_t bytes = element_bytes(dtype);
    const size_t count = (size_t)out * (size_t)in;
    unsigned char *block = need(count * (size_t)bytes + 4), *src = block + address;
    for (size_t i = 0; i < count * (size_t)bytes; i++) {
        src[i] = (unsigned char)random_below(256);
    }
    linear l = {out, in, dtype, need(linear_weight_bytes(out, in, dtype)), NULL};
    linear_clear(&l);
    const int32_t rows = 1 + random_below(out), cols = 1 + random_below(in);
    gated_mlp_status status = GATED_MLP_OK;
    for (int32_t c = (in - 1) / cols * cols; c >= 0; c -= cols) {
        for (int32_t r = 0; r < out; r += rows) {
            const int32_t r_count = out - r < rows ? out - r : rows;
            const int32_t c_count = in - c < cols ? in - c : cols;
            const int64_t first = transposed ? (int64_t)c * out + r : (int64_t)r * in + c;
            status |= linear_set_block(&l, r, r_count, c, c_count, src + first * bytes, dtype,
                                       transposed ? 1 : in, transposed ? out : 1);
        }
    }
    unsigned char *back = need(count * (size_t)bytes);
    const int32_t split = out / 2;
    status |= linear_get_rows(back, dtype, &l, 0, split);
    status |= linear_get_rows(back + (size_t)split * (size_t)in * (size_t)bytes, dtype, &l, split,
                              out - split);
    int same = status == GATED_MLP_OK;
    for (size_t i = 0; i < count; i++) {
        const size_t o = i / (size_t)in, k = i % (size_t)in;
        const size_t from = transposed ? k * (size_t)out + o : i;
        same &= memcmp(back + i * (size_t)bytes, src + from * (size_t)bytes, (size_t)bytes) == 0;
    }
    check(same, "%d x %d of dtype %d, %s, %d x %d at a time, comes back", out, in, dtype,
          transposed ? "transposed" : "row-major", rows, cols);
    free(block);
    free(l.weight);
    free(back);
}

static void test_round_trip(int32_t out, int32_t in, int32_t dtype, int transposed) {
    round_trip(out, in, dtype, transposed, 1);
    round_trip(out, in, dtype, transposed, 4);
}

/* What kernels expand in registers is the number that the code stands for: one input, one
 * weight, weight * 1. */
static void test_kernels_expand(const format *f, int32_t tokens) {
    const int32_t in = 8, out = 1 << 13;
    linear l = {out, in, f->dtype, need(linear_weight_bytes(out, in, f->dtype)), NULL};
    uint16_t *codes = need((uint64_t)out * (uint64_t)in * sizeof *codes);
    for (int32_t i = 0; i < out * in; i++) {
        codes[i] = (uint16_t)i;
    }
    linear_clear(&l);
    linear_set_block(&l, 0, out, 0, in, codes, f->dtype, in, 1);
    real *x = filled_reals((int64_t)tokens * in, 0), *y = filled_reals((int64_t)tokens * out, 0);
    void *scratch = need(linear_scratch_bytes(out, in, tokens));
    int right = 1;
    for (int32_t k = 0; k < in; k++) {
        /* Infinite and NaN weights times 0 are NaN: zero weights everywhere but in column k. */
        for (int32_t i = 0; i < out * in; i++) {
            codes[i] = i % in == k ? (uint16_t)i : 0;
        }
        linear_set_block(&l, 0, out, 0, in, codes, f->dtype, in, 1);
        for (int32_t i = 0; i < tokens * in; i++) {
            x[i] = i % in == k;
        }
        linear_forward(y, x, &l, tokens, scratch);
        for (int32_t i = 0; i < tokens * out; i++) {
            const double expected = by_definition((uint32_t)(i % out * in + k), f);
            right &= same_number((double)y[i] + 0.0, expected + 0.0);
        }
    }
    check(right, "kernels compute with every code of %s as it is, %d tokens", f->name, tokens);
    free(l.weight);
    free(codes);
    free(x);
    free(y);
    free(scratch);
}

int main(void) {
    for (size_t i = 0; i < sizeof FORMATS / sizeof *FORMATS; i++) {
        test_decode(&FORMATS[i]);
    }
    for (int i = 0; i < 2; i++) {
        test_encode(&FORMATS[i]);
        test_kernels_expand(&FORMATS[i], 1);
        test_kernels_expand(&FORMATS[i], 5);
    }
    static const int32_t dtypes[] = {DTYPE_F32, DTYPE_F16, DTYPE_BF16, DTYPE_REAL};
    for (int32_t size = 1; size <= 33; size++) {
        test_round_trip(size, 1 + size * 7 % 40, dtypes[size % 4], size % 2);
        test_round_trip(70 - size, size, dtypes[size % 3], size % 5 < 2);
    }
    for (int i = 0; i < 8; i++) { /* in pieces of other sizes each time */
        test_round_trip(96, 516, DTYPE_BF16, 0);
        test_round_trip(96, 516, DTYPE_F32, 0);
    }
    test_round_trip(65, 200, DTYPE_BF16, 0);
    test_round_trip(65, 200, DTYPE_BF16, 1);
    return report();
}
