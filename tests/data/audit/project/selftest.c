/* Runs the net on one input; expected was computed by hand-written Python in double. */
#include <stdio.h>

#include "net.h"

static const float in[16] = {-0.375f, 0.25f, 0.0f,   -0.25f, 0.375f, 0.125f,  -0.125f, -0.375f,
                             0.25f,   0.0f,  -0.25f, 0.375f, 0.125f, -0.125f, -0.375f, 0.25f};
static const float expected[4] = {2.36168418f, 0.672680787f, 1.37755818f, 1.05209272f};

static unsigned char arena[NET_ARENA_BYTES] __attribute__((aligned(8)));

int main(void) {
  float out[4];
  int bad = net_run(arena, in, out);
  for (int n = 0; n < 4; n++) {
    const float difference = out[n] > expected[n] ? out[n] - expected[n] : expected[n] - out[n];
    if (!(difference <= 1e-5f * expected[n])) bad++;
  }
  puts(bad == 0 ? "PASS" : "FAIL");
  return bad;
}
