/* etch runtime for CUDA; see etch_cuda.h. */
#include "etch_cuda.h"

#include <cuda_runtime_api.h>

/* The status tells of the error: whoever asks CUDA for its last one next does not get it again. */
static etch_status failed(etch_cuda_session *session, const char *function, cudaError_t error) {
  session->error = (int32_t)error;
  session->function = function;
  (void)cudaGetLastError();
  return ETCH_CUDA_ERROR;
}

static etch_status checked(etch_cuda_session *session, const char *function, cudaError_t error) {
  return error == cudaSuccess ? ETCH_OK : failed(session, function, error);
}

/* Queues a copy, if there is something to copy. */
static etch_status copy(etch_cuda_session *session, void *to, const void *from, uint32_t bytes, enum cudaMemcpyKind kind) {
  if (bytes == 0u) return ETCH_OK;
  return checked(session, "cudaMemcpyAsync", cudaMemcpyAsync(to, from, bytes, kind, session->stream));
}

/* --- buffers, in the order of the session's array ------------------------------------------------------------------------ */

static uint32_t io_count(const etch_cuda_program *program) { return program->input_count + program->output_count; }
static uint32_t first_state(const etch_cuda_program *program) { return io_count(program) + program->constant_count; }
static uint32_t arena_index(const etch_cuda_program *program) { return first_state(program) + program->state_count; }
static uint32_t buffer_count(const etch_cuda_program *program) { return arena_index(program) + 1u; }

static uint32_t bytes_of(const etch_cuda_program *program, uint32_t index) {
  if (index < io_count(program)) return program->io[index].most;
  if (index < first_state(program)) return program->constants[index - io_count(program)].bytes;
  if (index < arena_index(program)) return program->states[index - first_state(program)].bytes;
  return program->arena_bytes;
}

/* Up to the next buffer's first byte. */
static size_t room_for(const etch_cuda_program *program, uint32_t bytes) {
  const size_t align = program->align;
  return ((size_t)bytes + align - 1u) / align * align;
}

static size_t room_of(const etch_cuda_program *program, uint32_t index) { return room_for(program, bytes_of(program, index)); }

/* One block for all, which starts at a multiple of 256, as all that cudaMalloc gives. */
static etch_status make_buffers(const etch_cuda_program *program, etch_cuda_session *session) {
  const uint32_t count = buffer_count(program);
  size_t bytes = 0;
  size_t at = 0;
  uint32_t i;
  cudaError_t error;
  for (i = 0; i < count; i++) bytes += room_of(program, i);
  error = cudaMalloc(&session->memory, bytes);
  if (error != cudaSuccess) {
    session->memory = NULL;
    return failed(session, "cudaMalloc", error);
  }
  for (i = 0; i < count; i++) {
    session->buffers[i] = (unsigned char *)session->memory + at;
    at += room_of(program, i);
  }
  return ETCH_OK;
}

/* Locked in memory, so that the GPU copies by itself. */
static etch_status make_staging(const etch_cuda_program *program, etch_cuda_session *session) {
  cudaError_t error;
  if (program->host == NULL) return ETCH_OK;
  error = cudaMallocHost(&session->staging, program->host->staging_bytes);
  if (error != cudaSuccess) session->staging = NULL;
  return checked(session, "cudaMallocHost", error);
}

static etch_status copy_constants(const etch_cuda_program *program, etch_cuda_session *session, const void *constants) {
  uint32_t i;
  if (program->constant_count != 0u && constants == NULL) return ETCH_NULL;
  for (i = 0; i < program->constant_count; i++) {
    const etch_cuda_span *const span = &program->constants[i];
    const etch_status status = copy(session, session->buffers[io_count(program) + i], (const unsigned char *)constants + span->at,
                                    span->bytes, cudaMemcpyHostToDevice);
    if (status != ETCH_OK) return status;
  }
  return ETCH_OK;
}

static etch_status wait(etch_cuda_session *session) {
  return checked(session, "cudaStreamSynchronize", cudaStreamSynchronize(session->stream));
}

