/* Lane operations on 128-bit vectors of real, the only place that knows how a vector is spelled.
 *
 * The types are the portable vector extension of gcc and clang, so the wasm module, the native tests, the sanitizers
 * and the fuzzer all run the very same kernels. A comparison gives a mask of all-ones lanes; there is no min or max,
 * whose treatment of NaN differs between machines: v_at_least and v_at_most say what they do with it. Contraction of a*b+c is switched off by
 * the build (-ffp-contract=off), so simd128 and native results agree bit for bit.
 */
#ifndef GATED_MLP_SIMD_H
#define GATED_MLP_SIMD_H

#include "gated_mlp.h"

#include <string.h>

typedef real vreal __attribute__((vector_size(16)));
#ifdef GATED_MLP_FLOAT64
typedef int64_t vmask __attribute__((vector_size(16)));
typedef uint64_t vbits __attribute__((vector_size(16)));
#define LANES 2
#else
typedef int32_t vmask __attribute__((vector_size(16)));
typedef uint32_t vbits __attribute__((vector_size(16)));
#define LANES 4
#endif

/* Whether kernels on bytes are built: without relaxed SIMD, wasm has no instruction for them. */
#if defined(__wasm__) && !defined(__wasm_relaxed_simd__)
#define HAS_QUADS 0
#else
#define HAS_QUADS 1
#endif

/* Keeps the compiler from holding in registers, through a loop that has none to spare, what is in memory
 * before and after it. */
#define LEAVE_IN_MEMORY() __asm__ volatile("" ::: "memory")

/* Keeps the compiler from computing a pointer anew in each step of a loop, from its counter, or a counter for a
 * loop that ends where a pointer does. */
#define KEEP_POINTER(p) __asm__("" : "+r"(p))

#define INLINE static inline __attribute__((always_inline))
/* For hot loops with several callers: one copy in the module, and registers that are theirs alone. */
#define NOINLINE static __attribute__((noinline))
/* UNROLL is for loops over arrays that are to be registers. */
#ifdef __clang__
#define UNROLL        _Pragma("clang loop unroll(full)")
#define DO_NOT_UNROLL _Pragma("clang loop unroll(disable)")
#else
#define UNROLL        _Pragma("GCC unroll 16")
#define DO_NOT_UNROLL _Pragma("GCC unroll 1")
#endif

