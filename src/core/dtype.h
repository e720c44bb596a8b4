/* Every element type this library meets, in one table.
 *
 * The first part is the list of the safetensors format, in the order of its reference parser; what comes after it
 * exists only as a way of holding weights in memory. Codes are positions in the table, so the binding asks for
 * names and widths instead of keeping a second list.
 */
#ifndef GATED_MLP_DTYPE_H
#define GATED_MLP_DTYPE_H

/* X(name, bits per element) */
#define SAFETENSORS_DTYPES(X)                                                                      \
    X(BOOL, 8)                                                                                     \
    X(F4, 4)                                                                                       \
    X(F6_E2M3, 6)                                                                                  \
    X(F6_E3M2, 6)                                                                                  \
    X(U8, 8)                                                                                       \
    X(I8, 8)                                                                                       \
    X(F8_E5M2, 8)                                                                                  \
    X(F8_E4M3, 8)                                                                                  \
    X(F8_E8M0, 8)                                                                                  \
    X(F8_E4M3FNUZ, 8)                                                                              \
    X(F8_E5M2FNUZ, 8)                                                                              \
    X(I16, 16)                                                                                     \
    X(U16, 16)                                                                                     \
    X(F16, 16)                                                                                     \
    X(BF16, 16)                                                                                    \
    X(I32, 32)                                                                                     \
    X(U32, 32)                                                                                     \
    X(F32, 32)                                                                                     \
    X(C64, 64)                                                                                     \
    X(F64, 64)                                                                                     \
    X(I64, 64)                                                                                     \
    X(U64, 64)

/* ggml's block-quantised types, 32 weights sharing what is not a code; bits are those of a code. */
#define BLOCK_DTYPES(X)                                                                            \
    X(Q8_0, 8)                                                                                     \
    X(Q4_1, 4)

#define ALL_DTYPES(X)                                                                              \
    SAFETENSORS_DTYPES(X)                                                                          \
    BLOCK_DTYPES(X)

enum dtype {
#define X(name, bits) DTYPE_##name,
    ALL_DTYPES(X)
#undef X
        DTYPE_COUNT
};

/* The block-quantised types once more, laid out for products of bytes (quant.h): what a store is made
 * of where those are quick. To everybody else they are Q8_0 and Q4_1. */
enum { DTYPE_Q8_0_QUADS = DTYPE_COUNT, DTYPE_Q4_1_QUADS };

/* Types that a file can name: codes below this. */
enum {
    SAFETENSORS_DTYPE_COUNT = 0
#define X(name, bits) +1
    SAFETENSORS_DTYPES(X)
#undef X
};

#endif
