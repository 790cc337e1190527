static void matmul(void *const *arg) {
  float *const out = (float *)arg[0];
  const float *const x = (const float *)arg[1];
  const float *const y = (const float *)arg[2];
  for (int m = 0; m < 4; m++) {
    const int x_at = m * 8;
    const float x_k0 = x[x_at], x_k1 = x[x_at + 1], x_k2 = x[x_at + 2], x_k3 = x[x_at + 3], x_k4 = x[x_at + 4];
    const float x_k5 = x[x_at + 5], x_k6 = x[x_at + 6], x_k7 = x[x_at + 7];
    const int out_at = m * 6;
    for (int n = 0; n < 6; n++) {
      float acc = 0.0f;
      const int y_at = n * 8;
      acc += x_k0 * y[y_at];
      acc += x_k1 * y[y_at + 1];
      acc += x_k2 * y[y_at + 2];
      acc += x_k3 * y[y_at + 3];
      acc += x_k4 * y[y_at + 4];
      acc += x_k5 * y[y_at + 5];
      acc += x_k6 * y[y_at + 6];
      acc += x_k7 * y[y_at + 7];
      out[out_at + n] = acc;
    }
  }
}