static etch_status reset_states(const etch_cuda_program *program, etch_cuda_session *session) {
  etch_status status = ETCH_OK;
  uint32_t i;
  for (i = 0; i < program->state_count && status == ETCH_OK; i++) {
    const etch_cuda_state *const state = &program->states[i];
    void *const buffer = session->buffers[first_state(program) + i];
    if (state->first == ETCH_CUDA_ZERO) {
      status = checked(session, "cudaMemsetAsync", cudaMemsetAsync(buffer, 0, state->bytes, session->stream));
    } else {
      const void *const first = session->buffers[io_count(program) + state->first];
      status = copy(session, buffer, first, state->bytes, cudaMemcpyDeviceToDevice);
    }
  }
  return status;
}

/* --- open and close --------------------------------------------------------------------------------------------------------- */

/* Loads the kernels, too, which else happens at their first call. */
static etch_status look_at_kernels(const etch_cuda_program *program, etch_cuda_session *session) {
  uint32_t i;
  for (i = 0; i < program->kernel_count; i++) {
    const uint32_t *const items = program->kernels[i].items;
    struct cudaFuncAttributes attributes;
    const cudaError_t error = cudaFuncGetAttributes(&attributes, program->functions[i]);
    const uint64_t wanted = items[1] == 0u ? items[0] : (uint64_t)items[0] * items[1] * items[2];
    if (error != cudaSuccess) return failed(session, "cudaFuncGetAttributes", error);
    if (wanted > (uint64_t)attributes.maxThreadsPerBlock) return ETCH_CUDA_DEVICE;
  }
  return ETCH_OK;
}

static void clear(const etch_cuda_program *program, etch_cuda_session *session, const etch_cuda_setup *setup) {
  const uint32_t count = buffer_count(program);
  uint32_t i;
  session->stream = setup->stream;
  session->memory = NULL;
  session->staging = NULL;
  session->buffers = setup->buffers;
  session->arguments = setup->arguments;
  session->device = -1;
  session->is_open = 0;
  session->error = 0;
  session->function = NULL;
  for (i = 0; i < count; i++) session->buffers[i] = NULL;
}

static etch_status look_at_device(etch_cuda_session *session) {
  int device = -1;
  const cudaError_t error = cudaGetDevice(&device);
  session->device = device;
  return checked(session, "cudaGetDevice", error);
}

etch_status etch_cuda_open(const etch_cuda_program *program, etch_cuda_session *session, const etch_cuda_setup *setup) {
  const void *constants;
  etch_status status = ETCH_OK;
  if (program == NULL || session == NULL || setup == NULL || setup->buffers == NULL || setup->arguments == NULL) return ETCH_NULL;
  clear(program, session, setup);
  constants = setup->constants;
  if (setup->blob != NULL) status = etch_blob_open(setup->blob, setup->constants, &constants);
  if (status == ETCH_OK) status = look_at_device(session);
  if (status == ETCH_OK) status = look_at_kernels(program, session);
  if (status == ETCH_OK) status = make_buffers(program, session);
  if (status == ETCH_OK) status = make_staging(program, session);
  if (status == ETCH_OK) status = copy_constants(program, session, constants);
  if (status == ETCH_OK) status = reset_states(program, session);
  if (session->memory != NULL) { /* whatever happened: afterwards the GPU no longer reads the caller's weights */
    const etch_status waited = wait(session);
    if (status == ETCH_OK) status = waited;
  }
  if (status == ETCH_OK) session->is_open = 1;
  return status;
}

/* The stream is of one GPU, and kernels start on the current one. */
static etch_status same_device(etch_cuda_session *session) {
  int device = -1;
  const cudaError_t error = cudaGetDevice(&device);
  if (error != cudaSuccess) return failed(session, "cudaGetDevice", error);
  return device == session->device ? ETCH_OK : ETCH_CUDA_DEVICE;
}

etch_status etch_cuda_state_init(const etch_cuda_program *program, etch_cuda_session *session) {
  etch_status status;
  if (program == NULL || session == NULL) return ETCH_NULL;
  if (session->is_open == 0u) return ETCH_CUDA_CLOSED;
  status = same_device(session);
  if (status == ETCH_OK) status = reset_states(program, session);
  return status == ETCH_OK ? wait(session) : status;
}

etch_status etch_cuda_close(const etch_cuda_program *program, etch_cuda_session *session) {
  etch_status status = ETCH_OK;
  if (program == NULL || session == NULL) return ETCH_NULL;
  session->is_open = 0;
  if (session->staging != NULL) status = checked(session, "cudaFreeHost", cudaFreeHost(session->staging));
  session->staging = NULL;
  if (session->memory != NULL) {
    const etch_status freed = checked(session, "cudaFree", cudaFree(session->memory));
    if (status == ETCH_OK) status = freed;
  }
  session->memory = NULL;
  return status;
}

