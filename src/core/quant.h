/* Weights as ggml's Q8_0 and Q4_1: what a block is, and how it lies in the packed store.
 *
 * A block is 32 consecutive inputs of one output. A panel holds the blocks of its 32 outputs over
 * the same inputs together, so that it is one stream; of Q8_0 in pairs up to four panels are one,
 * abreast (store.h):
 *
 *     panels [ceil(out / 32)][ceil(in / 32)], Q8_0 [ceil(out / 128)][ceil(in / 32)][panel]
 *         scales [32]   F16, in the order of the 16-bit types (store.h)
 *         minima [32]   the same; Q4_1 only
 *         codes         pairs of inputs [16], each of all 32 outputs; Q8_0's in twos
 *
 *     Q8_0   weight = scale * code            codes [8][2][4][8] of int16: lane 2 i + j of strip s,
 *                                             half h, step q is 256 a + b, where a and b, -127..127,
 *                                             are those of output 8 s + 4 h + i, inputs 4 q + j and
 *                                             4 q + 2 + j
 *     Q4_1   weight = scale * code + minimum  codes [16][2][8] of uint16: lane 2 i + j of half h has
 *                                             those of outputs 16 h + 4 n + i, input j of the pair,
 *                                             0..15, in bits 4 n..4 n + 3
 *
 * so eight 16-bit lanes are a pair of inputs of four outputs, which is what a pairwise integer
 * product wants, and codes that share a lane are multiplied without being taken apart
 * (quant_gemm.c). Where bytes can be multiplied four at a time, the codes are instead quads of
 * inputs, of four outputs in 16 bytes (quads.c):
 *
 *     Q8_0_QUADS   codes [4][4][2][2][16]: byte 4 i + j of vector v of quad q of pair p of strip s is
 *                  128 + the code of output 8 s + 4 v + i, input 8 p + 4 q + j
 *     Q4_1_QUADS   codes [4][4][2][16]: the same without q, of which 0 is in the lower four bits
 *
 * A block that has an infinite or NaN weight, or a scale past F16, has the scale F16_NAN and is NaN
 * altogether. Called by store.c to fill and read the store; private to the kernels.
 */
#ifndef GATED_MLP_QUANT_H
#define GATED_MLP_QUANT_H

#include "store.h"

#define PAIRS (BLOCK / 2)

/* No scale is negative, so the sign is free to say "not a number": it spares the kernels a test
 * (expand_scale). */
#define F16_NAN      0xfe00u
#define F16_INFINITY 0x7c00u

INLINE int has_minima(int32_t dtype) {
    return block_definition(dtype) == DTYPE_Q4_1;
}

/* Where the codes of a block begin. */
INLINE size_t codes_offset(int32_t dtype) {
    return (has_minima(dtype) ? 4 : 2) * PANEL;
}

/* Where in the codes the quads of outputs 4 i..4 i + 3 are that have input k. */
INLINE size_t quads_offset(int32_t dtype, int32_t k, int32_t i) {
    const int32_t quads = i / 2 * (BLOCK / 4) + k / 4;
    return (size_t)((dtype == DTYPE_Q8_0_QUADS ? quads : quads / 2) * 32 + i % 2 * 16);
}

/* Quantises the BLOCK weights of the panel's output `column`, as ggml's reference does. */
void block_encode(unsigned char *block, int32_t dtype, int32_t column, const float *weights);

/* The weight of output `column` and input k of a block. */
double block_decode(const unsigned char *block, int32_t dtype, int32_t column, int32_t k);

#ifndef GATED_MLP_FLOAT64

/* Codes of outputs 4 i..4 i + 3, both inputs of pair p; not of quads. */
INLINE vcodes expand_codes(const unsigned char *codes, int32_t dtype, int32_t p, int32_t i) {
    if (dtype == DTYPE_Q8_0) {
        const vcodes both = v_load_codes(codes + ((p / 2 * 2 + i % 2) * PANEL + i / 2 * STRIP) * 2);
        return p % 2 == 0 ? (both + 128) >> 8 : both << 8 >> 8;
    }
    const vunsigned_codes packed = (vunsigned_codes)v_load_codes(codes + (p * PANEL + i / 4 * 16));
    switch (i % 4) {
    case 0: return (vcodes)(packed & 15);
    case 1: return (vcodes)(packed >> 4 & 15);
    case 2: return (vcodes)(packed >> 8 & 15);
    default: return (vcodes)(packed >> 12);
    }
}

/* Codes of outputs 4 i..4 i + 3, input k, in either layout. */
INLINE vmask expand_code(const unsigned char *codes, int32_t dtype, int32_t k, int32_t i) {
    if (!in_quads(dtype)) {
        const vcodes pair = expand_codes(codes, dtype, k / 2, i);
        return (vmask)(k % 2 == 0 ? (vbits)pair << 16 : (vbits)pair) >> 16;
    }
    vbits quads;
    memcpy(&quads, codes + quads_offset(dtype, k, i), sizeof quads);
    quads >>= (uint32_t)(k % 4 * 8);
    return dtype == DTYPE_Q8_0_QUADS ? (vmask)(quads & 255) - 128
                                     : (vmask)(quads >> (uint32_t)(k / 4 % 2 * 4) & 15);
}

/* F16 in the upper half of each lane, of which a negative one is F16_NAN, to F32: the shift copies
 * the sign into the exponent. */
INLINE vreal expand_scale(vbits half) {
    return (vreal)(((vbits)((vmask)half >> 3)) & bits_splat(0xffffe000u)) * v_splat(0x1p112f);
}

/* Scales of a strip's eight outputs. */
INLINE strip_row expand_scales(const unsigned char *block, int32_t strip) {
    vbits pairs;
    memcpy(&pairs, block + strip * 2 * STRIP, sizeof pairs);
    return (strip_row){{expand_scale(pairs << 16), expand_scale(pairs)}};
}

/* Q4_1's minima of a strip's eight outputs; they are finite. */
INLINE strip_row expand_minima(const unsigned char *block, int32_t strip) {
    vbits pairs;
    memcpy(&pairs, block + 2 * PANEL + strip * 2 * STRIP, sizeof pairs);
    return (strip_row){{expand_finite_f16(pairs << 16), expand_finite_f16(pairs)}};
}

#endif

#endif
