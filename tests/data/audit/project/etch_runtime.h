/* A small runtime of the form that emitted projects have: a table of kernel calls, walked by one function. */
#ifndef ETCH_RUNTIME_H
#define ETCH_RUNTIME_H
#include <stddef.h>
#include <stdint.h>

#define ETCH_MAX_ARGS 4

typedef void (*etch_kernel)(void *const *arg);
typedef void (*etch_hook)(void *user, uint16_t call);

typedef struct {
  uint8_t pool; /* 0 arena, 1 constants, 2 inputs and outputs */
  uint32_t at;
} etch_place;

typedef struct {
  etch_kernel kernel;
  uint8_t count;
  etch_place place[ETCH_MAX_ARGS];
} etch_step;

typedef struct {
  const etch_step *steps;
  const unsigned char *constants;
  uint16_t count;
} etch_table;

int etch_walk(const etch_table *table, unsigned char *arena, void *const *io, etch_hook hook, void *user);

#endif
