static void grouped_sum(void *const *arg) {
  float *const out = (float *)arg[0];
  const float *const x = (const float *)arg[1];
  for (int n = 0; n < 8; n++) {
    float acc = 0.0f;
    const int x_n = n * 64;
    for (int k_tile = 0; k_tile < 16; k_tile++) {
      const int k = k_tile * 4;
      const int x_at = x_n + k;
      acc += x[x_at]; acc += x[x_at + 1]; acc += x[x_at + 2]; acc += x[x_at + 3];
    }
    out[n] = acc;
  }
}
