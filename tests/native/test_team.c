/* Native test of gated_mlp_forward_member: threads that share a forward give the bits that one gives,
 * whatever their number, with slices and holds, and scratch of exactly the size that was asked for.
 */
#define _POSIX_C_SOURCE 200809L /* pthread barriers */

#include "scene.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const scene *s;
    real *y;
    const gated_mlp_record *record;
    void *scratch;
    gated_mlp_team team;
    gated_mlp_status status;
} member;

static void barrier_wait(void *barrier) {
    pthread_barrier_wait(barrier);
}

static void *run(void *argument) {
    member *me = argument;
    me->status = gated_mlp_forward_member(me->y, me->s->x, &me->s->l.mlp, me->s->tokens,
                                          &me->s->options, me->record, me->scratch, &me->team);
    return NULL;
}

/* y and record by `members` threads; whether all of them reported success. */
static int forward_by(int32_t members, const scene *s, real *y, const gated_mlp_record *record) {
    pthread_t threads[8];
    member all[8];
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, (unsigned)members);
    void *scratch = need(gated_mlp_team_scratch_bytes(&s->l.mlp, s->tokens, members));
    for (int32_t i = 0; i < members; i++) {
        all[i] = (member){
            s, y, record, scratch, {i, members, barrier_wait, &barrier}, GATED_MLP_ERR_MEMORY};
        pthread_create(&threads[i], NULL, run, &all[i]);
    }
    int fine = 1;
    for (int32_t i = 0; i < members; i++) {
        pthread_join(threads[i], NULL);
        fine = fine && all[i].status == GATED_MLP_OK;
    }
    free(scratch);
    pthread_barrier_destroy(&barrier);
    return fine;
}

static void check_team(int32_t d, int32_t d_ff, int32_t tokens, int32_t dtype, int sliced) {
    scene s;
    scene_start(&s, d, d_ff, tokens, dtype, ACT_silu, sliced, tokens > 0 && sliced);
    const int64_t n = (int64_t)tokens * d, cells = (int64_t)tokens * d_ff;
    for (int32_t members = 1; members <= 7; members++) {
        real *y = filled_reals(n, UNTOUCHED);
        const gated_mlp_record record = {
            filled_reals(cells, UNTOUCHED), filled_reals(cells, UNTOUCHED),
            filled_reals(cells, UNTOUCHED), filled_reals(cells, UNTOUCHED)};
        const int fine = forward_by(members, &s, y, &record);
        const size_t wide = (size_t)cells * sizeof(real);
        const int same = memcmp(y, s.y, (size_t)n * sizeof(real)) == 0 &&
                         memcmp(record.gate, s.record.gate, wide) == 0 &&
                         memcmp(record.act, s.record.act, wide) == 0 &&
                         memcmp(record.up, s.record.up, wide) == 0 &&
                         memcmp(record.hidden, s.record.hidden, wide) == 0;
        check(fine && same, "%d threads give the bits of one: d %d, d_ff %d, tokens %d, dtype %d%s",
              (int)members, (int)d, (int)d_ff, (int)tokens, (int)dtype, sliced ? ", sliced" : "");
        free(y);
        free(record.gate);
        free(record.act);
        free(record.up);
        free(record.hidden);
    }
    scene_free(&s);
}

int main(void) {
    const int32_t sizes[][2] = {{1, 1}, {40, 33}, {65, 300}, {300, 65}};
    const int32_t tokens[] = {0, 1, 3, 4, 130, 257};
    for (int i = 0; i < 4; i++) {
        for (int t = 0; t < 6; t++) {
            check_team(sizes[i][0], sizes[i][1], tokens[t], DTYPE_REAL, 0);
            check_team(sizes[i][0], sizes[i][1], tokens[t], DTYPE_BF16, 1);
        }
    }
    for (int32_t v = LIMITED; v < VARIANTS; v++) {
        scene_vary((variant)v);
        check_team(65, 300, 131, DTYPE_REAL, 0);
        check_team(40, 33, 3, DTYPE_BF16, 1);
    }
    const gated_mlp none = {0};
    check(gated_mlp_team_scratch_bytes(&none, 1, 2) == 0, "no scratch for an MLP of no width");
    return report();
}
