/* etch runtime for OpenCL; see etch_opencl.h. */
#include "etch_opencl.h"

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#if defined(__APPLE__)
#include <OpenCL/opencl.h>
#else
#include <CL/cl.h>
#endif

static etch_status failed(etch_cl_session *session, const char *function, cl_int error) {
  session->error = error;
  session->function = function;
  return ETCH_CL_ERROR;
}

/* --- buffers, in the order of the session's array ------------------------------------------------------------------------ */

static uint32_t io_count(const etch_cl_program *program) { return program->input_count + program->output_count; }
static uint32_t first_state(const etch_cl_program *program) { return io_count(program) + program->constant_count; }
static uint32_t first_region(const etch_cl_program *program) { return first_state(program) + program->state_count; }
static uint32_t arena_index(const etch_cl_program *program) { return first_region(program) + program->region_count; }
static uint32_t buffer_count(const etch_cl_program *program) { return arena_index(program) + 1u; }

/* OpenCL has no buffers of 0 bytes. */
static size_t at_least_1(uint32_t bytes) { return bytes == 0u ? 1u : (size_t)bytes; }

static etch_status make_buffer(etch_cl_session *session, uint32_t index, cl_mem_flags flags, uint32_t bytes) {
  cl_int error = CL_SUCCESS;
  session->buffers[index] = clCreateBuffer(session->context, flags, at_least_1(bytes), NULL, &error);
  return error == CL_SUCCESS ? ETCH_OK : failed(session, "clCreateBuffer", error);
}

static etch_status make_constants(const etch_cl_program *program, etch_cl_session *session, const void *constants) {
  uint32_t i;
  if (program->constant_count != 0u && constants == NULL) return ETCH_NULL;
  for (i = 0; i < program->constant_count; i++) {
    const etch_cl_span *const span = &program->constants[i];
    const uint32_t index = io_count(program) + i;
    cl_int error = CL_SUCCESS;
    const etch_status status = make_buffer(session, index, CL_MEM_READ_ONLY, span->bytes);
    if (status != ETCH_OK) return status;
    if (span->bytes == 0u) continue;
    error = clEnqueueWriteBuffer(session->queue, session->buffers[index], CL_TRUE, 0, span->bytes,
                                 (const unsigned char *)constants + span->at, 0, NULL, NULL);
    if (error != CL_SUCCESS) return failed(session, "clEnqueueWriteBuffer", error);
  }
  return ETCH_OK;
}

/* Regions are parts of one buffer, the arena, planned offline. A device that wants them at larger steps gets a buffer for
 * each instead: more memory, the same results. */
static etch_status make_regions(const etch_cl_program *program, etch_cl_session *session) {
  cl_uint bits = 0;
  uint32_t i;
  int is_shared;
  cl_int error = clGetDeviceInfo(session->device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, NULL);
  if (error != CL_SUCCESS) return failed(session, "clGetDeviceInfo", error);
  is_shared = bits / 8u <= program->arena_align;
  if (is_shared && program->region_count != 0u) {
    const etch_status status = make_buffer(session, arena_index(program), CL_MEM_READ_WRITE, program->arena_bytes);
    if (status != ETCH_OK) return status;
  }
  for (i = 0; i < program->region_count; i++) {
    const etch_cl_span *const span = &program->regions[i];
    const uint32_t index = first_region(program) + i;
    if (is_shared && span->bytes != 0u) {
      cl_buffer_region part;
      part.origin = span->at;
      part.size = span->bytes;
      session->buffers[index] = clCreateSubBuffer(session->buffers[arena_index(program)], CL_MEM_READ_WRITE,
                                                  CL_BUFFER_CREATE_TYPE_REGION, &part, &error);
      if (error != CL_SUCCESS) return failed(session, "clCreateSubBuffer", error);
    } else {
      const etch_status status = make_buffer(session, index, CL_MEM_READ_WRITE, span->bytes);
      if (status != ETCH_OK) return status;
    }
  }
  return ETCH_OK;
}

static etch_status make_states(const etch_cl_program *program, etch_cl_session *session) {
  uint32_t i;
  for (i = 0; i < program->state_count; i++) {
    const etch_status status = make_buffer(session, first_state(program) + i, CL_MEM_READ_WRITE, program->states[i].bytes);
    if (status != ETCH_OK) return status;
  }
  return ETCH_OK;
}

