/* How the threads of a team share the steps of a job, and wait for each other; see team.h. */
#include "team.h"

#ifdef __wasm_atomics__

static struct {
    gated_mlp_job job;
    uint32_t first; /* number of the job's first stage; stages are numbered over all jobs */
    /* In the high half the stage that is open, or the one after the job's last when it is done; in the low half those of
     * its steps that nobody has taken. One word, so that nobody who takes a step can be ahead of who opened the stage. */
    uint64_t open;
    int32_t steps;      /* of that stage */
    int32_t unfinished; /* of these */
    int32_t shares;     /* of the steps that are left: a thread takes one of so many at once */
} team;

#define LOAD(word)         __atomic_load_n(word, __ATOMIC_SEQ_CST)
#define STORE(word, value) __atomic_store_n(word, value, __ATOMIC_SEQ_CST)

/* Some 50 microseconds, about what it takes to be woken. */
#define LOOKS_BEFORE_SLEEP 100000

/* The half of `open` that changes from stage to stage. */
const uint32_t *team_stage_word(void) {
    return (const uint32_t *)&team.open + 1;
}

static uint32_t opened_stage(void) {
    return (uint32_t)(LOAD(&team.open) >> 32);
}

/* Looks for a while whether another thread opens a stage. A function of its own, since it is to be optimised by the
 * engine while team_work, which never returns, runs on as it began. */
__attribute__((noinline)) static int is_opened_soon(uint32_t seen) {
    for (int32_t i = 0; i < LOOKS_BEFORE_SLEEP; i++) {
        if (opened_stage() != seen) {
            return 1;
        }
    }
    return 0;
}

static void wait_for_stage(uint32_t seen) {
    if (!is_opened_soon(seen)) {
        while (opened_stage() == seen) {
            __builtin_wasm_memory_atomic_wait32((int32_t *)team_stage_word(), (int32_t)seen, -1);
        }
    }
}

static int is_done(uint32_t opened) {
    return opened - team.first == (uint32_t)team.job.stages;
}

/* Opens a stage, or the next one that has steps. Only ever called by one thread, when nobody has a step to do; from its
 * last write on the stage may be over, and the job followed by another. */
static void open_stage(uint32_t number) {
    int32_t steps = 0;
    while (!is_done(number)) {
        steps = gated_mlp_job_steps(&team.job, (int32_t)(number - team.first));
        if (steps > 0) {
            break;
        }
        number++;
    }
    team.steps = steps;
    STORE(&team.shares, gated_mlp_job_shares(&team.job));
    STORE(&team.unfinished, steps);
    STORE(&team.open, (uint64_t)number << 32 | (uint32_t)steps);
    __builtin_wasm_memory_atomic_notify((int32_t *)team_stage_word(), UINT32_MAX);
}

/* Takes steps and does them; 0 where none is left of the stage. The job stays what it is as long as a step that was
 * taken is not finished. */
static int do_steps(int32_t thread) {
    uint64_t left = LOAD(&team.open);
    int32_t taken;
    do {
        const int32_t steps = (int32_t)left;
        if (steps == 0) {
            return 0;
        }
        taken = steps / LOAD(&team.shares);
        taken = taken > 1 ? taken : 1;
    } while (!__atomic_compare_exchange_n(&team.open, &left, left - (uint64_t)taken, 0,
                                          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    const int32_t stage = (int32_t)((uint32_t)(left >> 32) - team.first);
    const int32_t first = team.steps - (int32_t)left;
    for (int32_t step = first; step < first + taken; step++) {
        gated_mlp_job_step(&team.job, stage, step, thread);
    }
    if (__atomic_sub_fetch(&team.unfinished, taken, __ATOMIC_SEQ_CST) == 0) {
        open_stage((uint32_t)(left >> 32) + 1);
    }
    return 1;
}

int team_is_idle(void) {
    return is_done(opened_stage());
}

void team_start(const gated_mlp_job *job) {
    team.job = *job;
    team.first = opened_stage() + 1;
    open_stage(team.first);
}

void team_finish(void) {
    for (uint32_t opened; !is_done(opened = opened_stage()); wait_for_stage(opened)) {
        while (do_steps(0)) {
        }
    }
}

int32_t team_work_a_little(void) {
    const uint32_t opened = opened_stage();
    if (is_done(opened)) {
        return 2;
    }
    return do_steps(0) || is_opened_soon(opened);
}

void team_work(int32_t thread) {
    for (;;) {
        const uint32_t opened = opened_stage();
        while (do_steps(thread)) {
        }
        wait_for_stage(opened);
    }
}

#endif
