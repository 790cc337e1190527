/* etch runtime: what every emitted model needs on the target. C99, no heap, no mutable state of its own, no recursion.
 *
 * A model is data: a program table whose rows are kernel calls, with places for their arguments. etch_run walks the table.
 *
 *   ETCH_ALIGNED(KWS_ARENA_ALIGN) static unsigned char arena[KWS_ARENA_BYTES];
 *   if (kws_run(arena, sizeof arena, features, scores) != ETCH_OK) { ... }
 *
 * All memory that is written belongs to the caller: arena, outputs, and the state of models that have one. Two runs with two
 * arenas, and two states where the model has one, may overlap in time. */
#ifndef ETCH_RUNTIME_H
#define ETCH_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ETCH_RUNTIME_ABI 4 /* emitted headers refuse another number */

/* --- options: set them on the compiler's command line, the same for all files of the image ---------------------------- */

/* Where constants live, for weights emitted as C. Example: -D'ETCH_CONST_SECTION=__attribute__((section(".qspi")))' moves
 * them to external flash: internal flash is saved, each read costs the external access time. */
#ifndef ETCH_CONST_SECTION
#define ETCH_CONST_SECTION
#endif

/* Where the compiler keeps constants that are not to be copied into RAM at start-up, as avr-gcc in __memx: the qualifier of pointers to
 * them, and an integer type as wide as those. The files that etch writes for such a target say both here. A pointer of that kind reaches
 * RAM too, but takes only indices of 16 bits: ETCH_CONST_AT takes larger ones. In C++, which has no address spaces, models are called
 * as everywhere; their tables are for C alone. */
/* ETCH_CONST_SPACE */
#if defined(ETCH_CONST_SPACE) && !defined(__cplusplus)
#define ETCH_CONST_AT(type, base, index) (*(const ETCH_CONST_SPACE type *)((ETCH_CONST_INTEGER)(base) + \
  (ETCH_CONST_INTEGER)(index) * (ETCH_CONST_INTEGER)sizeof(type)))
typedef const ETCH_CONST_SPACE void *etch_address;
#else
#undef ETCH_CONST_SPACE
#define ETCH_CONST_SPACE
#define ETCH_CONST_AT(type, base, index) (((const type *)(base))[index])
typedef void *etch_address;
#endif

/* 1: NAME_profile() and NAME_calls[] exist, and a function of yours is called after every kernel: for time by layer, or to
 * look at intermediate values. Costs one test a call and the names in flash. 0: nothing of it is in the image. */
#ifndef ETCH_PROFILE
#define ETCH_PROFILE 0
#endif

/* 1: etch_run tests sizes, addresses and ranges before the first kernel: a mistake of the caller becomes a status instead of
 * a write to somewhere. About 150 bytes of code, nothing per kernel. 0: the caller has proved its calls by other means. */
#ifndef ETCH_CHECK_ARGUMENTS
#define ETCH_CHECK_ARGUMENTS 1
#endif

/* 1: etch_status_text exists; about 400 bytes of text in flash if it is called. */
#ifndef ETCH_STATUS_TEXT
#define ETCH_STATUS_TEXT 1
#endif

/* 1: NAME.c compiles too where the compiler has not switched on the instructions that it was generated for: the results are
 * the same, the time is not. 0: it stops there by #error and names the flags. */
#ifndef ETCH_ANY_CPU
#define ETCH_ANY_CPU 0
#endif

/* Stands before the declaration of a buffer: ETCH_ALIGNED(16) static unsigned char arena[KWS_ARENA_BYTES];
 * For another compiler define it as that one's attribute or pragma. Where it is empty a union with etch_widest aligns by type,
 *   static union { etch_widest widest; unsigned char bytes[KWS_ARENA_BYTES]; } arena;
 * and where that is too little etch_run says so by a status. */
