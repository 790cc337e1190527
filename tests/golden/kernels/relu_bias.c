static void relu_bias(void *const *arg) {
  float *const out = (float *)arg[0];
  const float *const x = (const float *)arg[1];
  const float *const y = (const float *)arg[2];
  for (int m = 0; m < 4; m++) {
    const int at = m * 6;
    const float y_m = y[m];
    for (int n = 0; n < 6; n++) {
      const int at_2 = at + n;
      const float sum = x[at_2] + y_m; out[at_2] = sum < 0.0f ? 0.0f : sum;
    }
  }
}
