/* Native test of gated_mlp_job: threads that take its steps as they come give the bits that one thread gives, whatever
 * their number and whoever takes what, with slices and holds, and scratch of exactly the size that was asked for.
 */
#define _POSIX_C_SOURCE 200809L /* pthread barriers */

#include "scene.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* What threads share: the job, and the steps of its stage that nobody has taken yet. */
typedef struct {
    gated_mlp_job job;
    pthread_barrier_t barrier;
    pthread_mutex_t lock;
    int32_t left;
} team;

typedef struct {
    team *team;
    int32_t thread;
} member;

static int32_t take_step(team *t) {
    pthread_mutex_lock(&t->lock);
    const int32_t step = t->left > 0 ? --t->left : -1;
    pthread_mutex_unlock(&t->lock);
    return step;
}

static void *run(void *argument) {
    const member *me = argument;
    team *t = me->team;
    for (int32_t stage = 0; stage < t->job.stages; stage++) {
        if (me->thread == 0) {
            t->left = gated_mlp_job_steps(&t->job, stage);
        }
        pthread_barrier_wait(&t->barrier);
        for (int32_t step; (step = take_step(t)) >= 0;) {
            gated_mlp_job_step(&t->job, stage, step, me->thread);
        }
        pthread_barrier_wait(&t->barrier);
    }
    return NULL;
}

/* y and record by `members` threads; whether the job could begin. */
static int forward_by(int32_t members, const scene *s, real *y, const gated_mlp_record *record) {
    pthread_t threads[8];
    member all[8];
    team t = {.left = 0};
    void *scratch = need(gated_mlp_job_scratch_bytes(&s->l.mlp, s->tokens, members));
    const int fine = gated_mlp_job_begin(&t.job, y, s->x, &s->l.mlp, s->tokens, &s->options, record,
                                         scratch, members) == GATED_MLP_OK;
    pthread_barrier_init(&t.barrier, NULL, (unsigned)members);
    pthread_mutex_init(&t.lock, NULL);
    for (int32_t i = 0; fine && i < members; i++) {
        all[i] = (member){&t, i};
        pthread_create(&threads[i], NULL, run, &all[i]);
    }
    for (int32_t i = 0; fine && i < members; i++) {
        pthread_join(threads[i], NULL);
    }
    free(scratch);
    pthread_mutex_destroy(&t.lock);
    pthread_barrier_destroy(&t.barrier);
    return fine;
}

/* One thread that takes the steps of every stage from the last to the first, each under another number. */
static void check_order(int32_t d, int32_t d_ff, int32_t tokens) {
    enum { THREADS = 3 };
    scene s;
    scene_start(&s, d, d_ff, tokens, DTYPE_REAL, ACT_silu, 1, 0);
    const int64_t n = (int64_t)tokens * d;
    real *y = filled_reals(n, UNTOUCHED);
    void *scratch = need(gated_mlp_job_scratch_bytes(&s.l.mlp, tokens, THREADS));
    gated_mlp_job job = {.stages = 0};
    const gated_mlp_status status =
        gated_mlp_job_begin(&job, y, s.x, &s.l.mlp, tokens, &s.options, NULL, scratch, THREADS);
    for (int32_t stage = 0; stage < job.stages; stage++) {
        for (int32_t step = gated_mlp_job_steps(&job, stage); step-- > 0;) {
            gated_mlp_job_step(&job, stage, step, step % THREADS);
        }
    }
    check(status == GATED_MLP_OK && memcmp(y, s.y, (size_t)n * sizeof(real)) == 0,
          "steps in another order by other threads: the same bits, d %d, d_ff %d, tokens %d",
          (int)d, (int)d_ff, (int)tokens);
    free(scratch);
    free(y);
    scene_free(&s);
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
    /* Large panels, which one thread takes more of at a time than each of several, and of Q8_0 those that lie abreast. */
    check_team(520, 2100, 1, DTYPE_BF16, 0);
    check_team(260, 4200, 3, DTYPE_F32, 1);
    check_team(520, 2100, 130, DTYPE_F16, 0);
    const int32_t pair_tokens[] = {1, 2, 5, 31, 40};
    for (int t = 0; t < 5; t++) {
        check_team(70, 420, pair_tokens[t], DTYPE_Q8_0, 0);
        check_team(420, 70, pair_tokens[t], DTYPE_Q8_0, 1);
        check_team(70, 420, pair_tokens[t], DTYPE_Q4_1, 1);
    }
    check_team(1100, 1100, 2, DTYPE_Q8_0, 1);
    check_order(65, 300, 131);
    check_order(300, 65, 3);
    const gated_mlp none = {0};
    gated_mlp_job job;
    check(gated_mlp_job_scratch_bytes(&none, 1, 2) == 0, "no scratch for an MLP of no width");
    check(gated_mlp_job_begin(&job, NULL, NULL, &none, 1, NULL, NULL, NULL, 2) ==
              GATED_MLP_ERR_SHAPE,
          "and no job");
    return report();
}