static etch_status reset_states(const etch_cl_program *program, etch_cl_session *session) {
  static const uint8_t zero = 0;
  uint32_t i;
  cl_int error;
  for (i = 0; i < program->state_count; i++) {
    const etch_cl_state *const state = &program->states[i];
    const etch_cl_mem buffer = session->buffers[first_state(program) + i];
    if (state->first == ETCH_CL_ZERO) {
      error = clEnqueueFillBuffer(session->queue, buffer, &zero, sizeof zero, 0, state->bytes, 0, NULL, NULL);
    } else {
      error = clEnqueueCopyBuffer(session->queue, session->buffers[io_count(program) + state->first], buffer, 0, 0, state->bytes, 0, NULL,
                                  NULL);
    }
    if (error != CL_SUCCESS) return failed(session, "a state's first values", error);
  }
  error = clFinish(session->queue);
  return error == CL_SUCCESS ? ETCH_OK : failed(session, "clFinish", error);
}

static etch_status make_io(const etch_cl_program *program, etch_cl_session *session) {
  const uint32_t count = io_count(program);
  uint32_t i;
  for (i = 0; i < count; i++) {
    const etch_status status = make_buffer(session, i, CL_MEM_READ_WRITE, program->io[i].most);
    if (status != ETCH_OK) return status;
  }
  return ETCH_OK;
}

/* --- kernels -------------------------------------------------------------------------------------------------------------- */

static etch_status build(const etch_cl_program *program, etch_cl_session *session) {
  cl_int error = CL_SUCCESS;
  if (program->kernel_count == 0u) return ETCH_OK;
  /* OpenCL's parameter lacks a const; it only reads the text. */
  session->built = clCreateProgramWithSource(session->context, program->text_count, (const char **)(uintptr_t)program->text, NULL, &error);
  if (error != CL_SUCCESS) return failed(session, "clCreateProgramWithSource", error);
  error = clBuildProgram(session->built, 1, &session->device, "-cl-std=CL1.2", NULL, NULL);
  if (error == CL_SUCCESS) return ETCH_OK;
  (void)failed(session, "clBuildProgram", error);
  return error == CL_BUILD_PROGRAM_FAILURE ? ETCH_CL_BUILD : ETCH_CL_ERROR;
}

static etch_status make_kernels(const etch_cl_program *program, etch_cl_session *session) {
  uint32_t i;
  for (i = 0; i < program->kernel_count; i++) {
    const etch_cl_entry *const entry = &program->kernels[i];
    cl_int error = CL_SUCCESS;
    size_t most = 0;
    session->kernels[i] = clCreateKernel(session->built, entry->name, &error);
    if (error != CL_SUCCESS) return failed(session, "clCreateKernel", error);
    error = clGetKernelWorkGroupInfo(session->kernels[i], session->device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL);
    if (error != CL_SUCCESS) return failed(session, "clGetKernelWorkGroupInfo", error);
    if ((size_t)entry->items[0] * entry->items[1] * entry->items[2] > most) return ETCH_CL_DEVICE;
  }
  return ETCH_OK;
}

/* --- open and close --------------------------------------------------------------------------------------------------------- */

static void clear(const etch_cl_program *program, etch_cl_session *session, const etch_cl_setup *setup) {
  const uint32_t count = buffer_count(program);
  uint32_t i;
  session->context = setup->context;
  session->device = setup->device;
  session->queue = setup->queue;
  session->built = NULL;
  session->kernels = setup->kernels;
  session->buffers = setup->buffers;
  session->arguments = program->host == NULL ? NULL : setup->arguments;
  session->barriers = 0;
  session->is_open = 0;
  session->error = 0;
  session->function = NULL;
  for (i = 0; i < program->kernel_count; i++) session->kernels[i] = NULL;
  for (i = 0; i < count; i++) session->buffers[i] = NULL;
}

