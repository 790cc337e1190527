static void symbolic(void *const *arg) {
  float *const out = (float *)arg[0];
  const float *const x = (const float *)arg[1];
  const int n = *(const int32_t *)arg[2];
  for (int nn = 0; nn < n; nn++) {
    float acc = 0.0f;
    const int x_at = nn * 8;
    acc += x[x_at]; acc += x[x_at + 1]; acc += x[x_at + 2]; acc += x[x_at + 3]; acc += x[x_at + 4]; acc += x[x_at + 5];
    acc += x[x_at + 6]; acc += x[x_at + 7];
    out[nn] = acc;
  }
}
