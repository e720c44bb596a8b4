/* Calls that are wrong: the status says how, and nothing has been written; sizes that cannot be
 * give 0. */
#include "layer.h"

#include <math.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define D      5
#define D_FF   40
#define TOKENS 6

typedef struct {
    layer l;
    real *x, *y;
    void *scratch;
    gated_mlp_options options;
    gated_mlp_hold hold;
} call;

static call start(void) {
    call c;
    memset(&c, 0, sizeof c);
    c.l = layer_create(D, D_FF, DTYPE_F32, 1, ACT_silu);
    c.x = random_reals(TOKENS * D);
    c.y = filled_reals(TOKENS * D, 3);
    const uint64_t forward = gated_mlp_forward_scratch_bytes(&c.l.mlp, TOKENS);
    const uint64_t backward = gated_mlp_backward_scratch_bytes(&c.l.mlp, TOKENS);
    c.scratch = need(forward > backward ? forward : backward);
    c.options = gated_mlp_defaults(&c.l.mlp);
    return c;
}

static void finish(call *c) {
    layer_free(&c->l);
    free(c->x);
    free(c->y);
    free(c->scratch);
}

/* Forward and backward both refuse with this status and leave y, here also the gradient, as it
 * was. */
static void refuse(call *c, int32_t tokens, gated_mlp_status expected, const char *what) {
    const gated_mlp_status forward =
        gated_mlp_forward(c->y, c->x, &c->l.mlp, tokens, &c->options, NULL, c->scratch);
    const gated_mlp_gradients gradients = {.x = c->y};
    const gated_mlp_status backward = gated_mlp_backward(&gradients, c->x, c->x, &c->l.mlp, tokens,
                                                         &c->options, NULL, c->scratch);
    int untouched = 1;
    for (int i = 0; i < TOKENS * D; i++) {
        untouched &= c->y[i] == 3;
    }
    check(forward == expected && backward == expected && untouched, "%s: status %d and %d", what,
          (int)forward, (int)backward);
    finish(c);
}

