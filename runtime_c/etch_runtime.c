/* etch runtime; see etch_runtime.h. */
#include "etch_runtime.h"

/* --- status ----------------------------------------------------------------------------------------------------------- */

#if ETCH_STATUS_TEXT
const char *etch_status_text(etch_status status) {
  static const char *const texts[] = {
    "ok",                                         /* ETCH_OK */
    "a pointer is null",                          /* ETCH_NULL */
    "the arena is too small",                     /* ETCH_ARENA_SMALL */
    "the arena is not aligned",                   /* ETCH_ARENA_ALIGN */
    "a size is out of range",                     /* ETCH_RANGE */
    "the weights have the wrong number of bytes", /* ETCH_BLOB_SIZE */
    "the weights are in another format",          /* ETCH_BLOB_FORMAT */
    "the weights are of another model",           /* ETCH_BLOB_OTHER */
    "the weights are damaged",                    /* ETCH_BLOB_DAMAGED */
    "the weights are not aligned",                /* ETCH_BLOB_ALIGN */
    "no space left",                              /* ETCH_NO_SPACE */
    "an OpenCL function failed",                  /* ETCH_CL_ERROR */
    "the device's compiler refuses the kernels",  /* ETCH_CL_BUILD */
    "the device runs no work-groups as large",    /* ETCH_CL_DEVICE */
    "the OpenCL session is not open",             /* ETCH_CL_CLOSED */
    "an input, output or state is not aligned",   /* ETCH_IO_ALIGN */
    "a CUDA function failed",                     /* ETCH_CUDA_ERROR */
    "another GPU, or one of too small blocks",    /* ETCH_CUDA_DEVICE */
    "the CUDA session is not open",               /* ETCH_CUDA_CLOSED */
  };
  const size_t number = (size_t)status;
  return number < sizeof texts / sizeof texts[0] ? texts[number] : "unknown status";
}
#endif

/* --- program ---------------------------------------------------------------------------------------------------------- */

static int misaligned(const void *address, size_t align) { return ((uintptr_t)address & (uintptr_t)(align - 1u)) != 0u; }

/* Kernels only read constants and variables; their argument type has to serve outputs too. */
static void *without_const(const void *address) { return (void *)(uintptr_t)address; }

#if defined(ETCH_CONST_INTEGER)
#define CONSTANT_PLACE(constants, bytes) (&ETCH_CONST_AT(unsigned char, constants, bytes))
#else
#define CONSTANT_PLACE(constants, bytes) without_const((const unsigned char *)(constants) + (bytes))
#endif

etch_status etch_check_ranges(const ETCH_CONST_SPACE etch_range *ranges, uint32_t count, const int32_t *values) {
  uint32_t i;
  if (count != 0u && values == NULL) return ETCH_NULL;
  for (i = 0; i < count; i++) {
    if (values[i] < ranges[i].min || values[i] > ranges[i].max) return ETCH_RANGE;
  }
  return ETCH_OK;
}

etch_status etch_check_pools(const ETCH_CONST_SPACE etch_pool_size *sizes, uint32_t count, void *const *pools, const size_t *bytes) {
#if ETCH_CHECK_ARGUMENTS
  uint32_t i;
  for (i = 0; i < count; i++) {
    if (sizes[i].bytes == 0u) continue;
    if (pools[i] == NULL) return ETCH_NULL;
    if (bytes[i] < sizes[i].bytes) return ETCH_ARENA_SMALL;
    if (misaligned(pools[i], (size_t)sizes[i].align)) return ETCH_ARENA_ALIGN;
  }
#else
  (void)sizes;
  (void)count;
  (void)pools;
  (void)bytes;
#endif
  return ETCH_OK;
}

etch_status etch_check_frame(const ETCH_CONST_SPACE etch_program *program, const etch_frame *frame) {
#if ETCH_CHECK_ARGUMENTS
  uint32_t i;
#endif
  if (program == NULL || frame == NULL || frame->io == NULL || frame->arg == NULL) return ETCH_NULL;
#if ETCH_CHECK_ARGUMENTS
  if (program->arena_bytes != 0u) {
    if (frame->arena == NULL) return ETCH_NULL;
    if (frame->arena_bytes < program->arena_bytes) return ETCH_ARENA_SMALL;
    if (misaligned(frame->arena, (size_t)program->arena_align)) return ETCH_ARENA_ALIGN;
  }
  if (program->constants_align != 0u) {
    if (frame->constants == NULL) return ETCH_NULL;
    if (misaligned((const void *)frame->constants, (size_t)program->constants_align)) return ETCH_BLOB_ALIGN;
  }
  for (i = 0; i < program->io_count; i++) {
    if (frame->io[i] == NULL) return ETCH_NULL;
    if (program->io_align != NULL && misaligned(frame->io[i], program->io_align[i])) return ETCH_IO_ALIGN;
  }
  if (program->loop_count != 0u && frame->variables == NULL) return ETCH_NULL; /* no room for counters */
  return etch_check_ranges(program->variables, program->variable_count, frame->variables);
#else
  return ETCH_OK;
#endif
}

