/* etch runtime for several workers: threads of an operating system, tasks, or cores that have none. All call NAME_run_worker with the same
 * arguments but for their number; all walk the same table, and each does its part of the outer loops of every kernel. Where a call needs
 * what another worker computes, all wait at a barrier of the caller's. The results have the same bits for any number of workers. */
#ifndef ETCH_WORKERS_H
#define ETCH_WORKERS_H

#include "etch_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Comes back when all workers of the run have called it as often as this one; what they wrote before is seen by all behind it
 * (pthread_barrier_wait, a counter with release and acquire, a message through a mailbox). */
typedef void (*etch_barrier)(void *user);

/* What a worker does at a call. */
#define ETCH_CALL_WAITS 1u /* before it, at the barrier */
#define ETCH_CALL_ALONE 2u /* worker 0 does it alone */

typedef struct {
  uint32_t worker;  /* 0 to workers - 1 */
  uint32_t workers; /* that run the program */
  uint32_t most;    /* of them, that the model was generated for */
  etch_barrier barrier; /* may be null for one worker */
  void *user;
} etch_team;

#define etch_run_worker etch_run_worker_abi4

/* The part of one worker of what etch_run does. `work` says of each call what a worker does there. The variables of frame have room for two
 * more, behind those of the loops. Tests everything first, as etch_run: as all workers have the same arguments, either all of them begin
 * or none. The outputs are whole when all workers have come back. */
etch_status etch_run_worker(const ETCH_CONST_SPACE etch_program *program, const ETCH_CONST_SPACE uint8_t *work, const etch_frame *frame,
                            const etch_team *team);

#ifdef __cplusplus
}
#endif

#endif
