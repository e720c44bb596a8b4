/* Rows as 16-bit codes; see quant_gemm.h. */
#include "quads.h"

#ifndef GATED_MLP_FLOAT64

/* The codes of a block are scaled to add up to no more than this in magnitude, before they are rounded, and
 * once more for their row, by at most 1/2 each: so to 65535. Then 256 times a block's product with Q8_0's
 * codes, and what nesting leaves besides, fit in 32 bits. */
#define CODES_TOTAL 65503.0f

/* What a unit of the codes of values [BLOCK] stands for, in all lanes; not finite where a value is not. */
INLINE vreal code_step(const real *values) {
    vreal total = v_splat(0), most = v_splat(0);
    for (int32_t i = 0; i < BLOCK; i += LANES) {
        const vreal magnitudes = v_abs(v_load(values + i));
        total += magnitudes * v_splat(1 / CODES_TOTAL);
        most = v_at_least(magnitudes, most);
    }
    total += __builtin_shufflevector(total, total, 1, 0, 3, 2);
    total += __builtin_shufflevector(total, total, 2, 3, 0, 1);
    most = v_at_least(most, __builtin_shufflevector(most, most, 1, 0, 3, 2));
    most = v_at_least(most, __builtin_shufflevector(most, most, 2, 3, 0, 1));
    return v_at_least(total, most / CODE_MAX);
}

/* values [BLOCK] as pairs of codes */
static void encode_values(real *pairs, real *scale, const real *values) {
    const vreal step = code_step(values);
    const vreal inverse = v_select(step >= v_splat(SMALLEST_STEP), v_splat(1) / step, v_splat(0));
    for (int32_t i = 0; i < BLOCK; i += 2 * LANES) {
        const vcodes low = (vcodes)(v_load(values + i) * inverse + TO_INTEGER);
        const vcodes high = (vcodes)(v_load(values + i + LANES) * inverse + TO_INTEGER);
        const vcodes codes = __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14);
        v_store(pairs + i / 2, (vreal)codes);
    }
    *scale = v_select(inverse > v_splat(0), step, step * 0)[0];
}

void pack_codes(real *room, const row_block *a, int32_t block, const real *src, size_t ld,
                int32_t columns) {
    const int32_t group = a->group;
    if (in_quads(a->kind)) {
        quads_pack(room, a, block, src, ld, columns);
        return;
    }
    for (int32_t r = 0; r < a->rows; r += group) {
        const int32_t rows = min_i32(group, a->rows - r);
        const real *from = src + (size_t)r * ld;
        for (int32_t c = 0, b = block; c < columns; c += BLOCK, b++) {
            real lines[GROUP][PAIRS];
            for (int32_t i = 0; i < group; i++) {
                real padded[BLOCK];
                const real *values =
                    whole_block(padded, from + (size_t)min_i32(i, rows - 1) * ld + c,
                                i < rows ? columns - c : 0);
                encode_values(lines[i], room + scale_offset(a, r, b) + i, values);
            }
            real *pairs = room + (size_t)r * (size_t)a->depth + (size_t)(b * PAIRS * group);
            if (group == GROUP) {
                pack_rows(pairs, GROUP, a->depth, lines[0], PAIRS, GROUP, PAIRS);
            } else {
                memcpy(pairs, lines[0], sizeof lines[0]);
            }
        }
    }
}

/* Codes are scaled by factor / 2^15. */
#define FACTOR_MAX 32767.0f

/* One number for each row of a group, or one row's four times. */
INLINE vreal load_rows(const real *numbers, const int32_t group) {
    return group == GROUP ? v_load(numbers) : v_splat(*numbers);
}

INLINE void store_rows(real *numbers, const int32_t group, vreal v) {
    if (group == GROUP) {
        v_store(numbers, v);
    } else {
        *numbers = v[0];
    }
}

