/* The team of a build with shared memory: threads that run instances of the module on one memory, and so share the
 * statics of team.c. Thread 0 is the one that uses the runtime, the workers are numbered from 1 on. A forward is a job
 * (gated_mlp.h) whose steps belong to whoever takes them first: one that is woken late, or must not wait, holds up nobody.
 * Called by exports.c; allocates nothing. In builds without shared memory there is none of it.
 */
#ifndef GATED_MLP_TEAM_H
#define GATED_MLP_TEAM_H

#ifdef __wasm_atomics__

#include "gated_mlp.h"

/* Whether the last job is done. */
int team_is_idle(void);

/* Opens the first stage of a job, which is copied, to all threads. The team is idle. */
void team_start(const gated_mlp_job *job);

/* What thread 0 does until the job is done: takes steps, and waits where there are none. */
void team_finish(void);

/* The same piece by piece, where thread 0 must not wait: does steps, or looks for some for microseconds. 0: there is none
 * until *team_stage_word() changes; 1: go on; 2: the job is done. */
int32_t team_work_a_little(void);

/* What a worker does from its start to its end: `thread` is its number. Never returns. */
_Noreturn void team_work(int32_t thread);

/* The word that changes from stage to stage, to wait for. */
const uint32_t *team_stage_word(void);

#endif
#endif
