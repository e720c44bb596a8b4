/* The packed store of a weight [out_features, in_features], and how kernels read it.
 *
 *     panels [ceil(out / 32)][in][32]     weight (o, k) is in panel o / 32, row k, column o % 32
 *
 * so a panel is one contiguous stream that serves 32 outputs. The last panel's missing columns are
 * zeros, made so by linear_clear or linear_clear_padding. Elements keep their held type. In the 16-bit
 * types, columns i and i + 4 of every 8 lie side by side: each 32-bit lane holds a pair, and one shift
 * and one mask give two vectors in order. The block-quantised types have a layout of their own:
 * quant.h. Private to the kernels.
 */
#ifndef GATED_MLP_STORE_H
#define GATED_MLP_STORE_H

#include "convert.h"
#include "simd.h"

#include <stddef.h>

#define PANEL 32 /* outputs per panel */
#define STRIP 8  /* outputs per register tile */

#define BLOCK 32 /* inputs that share the scale of a block-quantised type */

/* Bytes of an element held by itself; 0 where the type is block-quantised or cannot be held. */
INLINE size_t held_bytes(int32_t dtype) {
    switch (dtype) {
#ifdef GATED_MLP_FLOAT64
    case DTYPE_F64: return 8;
#endif
    case DTYPE_F32: return 4;
    case DTYPE_F16:
    case DTYPE_BF16: return 2;
    default: return 0;
    }
}

/* Whether a block-quantised type is in the layout for products of bytes. */
INLINE int in_quads(int32_t dtype) {
    return HAS_QUADS && (dtype == DTYPE_Q8_0_QUADS || dtype == DTYPE_Q4_1_QUADS);
}

/* The type whose definition the blocks of dtype follow. */
INLINE int32_t block_definition(int32_t dtype) {
    return !in_quads(dtype) ? dtype : dtype == DTYPE_Q8_0_QUADS ? DTYPE_Q8_0 : DTYPE_Q4_1;
}

/* Types of the same kind are multiplied by the same codes of their input; 0: by none. */
INLINE int32_t code_kind(int32_t dtype) {
    const int32_t definition = block_definition(dtype);
    return definition == DTYPE_Q8_0 || definition == DTYPE_Q4_1 ? dtype : 0;
}

/* Bytes of a panel's blocks over the same inputs; 0 where the type is not block-quantised. */
INLINE size_t block_bytes(int32_t dtype) {
    const int32_t definition = block_definition(dtype);
    return definition == DTYPE_Q8_0 ? PANEL * 34 : definition == DTYPE_Q4_1 ? PANEL * 20 : 0;
}

INLINE int32_t panel_count(int32_t features) {
    return features / PANEL + (features % PANEL != 0);
}

INLINE int32_t block_count(int32_t inputs) {
    return inputs / BLOCK + (inputs % BLOCK != 0);
}

/* Which of its panel's or strip's 16-bit elements a column is. */
INLINE int32_t paired_place(int32_t column) {
    const int32_t in_eight = column % 8;
    return column - in_eight + (in_eight < 4 ? 2 * in_eight : 2 * in_eight - 7);
}

/* Where row k of a panel starts. */
INLINE const unsigned char *panel_row(const linear *l, int32_t panel, int32_t k) {
    const size_t row = (size_t)panel * (size_t)l->in_features + (size_t)k;
    return (const unsigned char *)l->weight + row * PANEL * held_bytes(l->dtype);
}

/* So many panels of Q8_0 lie abreast: a block of each, then the next of each. What rows have of these inputs then
 * serves them all before it is pushed out of L1. */
#define ABREAST 4

INLINE int lies_abreast(int32_t dtype) {
    return dtype == DTYPE_Q8_0;
}

/* The first of the panels that lie abreast of one, and how many they are: at the end of a matrix fewer. */
INLINE int32_t first_abreast(const linear *l, int32_t panel) {
    return lies_abreast(l->dtype) ? panel / ABREAST * ABREAST : panel;
}

INLINE int32_t count_abreast(const linear *l, int32_t panel) {
    const int32_t left = panel_count(l->out_features) - first_abreast(l, panel);
    return !lies_abreast(l->dtype) ? 1 : left < ABREAST ? left : ABREAST;
}

/* Where a panel's blocks over inputs 32 b..32 b + 31 start. */
INLINE const unsigned char *panel_block(const linear *l, int32_t panel, int32_t b) {
    const int32_t first = first_abreast(l, panel);
    const size_t before = (size_t)first * (size_t)block_count(l->in_features);
    const size_t among = (size_t)b * (size_t)count_abreast(l, panel) + (size_t)(panel - first);
    return (const unsigned char *)l->weight + (before + among) * block_bytes(l->dtype);
}

/* How far from there those over the next inputs are. */
INLINE size_t block_step(const linear *l, int32_t panel) {
    return (size_t)count_abreast(l, panel) * block_bytes(l->dtype);
}

/* STRIP consecutive columns as numbers. */
typedef struct {
    vreal v[STRIP / LANES];
} strip_row;

#ifdef GATED_MLP_FLOAT64

INLINE strip_row expand_strip_row(const unsigned char *at, int32_t dtype) {
    real values[STRIP];
    for (int32_t i = 0; i < STRIP; i++) {
        if (dtype == DTYPE_F64) {
            memcpy(&values[i], at + 8 * i, 8);
        } else if (dtype == DTYPE_F32) {
            float value;
            memcpy(&value, at + 4 * i, 4);
            values[i] = value;
        } else {
            uint16_t bits;
            memcpy(&bits, at + 2 * paired_place(i), 2);
            values[i] = convert_decode_bits(bits, dtype);
        }
    }
    strip_row row;
    memcpy(&row, values, sizeof row);
    return row;
}

#else

INLINE vbits bits_splat(uint32_t bits) {
    return (vbits){bits, bits, bits, bits};
}

/* A finite F16 in the upper half of each lane (what is in the lower half does not count), to F32:
 * sign and magnitude are moved into place and the exponent re-biased by a multiplication, which is
 * exact for subnormals too. */
INLINE vreal expand_finite_f16(vbits half) {
    const vbits moved = (vbits)((vmask)half >> 3) & bits_splat(0x8fffe000u);
    return (vreal)moved * v_splat(0x1p112f);
}

/* Any F16: what was infinite or NaN gets its exponent back. */
INLINE vreal expand_f16(vbits half) {
    const vbits exponent = bits_splat(0x7c000000u);
    const vbits special = (vbits)((half & exponent) == exponent) & bits_splat(0x7f800000u);
    return (vreal)((vbits)expand_finite_f16(half) | special);
}

/* Eight F16: the top bit of each that is infinite or NaN is set. */
INLINE vbits f16_specials(vbits pairs) {
    typedef uint16_t vhalves __attribute__((vector_size(16)));
    const vhalves magnitudes = (vhalves)(pairs & bits_splat(0x7fff7fffu));
    return (vbits)(magnitudes + (vhalves)bits_splat(0x04000400u));
}

INLINE strip_row expand_strip_row(const unsigned char *at, int32_t dtype) {
    strip_row row;
    if (dtype == DTYPE_F32) {
        memcpy(&row, at, sizeof row);
        return row;
    }
    vbits pairs;
    memcpy(&pairs, at, sizeof pairs);
    if (dtype == DTYPE_F16) {
        row.v[0] = expand_f16(pairs << 16);
        row.v[1] = expand_f16(pairs);
    } else {
        row.v[0] = (vreal)(pairs << 16);
        row.v[1] = (vreal)(pairs & bits_splat(0xffff0000u));
    }
    return row;
}

#endif

#endif
