/* One call of the gated MLP set up twice; see scene.h. */
#include "scene.h"

#include <stdlib.h>
#include <string.h>

static variant varied;

void scene_vary(variant v) {
    varied = v;
}

/* Numbers such that limit and cut both bite on random gates, and eps on the mean of squares. */
static void vary(layer *l, int32_t dtype) {
    reference_mlp *r = &l->reference;
    const int limited = varied == LIMITED || varied == LIMITED_AND_SPARSE || varied == ALL_THREE;
    r->limit = limited ? 0.5 : 0;
    r->up_shift = limited ? 1 : 0;
    r->sparse = varied == SPARSE || varied == LIMITED_AND_SPARSE || varied == ALL_THREE;
    r->cutoff = r->sparse ? 0.625 : 0;
    l->mlp.limit = (real)r->limit;
    l->mlp.up_shift = (real)r->up_shift;
    l->mlp.sparse = r->sparse;
    l->mlp.cutoff = (real)r->cutoff;
    if (varied >= NORMED) {
        layer_norm(l, dtype, 0.25);
    }
}

void scene_forward(scene *s) {
    void *scratch = need(gated_mlp_forward_scratch_bytes(&s->l.mlp, s->tokens));
    const gated_mlp_status status =
        gated_mlp_forward(s->y, s->x, &s->l.mlp, s->tokens, &s->options, &s->record, scratch);
    if (status != GATED_MLP_OK) {
        check(0, "forward gives status %d", (int)status);
    }
    free(scratch);
}

void scene_start(scene *s, int32_t d, int32_t d_ff, int32_t tokens, int32_t dtype,
                 int32_t activation, int sliced, int held) {
    memset(s, 0, sizeof *s);
    s->l = layer_create(d, d_ff, dtype, (d + d_ff) % 2, activation);
    vary(&s->l, dtype);
    s->tokens = tokens;
    s->options = gated_mlp_defaults(&s->l.mlp);
    if (sliced) {
        s->options.unit_begin = random_below(d_ff + 1);
        s->options.unit_end =
            s->options.unit_begin + random_below(d_ff - s->options.unit_begin + 1);
        s->options.scale = (real)-0.75;
    }
    if (held && tokens > 0) {
        const int32_t unit = random_below(d_ff);
        s->holds[0] = (gated_mlp_hold){random_below(d_ff), -1, 0};
        s->holds[1] = (gated_mlp_hold){unit, random_below(tokens), 1};
        s->holds[2] = (gated_mlp_hold){unit, s->holds[1].token, (real)0.5};
        s->options.holds = s->holds;
        s->options.hold_count = 3;
    }
    const int64_t outer = (int64_t)tokens * d, inner = (int64_t)tokens * d_ff;
    s->x = random_reals(outer);
    s->d_y = random_reals(outer);
    s->y = filled_reals(outer, UNTOUCHED);
    s->record = (gated_mlp_record){filled_reals(inner, UNTOUCHED), filled_reals(inner, UNTOUCHED),
                                   filled_reals(inner, UNTOUCHED), filled_reals(inner, UNTOUCHED)};
    s->x64 = to_doubles(s->x, outer);
    s->d_y64 = to_doubles(s->d_y, outer);
    s->y64 = to_doubles(s->y, outer);
    s->record64 =
        (reference_record){to_doubles(s->record.gate, inner), to_doubles(s->record.act, inner),
                           to_doubles(s->record.up, inner), to_doubles(s->record.hidden, inner)};
    scene_forward(s);
    reference_forward(s->y64, &s->record64, s->x64, &s->l.reference, tokens, &s->options);
}

void scene_free(scene *s) {
    layer_free(&s->l);
    void *blocks[] = {s->x,
                      s->d_y,
                      s->y,
                      s->record.gate,
                      s->record.act,
                      s->record.up,
                      s->record.hidden,
                      s->x64,
                      s->d_y64,
                      s->y64,
                      s->record64.gate,
                      s->record64.act,
                      s->record64.up,
                      s->record64.hidden};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        free(blocks[i]);
    }
}
