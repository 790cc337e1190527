static void sum(void *const *arg) {
  float *const out = (float *)arg[0];
  const float *const x = (const float *)arg[1];
  for (int n = 0; n < 3; n++) {
    float acc = 0.0f;
    const int x_at = n * 8;
    acc += x[x_at]; acc += x[x_at + 1]; acc += x[x_at + 2]; acc += x[x_at + 3]; acc += x[x_at + 4]; acc += x[x_at + 5];
    acc += x[x_at + 6]; acc += x[x_at + 7];
    out[n] = acc;
  }
}
