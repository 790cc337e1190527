static void bytes(void *const *arg) {
  int8_t *const out = (int8_t *)arg[0];
  const int8_t *const in = (const int8_t *)arg[1];
  const int n = *(const int32_t *)arg[2];
  for (int m = 0; m < n; m++) {
    const int at = m * 5;
    for (int nn = 0; nn < 5; nn++) {
      const int at_2 = at + nn;
      const int8_t in_mnn = in[at_2]; out[at_2] = (int8_t)((int8_t)(in_mnn + 1) * in_mnn);
    }
  }
}
