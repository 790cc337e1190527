static void conv_relu(void *const *arg) {
  float *const out = (float *)arg[0];
  const float *const in = (const float *)arg[1];
  const float *const w = (const float *)arg[2];
  const float *const b = (const float *)arg[3];
  float tile[80];
  for (int y = 0; y < 8; y++) {
    const int at_y = y * 8;
    for (int x_tile = 0; x_tile < 2; x_tile++) {
      const int x = x_tile < 1 ? x_tile * 5 : 3;
      etch_f32x8 acc_c0_x0 = {0.0f}, acc_c8_x0 = {0.0f}, acc_c0_x1 = {0.0f}, acc_c8_x1 = {0.0f};
      etch_f32x8 acc_c0_x2 = {0.0f}, acc_c8_x2 = {0.0f}, acc_c0_x3 = {0.0f}, acc_c8_x3 = {0.0f};
      etch_f32x8 acc_c0_x4 = {0.0f}, acc_c8_x4 = {0.0f};
      const int at_yx = at_y + x;
      const bool x_above_0 = 0 < x;
      const bool x_below_3 = x < 3;
      for (int i = 0; i < 3; i++) {
        const int yi = y + i;
        const int in_at = at_yx + i * 8;
        const int w_at = i * 48;
        if (0 < yi && yi < 9) {
          const float in_x0 = x_above_0 ? in[in_at - 9] : 0.0f;
          const etch_f32x8 w_c0_j0 = *(const etch_f32x8_u *)&w[w_at]; acc_c0_x0 += in_x0 * w_c0_j0;
          const etch_f32x8 w_c8_j0 = *(const etch_f32x8_u *)&w[w_at + 8]; acc_c8_x0 += in_x0 * w_c8_j0;
          const float in_x1 = in[in_at - 8]; acc_c0_x1 += in_x1 * w_c0_j0; acc_c8_x1 += in_x1 * w_c8_j0;
          const float in_x2 = in[in_at - 7]; acc_c0_x2 += in_x2 * w_c0_j0; acc_c8_x2 += in_x2 * w_c8_j0;
          const float in_x3 = in[in_at - 6]; acc_c0_x3 += in_x3 * w_c0_j0; acc_c8_x3 += in_x3 * w_c8_j0;
          const float in_x4 = in[in_at - 5]; acc_c0_x4 += in_x4 * w_c0_j0; acc_c8_x4 += in_x4 * w_c8_j0;
          const etch_f32x8 w_c0_j1 = *(const etch_f32x8_u *)&w[w_at + 16]; acc_c0_x0 += in_x1 * w_c0_j1;
          const etch_f32x8 w_c8_j1 = *(const etch_f32x8_u *)&w[w_at + 24]; acc_c8_x0 += in_x1 * w_c8_j1;
          acc_c0_x1 += in_x2 * w_c0_j1; acc_c8_x1 += in_x2 * w_c8_j1;
          acc_c0_x2 += in_x3 * w_c0_j1; acc_c8_x2 += in_x3 * w_c8_j1;
          acc_c0_x3 += in_x4 * w_c0_j1; acc_c8_x3 += in_x4 * w_c8_j1;
          const float in_x5 = in[in_at - 4]; acc_c0_x4 += in_x5 * w_c0_j1; acc_c8_x4 += in_x5 * w_c8_j1;
          const etch_f32x8 w_c0_j2 = *(const etch_f32x8_u *)&w[w_at + 32]; acc_c0_x0 += in_x2 * w_c0_j2;
          const etch_f32x8 w_c8_j2 = *(const etch_f32x8_u *)&w[w_at + 40]; acc_c8_x0 += in_x2 * w_c8_j2;
          acc_c0_x1 += in_x3 * w_c0_j2; acc_c8_x1 += in_x3 * w_c8_j2;
          acc_c0_x2 += in_x4 * w_c0_j2; acc_c8_x2 += in_x4 * w_c8_j2;
          acc_c0_x3 += in_x5 * w_c0_j2; acc_c8_x3 += in_x5 * w_c8_j2;
          const float in_x6 = x_below_3 ? in[in_at - 3] : 0.0f; acc_c0_x4 += in_x6 * w_c0_j2; acc_c8_x4 += in_x6 * w_c8_j2;
        }
      }
      *(etch_f32x8_u *)&tile[0] = acc_c0_x0; *(etch_f32x8_u *)&tile[8] = acc_c8_x0; *(etch_f32x8_u *)&tile[16] = acc_c0_x1;
      *(etch_f32x8_u *)&tile[24] = acc_c8_x1; *(etch_f32x8_u *)&tile[32] = acc_c0_x2; *(etch_f32x8_u *)&tile[40] = acc_c8_x2;
      *(etch_f32x8_u *)&tile[48] = acc_c0_x3; *(etch_f32x8_u *)&tile[56] = acc_c8_x3; *(etch_f32x8_u *)&tile[64] = acc_c0_x4;
      *(etch_f32x8_u *)&tile[72] = acc_c8_x4;
      ETCH_NO_VECTORS
      for (int lane = 0; lane < 8; lane++) {
        const float b_c0 = b[lane];
        const float sum_c0_x0 = tile[lane] + b_c0;
        const int out_at = at_yx + lane * 64;
        out[out_at] = sum_c0_x0 < 0.0f ? 0.0f : sum_c0_x0;
        const float b_c8 = b[lane + 8];
        const float sum_c8_x0 = tile[lane + 8] + b_c8; out[out_at + 512] = sum_c8_x0 < 0.0f ? 0.0f : sum_c8_x0;
        const float sum_c0_x1 = tile[lane + 16] + b_c0; out[out_at + 1] = sum_c0_x1 < 0.0f ? 0.0f : sum_c0_x1;
        const float sum_c8_x1 = tile[lane + 24] + b_c8; out[out_at + 513] = sum_c8_x1 < 0.0f ? 0.0f : sum_c8_x1;
        const float sum_c0_x2 = tile[lane + 32] + b_c0; out[out_at + 2] = sum_c0_x2 < 0.0f ? 0.0f : sum_c0_x2;
        const float sum_c8_x2 = tile[lane + 40] + b_c8; out[out_at + 514] = sum_c8_x2 < 0.0f ? 0.0f : sum_c8_x2;
        const float sum_c0_x3 = tile[lane + 48] + b_c0; out[out_at + 3] = sum_c0_x3 < 0.0f ? 0.0f : sum_c0_x3;
        const float sum_c8_x3 = tile[lane + 56] + b_c8; out[out_at + 515] = sum_c8_x3 < 0.0f ? 0.0f : sum_c8_x3;
        const float sum_c0_x4 = tile[lane + 64] + b_c0; out[out_at + 4] = sum_c0_x4 < 0.0f ? 0.0f : sum_c0_x4;
        const float sum_c8_x4 = tile[lane + 72] + b_c8; out[out_at + 516] = sum_c8_x4 < 0.0f ? 0.0f : sum_c8_x4;
      }
    }
  }
}