etch_address etch_address_of(const ETCH_CONST_SPACE etch_ref *ref, const etch_frame *frame) {
  if (ref->pool == (uint8_t)ETCH_ARENA) return (unsigned char *)frame->arena + ref->at;
  if (ref->pool == (uint8_t)ETCH_CONST) return CONSTANT_PLACE(frame->constants, ref->at);
  if (ref->pool == (uint8_t)ETCH_IO) return frame->io[ref->at];
  if (ref->pool >= (uint8_t)ETCH_POOL) return (unsigned char *)frame->pools[ref->pool - (uint8_t)ETCH_POOL] + ref->at;
  return without_const(frame->variables + ref->at); /* ETCH_VAR */
}

static uint32_t count_of(const etch_walk *walk, uint32_t loop) {
  const ETCH_CONST_SPACE etch_loop *const l = &walk->loops[loop];
  if (l->of_variable == 0u) return l->count;
  return walk->variables[l->count] > 0 ? (uint32_t)walk->variables[l->count] : 0u;
}

/* How often a loop is entered: the product of the counts of those around it, which come before it and reach as far. */
static uint64_t entries_of(const etch_walk *walk, uint32_t loop) {
  uint64_t entries = 1;
  uint32_t l;
  for (l = 0; l < loop; l++) {
    if (walk->loops[l].end_call >= walk->loops[loop].end_call) entries *= count_of(walk, l);
  }
  return entries;
}

/* All calls of the innermost open loop are done: back to its first one, or on in the loop around it. */
static void end_turn(etch_walk *walk) {
  const uint32_t open = walk->open;
  int32_t *const counter = &walk->variables[walk->variable_count + open];
  uint32_t l;
  *counter += 1;
  if ((uint32_t)*counter < count_of(walk, open)) {
    walk->call = walk->loops[open].first_call;
    walk->next = open + 1u;
    return;
  }
  walk->open = walk->loop_count;
  for (l = 0; l < open; l++) { /* the last one that comes before and reaches as far */
    if (walk->loops[l].end_call >= walk->call) walk->open = l;
  }
}

/* The next loop begins; one of no turns is passed over, with the loops in it. */
static void enter(etch_walk *walk) {
  const uint32_t loop = walk->next;
  const uint32_t count = walk->loop_count;
  uint32_t l;
  walk->variables[walk->variable_count + loop] = 0;
  walk->next = loop + 1u;
  if (count_of(walk, loop) != 0u) {
    walk->open = loop;
    return;
  }
  walk->call = walk->loops[loop].end_call;
  for (l = loop + 1u; l < count; l++) {
    if (walk->loops[l].first_call < walk->call) walk->next = l + 1u;
  }
}

/* Ends turns and enters loops until walk->call is a call to run, or behind the last one. */
static void settle(etch_walk *walk) {
  uint64_t left = walk->steps;
  for (; left > 0u; left--) {
    if (walk->open < walk->loop_count && walk->loops[walk->open].end_call == walk->call) {
      end_turn(walk);
    } else if (walk->next < walk->loop_count && walk->loops[walk->next].first_call == walk->call) {
      enter(walk);
    } else {
      break;
    }
  }
  walk->steps = left;
}

uint64_t etch_walk_begin(etch_walk *walk, const ETCH_CONST_SPACE etch_loop *loops, uint32_t loop_count, uint32_t call_count,
                         int32_t *variables, uint32_t variable_count) {
  uint64_t calls = call_count;
  uint32_t l;
  walk->loops = loops;
  walk->loop_count = loop_count;
  walk->variables = variables;
  walk->variable_count = variable_count;
  walk->steps = 0;
  for (l = 0; l < loop_count; l++) {
    const uint64_t entries = entries_of(walk, l);
    const uint64_t turns = entries * count_of(walk, l);
    const uint64_t body = walk->loops[l].end_call - walk->loops[l].first_call;
    calls = calls - entries * body + turns * body; /* they were counted as often as it is entered */
    walk->steps += entries + turns;
  }
  walk->call = 0;
  walk->open = loop_count;
  walk->next = 0;
  settle(walk);
  return calls;
}