#ifndef ETCH_ALIGNED
#if defined(__GNUC__) || defined(__TINYC__)
#define ETCH_ALIGNED(n) __attribute__((aligned(n)))
#elif defined(__cplusplus)
#define ETCH_ALIGNED(n) alignas(n)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define ETCH_ALIGNED(n) _Alignas(n)
#else
#define ETCH_ALIGNED(n)
#endif
#endif

/* As large an alignment as a type of C has. */
typedef union {
  long long integer;
  double number;
  long double wide;
  void *object;
  void (*function)(void);
} etch_widest;

/* --- status ----------------------------------------------------------------------------------------------------------- */

typedef enum {
  ETCH_OK = 0,
  ETCH_NULL = 1,         /* a pointer that must not be null is null */
  ETCH_ARENA_SMALL = 2,  /* the arena has fewer bytes than the model's ARENA_BYTES */
  ETCH_ARENA_ALIGN = 3,  /* the arena's address is not a multiple of the model's ARENA_ALIGN */
  ETCH_RANGE = 4,        /* a size (a batch, a length) or a label is outside the range that the model was generated for */
  ETCH_BLOB_SIZE = 5,    /* the weights (or a saved state: so all ETCH_BLOB_...) have another number of bytes than the model's; a file that was cut off? */
  ETCH_BLOB_FORMAT = 6,  /* not a weights file, of another version of the format, or of a machine of other byte order */
  ETCH_BLOB_OTHER = 7,   /* a weights file, but not this model's */
  ETCH_BLOB_DAMAGED = 8, /* this model's weights file, but its bytes have changed */
  ETCH_BLOB_ALIGN = 9,   /* the address of the weights is not a multiple of the model's WEIGHTS_ALIGN */
  ETCH_NO_SPACE = 10,    /* etch_arena_take: the rest of the arena is too small; etch_cl_build_log: the log is longer */
  ETCH_CL_ERROR = 11,    /* an OpenCL function failed: the session has its name and OpenCL's code */
  ETCH_CL_BUILD = 12,    /* the device's compiler refuses the kernels: etch_cl_build_log has its words */
  ETCH_CL_DEVICE = 13,   /* the device runs no work-groups as large as a kernel needs */
  ETCH_CL_CLOSED = 14,   /* no NAME_open came before, or it failed, or NAME_close came already */
  ETCH_IO_ALIGN = 15,    /* the address of an input, an output or the state is not aligned as its elements ask */
  ETCH_CUDA_ERROR = 16,  /* a CUDA function failed: the session has its name and CUDA's code */
  ETCH_CUDA_DEVICE = 17, /* the GPU runs no blocks as large as a kernel needs, or the current one is not the session's */
  ETCH_CUDA_CLOSED = 18  /* as ETCH_CL_CLOSED */
} etch_status;

#if ETCH_STATUS_TEXT
/* One line for a log; never null. */
const char *etch_status_text(etch_status status);
#endif

/* --- program ---------------------------------------------------------------------------------------------------------- */

/* A kernel gets the addresses of its buffers, the output first, then those of its variables (const int32_t). */
typedef void (*etch_kernel)(etch_address const *arg);

typedef enum {
  ETCH_ARENA, /* at: byte offset into the arena */
  ETCH_CONST, /* at: byte offset into the constants */
  ETCH_IO,    /* at: number of an input or output, inputs first; behind them those of states, pieces of the caller's block */
  ETCH_STATE, /* at: number of a state, where a device holds it (etch_opencl, etch_cuda) */
  ETCH_VAR,   /* at: number of a variable; those of counters follow, one for each loop */
  ETCH_POOL   /* and above, ETCH_POOL + n: at: byte offset into arena n of a model that has several, one for each pool of its target */
} etch_pool;

/* Where one argument of a kernel is. */
typedef struct {
  uint8_t pool; /* etch_pool */
  uint32_t at;
} etch_ref;

typedef struct {
  etch_kernel kernel;
  uint32_t first_arg; /* into the program's args */
  uint32_t arg_count;
} etch_call;

/* Smallest and largest value of a variable. */
typedef struct {
  int32_t min;
  int32_t max;
} etch_range;

