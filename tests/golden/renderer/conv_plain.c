static void conv_relu(void *const *arg) {
  float *const out = (float *)arg[0];
  const float *const in = (const float *)arg[1];
  const float *const w = (const float *)arg[2];
  const float *const b = (const float *)arg[3];
  for (int c = 0; c < 16; c++) {
    const int w_c = c * 9;
    const float b_c = b[c];
    const int out_c = c * 64;
    for (int y = 0; y < 8; y++) {
      const int at_y = y * 8;
      const int out_at = out_c + at_y;
      for (int x = 0; x < 8; x++) {
        float acc = 0.0f;
        const int in_yx = at_y + x;
        for (int i = 0; i < 3; i++) {
          const int yi = y + i;
          const int in_at = in_yx + i * 8;
          const int w_at = w_c + i * 3;
          if (0 < yi && yi < 9) {
            for (int j = 0; j < 3; j++) {
              const int xj = x + j;
              if (0 < xj && xj < 9) {
                acc += in[in_at + j - 9] * w[w_at + j];
              }
            }
          }
        }
        const float sum = acc + b_c; out[out_at + x] = sum < 0.0f ? 0.0f : sum;
      }
    }
  }
}
