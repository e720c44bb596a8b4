/* Every gradient against the reference, over odd shapes, held types, slices, holds, scales and both
 * ways of having the middle (from a record, computed again); that they accumulate or overwrite, may be
 * NULL, and leave other units alone.
 */
#include "scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KINDS 8

static const char *const NAMES[KINDS] = {"x",       "gate_weight", "gate_bias", "up_weight",
                                         "up_bias", "down_weight", "down_bias", "norm_weight"};

typedef struct {
    int64_t count[KINDS];
    real *ours[KINDS];
    double *expected[KINDS];
    double *before[KINDS];
} gradient_pair;

/* Both sides start from the same random numbers: what is there must be added to. */
static gradient_pair start_gradients(const layer *l, int32_t tokens) {
    const int64_t d = l->mlp.d, d_ff = l->mlp.d_ff;
    gradient_pair g = {.count = {tokens * d, d_ff * d, d_ff, d_ff * d, d_ff, d * d_ff, d, d_ff}};
    for (int i = 0; i < KINDS; i++) {
        g.ours[i] = random_reals(g.count[i]);
        g.expected[i] = to_doubles(g.ours[i], g.count[i]);
        g.before[i] = to_doubles(g.ours[i], g.count[i]);
    }
    return g;
}

static void free_gradients(gradient_pair *g) {
    for (int i = 0; i < KINDS; i++) {
        free(g->ours[i]);
        free(g->expected[i]);
        free(g->before[i]);
    }
}

static gated_mlp_gradients wanted(const gradient_pair *g, unsigned mask) {
    real *p[KINDS];
    for (int i = 0; i < KINDS; i++) {
        p[i] = mask >> i & 1 ? g->ours[i] : NULL;
    }
    return (gated_mlp_gradients){p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], 0};
}

static void backward(scene *s, const gated_mlp_gradients *g, int from_record) {
    void *scratch = need(gated_mlp_backward_scratch_bytes(&s->l.mlp, s->tokens));
    const gated_mlp_status status =
        gated_mlp_backward(g, s->d_y, s->x, &s->l.mlp, s->tokens, &s->options,
                           from_record ? &s->record : NULL, scratch);
    if (status != GATED_MLP_OK) {
        check(0, "backward gives status %d", (int)status);
    }
    free(scratch);
}

static void expected_backward(scene *s, gradient_pair *g) {
    double **e = g->expected;
    const reference_gradients all = {e[0], e[1], e[2], e[3], e[4], e[5], e[6], e[7]};
    reference_backward(&all, s->d_y64, s->x64, &s->l.reference, s->tokens, &s->options);
}

/* The largest distance of all gradients, and of which. */
static double compare(const gradient_pair *g, int *which) {
    double worst = 0;
    for (int i = 0; i < KINDS; i++) {
        const double apart = distance(g->ours[i], g->expected[i], g->before[i], g->count[i]);
        if (!(apart <= worst)) {
            worst = apart;
            *which = i;
        }
    }
    return worst;
}

static void test_scene(const char *title, int32_t d, int32_t d_ff, int32_t tokens, int32_t dtype,
                       int sliced, int held) {
    const int quantised = quantised_as(dtype) != 0;
    for (int32_t activation = 0; activation < ACT_COUNT; activation++) {
        if (quantised && activation == ACT_relu) {
            continue; /* its derivative jumps where the rounding of x may move a gate across 0 */
        }
        scene s;
        scene_start(&s, d, d_ff, tokens, dtype, activation, sliced, held);
        for (int from_record = 0; from_record < 2; from_record++) {
            gradient_pair g = start_gradients(&s.l, tokens);
            const gated_mlp_gradients all = wanted(&g, ~0u);
            backward(&s, &all, from_record);
            expected_backward(&s, &g);
            int which = 0;
            const double worst = compare(&g, &which);
            check(worst <= tolerance_of(dtype, tokens),
                  "%s: d %d, d_ff %d, %d tokens, dtype %d, activation %d, units %d..%d, %s: %.2g "
                  "(%s)",
                  title, d, d_ff, tokens, dtype, activation, s.options.unit_begin,
                  s.options.unit_end, from_record ? "from a record" : "recomputed", worst,
                  NAMES[which]);
            free_gradients(&g);
        }
        scene_free(&s);
    }
}

/* A gradient that is asked for alone is, to the bit, what it is among all; the others stay as
 * they were. */