/* The calls from first_call to the one before end_call run `count` times; kernels take the counter, 0 to count - 1, as they take a
 * variable. Loops lie in each other or apart. */
typedef struct {
  uint32_t first_call;
  uint32_t end_call;
  uint32_t count;       /* or, if of_variable is 1, the number of the variable that holds it */
  uint32_t of_variable; /* 0 or 1 */
} etch_loop;

typedef struct {
  const ETCH_CONST_SPACE etch_call *calls;
  const ETCH_CONST_SPACE etch_ref *args;
  const ETCH_CONST_SPACE etch_loop *loops;      /* by first call, outer ones first; null: there are none */
  const ETCH_CONST_SPACE etch_range *variables; /* null: all sizes are fixed */
  uint32_t call_count;
  uint32_t loop_count;
  uint32_t io_count;
  uint32_t variable_count;
  uint32_t arena_bytes;
  uint32_t arena_align;
  uint32_t constants_align; /* 0: the model has no constants */
  const ETCH_CONST_SPACE uint8_t *io_align; /* alignment of each input and output; null: any */
} etch_program;

/* The alignment of a type, for io_align. */
#define ETCH_ALIGN_OF(type) ((uint8_t)offsetof(struct etch_align_##type, value))
struct etch_align_int16_t { char first; int16_t value; };
struct etch_align_uint16_t { char first; uint16_t value; };
struct etch_align_int32_t { char first; int32_t value; };
struct etch_align_uint32_t { char first; uint32_t value; };
struct etch_align_int64_t { char first; int64_t value; };
struct etch_align_uint64_t { char first; uint64_t value; };
struct etch_align_float { char first; float value; };
struct etch_align_double { char first; double value; };

/* After each call, with ETCH_PROFILE: `call` is its number in NAME_calls, arg[0] is what was written. A call in a loop ends once a
 * turn. */
typedef void (*etch_after_call)(void *user, uint32_t call, etch_address const *arg);

/* What one run works with; NAME_run fills it in. */
typedef struct {
  void *arena;
  size_t arena_bytes;
  const ETCH_CONST_SPACE void *constants;
  void *const *io;          /* inputs, then outputs, then states */
  int32_t *variables;       /* and room for a counter for each loop behind them; null: there are neither */
  etch_address *arg;        /* room for the arguments of the call that has most of them */
  etch_after_call after;    /* may be null; unused without ETCH_PROFILE */
  void *user;
  void *const *pools;       /* arenas of a model that has several, which does without `arena` then; else unused */
} etch_frame;

/* The linker sees another name for each ABI and value of ETCH_PROFILE: a model and a runtime that do not fit together do not
 * link, where otherwise hooks would silently not be called. "undefined reference to etch_run_abi4_profile" means that
 * ETCH_PROFILE is 1 for the model and 0 for etch_runtime.c. */
#if ETCH_PROFILE
#define etch_run etch_run_abi4_profile
#else
#define etch_run etch_run_abi4
#endif

/* What etch_run tests first. */
etch_status etch_check_frame(const ETCH_CONST_SPACE etch_program *program, const etch_frame *frame);

/* Where an argument of a call is. By its address: of a struct that is passed by value and lies in __memx, avr-gcc 5 makes wrong code. */
etch_address etch_address_of(const ETCH_CONST_SPACE etch_ref *ref, const etch_frame *frame);

/* Runs every call in order. Tests everything first: when it returns an error, nothing has been written. */
etch_status etch_run(const ETCH_CONST_SPACE etch_program *program, const etch_frame *frame);

/* What a model with several arenas needs of one of them; 0 bytes: nothing, and its address may be null. */
typedef struct {
  uint32_t bytes;
  uint32_t align;
} etch_pool_size;

/* Whether the arenas, which have these bytes, are what the model needs; NAME_run asks it before etch_run. */
etch_status etch_check_pools(const ETCH_CONST_SPACE etch_pool_size *sizes, uint32_t count, void *const *pools, const size_t *bytes);

