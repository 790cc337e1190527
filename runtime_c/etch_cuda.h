/* etch runtime for CUDA: what a model emitted for an NVIDIA GPU needs beside etch_runtime. C99, no heap, no mutable state of its
 * own, no recursion; it does not include CUDA's headers, only etch_cuda.c does. CUDA 11.8 or newer
 * for all architectures of the emitted CMakeLists.txt.
 *
 * A model is data here too: a table of kernels with their blocks, and a table of calls with places for their arguments.
 * NAME_open makes all memory on the GPU, one block of it; NAME_run copies the inputs, starts every call, copies the outputs back
 * and waits; NAME_close gives everything back. A kernel may also be a function in C: NAME_run copies its inputs back, waits for
 * them, calls it and copies its outputs to the GPU, by way of memory of the processor that NAME_open has made.
 *
 *   static kws_session session;
 *   if (kws_open(&session, stream) == ETCH_OK) status = kws_run(&session, features, scores);
 *   kws_close(&session);
 *
 * All goes through one stream, the caller's, which stays until close. The GPU is the one that is current (cudaSetDevice) at open;
 * it has to be current at run, too. A session is used by one thread at a time and is not moved while it is open; two sessions
 * know nothing of each other. */
#ifndef ETCH_CUDA_H
#define ETCH_CUDA_H

#include "etch_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* CUDA's own type: a cudaStream_t is an etch_cuda_stream. Null: the default stream. */
typedef struct CUstream_st *etch_cuda_stream;

/* --- program: its argument table is that of etch_runtime.h, only `at` of an ETCH_CONST is the number of a constant --------- */

/* A size is a number below it, or it plus the number of an expression of the variables, which etch_cuda_size_of computes. */
#define ETCH_CUDA_SIZE 0x80000000u

typedef uint32_t (*etch_cuda_size_of)(uint32_t number, const int32_t *variables);

typedef struct {
  uint32_t groups[3]; /* blocks: sizes */
  uint32_t items[3];  /* threads in each; items[1] is 0: `groups` counts threads, of which a block gets at most items[0] */
} etch_cuda_entry;

typedef struct {
  uint32_t kernel; /* into the program's kernels, and behind them into those of the host */
  uint32_t first_arg;
  uint32_t arg_count;
} etch_cuda_call;

/* A kernel that is a function in C: those of its buffers that it writes come first. */
typedef struct {
  etch_kernel function;
  uint32_t first_bytes; /* into the host's bytes */
  uint32_t writes;
  uint32_t buffers;
} etch_cuda_host_kernel;

/* What the processor computes between kernels of the GPU. */
typedef struct {
  const etch_cuda_host_kernel *kernels;
  const uint32_t *bytes;  /* of each of their buffers: sizes */
  uint32_t staging_bytes; /* for the buffers of one call at most, each at a multiple of the program's align */
} etch_cuda_host;

/* Bytes of the constants. */
typedef struct {
  uint32_t at;
  uint32_t bytes;
} etch_cuda_span;

/* An input or output: bytes at their most, and the size in bytes. */
typedef struct {
  uint32_t most;
  uint32_t bytes;
} etch_cuda_io;

#define ETCH_CUDA_ZERO 0xffffffffu

/* A state: its bytes, and the number of the constant that it starts with (ETCH_CUDA_ZERO: all its bytes are 0). */
typedef struct {
  uint32_t bytes;
  uint32_t first;
} etch_cuda_state;

typedef struct {
  const void *const *functions; /* the kernels, as cudaLaunchKernel takes them */
  const etch_cuda_entry *kernels;
  const etch_cuda_call *calls;
  const etch_ref *args;
  const etch_loop *loops;          /* as in etch_program */
  const etch_range *variables;     /* null: all sizes are fixed */
  etch_cuda_size_of size_of;       /* null: likewise */
  const etch_cuda_io *io;          /* inputs, then outputs */
  const etch_cuda_span *constants; /* null: there are none */
  const etch_cuda_state *states;   /* null: there are none */
  const etch_cuda_host *host;      /* null: every kernel runs on the GPU */
  uint32_t kernel_count;
  uint32_t call_count;
  uint32_t loop_count;
  uint32_t variable_count;
  uint32_t input_count;
  uint32_t output_count;
  uint32_t constant_count;
  uint32_t state_count;
  uint32_t max_args; /* of a call */
  uint32_t arena_bytes;
  uint32_t align; /* every buffer on the GPU starts at a multiple of it: a power of two, at most 256 */
} etch_cuda_program;

/* --- session ------------------------------------------------------------------------------------------------------------ */

/* What is kept from open to close; a NAME_session holds it and the arrays that it points to. */
typedef struct {
  etch_cuda_stream stream;
  void *memory;     /* all of the session's memory on the GPU */
  void *staging;    /* memory of the processor that the GPU copies from and to, for functions in C; null: no kernel is one */
  void **buffers;   /* in it: inputs, outputs, constants, states, and the arena */
  void **arguments; /* of one call: where each is, then the addresses of the buffers among them */
  int32_t device;   /* the GPU's number */
  uint32_t is_open;
  int32_t error;        /* CUDA's code (cudaError_t) of the call that failed last, 0: none did */
  const char *function; /* its name: "cudaMalloc"; null: none failed */
} etch_cuda_session;

/* What etch_cuda_open is given beside program and session. */
typedef struct {
  etch_cuda_stream stream;
  void **buffers;             /* room for all buffers */
  void **arguments;           /* room for twice the program's max_args */
  const void *constants;      /* copied to the GPU; null: there are none */
  const etch_blob_info *blob; /* null: `constants` is their address, else that of a blob which holds them */
} etch_cuda_setup;

/* After each call, with ETCH_PROFILE, when the GPU has done it: `call` counts from 0, `output` is what was written, on the GPU. */
typedef void (*etch_cuda_after_call)(void *user, uint32_t call, const void *output);

/* What one run works with; NAME_run fills it in. */
typedef struct {
  void *const *io;            /* inputs, then outputs */
  int32_t *variables;         /* as in etch_frame */
  etch_cuda_after_call after; /* may be null; unused without ETCH_PROFILE */
  void *user;
} etch_cuda_run_frame;

/* The session needs no content before. After an error it still has to be closed, which gives back what had been made. */
etch_status etch_cuda_open(const etch_cuda_program *program, etch_cuda_session *session, const etch_cuda_setup *setup);

/* As etch_run: a name for each form of the structs above, of which this is the fifth, and value of ETCH_PROFILE. */
#if ETCH_PROFILE
#define etch_cuda_run etch_cuda_run_abi5_profile
#else
#define etch_cuda_run etch_cuda_run_abi5
#endif

/* Arguments are tested first: when one is wrong, nothing has been written. Returns when the outputs are there. Allocates nothing. */
etch_status etch_cuda_run(const etch_cuda_program *program, etch_cuda_session *session, const etch_cuda_run_frame *frame);

/* Gives the states their first values, as etch_cuda_open does. */
etch_status etch_cuda_state_init(const etch_cuda_program *program, etch_cuda_session *session);

/* Gives back all that open made; once more does nothing. Only after an open, whatever came of it. */
etch_status etch_cuda_close(const etch_cuda_program *program, etch_cuda_session *session);

#ifdef __cplusplus
}
#endif

#endif
