static void bytes(void *const *arg) {
  int8_t *const out = (int8_t *)arg[0];
  const int8_t *const in = (const int8_t *)arg[1];
  const int n = *(const int32_t *)arg[2];
  for (int i0 = 0; i0 < n; i0++) {
    const int x0 = i0 * 5;
    for (int i1 = 0; i1 < 5; i1++) {
      const int x1 = x0 + i1;
      const int8_t v0 = in[x1];
      out[x1] = (int8_t)((int8_t)(v0 + 1) * v0);
    }
  }
}
