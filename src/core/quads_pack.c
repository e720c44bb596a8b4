/* Rows as bytes for weights in quads; see quads.h. Called by quant_pack.c. */
#include "quads.h"

#if HAS_QUADS && !defined(GATED_MLP_FLOAT64)

#define FINE_UNITS 128.0f

INLINE vreal nearest(vreal v) {
    return (v + TO_INTEGER) - TO_INTEGER;
}

/* Of whole numbers; whatever of NaN. */
INLINE vmask v_to_integers(vreal whole) {
    return (vmask)(whole + TO_INTEGER) - (vmask)v_splat(TO_INTEGER);
}

/* The largest magnitude of values [BLOCK], and the sum of all. */
typedef struct {
    real most, total;
} magnitudes;

static magnitudes measure(const real *values) {
    vreal most = v_splat(0), total = v_splat(0);
    for (int32_t i = 0; i < BLOCK; i += LANES) {
        const vreal v = v_abs(v_load(values + i));
        most = v_at_least(v, most);
        total += v;
    }
    const real first = most[0] > most[1] ? most[0] : most[1];
    const real second = most[2] > most[3] ? most[2] : most[3];
    return (magnitudes){first > second ? first : second,
                        total[0] + total[1] + (total[2] + total[3])};
}

/* What a row has of a block. */
typedef struct {
    real codes[QUAD_CODES];
    real scale, sum;
    int32_t start;
} row_codes;

/* With no fine parts where those are left to a second set of codes. */
NOINLINE void encode(row_codes *to, const real *values, real most, int32_t dtype, int is_fine) {
    const code_form form = form_of(dtype);
    const real ratio = (real)form.ratio, shifted = (real)(1 << form.shift);
    const real unit = most * (1 / form.most);
    const real inverse = unit >= SMALLEST_STEP ? 1 / unit : 0;
    const real parts_of_shared = is_fine ? FINE_UNITS / ratio : 0;
    vreal total = v_splat(0);
    DO_NOT_UNROLL
    for (int32_t p = 0; p < QUAD_PAIRS; p += 2, values += 16) {
        vmask coarse[4], fine[2];
        UNROLL
        for (int32_t i = 0; i < 2; i++) {
            const vreal a = v_load(values + 8 * i) * inverse;
            const vreal b = v_load(values + 8 * i + 4) * inverse;
            const vreal a_rest = a - nearest(a), b_rest = b - nearest(b);
            const vreal shared = b_rest + nearest(a_rest * ratio - b_rest);
            const vreal parts = nearest(shared * parts_of_shared);
            const vreal a_units = nearest(a - parts * (1 / FINE_UNITS));
            const vreal b_units = nearest(b - parts * (ratio / FINE_UNITS));
            total += (a_units + b_units) * shifted + parts * ((1 + ratio) * shifted / FINE_UNITS);
            coarse[2 * i] = v_to_integers(a_units);
            coarse[2 * i + 1] = v_to_integers(b_units);
            fine[i] = v_to_integers(parts);
        }
        v_store(to->codes + 2 * p, (vreal)v_narrow(coarse[0], coarse[1], coarse[2], coarse[3]));
        const vbytes both = v_narrow(fine[0], fine[1], fine[0], fine[1]);
        memcpy(to->codes + QUADS + p, &both, 2 * sizeof *to->codes);
    }
    const real units = total[0] + total[1] + (total[2] + total[3]);
    to->start = units == units ? -128 * (int32_t)units / (1 << form.shift) : 0;
    to->scale = unit / shifted + units * 0;
    to->sum = to->scale * units;
}

/* What coarse codes leave of values. */
NOINLINE void subtract(real *rest, const real *values, const row_codes *codes, int32_t dtype) {
    const real unit = codes->scale * (real)(1 << form_of(dtype).shift);
    int8_t coarse[BLOCK];
    memcpy(coarse, codes->codes, sizeof coarse);
    DO_NOT_UNROLL
    for (int32_t k = 0; k < BLOCK; k++) {
        rest[k] = values[k] - unit * (real)coarse[k];
    }
}

/* Codes of values, and where one outweighs the others, of what they leave: whether that is so. */
static int encode_twice(row_codes *to, row_codes *rest, const real *values, int32_t dtype) {
    const magnitudes of = measure(values);
    /* An input that is alone hides nothing. */
    const int outweighed = of.most > of.total / 2 && of.most < of.total;
    encode(to, values, of.most, dtype, !outweighed);
    memset(rest, 0, sizeof *rest);
    if (outweighed) {
        real left[BLOCK];
        subtract(left, values, to, dtype);
        encode(rest, left, measure(left).most, dtype, 1);
    }
    return outweighed;
}

NOINLINE void store_group(real *room, const row_block *a, int32_t r, int32_t b,
                          const row_codes *rows) {
    real *codes = room + (size_t)r * (size_t)a->depth + (size_t)(b * QUAD_CODES * a->group);
    if (a->group == GROUP) {
        pack_rows(codes, GROUP, QUAD_CODES, rows->codes, sizeof *rows / sizeof(real), GROUP,
                  QUAD_CODES);
    } else {
        memcpy(codes, rows->codes, sizeof rows->codes);
    }
    for (int32_t i = 0; i < a->group; i++) {
        room[scale_offset(a, r, b) + (size_t)i] = rows[i].scale;
        room[sum_offset(a, r, b) + (size_t)i] = rows[i].sum;
        memcpy(room + start_offset(a, r, b) + i, &rows[i].start, sizeof rows[i].start);
    }
}

void quads_pack(real *room, const row_block *a, int32_t block, const real *src, size_t ld,
                int32_t columns) {
    real *rest_room = room + (rest_of(a).data - a->data);
    for (int32_t r = 0; r < a->rows; r += a->group) {
        const int32_t rows = min_i32(a->group, a->rows - r);
        for (int32_t c = 0, b = block; c < columns; c += BLOCK, b++) {
            row_codes codes[GROUP], rest[GROUP];
            int any = 0;
            for (int32_t i = 0; i < a->group; i++) {
                real padded[BLOCK];
                const real *from = src + (size_t)(r + min_i32(i, rows - 1)) * ld + c;
                const real *values = whole_block(padded, from, i < rows ? columns - c : 0);
                any |= encode_twice(&codes[i], &rest[i], values, a->kind);
            }
            store_group(room, a, r, b, codes);
            if (any) {
                store_group(rest_room, a, r, b, rest);
            }
            for (int32_t i = 0; !any && i < a->group; i++) {
                rest_room[scale_offset(a, r, b) + (size_t)i] = 0;
            }
        }
    }
}

#endif