static void test_masks(void) {
    scene s;
    scene_start(&s, 19, 45, 6, DTYPE_BF16, ACT_silu, 0, 0);
    gradient_pair all = start_gradients(&s.l, s.tokens);
    for (int i = 0; i < KINDS; i++) {
        gradient_pair alone = start_gradients(&s.l, s.tokens);
        gradient_pair before = start_gradients(&s.l, s.tokens);
        for (int j = 0; j < KINDS; j++) {
            const size_t bytes = (size_t)all.count[j] * sizeof(real);
            memset(all.ours[j], 0, bytes);
            memset(alone.ours[j], 0, bytes);
            memset(before.ours[j], 0, bytes);
        }
        const gated_mlp_gradients one = wanted(&alone, 1u << i), every = wanted(&all, ~0u);
        backward(&s, &one, 0);
        backward(&s, &every, 0);
        int same = 1;
        for (int j = 0; j < KINDS; j++) {
            const real *expected = i == j ? all.ours[j] : before.ours[j];
            same &= memcmp(alone.ours[j], expected, (size_t)all.count[j] * sizeof(real)) == 0;
        }
        check(same, "the gradient of %s alone is the same, and nothing else is written", NAMES[i]);
        free_gradients(&alone);
        free_gradients(&before);
    }
    free_gradients(&all);
    scene_free(&s);
}

/* Gradients that overwrite what is there are, to the bit, those that are added to zeros. */
static void test_overwriting(int32_t tokens, int32_t begin, int32_t end, unsigned mask) {
    scene s;
    scene_start(&s, 45, 70, tokens, DTYPE_BF16, ACT_silu, 0, 0);
    s.options.unit_begin = begin;
    s.options.unit_end = end;
    s.options.scale = (real)-0.75;
    gradient_pair over = start_gradients(&s.l, tokens), added = start_gradients(&s.l, tokens);
    const int kinds = s.l.mlp.ffn_sub_norm.weight != NULL ? KINDS : KINDS - 1;
    for (int i = 0; i < kinds; i++) {
        const size_t bytes = (size_t)added.count[i] * sizeof(real);
        if (mask >> i & 1) {
            memset(added.ours[i], 0, bytes);
        } else {
            memcpy(added.ours[i], over.ours[i], bytes);
        }
    }
    gated_mlp_gradients all = wanted(&added, mask);
    backward(&s, &all, 0);
    all = wanted(&over, mask);
    all.overwrite = 1;
    backward(&s, &all, 0);
    for (int i = 0; i < kinds; i++) {
        const size_t bytes = (size_t)over.count[i] * sizeof(real);
        check(memcmp(over.ours[i], added.ours[i], bytes) == 0,
              "%d tokens, units %d..%d, mask %x: %s", tokens, s.options.unit_begin,
              s.options.unit_end, mask, NAMES[i]);
    }
    free_gradients(&over);
    free_gradients(&added);
    scene_free(&s);
}

static void test_all_overwriting(void) {
    static const int32_t slices[][2] = {{0, 70}, {0, 37}, {37, 70}, {20, 50}, {40, 40}};
    for (int i = 0; i < 5; i++) {
        const int32_t begin = slices[i][0], end = slices[i][1];
        test_overwriting(0, begin, end, ~0u);
        test_overwriting(5, begin, end, ~0u);
        test_overwriting(5, begin, end, 0x55);
        test_overwriting(131, begin, end, ~0u);
    }
}

int main(void) {
    static const int32_t dtypes[] = {DTYPE_F32, DTYPE_F16, DTYPE_BF16, DTYPE_REAL};
    for (int32_t size = 1; size <= 33; size++) {
        test_scene("square", size, size, size % 10, dtypes[size % 4], 0, 0);
        test_scene("wide", size, 34 - size + 32 * (size % 3), 9 - size % 10, dtypes[size % 3],
                   size % 2, size % 3 == 0);
    }
    for (int32_t size = 3; size <= 80; size += 11) {
        test_scene("quantised", size, 90 - size, size % 7, size % 2 ? DTYPE_Q8_0 : DTYPE_Q4_1,
                   size % 3 == 0, size % 5 == 0);
    }
    test_scene("two row blocks", 40, 70, 131, DTYPE_BF16, 0, 1);
    test_scene("two summation blocks", 300, 290, 5, DTYPE_F32, 1, 1);
    test_masks();
    test_all_overwriting();
    for (int32_t v = LIMITED; v < VARIANTS; v++) {
        scene_vary((variant)v);
        /* Of one unit alone the norm is all but constant: its gradient is what rounding of hidden leaves. */
        for (int32_t size = v < NORMED ? 1 : 2; size <= 71; size += 10) {
            test_scene("variant", 72 - size, size, size % 9, DTYPE_F32, size % 3 == 0,
                       size % 4 == 1);
        }
        test_scene("variant of two row blocks", 40, 70, 131, DTYPE_BF16, 1, 1);
        test_masks();
        test_all_overwriting();
    }
    scene_vary(NORMED);
    test_scene("quantised, normed", 40, 70, 5, DTYPE_Q8_0, 1, 0);
    test_scene("quantised, normed", 70, 40, 2, DTYPE_Q4_1, 0, 1);
    for (int32_t size = 3; size <= 80; size += 11) {
        test_scene("in quads", size, 90 - size, size % 7,
                   size % 2 ? DTYPE_Q4_1_QUADS : DTYPE_Q8_0_QUADS, 0, size % 5 == 0);
    }
    return report();
}