/* Of a block: codes times factor / 2^15. Gives the sums of a vector's pairs, of rows side by side those of each. */
INLINE vmask change_block(real *codes, const int32_t group, vcodes factor) {
    vmask sums = {0};
    DO_NOT_UNROLL
    for (int32_t i = 0; i < PAIRS * group; i += LANES) {
        const vcodes changed = v_scale_codes(v_load_codes(codes + i), factor);
        sums += v_dot_pairs(changed, (vcodes){1, 1, 1, 1, 1, 1, 1, 1});
        v_store(codes + i, (vreal)changed);
    }
    return sums;
}

/* Of pairs (code, first): code factor / 2^15 - first / 2^8, rounded to nearest. factors: of pairs (factor, -128). */
INLINE vmask nest_codes(vcodes pairs, vcodes factors) {
    return (v_dot_pairs(pairs, factors) + 0x4000) >> 15;
}

/* Of a block whose pairs are nested (pairs_are_nested): codes times factor / 2^15, every second pair less a 256th of what
 * the one before it has become, and then rounded. */
INLINE void nest_block(real *codes, const int32_t group, vcodes factor) {
    const vcodes factors = (vcodes)(((vbits)factor & 0xffff) | 0xff800000u);
    DO_NOT_UNROLL
    for (int32_t i = 0; i < PAIRS * group; i += 2 * LANES) {
        vmask first = (vmask)v_load_codes(codes + i),
              second = (vmask)v_load_codes(codes + i + LANES);
        if (group == 1) {
            const vmask all = first;
            first = __builtin_shufflevector(all, second, 0, 2, 4, 6);
            second = __builtin_shufflevector(all, second, 1, 3, 5, 7);
        }
        first = (vmask)v_scale_codes((vcodes)first, factor);
        const vmask low =
            nest_codes((vcodes)(((vbits)second & 0xffff) | (vbits)first << 16), factors);
        const vmask high =
            nest_codes((vcodes)((vbits)second >> 16 | ((vbits)first >> 16 << 16)), factors);
        second = (vmask)(((vbits)low & 0xffff) | (vbits)high << 16);
        if (group == 1) {
            const vmask all = first;
            first = __builtin_shufflevector(all, second, 0, 4, 1, 5);
            second = __builtin_shufflevector(all, second, 2, 6, 3, 7);
        }
        v_store(codes + i, (vreal)first);
        v_store(codes + i + LANES, (vreal)second);
    }
}

/* codes [blocks][PAIRS][group] get the largest scale of their row, which becomes that of its first block;
 * sums [blocks][group] = the sums of their codes, where these are not nested. */
INLINE void align_group(const int32_t group, const int is_nested, real *codes, real *scales,
                        real *sums, int32_t blocks) {
    vreal most = {0}, poison = {0};
    for (int32_t b = 0; b < blocks; b++) {
        const vreal scale = load_rows(scales + b * group, group);
        most = v_at_least(scale, most);
        poison += scale * 0;
    }
    for (int32_t b = 0; b < blocks; b++) {
        const vreal share = quotient(load_rows(scales + b * group, group), most);
        const vcodes factor = pairs_of(share * FACTOR_MAX);
        if (is_nested) {
            nest_block(codes + b * PAIRS * group, group, factor);
            continue;
        }
        vmask sum = change_block(codes + b * PAIRS * group, group, factor);
        if (group == 1) {
            const int32_t total = sum[0] + sum[1] + sum[2] + sum[3];
            sum = (vmask){total, total, total, total};
        }
        store_rows(sums + b * group, group, v_from_integers(sum));
    }
    store_rows(scales, group, most * (0x1p15f / FACTOR_MAX) + poison);
}

void align_codes(real *room, const row_block *a, int32_t r, int32_t b0, int32_t b1) {
    real *codes = room + (size_t)r * (size_t)a->depth + (size_t)(b0 * PAIRS * a->group);
    real *scales = room + scale_offset(a, r, b0), *sums = room + sum_offset(a, r, b0);
    const int is_nested = pairs_are_nested(a);
    if (a->group == GROUP) {
        align_group(GROUP, is_nested, codes, scales, sums, b1 - b0);
    } else {
        align_group(1, is_nested, codes, scales, sums, b1 - b0);
    }
}

#endif
