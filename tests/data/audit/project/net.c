#include "net.h"

#include <math.h>

#include "net_weights.h"

/* out[n] = sum(k) in[k] * w[k][n] */
static void k0_matmul(void *const *arg) {
  float *const out = (float *)arg[0];
  const float *const in = (const float *)arg[1];
  const float *const w = (const float *)arg[2];
  for (int n = 0; n < 8; n += 4) {
    float acc[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int k = 0; k < 16; k++) {
      for (int i = 0; i < 4; i++) acc[i] += in[k] * w[k * 8 + n + i];
    }
    for (int i = 0; i < 4; i++) out[n + i] = acc[i];
  }
}

/* out[n] = exp(max(in[n], in[n + 4])) */
static void k1_max_exp(void *const *arg) {
  float *const out = (float *)arg[0];
  const float *const in = (const float *)arg[1];
  for (int n = 0; n < 4; n++) {
    const float top = in[n] < in[n + 4] ? in[n + 4] : in[n];
    out[n] = expf(top);
  }
}

static const etch_step steps[2] = {
    {k0_matmul, 3, {{0, 0}, {2, 0}, {1, 0}, {0, 0}}},
    {k1_max_exp, 2, {{2, 1}, {0, 0}, {0, 0}, {0, 0}}},
};

static const etch_table table = {steps, (const unsigned char *)net_weights, 2};

int net_run(unsigned char *arena, const float in[16], float out[4]) {
  void *io[2];
  io[0] = (void *)(uintptr_t)in;
  io[1] = out;
  return etch_walk(&table, arena, io, NULL, NULL);
}
