static void elementwise(void *const *arg) {
  float *const out = (float *)arg[0];
  const float *const x = (const float *)arg[1];
  const float *const y = (const float *)arg[2];
  for (int n_tile = 0; n_tile < 3; n_tile++) {
    const int n = n_tile * 4;
    const float x_n0 = x[n]; out[n] = (x_n0 + y[n]) * x_n0;
    const float x_n1 = x[n + 1]; out[n + 1] = (x_n1 + y[n + 1]) * x_n1;
    const float x_n2 = x[n + 2]; out[n + 2] = (x_n2 + y[n + 2]) * x_n2;
    const float x_n3 = x[n + 3]; out[n + 3] = (x_n3 + y[n + 3]) * x_n3;
  }
}
