static void cumsum(void *const *arg) {
  float *const out = (float *)arg[0];
  const float *const x = (const float *)arg[1];
  for (int n = 0; n < 3; n++) {
    float acc = 0.0f;
    const int at_n = n * 8;
    for (int k_tile = 0; k_tile < 2; k_tile++) {
      const int k = k_tile * 4;
      const int at = at_n + k;
      acc += x[at];
      out[at] = acc;
      acc += x[at + 1];
      out[at + 1] = acc;
      acc += x[at + 2];
      out[at + 2] = acc;
      acc += x[at + 3];
      out[at + 3] = acc;
    }
  }
}
