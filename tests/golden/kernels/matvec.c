static void matvec(void *const *arg) {
  float *const out = (float *)arg[0];
  const float *const x = (const float *)arg[1];
  const float *const y = (const float *)arg[2];
  const float y_k0 = y[0], y_k1 = y[1], y_k2 = y[2], y_k3 = y[3], y_k4 = y[4], y_k5 = y[5], y_k6 = y[6], y_k7 = y[7];
  for (int n = 0; n < 16; n++) {
    float acc = 0.0f;
    const int x_at = n * 8;
    acc += x[x_at] * y_k0;
    acc += x[x_at + 1] * y_k1;
    acc += x[x_at + 2] * y_k2;
    acc += x[x_at + 3] * y_k3;
    acc += x[x_at + 4] * y_k4;
    acc += x[x_at + 5] * y_k5;
    acc += x[x_at + 6] * y_k6;
    acc += x[x_at + 7] * y_k7;
    out[n] = acc;
  }
}