/* --- run -------------------------------------------------------------------------------------------------------------------- */

#if ETCH_CHECK_ARGUMENTS
static etch_status check_run(const etch_cuda_program *program, const etch_cuda_run_frame *frame) {
  const uint32_t count = io_count(program);
  uint32_t i;
  for (i = 0; i < count; i++) {
    if (frame->io[i] == NULL) return ETCH_NULL;
  }
  if (program->loop_count != 0u && frame->variables == NULL) return ETCH_NULL; /* no room for counters */
  return etch_check_ranges(program->variables, program->variable_count, frame->variables);
}
#endif

static uint32_t value_of(const etch_cuda_program *program, uint32_t size, const int32_t *variables) {
  return (size & ETCH_CUDA_SIZE) == 0u ? size : program->size_of(size - ETCH_CUDA_SIZE, variables);
}

static etch_status write_inputs(const etch_cuda_program *program, etch_cuda_session *session, const etch_cuda_run_frame *frame) {
  uint32_t i;
  for (i = 0; i < program->input_count; i++) {
    const uint32_t bytes = value_of(program, program->io[i].bytes, frame->variables);
    const etch_status status = copy(session, session->buffers[i], frame->io[i], bytes, cudaMemcpyHostToDevice);
    if (status != ETCH_OK) return status;
  }
  return ETCH_OK;
}

static etch_status read_outputs(const etch_cuda_program *program, etch_cuda_session *session, const etch_cuda_run_frame *frame) {
  const uint32_t count = io_count(program);
  uint32_t i;
  for (i = program->input_count; i < count; i++) {
    const uint32_t bytes = value_of(program, program->io[i].bytes, frame->variables);
    const etch_status status = copy(session, frame->io[i], session->buffers[i], bytes, cudaMemcpyDeviceToHost);
    if (status != ETCH_OK) return status;
  }
  return ETCH_OK;
}

/* Of anything but a variable. */
static void *buffer_of(const etch_cuda_program *program, const etch_cuda_session *session, etch_ref ref) {
  if (ref.pool == (uint8_t)ETCH_IO) return session->buffers[ref.at];
  if (ref.pool == (uint8_t)ETCH_CONST) return session->buffers[io_count(program) + ref.at];
  if (ref.pool == (uint8_t)ETCH_STATE) return session->buffers[first_state(program) + ref.at];
  return (unsigned char *)session->buffers[arena_index(program)] + ref.at;
}

static void set_arguments(const etch_cuda_program *program, etch_cuda_session *session, const etch_cuda_call *call, int32_t *variables) {
  void **const addresses = session->arguments + program->max_args;
  uint32_t i;
  for (i = 0; i < call->arg_count; i++) {
    const etch_ref ref = program->args[call->first_arg + i];
    if (ref.pool == (uint8_t)ETCH_VAR) {
      session->arguments[i] = &variables[ref.at];
    } else {
      addresses[i] = buffer_of(program, session, ref);
      session->arguments[i] = &addresses[i];
    }
  }
}

#define MOST_ITEMS_DEEP 64u /* in the third dimension of a block, says CUDA */

/* The largest number of threads, at most `most`, that divides `threads`. */
static uint32_t threads_of_block(uint32_t threads, uint32_t most) {
  uint32_t items = most < threads ? most : threads;
  for (; items > 1u; items--) {
    if (threads % items == 0u) break;
  }
  return items;
}

static etch_status start_call(const etch_cuda_program *program, etch_cuda_session *session, const etch_cuda_call *call,
                              int32_t *variables) {
  const etch_cuda_entry *const entry = &program->kernels[call->kernel];
  uint32_t groups[3];
  uint32_t items[3];
  uint32_t most = entry->items[0];
  uint32_t d;
  dim3 grid;
  dim3 block;
  for (d = 0; d < 3u; d++) {
    groups[d] = value_of(program, entry->groups[d], variables);
    items[d] = entry->items[d];
    if (groups[d] == 0u) return ETCH_OK; /* nothing to compute for these sizes */
    if (entry->items[1] != 0u) continue;
    items[d] = threads_of_block(groups[d], d == 2u && most > MOST_ITEMS_DEEP ? MOST_ITEMS_DEEP : most);
    groups[d] /= items[d];
    most /= items[d];
  }
  grid.x = groups[0];
  grid.y = groups[1];
  grid.z = groups[2];
  block.x = items[0];
  block.y = items[1];
  block.z = items[2];
  set_arguments(program, session, call, variables);
  return checked(session, "cudaLaunchKernel",
                 cudaLaunchKernel(program->functions[call->kernel], grid, block, session->arguments, 0, session->stream));
}

