#include <stdio.h>

/* Forty sums in vectors, more than there are registers: some are spilled. The call between two vectors keeps the rest on the stack. */
typedef float vector __attribute__((vector_size(32)));

void add(float *sums, const float *a, const float *b, int n);
void look(const float *sums);

static volatile float seen;
static float sums[40 * 8], a[40 + 16], b[8 * 16];

__attribute__((noinline)) void look(const float *values) {
  seen = values[0];
}

__attribute__((noinline)) void add(float *out, const float *x, const float *y, int n) {
  vector sum[40];
  for (int k = 0; k < 40; k++) sum[k] = (vector){0.0f};
  for (int i = 0; i < n; i++) {
    const vector each = *(const vector *)&y[8 * i];
#pragma clang loop unroll(full)
    for (int k = 0; k < 40; k++) sum[k] += each * x[i + k];
  }
  look(out);
  for (int k = 0; k < 40; k++) *(vector *)&out[8 * k] = sum[k];
}

int main(void) {
  float total = 0.0f;
  for (int i = 0; i < 40 + 16; i++) a[i] = (float)i;
  for (int i = 0; i < 8 * 16; i++) b[i] = (float)(i % 8);
  add(sums, a, b, 16);
  for (int i = 0; i < 40 * 8; i++) total += sums[i];
  /* 28, the sum of 0 to 7, times the sum over i below 16 and k below 40 of i + k */
  printf("%.0f\n", (double)total);
  return total == 28.0f * (40 * 120 + 16 * 780) ? 0 : 1;
}