static etch_status look_at_queue(etch_cl_session *session) {
  cl_command_queue_properties properties = 0;
  const cl_int error = clGetCommandQueueInfo(session->queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
  if (error != CL_SUCCESS) return failed(session, "clGetCommandQueueInfo", error);
  session->barriers = (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0 ? 1u : 0u;
  return ETCH_OK;
}

etch_status etch_cl_open(const etch_cl_program *program, etch_cl_session *session, const etch_cl_setup *setup) {
  const void *constants;
  etch_status status = ETCH_OK;
  if (program == NULL || session == NULL || setup == NULL || setup->kernels == NULL || setup->buffers == NULL) return ETCH_NULL;
  clear(program, session, setup);
  if (setup->context == NULL || setup->device == NULL || setup->queue == NULL) return ETCH_NULL;
  if (program->host != NULL && session->arguments == NULL) return ETCH_NULL;
  constants = setup->constants;
  if (setup->blob != NULL) status = etch_blob_open(setup->blob, setup->constants, &constants);
  if (status == ETCH_OK) status = look_at_queue(session);
  if (status == ETCH_OK) status = build(program, session);
  if (status == ETCH_OK) status = make_kernels(program, session);
  if (status == ETCH_OK) status = make_io(program, session);
  if (status == ETCH_OK) status = make_regions(program, session);
  if (status == ETCH_OK) status = make_constants(program, session, constants);
  if (status == ETCH_OK) status = make_states(program, session);
  if (status == ETCH_OK) status = reset_states(program, session);
  if (status == ETCH_OK) session->is_open = 1;
  return status;
}

etch_status etch_cl_state_init(const etch_cl_program *program, etch_cl_session *session) {
  if (program == NULL || session == NULL) return ETCH_NULL;
  return session->is_open == 0u ? ETCH_CL_CLOSED : reset_states(program, session);
}

static etch_status worse(etch_cl_session *session, etch_status status, const char *function, cl_int error) {
  return error == CL_SUCCESS ? status : failed(session, function, error);
}

etch_status etch_cl_close(const etch_cl_program *program, etch_cl_session *session) {
  etch_status status = ETCH_OK;
  uint32_t count;
  uint32_t i;
  if (program == NULL || session == NULL) return ETCH_NULL;
  if (session->kernels == NULL || session->buffers == NULL) return ETCH_OK;
  session->is_open = 0;
  count = buffer_count(program);
  for (i = 0; i < count; i++) { /* the arena after its regions */
    if (session->buffers[i] != NULL) status = worse(session, status, "clReleaseMemObject", clReleaseMemObject(session->buffers[i]));
    session->buffers[i] = NULL;
  }
  for (i = 0; i < program->kernel_count; i++) {
    if (session->kernels[i] != NULL) status = worse(session, status, "clReleaseKernel", clReleaseKernel(session->kernels[i]));
    session->kernels[i] = NULL;
  }
  if (session->built != NULL) status = worse(session, status, "clReleaseProgram", clReleaseProgram(session->built));
  session->built = NULL;
  return status;
}

etch_status etch_cl_build_log(const etch_cl_session *session, char *text, size_t bytes) {
  size_t length = 0;
  if (session == NULL || text == NULL || bytes == 0u) return ETCH_NULL;
  text[0] = '\0';
  if (session->built == NULL) return ETCH_CL_CLOSED;
  if (clGetProgramBuildInfo(session->built, session->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &length) != CL_SUCCESS) return ETCH_CL_ERROR;
  if (length <= bytes) {
    if (clGetProgramBuildInfo(session->built, session->device, CL_PROGRAM_BUILD_LOG, bytes, text, NULL) != CL_SUCCESS) return ETCH_CL_ERROR;
    if (length == 0u) text[0] = '\0';
    return ETCH_OK;
  }
  return ETCH_NO_SPACE; /* OpenCL hands the log out whole */
}

/* --- run -------------------------------------------------------------------------------------------------------------------- */

#if ETCH_CHECK_ARGUMENTS
static etch_status check_run(const etch_cl_program *program, const etch_cl_run_frame *frame) {
  const uint32_t count = io_count(program);
  uint32_t i;
  for (i = 0; i < count; i++) {
    if (frame->io[i] == NULL) return ETCH_NULL;
  }
  if (program->loop_count != 0u && frame->variables == NULL) return ETCH_NULL; /* no room for counters */
  return etch_check_ranges(program->variables, program->variable_count, frame->variables);
}
#endif

static uint32_t value_of(const etch_cl_program *program, uint32_t size, const int32_t *variables) {
  return (size & ETCH_CL_SIZE) == 0u ? size : program->size_of(size - ETCH_CL_SIZE, variables);
}

static etch_status barrier(etch_cl_session *session) {
  const cl_int error = session->barriers != 0u ? clEnqueueBarrierWithWaitList(session->queue, 0, NULL, NULL) : CL_SUCCESS;
  return worse(session, ETCH_OK, "clEnqueueBarrierWithWaitList", error);
}

static etch_status write_inputs(const etch_cl_program *program, etch_cl_session *session, const etch_cl_run_frame *frame) {
  uint32_t i;
  for (i = 0; i < program->input_count; i++) {
    const uint32_t bytes = value_of(program, program->io[i].bytes, frame->variables);
    cl_int error = CL_SUCCESS;
    if (bytes != 0u)
      error = clEnqueueWriteBuffer(session->queue, session->buffers[i], CL_FALSE, 0, bytes, frame->io[i], 0, NULL, NULL);
    if (error != CL_SUCCESS) return failed(session, "clEnqueueWriteBuffer", error);
  }
  return barrier(session);
}

static etch_status read_outputs(const etch_cl_program *program, etch_cl_session *session, const etch_cl_run_frame *frame) {
  const uint32_t count = io_count(program);
  uint32_t i;
  for (i = program->input_count; i < count; i++) {
    const uint32_t bytes = value_of(program, program->io[i].bytes, frame->variables);
    cl_int error = CL_SUCCESS;
    if (bytes != 0u)
      error = clEnqueueReadBuffer(session->queue, session->buffers[i], CL_FALSE, 0, bytes, frame->io[i], 0, NULL, NULL);
    if (error != CL_SUCCESS) return failed(session, "clEnqueueReadBuffer", error);
  }
  return ETCH_OK;
}

static etch_cl_mem buffer_of(const etch_cl_program *program, const etch_cl_session *session, etch_ref ref) {
  if (ref.pool == (uint8_t)ETCH_IO) return session->buffers[ref.at];
  if (ref.pool == (uint8_t)ETCH_CONST) return session->buffers[io_count(program) + ref.at];
  if (ref.pool == (uint8_t)ETCH_STATE) return session->buffers[first_state(program) + ref.at];
  if (ref.pool == (uint8_t)ETCH_ARENA) return session->buffers[first_region(program) + ref.at];
  return NULL; /* ETCH_VAR */
}

static etch_status set_arguments(const etch_cl_program *program, etch_cl_session *session, const etch_cl_call *call,
                                 const int32_t *variables) {
  const etch_cl_kernel kernel = session->kernels[call->kernel];
  uint32_t i;
  for (i = 0; i < call->arg_count; i++) {
    const etch_ref ref = program->args[call->first_arg + i];
    const etch_cl_mem buffer = buffer_of(program, session, ref);
    const cl_int error = ref.pool == (uint8_t)ETCH_VAR ? clSetKernelArg(kernel, i, sizeof variables[0], &variables[ref.at])
                                                       : clSetKernelArg(kernel, i, sizeof buffer, &buffer);
    if (error != CL_SUCCESS) return failed(session, "clSetKernelArg", error);
  }
  return ETCH_OK;
}

static etch_status start_call(const etch_cl_program *program, etch_cl_session *session, const etch_cl_call *call,
                              const int32_t *variables) {
  const etch_cl_entry *const entry = &program->kernels[call->kernel];
  size_t global[3];
  size_t local[3];
  uint32_t d;
  cl_int error;
  const etch_status status = set_arguments(program, session, call, variables);
  if (status != ETCH_OK) return status;
  for (d = 0; d < 3u; d++) {
    local[d] = entry->items[d];
    global[d] = (size_t)value_of(program, entry->groups[d], variables) * (local[d] == 0u ? 1u : local[d]);
  }
  if (global[0] == 0u || global[1] == 0u || global[2] == 0u) return ETCH_OK; /* nothing to compute for these sizes */
  error = clEnqueueNDRangeKernel(session->queue, session->kernels[call->kernel], 3, NULL, global, local[0] == 0u ? NULL : local, 0, NULL,
                                 NULL);
  if (error != CL_SUCCESS) return failed(session, "clEnqueueNDRangeKernel", error);
  return barrier(session);
}

/* Maps the buffers of a call of a function in C, and counts those that are mapped. Where commands run in order, the last one comes
 * behind all others. */
static etch_status map_buffers(const etch_cl_program *program, etch_cl_session *session, const etch_cl_call *call,
                               const int32_t *variables, uint32_t *mapped) {
  const etch_cl_host_kernel *const kernel = &program->host->kernels[call->kernel - program->kernel_count];
  uint32_t i;
  for (i = 0; i < kernel->buffers; i++) {
    const uint32_t bytes = value_of(program, program->host->bytes[kernel->first_bytes + i], variables);
    const cl_map_flags access = i < kernel->writes ? CL_MAP_WRITE_INVALIDATE_REGION : CL_MAP_READ;
    const cl_bool waits = i + 1u == kernel->buffers || session->barriers != 0u ? CL_TRUE : CL_FALSE;
    cl_int error = CL_SUCCESS;
    session->arguments[i] = clEnqueueMapBuffer(session->queue, buffer_of(program, session, program->args[call->first_arg + i]), waits,
                                               access, 0, at_least_1(bytes), 0, NULL, NULL, &error);
    if (error != CL_SUCCESS) return failed(session, "clEnqueueMapBuffer", error);
    *mapped = i + 1u;
  }
  return ETCH_OK;
}

/* Gives the first `mapped` buffers of the call back to the device, also after an error, which stays the one that is told. */
static etch_status unmap_buffers(const etch_cl_program *program, etch_cl_session *session, const etch_cl_call *call, uint32_t mapped,
                                 etch_status status) {
  uint32_t i;
  for (i = 0; i < mapped; i++) {
    const etch_cl_mem buffer = buffer_of(program, session, program->args[call->first_arg + i]);
    const cl_int error = clEnqueueUnmapMemObject(session->queue, buffer, session->arguments[i], 0, NULL, NULL);
    if (status == ETCH_OK) status = worse(session, status, "clEnqueueUnmapMemObject", error);
  }
  return status == ETCH_OK ? barrier(session) : status;
}

static etch_status call_function(const etch_cl_program *program, etch_cl_session *session, const etch_cl_call *call, int32_t *variables) {
  const etch_cl_host_kernel *const kernel = &program->host->kernels[call->kernel - program->kernel_count];
  uint32_t mapped = 0;
  uint32_t i;
  const etch_status status = map_buffers(program, session, call, variables, &mapped);
  if (status == ETCH_OK) {
    for (i = kernel->buffers; i < call->arg_count; i++) session->arguments[i] = &variables[program->args[call->first_arg + i].at];
    kernel->function(session->arguments);
  }
  return unmap_buffers(program, session, call, mapped, status);
}

static etch_status start_calls(const etch_cl_program *program, etch_cl_session *session, const etch_cl_run_frame *frame) {
  etch_walk walk;
  uint64_t left;
  left = etch_walk_begin(&walk, program->loops, program->loop_count, program->call_count, frame->variables, program->variable_count);
  for (; left > 0u; left--) {
    const etch_cl_call *const call = &program->calls[walk.call];
    const etch_status status = call->kernel < program->kernel_count ? start_call(program, session, call, frame->variables)
                                                                    : call_function(program, session, call, frame->variables);
    if (status != ETCH_OK) return status;
#if ETCH_PROFILE
    if (frame->after != NULL) {
      const cl_int error = clFinish(session->queue);
      if (error != CL_SUCCESS) return failed(session, "clFinish", error);
      frame->after(frame->user, walk.call, buffer_of(program, session, program->args[call->first_arg]));
    }
#endif
    etch_walk_on(&walk);
  }
  return ETCH_OK;
}

etch_status etch_cl_run(const etch_cl_program *program, etch_cl_session *session, const etch_cl_run_frame *frame) {
  etch_status status;
  cl_int error;
  if (program == NULL || session == NULL || frame == NULL || frame->io == NULL) return ETCH_NULL;
  if (session->is_open == 0u) return ETCH_CL_CLOSED;
#if ETCH_CHECK_ARGUMENTS
  status = check_run(program, frame);
  if (status != ETCH_OK) return status;
#endif
  status = write_inputs(program, session, frame);
  if (status == ETCH_OK) status = start_calls(program, session, frame);
  if (status == ETCH_OK) status = read_outputs(program, session, frame);
  /* Whatever happened: afterwards the device no longer uses the caller's memory. */
  error = clFinish(session->queue);
  return status == ETCH_OK ? worse(session, status, "clFinish", error) : status;
}