static uint32_t host_bytes(const etch_cuda_program *program, const etch_cuda_host_kernel *kernel, uint32_t buffer,
                           const int32_t *variables) {
  return value_of(program, program->host->bytes[kernel->first_bytes + buffer], variables);
}

/* A function in C gets its buffers in the staging memory, one behind the other. */
static void stage_arguments(const etch_cuda_program *program, etch_cuda_session *session, const etch_cuda_call *call,
                            const etch_cuda_host_kernel *kernel, int32_t *variables) {
  unsigned char *next = (unsigned char *)session->staging;
  uint32_t i;
  for (i = 0; i < kernel->buffers; i++) {
    session->arguments[i] = next;
    next += room_for(program, host_bytes(program, kernel, i, variables));
  }
  for (; i < call->arg_count; i++) session->arguments[i] = &variables[program->args[call->first_arg + i].at];
}

static etch_status call_function(const etch_cuda_program *program, etch_cuda_session *session, const etch_cuda_call *call,
                                 int32_t *variables) {
  const etch_cuda_host_kernel *const kernel = &program->host->kernels[call->kernel - program->kernel_count];
  const etch_ref *const args = &program->args[call->first_arg];
  etch_status status = ETCH_OK;
  uint32_t i;
  stage_arguments(program, session, call, kernel, variables);
  for (i = kernel->writes; i < kernel->buffers && status == ETCH_OK; i++)
    status = copy(session, session->arguments[i], buffer_of(program, session, args[i]), host_bytes(program, kernel, i, variables),
                  cudaMemcpyDeviceToHost);
  if (status == ETCH_OK) status = wait(session);
  if (status != ETCH_OK) return status;
  kernel->function(session->arguments);
  for (i = 0; i < kernel->writes && status == ETCH_OK; i++)
    status = copy(session, buffer_of(program, session, args[i]), session->arguments[i], host_bytes(program, kernel, i, variables),
                  cudaMemcpyHostToDevice);
  return status;
}

static etch_status start_calls(const etch_cuda_program *program, etch_cuda_session *session, const etch_cuda_run_frame *frame) {
  etch_walk walk;
  uint64_t left;
  left = etch_walk_begin(&walk, program->loops, program->loop_count, program->call_count, frame->variables, program->variable_count);
  for (; left > 0u; left--) {
    const etch_cuda_call *const call = &program->calls[walk.call];
    const etch_status status = call->kernel < program->kernel_count ? start_call(program, session, call, frame->variables)
                                                                    : call_function(program, session, call, frame->variables);
    if (status != ETCH_OK) return status;
#if ETCH_PROFILE
    if (frame->after != NULL) {
      const etch_status done = wait(session);
      if (done != ETCH_OK) return done;
      frame->after(frame->user, walk.call, buffer_of(program, session, program->args[call->first_arg]));
    }
#endif
    etch_walk_on(&walk);
  }
  return ETCH_OK;
}

etch_status etch_cuda_run(const etch_cuda_program *program, etch_cuda_session *session, const etch_cuda_run_frame *frame) {
  etch_status status;
  if (program == NULL || session == NULL || frame == NULL || frame->io == NULL) return ETCH_NULL;
  if (session->is_open == 0u) return ETCH_CUDA_CLOSED;
#if ETCH_CHECK_ARGUMENTS
  status = check_run(program, frame);
  if (status != ETCH_OK) return status;
#endif
  status = same_device(session);
  if (status != ETCH_OK) return status;
  status = write_inputs(program, session, frame);
  if (status == ETCH_OK) status = start_calls(program, session, frame);
  if (status == ETCH_OK) status = read_outputs(program, session, frame);
  if (status != ETCH_OK) {
    (void)cudaStreamSynchronize(session->stream); /* afterwards the GPU no longer uses the caller's memory */
    return status;
  }
  return wait(session);
}
