static void conv_relu(void *const *arg) {
  float *const out = (float *)arg[0];
  const float *const in = (const float *)arg[1];
  const float *const w = (const float *)arg[2];
  const float *const b = (const float *)arg[3];
  for (int i0 = 0; i0 < 16; i0++) {
    const int x0 = i0 * 9;
    const float v0 = b[i0];
    const int x1 = i0 * 64;
    for (int i1 = 0; i1 < 8; i1++) {
      const int x2 = i1 * 8;
      const int x3 = x1 + x2;
      for (int i2 = 0; i2 < 8; i2++) {
        float acc0 = 0.0f;
        const int x4 = x2 + i2;
        for (int r0 = 0; r0 < 3; r0++) {
          const int x5 = i1 + r0;
          const int x6 = x4 + r0 * 8;
          const int x7 = x0 + r0 * 3;
          if (0 < x5 && x5 < 9) {
            for (int r1 = 0; r1 < 3; r1++) {
              const int x8 = i2 + r1;
              if (0 < x8 && x8 < 9) {
                acc0 += in[x6 + r1 - 9] * w[x7 + r1];
              }
            }
          }
        }
        const float t0 = acc0 + v0;
        out[x3 + i2] = t0 < 0.0f ? 0.0f : t0;
      }
    }
  }
}
