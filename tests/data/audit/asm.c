#include <stdint.h>
int swap(int x) {
  __asm__ volatile("" : "+r"(x));  // expect: asm
  return x;
}
/* One value in a register from others. */
uint32_t rotated(uint32_t x) {
  uint32_t y;
  __asm("ror %0, %1, #8" : "=r"(y) : "r"(x));
  return y;
}
int rounded(float x) {
  int y;
  __asm("fcvt.w.s %0, %1, rne" : "=r"(y) : "f"(x));
  return y;
}
uint32_t the_same(uint32_t x) {
  uint32_t y;
  __asm("" : "=r"(y) : "0"(x));
  return y;
}
uint32_t in_memory(uint32_t x) {
  uint32_t y;
  __asm("mov %1, %0" : "=m"(y) : "r"(x));  // expect: asm
  return y;
}
uint32_t from_memory(const uint32_t *x) {
  uint32_t y;
  __asm("mov %1, %0" : "=r"(y) : "m"(*x));  // expect: asm
  return y;
}
uint32_t clobbers(uint32_t x) {
  uint32_t y;
  __asm("mov %1, %0" : "=r"(y) : "r"(x) : "memory");  // expect: asm
  return y;
}
void does_something(uint32_t x) {
  __asm("nop" : : "r"(x));  // expect: asm
}