/* A call with one thing changed. */
#define REFUSES(change, tokens, expected)                                                          \
    do {                                                                                           \
        call c = start();                                                                          \
        change;                                                                                    \
        refuse(&c, tokens, expected, #change ", tokens " #tokens);                                 \
    } while (0)

static void test_mlp(void) {
    REFUSES((void)0, -1, GATED_MLP_ERR_SHAPE);
    REFUSES((void)0, INT32_MIN, GATED_MLP_ERR_SHAPE);
    REFUSES(c.l.mlp.d = 0, TOKENS, GATED_MLP_ERR_SHAPE);
    REFUSES(c.l.mlp.d_ff = -1, TOKENS, GATED_MLP_ERR_SHAPE);
    REFUSES(c.l.mlp.limit = -1, TOKENS, GATED_MLP_ERR_SHAPE);
    REFUSES(c.l.mlp.limit = (real)NAN, TOKENS, GATED_MLP_ERR_SHAPE);
    REFUSES(c.l.mlp.norm_eps = -1, TOKENS, GATED_MLP_ERR_SHAPE);
    REFUSES(c.l.mlp.norm_eps = (real)NAN, TOKENS, GATED_MLP_ERR_SHAPE);
    REFUSES((layer_norm(&c.l, DTYPE_F32, 0), c.l.mlp.ffn_sub_norm.out_features = D), TOKENS,
            GATED_MLP_ERR_SHAPE);
    REFUSES((layer_norm(&c.l, DTYPE_F32, 0), c.l.mlp.ffn_sub_norm.in_features = 2), TOKENS,
            GATED_MLP_ERR_SHAPE);
    REFUSES((layer_norm(&c.l, DTYPE_F32, 0), c.l.mlp.ffn_sub_norm.dtype = DTYPE_I8), TOKENS,
            GATED_MLP_ERR_DTYPE);
    REFUSES(c.l.mlp.gate_proj.in_features = D + 1, TOKENS, GATED_MLP_ERR_SHAPE);
    REFUSES(c.l.mlp.up_proj.out_features = D_FF - 1, TOKENS, GATED_MLP_ERR_SHAPE);
    REFUSES(c.l.mlp.down_proj.in_features = D, TOKENS, GATED_MLP_ERR_SHAPE);
    REFUSES(c.l.mlp.gate_proj.dtype = DTYPE_I8, TOKENS, GATED_MLP_ERR_DTYPE);
    REFUSES(c.l.mlp.up_proj.dtype = -1, TOKENS, GATED_MLP_ERR_DTYPE);
    REFUSES(c.l.mlp.down_proj.dtype = DTYPE_F8_E4M3, TOKENS, GATED_MLP_ERR_DTYPE);
    REFUSES(c.l.mlp.up_proj.dtype = DTYPE_Q8_0, TOKENS, GATED_MLP_ERR_DTYPE);
    REFUSES((c.l.mlp.gate_proj.dtype = DTYPE_Q8_0, c.l.mlp.up_proj.dtype = DTYPE_Q4_1), TOKENS,
            GATED_MLP_ERR_DTYPE);
    REFUSES(c.l.mlp.activation = ACT_COUNT, TOKENS, GATED_MLP_ERR_ACTIVATION);
    REFUSES(c.l.mlp.activation = -1, TOKENS, GATED_MLP_ERR_ACTIVATION);
    REFUSES(c.options.activation = ACT_COUNT, TOKENS, GATED_MLP_ERR_ACTIVATION);
    REFUSES(c.options.activation = -2, TOKENS, GATED_MLP_ERR_ACTIVATION);
}

/* Widths whose weights could be held, but not x of this many tokens. Nothing may be read: there
 * is nothing there. */
static void test_overflow(void) {
    gated_mlp m = {.d = INT32_MAX, .d_ff = 1};
    m.gate_proj = m.up_proj = (linear){1, INT32_MAX, DTYPE_BF16, NULL, NULL};
    m.down_proj = (linear){INT32_MAX, 1, DTYPE_BF16, NULL, NULL};
    const gated_mlp_gradients none = {0};
    check(gated_mlp_forward(NULL, NULL, &m, INT32_MAX, NULL, NULL, NULL) ==
                  GATED_MLP_ERR_OVERFLOW &&
              gated_mlp_backward(&none, NULL, NULL, &m, INT32_MAX, NULL, NULL, NULL) ==
                  GATED_MLP_ERR_OVERFLOW,
          "tokens past the address space are refused");
}

static void test_options(void) {
    REFUSES(c.options.unit_begin = -1, TOKENS, GATED_MLP_ERR_SHAPE);
    REFUSES(c.options.unit_end = D_FF + 1, TOKENS, GATED_MLP_ERR_SHAPE);
    REFUSES((c.options.unit_begin = 9, c.options.unit_end = 8), TOKENS, GATED_MLP_ERR_SHAPE);
    REFUSES(c.options.hold_count = -1, TOKENS, GATED_MLP_ERR_SHAPE);
    REFUSES(c.options.hold_count = 1, TOKENS, GATED_MLP_ERR_SHAPE);
    REFUSES((c.options.holds = &c.hold, c.options.hold_count = 1, c.hold.unit = D_FF), TOKENS,
            GATED_MLP_ERR_SHAPE);
    REFUSES((c.options.holds = &c.hold, c.options.hold_count = 1, c.hold.unit = -1), TOKENS,
            GATED_MLP_ERR_SHAPE);
    REFUSES((c.options.holds = &c.hold, c.options.hold_count = 1, c.hold.token = TOKENS), TOKENS,
            GATED_MLP_ERR_SHAPE);
    REFUSES((c.options.holds = &c.hold, c.options.hold_count = 1, c.hold.token = -2), TOKENS,
            GATED_MLP_ERR_SHAPE);
    REFUSES((c.options.holds = &c.hold, c.options.hold_count = 1), 0, GATED_MLP_ERR_SHAPE);
}

/* Zero tokens: success, nothing written, gradients as they were. */
static void test_no_tokens(void) {
    call c = start();
    refuse(&c, 0, GATED_MLP_OK, "zero tokens");
}

static void test_sizes(void) {
    const int32_t huge = INT32_MAX;
    check(linear_weight_bytes(0, 5, DTYPE_F32) == 0 && linear_weight_bytes(5, -1, DTYPE_F32) == 0 &&
              linear_weight_bytes(5, 5, DTYPE_I8) == 0 && linear_weight_bytes(5, 5, -1) == 0 &&
              linear_weight_bytes(huge, huge, DTYPE_F32) == 0,
          "no store for sizes or types that cannot be");
    check(linear_weight_bytes(33, 7, DTYPE_BF16) == 64 * 7 * 2 &&
              linear_weight_bytes(huge, 1, DTYPE_BF16) == (uint64_t)1 << 32,
          "a store is whole panels");
    check(linear_scratch_bytes(0, 1, 1) == 0 && linear_scratch_bytes(1, 0, 1) == 0 &&
              linear_scratch_bytes(1, 1, -1) == 0 && linear_scratch_bytes(1, 1, 0) > 0 &&
              linear_scratch_bytes(9, 9, huge) == linear_scratch_bytes(9, 9, 128),
          "scratch of the linear map stops growing at 128 tokens");
    gated_mlp m = {.d = 9, .d_ff = 9};
    check(gated_mlp_forward_scratch_bytes(&m, huge) == gated_mlp_forward_scratch_bytes(&m, 128) &&
              gated_mlp_backward_scratch_bytes(&m, huge) ==
                  gated_mlp_backward_scratch_bytes(&m, 128) &&
              gated_mlp_forward_scratch_bytes(&m, -1) == 0,
          "scratch of the MLP stops growing at 128 tokens");
    m.d = 0;
    check(gated_mlp_forward_scratch_bytes(&m, 1) == 0 &&
              gated_mlp_backward_scratch_bytes(&m, 1) == 0,
          "no scratch for a width of 0");
}

static void test_linear(void) {
    layer l = layer_create(D, D_FF, DTYPE_F32, 0, ACT_silu);
    linear *gate = &l.mlp.gate_proj;
    real *values = random_reals(D * D_FF), *rows = filled_reals(D * D_FF, 3);
    check(linear_set_block(gate, 0, D_FF + 1, 0, D, values, DTYPE_REAL, D, 1) ==
                  GATED_MLP_ERR_SHAPE &&
              linear_set_block(gate, -1, 1, 0, D, values, DTYPE_REAL, D, 1) ==
                  GATED_MLP_ERR_SHAPE &&
              linear_set_block(gate, 0, 1, 1, D, values, DTYPE_REAL, D, 1) == GATED_MLP_ERR_SHAPE &&
              linear_set_block(gate, 1, INT32_MAX, 0, D, values, DTYPE_REAL, D, 1) ==
                  GATED_MLP_ERR_SHAPE,
          "blocks outside the weight are refused");
    check(linear_set_block(gate, 0, 1, 0, D, values, DTYPE_I32, D, 1) == GATED_MLP_ERR_DTYPE &&
              linear_get_rows(rows, DTYPE_F16, gate, 0, 1) == GATED_MLP_ERR_DTYPE &&
              linear_get_rows(rows, DTYPE_REAL, gate, D_FF, 1) == GATED_MLP_ERR_SHAPE,
          "what cannot be converted or read is refused");
    check(linear_forward(rows, values, gate, -1, NULL) == GATED_MLP_ERR_SHAPE &&
              linear_backward_input(rows, values, gate, -1, NULL) == GATED_MLP_ERR_SHAPE &&
              linear_backward_weight(rows, values, values, 0, D, 1, NULL) == GATED_MLP_ERR_SHAPE &&
              linear_backward_bias(rows, values, -3, 1) == GATED_MLP_ERR_SHAPE,
          "the linear map refuses sizes that cannot be");
    linear none = *gate, negative = *gate;
    none.out_features = 0;
    negative.in_features = -D;
    check(linear_forward(rows, values, &none, 1, NULL) == GATED_MLP_ERR_SHAPE &&
              linear_backward_input(rows, values, &none, 1, NULL) == GATED_MLP_ERR_SHAPE &&
              linear_forward(rows, values, &negative, 1, NULL) == GATED_MLP_ERR_SHAPE &&
              linear_set_block(&none, 0, 0, 0, D, values, DTYPE_REAL, D, 1) == GATED_MLP_ERR_SHAPE,
          "and one whose own sizes cannot be");
    if (sizeof(void *) > 4) {
        check(linear_backward_weight(rows, values, values, INT32_MAX, INT32_MAX, 1, NULL) ==
                  GATED_MLP_ERR_OVERFLOW,
              "a gradient past the address space is refused");
    }
    int untouched = 1;
    for (int i = 0; i < D * D_FF; i++) {
        untouched &= rows[i] == 3;
    }
    check(untouched, "and has written nothing");
    free(values);
    free(rows);
    layer_free(&l);
}

int main(void) {
    test_mlp();
    test_overflow();
    test_options();
    test_no_tokens();
    test_sizes();
    test_linear();
    return report();
}
