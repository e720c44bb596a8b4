/* Conversions between the element types that files hold and numbers that can be computed with.
 *
 * Every type here is exactly a double, so a conversion is "decode to double, encode once": what can
 * be exact is exact, the rest is rounded once to nearest even. Runs are strided, which is all that
 * the packed store needs. Bulk loading calls this; kernels expand the held types in registers by
 * themselves (store.h).
 */
#ifndef GATED_MLP_CONVERT_H
#define GATED_MLP_CONVERT_H

#include "gated_mlp.h"

/* Bytes per element of a type that can be decoded, else 0. */
int32_t convert_source_bytes(int32_t dtype);

/* Bytes per element of a type that can be encoded (F64, F32, F16, BF16), else 0. */
int32_t convert_target_bytes(int32_t dtype);

/* values[i] = element of dtype at src + i * step bytes. src has no alignment. */
void convert_decode(double *values, const void *src, int64_t step, int32_t dtype, int32_t n);

/* element of dtype at dst + i * step bytes = values[i], rounded to nearest even. dst has no
 * alignment. */
void convert_encode(void *dst, int64_t step, int32_t dtype, const double *values, int32_t n);

/* The one-element form of convert_decode for the 16-bit and 8-bit types, given its bits. */
double convert_decode_bits(uint32_t bits, int32_t dtype);

#endif
