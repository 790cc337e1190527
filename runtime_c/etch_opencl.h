/* etch runtime for OpenCL 1.2: what a model emitted for OpenCL needs beside etch_runtime. C99, no heap, no mutable state of
 * its own, no recursion; it does not include OpenCL's headers, only etch_opencl.c does.
 *
 * A model is data here too: a table of kernels with their work-groups, and a table of calls with places for their arguments.
 * NAME_open builds the kernels and makes all memory on the device; NAME_run writes the inputs, starts every call, reads the
 * outputs and waits; NAME_close gives everything back. A kernel may also be a function in C: NAME_run waits for its inputs and
 * calls it on the mapped buffers.
 *
 *   static kws_session session;
 *   if (kws_open(&session, context, device, queue) == ETCH_OK) status = kws_run(&session, features, scores);
 *   kws_close(&session);
 *
 * Context, device and queue are the caller's and stay until close. A session is used by one thread at a time and is not
 * moved while it is open; two sessions know nothing of each other. */
#ifndef ETCH_OPENCL_H
#define ETCH_OPENCL_H

#include "etch_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* OpenCL's own types, whose names its headers give to these pointers: a cl_mem is an etch_cl_mem. */
typedef struct _cl_context *etch_cl_context;
typedef struct _cl_device_id *etch_cl_device;
typedef struct _cl_command_queue *etch_cl_queue;
typedef struct _cl_program *etch_cl_built;
typedef struct _cl_kernel *etch_cl_kernel;
typedef struct _cl_mem *etch_cl_mem;

/* --- program: its argument table is that of etch_runtime.h, only `at` of an ETCH_ARENA is the number of a region, and of an
 * ETCH_CONST the number of a constant ------------------------------------------------------------------------------------ */

/* A size is a number below it, or it plus the number of an expression of the variables, which etch_cl_size_of computes. */
#define ETCH_CL_SIZE 0x80000000u

typedef uint32_t (*etch_cl_size_of)(uint32_t number, const int32_t *variables);

typedef struct {
  const char *name;
  uint32_t groups[3]; /* work-groups: sizes */
  uint32_t items[3];  /* work-items in each; all 0: the driver puts the groups, of one item each, together */
} etch_cl_entry;

typedef struct {
  uint32_t kernel; /* into the program's kernels, and behind them into those of the host */
  uint32_t first_arg;
  uint32_t arg_count;
} etch_cl_call;

/* A kernel that is a function in C: those of its buffers that it writes come first. */
typedef struct {
  etch_kernel function;
  uint32_t first_bytes; /* into the host's bytes */
  uint32_t writes;
  uint32_t buffers;
} etch_cl_host_kernel;

/* What the processor computes between kernels of the device. */
typedef struct {
  const etch_cl_host_kernel *kernels;
  const uint32_t *bytes; /* of each of their buffers: sizes */
} etch_cl_host;

/* Bytes of the arena, or of the constants. */
typedef struct {
  uint32_t at;
  uint32_t bytes;
} etch_cl_span;

/* An input or output: bytes at their most, and the size in bytes. */
typedef struct {
  uint32_t most;
  uint32_t bytes;
} etch_cl_io;

#define ETCH_CL_ZERO 0xffffffffu

/* A state: its bytes, and the number of the constant that it starts with (ETCH_CL_ZERO: all its bytes are 0). */
typedef struct {
  uint32_t bytes;
  uint32_t first;
} etch_cl_state;

typedef struct {
  const char *const *text; /* the kernels, in pieces */
  const etch_cl_entry *kernels;
  const etch_cl_call *calls;
  const etch_ref *args;
  const etch_loop *loops;        /* as in etch_program */
  const etch_range *variables;   /* null: all sizes are fixed */
  etch_cl_size_of size_of;       /* null: likewise */
  const etch_cl_io *io;          /* inputs, then outputs */
  const etch_cl_span *constants; /* null: there are none */
  const etch_cl_span *regions;   /* of the arena; null: there are none */
  const etch_cl_state *states;   /* null: there are none */
  const etch_cl_host *host;      /* null: every kernel runs on the device */
  uint32_t text_count;
  uint32_t kernel_count;
  uint32_t call_count;
  uint32_t loop_count;
  uint32_t variable_count;
  uint32_t input_count;
  uint32_t output_count;
  uint32_t constant_count;
  uint32_t region_count;
  uint32_t state_count;
  uint32_t arena_bytes;
  uint32_t arena_align; /* every region starts at a multiple of it */
} etch_cl_program;

/* --- session ------------------------------------------------------------------------------------------------------------ */

/* What is kept from open to close; a NAME_session holds it and the arrays that it points to. */
typedef struct {
  etch_cl_context context;
  etch_cl_device device;
  etch_cl_queue queue;
  etch_cl_built built;
  etch_cl_kernel *kernels;
  etch_cl_mem *buffers; /* inputs, outputs, constants, states, regions, and the arena that regions are parts of */
  void **arguments;     /* of one call of a function in C: where its buffers are mapped; null: no kernel is one */
  uint32_t barriers;    /* 1: the queue may change the order of commands, so a barrier stands between them */
  uint32_t is_open;
  int32_t error;        /* OpenCL's code of the call that failed last, 0: none did */
  const char *function; /* its name: "clBuildProgram"; null: none failed */
} etch_cl_session;

/* What etch_cl_open is given beside program and session. */
typedef struct {
  etch_cl_context context;
  etch_cl_device device;
  etch_cl_queue queue;
  etch_cl_kernel *kernels;    /* room for the program's kernels */
  etch_cl_mem *buffers;       /* room for all buffers */
  void **arguments;           /* room for those of the function in C that has most; not looked at where no kernel is one */
  const void *constants;      /* copied to the device; null: there are none */
  const etch_blob_info *blob; /* null: `constants` is their address, else that of a blob which holds them */
} etch_cl_setup;

/* After each call, with ETCH_PROFILE, when the device has done it: `call` counts from 0, `output` is what was written. */
typedef void (*etch_cl_after_call)(void *user, uint32_t call, etch_cl_mem output);

/* What one run works with; NAME_run fills it in. */
typedef struct {
  void *const *io;          /* inputs, then outputs */
  int32_t *variables;       /* as in etch_frame */
  etch_cl_after_call after; /* may be null; unused without ETCH_PROFILE */
  void *user;
} etch_cl_run_frame;

/* The session needs no content before. After an error it still has to be closed, which gives back what had been made; until
 * then the build log can be read. */
etch_status etch_cl_open(const etch_cl_program *program, etch_cl_session *session, const etch_cl_setup *setup);

/* As etch_run: a name for each form of the structs above, of which this is the fifth, and value of ETCH_PROFILE. */
#if ETCH_PROFILE
#define etch_cl_run etch_cl_run_abi5_profile
#else
#define etch_cl_run etch_cl_run_abi5
#endif

/* Arguments are tested first: when one is wrong, nothing has been written. Returns when the outputs are there. */
etch_status etch_cl_run(const etch_cl_program *program, etch_cl_session *session, const etch_cl_run_frame *frame);

/* Gives the states their first values, as etch_cl_open does. */
etch_status etch_cl_state_init(const etch_cl_program *program, etch_cl_session *session);

/* Gives back all that open made; once more does nothing. Only after an open, whatever came of it. */
etch_status etch_cl_close(const etch_cl_program *program, etch_cl_session *session);

/* What the device's compiler said, ended by a 0; after ETCH_CL_BUILD, or for its warnings. ETCH_NO_SPACE: it is longer. */
etch_status etch_cl_build_log(const etch_cl_session *session, char *text, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
