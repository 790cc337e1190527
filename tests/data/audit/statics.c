#include <stdint.h>
static const float weights[3] = {1, 2, 3};
static const char *const names[] = {"a", "b"};
static const char *slots[] = {"a", "b"};  // expect: mutable-static
static int counter;  // expect: mutable-static
float table[4];  // expect: mutable-static
extern int elsewhere;  // expect: mutable-static
extern const int constant_elsewhere;
const struct {
  int a;
  const float *p;
} record = {1, weights};
static _Thread_local int mine;  // expect: mutable-static
static const volatile uint32_t reg = 0;  // expect: mutable-static
static int *const hidden = (int[]){1, 2};  // expect: mutable-static
static const int *const fixed = (const int[]){1, 2};
int next(void) {
  static int n;  // expect: mutable-static
  static const int step = 1;
  int local = 0;
  return n += step + local + counter + mine + (int)reg + elsewhere + constant_elsewhere + names[0][0] + hidden[0] + fixed[0] + slots[0][0];
}