INLINE vreal v_load(const real *p) {
    vreal v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE void v_store(real *p, vreal v) {
    memcpy(p, &v, sizeof v);
}

INLINE vreal v_splat(real s) {
#ifdef GATED_MLP_FLOAT64
    return (vreal){s, s};
#else
    return (vreal){s, s, s, s};
#endif
}

/* The first `count` values at p, the other lanes 0; reads nothing past them. Whole vectors take the short way. */
INLINE vreal v_load_first(const real *p, int64_t count) {
    if (count >= LANES) {
        return v_load(p);
    }
    real lanes[LANES] = {0};
    for (int64_t i = 0; i < count; i++) {
        lanes[i] = p[i];
    }
    return v_load(lanes);
}

INLINE void v_store_first(real *p, vreal v, int64_t count) {
    if (count >= LANES) {
        v_store(p, v);
        return;
    }
    real lanes[LANES];
    v_store(lanes, v);
    for (int64_t i = 0; i < count; i++) {
        p[i] = lanes[i];
    }
}

/* Four float32 and their bits, whatever real is. */
typedef float vfloat __attribute__((vector_size(16)));
typedef int32_t vfloat_bits __attribute__((vector_size(16)));
#define VFLOATS 4

INLINE vfloat vf_load(const float *p) {
    vfloat v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE vfloat vf_select(vfloat_bits mask, vfloat yes, vfloat no) {
    return (vfloat)((mask & (vfloat_bits)yes) | (~mask & (vfloat_bits)no));
}

/* Defined where a * b + c is one operation, which spares the register tile the one of the product. Native builds run
 * the same paths, so that the sanitizers see them. */
#if !defined(GATED_MLP_FLOAT64) && (defined(__wasm_relaxed_simd__) || !defined(__wasm_simd128__))
#define FUSED_MADD
#endif

/* a * b + c: one rounding or two, as is fastest under relaxed SIMD; two everywhere else. */
INLINE vreal v_madd(vreal a, vreal b, vreal c) {
#if defined(__wasm_relaxed_simd__) && !defined(GATED_MLP_FLOAT64)
    return __builtin_wasm_relaxed_madd_f32x4(a, b, c);
#else
    return a * b + c;
#endif
}

INLINE vreal v_select(vmask mask, vreal yes, vreal no) {
    return (vreal)((mask & (vmask)yes) | (~mask & (vmask)no));
}

/* v < low ? low : v, so that NaN stays. wasm's pmax is defined as just that; its max is many instructions on x86. */
INLINE vreal v_at_least(vreal v, vreal low) {
#if defined(__wasm_simd128__) && defined(GATED_MLP_FLOAT64)
    return __builtin_wasm_pmax_f64x2(v, low);
#elif defined(__wasm_simd128__)
    return __builtin_wasm_pmax_f32x4(v, low);
#else
    return v_select(v < low, low, v);
#endif
}

/* high < v ? high : v, so that NaN stays */
INLINE vreal v_at_most(vreal v, vreal high) {
#if defined(__wasm_simd128__) && defined(GATED_MLP_FLOAT64)
    return __builtin_wasm_pmin_f64x2(v, high);
#elif defined(__wasm_simd128__)
    return __builtin_wasm_pmin_f32x4(v, high);
#else
    return v_select(high < v, high, v);
#endif
}

#ifndef GATED_MLP_FLOAT64

/* Eight 16-bit codes: the integers that stand for quantised numbers. */
typedef int16_t vcodes __attribute__((vector_size(16)));
typedef uint16_t vunsigned_codes __attribute__((vector_size(16)));

/* a[2 i] b[2 i] + a[2 i + 1] b[2 i + 1] in 32 bits */
INLINE vmask v_dot_pairs(vcodes a, vcodes b) {
#ifdef __wasm_simd128__
    return __builtin_wasm_dot_s_i32x4_i16x8(a, b);
#else
    const vmask even = ((vmask)((vbits)a << 16) >> 16) * ((vmask)((vbits)b << 16) >> 16);
    return even + ((vmask)a >> 16) * ((vmask)b >> 16);
#endif
}

/* a b / 2^15, rounded to nearest; no two are both -2^15 */
INLINE vcodes v_scale_codes(vcodes a, vcodes b) {
#if defined(__wasm_relaxed_simd__)
    return __builtin_wasm_relaxed_q15mulr_s_i16x8(a, b);
#elif defined(__wasm_simd128__)
    return __builtin_wasm_q15mulr_sat_s_i16x8(a, b);
#else
    const vmask even = ((vmask)((vbits)a << 16) >> 16) * ((vmask)((vbits)b << 16) >> 16);
    const vmask odd = ((vmask)a >> 16) * ((vmask)b >> 16);
    return (vcodes)(((vbits)((even + 0x4000) >> 15) & 0xffff) | (vbits)((odd + 0x4000) >> 15)
                                                                    << 16);
#endif
}

/* The pair of codes at p, four times. */
INLINE vcodes v_splat_pair(const void *p) {
    int32_t pair;
    memcpy(&pair, p, sizeof pair);
    return (vcodes)(vmask){pair, pair, pair, pair};
}

INLINE vcodes v_load_codes(const void *p) {
    vcodes codes;
    memcpy(&codes, p, sizeof codes);
    return codes;
}

#if HAS_QUADS

typedef int8_t vbytes __attribute__((vector_size(16)));
typedef uint8_t vunsigned_bytes __attribute__((vector_size(16)));

/* sum + a[4 i] b[4 i] + .. + a[4 i + 3] b[4 i + 3], a signed, b not. Relaxed SIMD promises that for b
 * up to 127 only: linear_layout asks whether this engine keeps it. */
INLINE vmask v_dot_quads(vbytes a, vunsigned_bytes b, vmask sum) {
#ifdef __wasm_relaxed_simd__
    return __builtin_wasm_relaxed_dot_i8x16_i7x16_add_s_i32x4(a, (vbytes)b, sum);
#else
    for (int32_t shift = 0; shift < 32; shift += 8) {
        sum += ((vmask)((vbits)a << shift) >> 24) * (vmask)((vbits)b << shift >> 24);
    }
    return sum;
#endif
}

/* (a + b + 1) / 2 */
INLINE vunsigned_bytes v_mean(vunsigned_bytes a, vunsigned_bytes b) {
#ifdef __wasm_simd128__
    return __builtin_wasm_avgr_u_i8x16(a, b);
#else
    return (a | b) - ((a ^ b) >> 1);
#endif
}

/* Sixteen integers that fit in a byte. */
INLINE vbytes v_narrow(vmask a, vmask b, vmask c, vmask d) {
#ifdef __wasm_simd128__
    return __builtin_wasm_narrow_s_i8x16_i16x8(__builtin_wasm_narrow_s_i16x8_i32x4(a, b),
                                               __builtin_wasm_narrow_s_i16x8_i32x4(c, d));
#else
    int8_t bytes[16];
    for (int32_t i = 0; i < 4; i++) {
        bytes[i] = (int8_t)a[i];
        bytes[4 + i] = (int8_t)b[i];
        bytes[8 + i] = (int8_t)c[i];
        bytes[12 + i] = (int8_t)d[i];
    }
    vbytes narrow;
    memcpy(&narrow, bytes, sizeof narrow);
    return narrow;
#endif
}

/* The quad of bytes at p, four times. */
INLINE vbytes v_splat_quad(const void *p) {
    return (vbytes)v_splat_pair(p);
}

INLINE vunsigned_bytes v_load_bytes(const void *p) {
    return (vunsigned_bytes)v_load_codes(p);
}

#endif

#ifdef __wasm_relaxed_simd__
/* The upper halves of the four words at p, zeros below them. */
INLINE vreal v_upper_halves(const void *p) {
    vbytes words;
    memcpy(&words, p, sizeof words);
    return (vreal)__builtin_wasm_shuffle_i8x16(words, (vbytes){0}, 16, 17, 2, 3, 20, 21, 6, 7, 24,
                                               25, 10, 11, 28, 29, 14, 15);
}
#endif

INLINE vreal v_from_integers(vmask integers) {
    return __builtin_convertvector(integers, vreal);
}

#endif

/* v with its lowest `cleared` bits set to 0: a head short enough for its products to be exact. */
INLINE vreal v_head(vreal v, int cleared) {
    return (vreal)((vbits)v >> cleared << cleared);
}

INLINE vreal v_abs(vreal v) {
    return (vreal)((vbits)v << 1 >> 1);
}

#endif
