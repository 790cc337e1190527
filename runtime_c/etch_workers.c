/* etch runtime for several workers; see etch_workers.h. */
#include "etch_workers.h"

static void call_kernel(const ETCH_CONST_SPACE etch_program *program, const etch_frame *frame, uint32_t number) {
  const ETCH_CONST_SPACE etch_call *const call = &program->calls[number];
  const ETCH_CONST_SPACE etch_ref *const refs = &program->args[call->first_arg];
  uint32_t i;
  for (i = 0; i < call->arg_count; i++) frame->arg[i] = etch_address_of(&refs[i], frame);
  call->kernel(frame->arg);
}

etch_status etch_run_worker(const ETCH_CONST_SPACE etch_program *program, const ETCH_CONST_SPACE uint8_t *work, const etch_frame *frame,
                            const etch_team *team) {
  etch_walk walk;
  etch_status status;
  int32_t *own;
  uint64_t left;
  if (team == NULL || work == NULL || frame == NULL || frame->variables == NULL) return ETCH_NULL;
  if (team->workers == 0u || team->workers > team->most || team->worker >= team->workers) return ETCH_RANGE;
  if (team->workers > 1u && team->barrier == NULL) return ETCH_NULL;
  status = etch_check_frame(program, frame);
  if (status != ETCH_OK) return status;
  own = frame->variables + program->variable_count + program->loop_count;
  own[0] = (int32_t)team->worker;
  own[1] = (int32_t)team->workers;
  left = etch_walk_begin(&walk, program->loops, program->loop_count, program->call_count, frame->variables, program->variable_count);
  for (; left > 0u; left--) {
    const uint32_t what = work[walk.call];
    if ((what & ETCH_CALL_WAITS) != 0u && team->workers > 1u) team->barrier(team->user);
    if ((what & ETCH_CALL_ALONE) == 0u || team->worker == 0u) call_kernel(program, frame, walk.call);
    etch_walk_on(&walk);
  }
  return ETCH_OK;
}