void etch_walk_on(etch_walk *walk) {
  walk->call++;
  settle(walk);
}

etch_status etch_run(const ETCH_CONST_SPACE etch_program *program, const etch_frame *frame) {
  etch_walk walk;
  uint64_t left;
  const etch_status status = etch_check_frame(program, frame);
  if (status != ETCH_OK) return status;
  left = etch_walk_begin(&walk, program->loops, program->loop_count, program->call_count, frame->variables, program->variable_count);
  for (; left > 0u; left--) {
    const ETCH_CONST_SPACE etch_call *const call = &program->calls[walk.call];
    const ETCH_CONST_SPACE etch_ref *const refs = &program->args[call->first_arg];
    uint32_t i;
    for (i = 0; i < call->arg_count; i++) frame->arg[i] = etch_address_of(&refs[i], frame);
    call->kernel(frame->arg);
#if ETCH_PROFILE
    if (frame->after != NULL) frame->after(frame->user, walk.call, frame->arg);
#endif
    etch_walk_on(&walk);
  }
  return ETCH_OK;
}

/* --- weights in a blob ------------------------------------------------------------------------------------------------- */

uint64_t etch_hash(const void *data, size_t bytes) {
  const unsigned char *const p = (const unsigned char *)data;
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  size_t i;
  for (i = 0; i < bytes; i++) hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
  return hash;
}

etch_status etch_blob_open(const etch_blob_info *expected, const void *blob, const void **constants) {
  const etch_blob_header *const header = (const etch_blob_header *)blob;
  if (expected == NULL || blob == NULL || constants == NULL) return ETCH_NULL;
  *constants = NULL;
  if (misaligned(blob, expected->align < 8u ? 8u : (size_t)expected->align)) return ETCH_BLOB_ALIGN;
  if (header->magic != ETCH_BLOB_MAGIC || header->version != ETCH_BLOB_VERSION) return ETCH_BLOB_FORMAT;
  if (header->hash != expected->hash || header->payload_bytes != expected->payload_bytes) return ETCH_BLOB_OTHER;
  *constants = (const unsigned char *)blob + ETCH_BLOB_HEADER_BYTES;
  return ETCH_OK;
}

etch_status etch_blob_check(const etch_blob_info *expected, const void *blob, size_t blob_bytes) {
  const void *constants;
  etch_status status;
  if (expected == NULL || blob == NULL) return ETCH_NULL;
  if (blob_bytes < ETCH_BLOB_HEADER_BYTES) return ETCH_BLOB_SIZE;
  status = etch_blob_open(expected, blob, &constants);
  if (status != ETCH_OK) return status;
  if (blob_bytes - ETCH_BLOB_HEADER_BYTES != expected->payload_bytes) return ETCH_BLOB_SIZE;
  return etch_hash(constants, blob_bytes - ETCH_BLOB_HEADER_BYTES) == expected->hash ? ETCH_OK : ETCH_BLOB_DAMAGED;
}

/* --- arena -------------------------------------------------------------------------------------------------------------- */

etch_status etch_arena_init(etch_arena *arena, void *memory, size_t bytes) {
  if (arena == NULL || memory == NULL) return ETCH_NULL;
  arena->memory = (unsigned char *)memory;
  arena->bytes = bytes;
  arena->used = 0;
  arena->peak = 0;
  return ETCH_OK;
}

etch_status etch_arena_take(etch_arena *arena, size_t bytes, size_t align, void **block) {
  size_t gap;
  if (arena == NULL || block == NULL) return ETCH_NULL;
  *block = NULL;
  if (align == 0u || (align & (align - 1u)) != 0u) return ETCH_ARENA_ALIGN;
  gap = (size_t)(0u - (uintptr_t)(arena->memory + arena->used)) & (align - 1u);
  /* Written so that no sum can wrap around. */
  if (gap > arena->bytes - arena->used || bytes > arena->bytes - arena->used - gap) return ETCH_NO_SPACE;
  *block = arena->memory + arena->used + gap;
  arena->used += gap + bytes;
  if (arena->used > arena->peak) arena->peak = arena->used;
  return ETCH_OK;
}

etch_status etch_arena_release(etch_arena *arena, size_t mark) {
  if (arena == NULL) return ETCH_NULL;
  if (mark > arena->used) return ETCH_RANGE;
  arena->used = mark;
  return ETCH_OK;
}