/* What etch_run and etch_cl_run walk: the loops of a program, and the variables, behind which the counters are. */
typedef struct {
  const ETCH_CONST_SPACE etch_loop *loops;
  uint32_t loop_count;
  int32_t *variables;
  uint32_t variable_count;
  uint32_t call;  /* the next one */
  uint32_t open;  /* number of the innermost loop around it; loop_count: none */
  uint32_t next;  /* number of the first loop that was not entered yet */
  uint64_t steps; /* how often loops are still entered, or a turn of one ends */
} etch_walk;

/* Sets the walk before the first call of a program, whose loops, calls and variables these are, and returns how many calls will run. */
uint64_t etch_walk_begin(etch_walk *walk, const ETCH_CONST_SPACE etch_loop *loops, uint32_t loop_count, uint32_t call_count,
                         int32_t *variables, uint32_t variable_count);

/* Moves behind walk->call: to the call after it or, at the end of a turn, to the first one of its loop. */
void etch_walk_on(etch_walk *walk);

/* ETCH_RANGE where a value lies outside its range. */
etch_status etch_check_ranges(const ETCH_CONST_SPACE etch_range *ranges, uint32_t count, const int32_t *values);

/* What NAME_calls[] says of call n, for profiles and taps. */
typedef struct {
  const char *nodes;     /* ONNX nodes that it computes: "conv1, relu1" */
  const char *output;    /* ONNX value that it writes */
  const char *type;      /* of the output's elements: "float32" */
  uint32_t output_bytes; /* largest, if sizes vary */
} etch_call_info;

/* --- weights in a blob: NAME_weights.bin, placed or loaded by the caller ------------------------------------------------ */

#define ETCH_BLOB_MAGIC 0x42435445u /* "ETCB", read as a little-endian word */
#define ETCH_BLOB_VERSION 1u
#define ETCH_BLOB_HEADER_BYTES 64u

/* The first 64 bytes of a blob; the constants follow. */
typedef struct {
  uint32_t magic;
  uint32_t version;
  uint64_t payload_bytes; /* without header */
  uint64_t hash;          /* etch_hash of the payload */
  uint32_t align;         /* the address of the blob has to be a multiple of it */
  uint32_t reserved[9];   /* 0 */
} etch_blob_header;

/* What a model expects of its blob. */
typedef struct {
  uint64_t payload_bytes;
  uint64_t hash;
  uint32_t align;
} etch_blob_info;

/* 64-bit FNV-1a over bytes; etch computed the same when it wrote the blob. */
uint64_t etch_hash(const void *data, size_t bytes);

/* Fast: reads the header only. On success *constants is the address of the constants. */
etch_status etch_blob_open(const etch_blob_info *expected, const void *blob, const void **constants);

/* Thorough: etch_blob_open, the number of bytes that there are, and the hash over all of them (once, at start-up). */
etch_status etch_blob_check(const etch_blob_info *expected, const void *blob, size_t blob_bytes);

/* --- arena: one block of memory for several models ---------------------------------------------------------------------- */

/* Hands out aligned pieces of one buffer of the caller, front to back. Models that run one after the other share: mark, take,
 * run, release. The model's own buffers lie inside its piece at offsets planned offline. */
typedef struct {
  unsigned char *memory;
  size_t bytes;
  size_t used;
  size_t peak; /* largest `used` so far: what the buffer could be cut to */
} etch_arena;

etch_status etch_arena_init(etch_arena *arena, void *memory, size_t bytes);

/* On success *block is `bytes` bytes at a multiple of `align` (a power of two); else it is null and the arena unchanged. */
etch_status etch_arena_take(etch_arena *arena, size_t bytes, size_t align, void **block);

/* Everything taken since `mark = arena->used` is free again. A mark beyond `used` changes nothing and is ETCH_RANGE. */
etch_status etch_arena_release(etch_arena *arena, size_t mark);

#ifdef __cplusplus
}
#endif

#endif
