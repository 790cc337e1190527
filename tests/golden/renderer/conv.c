static void conv_relu(void *const *arg) {
  float *const out = (float *)arg[0];
  const float *const in = (const float *)arg[1];
  const float *const w = (const float *)arg[2];
  const float *const b = (const float *)arg[3];
  for (int c = 0; c < 16; c++) {
    const int w_at = c * 9;
    const float w_i0_j0 = w[w_at], w_i1_j0 = w[w_at + 1], w_i2_j0 = w[w_at + 2], w_i0_j1 = w[w_at + 3], w_i1_j1 = w[w_at + 4];
    const float w_i2_j1 = w[w_at + 5], w_i0_j2 = w[w_at + 6], w_i1_j2 = w[w_at + 7], w_i2_j2 = w[w_at + 8];
    const float b_c = b[c];
    const int out_c = c * 64;
    for (int y = 0; y < 8; y++) {
      const int at_y = y * 8;
      const bool y_above_0 = 0 < y;
      const bool y_below_7 = y < 7;
      const int out_cy = out_c + at_y;
      for (int x_tile = 0; x_tile < 2; x_tile++) {
        const int x = x_tile * 4;
        float acc_x0 = 0.0f, acc_x1 = 0.0f, acc_x2 = 0.0f, acc_x3 = 0.0f;
        const int in_at = at_y + x;
        const bool x_tile_above_0 = 0 < x_tile;
        acc_x0 += (y_above_0 && x_tile_above_0 ? in[in_at - 9] : 0.0f) * w_i0_j0;
        const float in_x1_i0 = y_above_0 ? in[in_at - 8] : 0.0f; acc_x1 += in_x1_i0 * w_i0_j0;
        const float in_x2_i0 = y_above_0 ? in[in_at - 7] : 0.0f; acc_x2 += in_x2_i0 * w_i0_j0;
        const float in_x3_i0 = y_above_0 ? in[in_at - 6] : 0.0f; acc_x3 += in_x3_i0 * w_i0_j0;
        acc_x0 += (x_tile_above_0 ? in[in_at - 1] : 0.0f) * w_i1_j0;
        const float in_x1_i1 = in[in_at]; acc_x1 += in_x1_i1 * w_i1_j0;
        const float in_x2_i1 = in[in_at + 1]; acc_x2 += in_x2_i1 * w_i1_j0;
        const float in_x3_i1 = in[in_at + 2]; acc_x3 += in_x3_i1 * w_i1_j0;
        acc_x0 += (y_below_7 && x_tile_above_0 ? in[in_at + 7] : 0.0f) * w_i2_j0;
        const float in_x1_i2 = y_below_7 ? in[in_at + 8] : 0.0f; acc_x1 += in_x1_i2 * w_i2_j0;
        const float in_x2_i2 = y_below_7 ? in[in_at + 9] : 0.0f; acc_x2 += in_x2_i2 * w_i2_j0;
        const float in_x3_i2 = y_below_7 ? in[in_at + 10] : 0.0f; acc_x3 += in_x3_i2 * w_i2_j0;
        acc_x0 += in_x1_i0 * w_i0_j1; acc_x1 += in_x2_i0 * w_i0_j1; acc_x2 += in_x3_i0 * w_i0_j1;
        const float in_x4_i0 = y_above_0 ? in[in_at - 5] : 0.0f; acc_x3 += in_x4_i0 * w_i0_j1;
        acc_x0 += in_x1_i1 * w_i1_j1; acc_x1 += in_x2_i1 * w_i1_j1; acc_x2 += in_x3_i1 * w_i1_j1;
        const float in_x4_i1 = in[in_at + 3]; acc_x3 += in_x4_i1 * w_i1_j1;
        acc_x0 += in_x1_i2 * w_i2_j1; acc_x1 += in_x2_i2 * w_i2_j1; acc_x2 += in_x3_i2 * w_i2_j1;
        const float in_x4_i2 = y_below_7 ? in[in_at + 11] : 0.0f; acc_x3 += in_x4_i2 * w_i2_j1;
        acc_x0 += in_x2_i0 * w_i0_j2; acc_x1 += in_x3_i0 * w_i0_j2; acc_x2 += in_x4_i0 * w_i0_j2;
        const bool x_tile_below_1 = x_tile < 1;
        acc_x3 += (y_above_0 && x_tile_below_1 ? in[in_at - 4] : 0.0f) * w_i0_j2;
        acc_x0 += in_x2_i1 * w_i1_j2; acc_x1 += in_x3_i1 * w_i1_j2; acc_x2 += in_x4_i1 * w_i1_j2;
        acc_x3 += (x_tile_below_1 ? in[in_at + 4] : 0.0f) * w_i1_j2;
        acc_x0 += in_x2_i2 * w_i2_j2; acc_x1 += in_x3_i2 * w_i2_j2; acc_x2 += in_x4_i2 * w_i2_j2;
        acc_x3 += (y_below_7 && x_tile_below_1 ? in[in_at + 12] : 0.0f) * w_i2_j2;
        const float sum_x0 = acc_x0 + b_c;
        const int out_at = out_cy + x;
        out[out_at] = sum_x0 < 0.0f ? 0.0f : sum_x0;
        const float sum_x1 = acc_x1 + b_c; out[out_at + 1] = sum_x1 < 0.0f ? 0.0f : sum_x1;
        const float sum_x2 = acc_x2 + b_c; out[out_at + 2] = sum_x2 < 0.0f ? 0.0f : sum_x2;
        const float sum_x3 = acc_x3 + b_c; out[out_at + 3] = sum_x3 < 0.0f ? 0.0f : sum_x3;
      }
    }
  }
}
