// options: single prefix=etch_
/* A test program around the code: it owns memory, computes in double and is called main; other rules hold. */
#include <stdio.h>
#include <stdlib.h>
static unsigned char arena[64];
int main(void) {
  static float out[4];
  double sum = 0;
  for (int i = 0; i < 4; i++) sum += (double)out[i];
  printf("%g %d\n", sum, arena[0]);
  while (sum < 1) sum += 1;  // expect: unbounded-loop
  free(0);  // expect: heap
  return 0;
}
