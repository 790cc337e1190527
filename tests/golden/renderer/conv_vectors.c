static void conv_relu(void *const *arg) {
  float *const out = (float *)arg[0];
  const float *const in = (const float *)arg[1];
  const float *const w = (const float *)arg[2];
  const float *const b = (const float *)arg[3];
  const etch_f32x8 w_c0_i0_j0 = *(const etch_f32x8_u *)&w[0], w_c8_i0_j0 = *(const etch_f32x8_u *)&w[8];
  const etch_f32x8 w_c0_i1_j0 = *(const etch_f32x8_u *)&w[16], w_c8_i1_j0 = *(const etch_f32x8_u *)&w[24];
  const etch_f32x8 w_c0_i2_j0 = *(const etch_f32x8_u *)&w[32], w_c8_i2_j0 = *(const etch_f32x8_u *)&w[40];
  const etch_f32x8 w_c0_i0_j1 = *(const etch_f32x8_u *)&w[48], w_c8_i0_j1 = *(const etch_f32x8_u *)&w[56];
  const etch_f32x8 w_c0_i1_j1 = *(const etch_f32x8_u *)&w[64], w_c8_i1_j1 = *(const etch_f32x8_u *)&w[72];
  const etch_f32x8 w_c0_i2_j1 = *(const etch_f32x8_u *)&w[80], w_c8_i2_j1 = *(const etch_f32x8_u *)&w[88];
  const etch_f32x8 w_c0_i0_j2 = *(const etch_f32x8_u *)&w[96], w_c8_i0_j2 = *(const etch_f32x8_u *)&w[104];
  const etch_f32x8 w_c0_i1_j2 = *(const etch_f32x8_u *)&w[112], w_c8_i1_j2 = *(const etch_f32x8_u *)&w[120];
  const etch_f32x8 w_c0_i2_j2 = *(const etch_f32x8_u *)&w[128], w_c8_i2_j2 = *(const etch_f32x8_u *)&w[136];
  const etch_f32x8 b_c0 = *(const etch_f32x8_u *)&b[0], b_c8 = *(const etch_f32x8_u *)&b[8];
  for (int y = 0; y < 8; y++) {
    const int at_y = y * 8;
    const bool y_above_0 = 0 < y;
    const bool y_below_7 = y < 7;
    for (int x_tile = 0; x_tile < 2; x_tile++) {
      const int x = x_tile * 4;
      etch_f32x8 acc_c0_x0 = {0.0f}, acc_c8_x0 = {0.0f}, acc_c0_x1 = {0.0f}, acc_c8_x1 = {0.0f};
      etch_f32x8 acc_c0_x2 = {0.0f}, acc_c8_x2 = {0.0f}, acc_c0_x3 = {0.0f}, acc_c8_x3 = {0.0f};
      const int at = at_y + x;
      const bool x_tile_above_0 = 0 < x_tile;
      const float in_x0_i0 = y_above_0 && x_tile_above_0 ? in[at - 9] : 0.0f; acc_c0_x0 += in_x0_i0 * w_c0_i0_j0;
      acc_c8_x0 += in_x0_i0 * w_c8_i0_j0;
      const float in_x1_i0 = y_above_0 ? in[at - 8] : 0.0f; acc_c0_x1 += in_x1_i0 * w_c0_i0_j0; acc_c8_x1 += in_x1_i0 * w_c8_i0_j0;
      const float in_x2_i0 = y_above_0 ? in[at - 7] : 0.0f; acc_c0_x2 += in_x2_i0 * w_c0_i0_j0; acc_c8_x2 += in_x2_i0 * w_c8_i0_j0;
      const float in_x3_i0 = y_above_0 ? in[at - 6] : 0.0f; acc_c0_x3 += in_x3_i0 * w_c0_i0_j0; acc_c8_x3 += in_x3_i0 * w_c8_i0_j0;
      const float in_x0_i1 = x_tile_above_0 ? in[at - 1] : 0.0f; acc_c0_x0 += in_x0_i1 * w_c0_i1_j0;
      acc_c8_x0 += in_x0_i1 * w_c8_i1_j0;
      const float in_x1_i1 = in[at]; acc_c0_x1 += in_x1_i1 * w_c0_i1_j0; acc_c8_x1 += in_x1_i1 * w_c8_i1_j0;
      const float in_x2_i1 = in[at + 1]; acc_c0_x2 += in_x2_i1 * w_c0_i1_j0; acc_c8_x2 += in_x2_i1 * w_c8_i1_j0;
      const float in_x3_i1 = in[at + 2]; acc_c0_x3 += in_x3_i1 * w_c0_i1_j0; acc_c8_x3 += in_x3_i1 * w_c8_i1_j0;
      const float in_x0_i2 = y_below_7 && x_tile_above_0 ? in[at + 7] : 0.0f; acc_c0_x0 += in_x0_i2 * w_c0_i2_j0;
      acc_c8_x0 += in_x0_i2 * w_c8_i2_j0;
      const float in_x1_i2 = y_below_7 ? in[at + 8] : 0.0f; acc_c0_x1 += in_x1_i2 * w_c0_i2_j0; acc_c8_x1 += in_x1_i2 * w_c8_i2_j0;
      const float in_x2_i2 = y_below_7 ? in[at + 9] : 0.0f; acc_c0_x2 += in_x2_i2 * w_c0_i2_j0; acc_c8_x2 += in_x2_i2 * w_c8_i2_j0;
      const float in_x3_i2 = y_below_7 ? in[at + 10] : 0.0f; acc_c0_x3 += in_x3_i2 * w_c0_i2_j0;
      acc_c8_x3 += in_x3_i2 * w_c8_i2_j0;
      acc_c0_x0 += in_x1_i0 * w_c0_i0_j1; acc_c8_x0 += in_x1_i0 * w_c8_i0_j1;
      acc_c0_x1 += in_x2_i0 * w_c0_i0_j1; acc_c8_x1 += in_x2_i0 * w_c8_i0_j1;
      acc_c0_x2 += in_x3_i0 * w_c0_i0_j1; acc_c8_x2 += in_x3_i0 * w_c8_i0_j1;
      const float in_x4_i0 = y_above_0 ? in[at - 5] : 0.0f; acc_c0_x3 += in_x4_i0 * w_c0_i0_j1; acc_c8_x3 += in_x4_i0 * w_c8_i0_j1;
      acc_c0_x0 += in_x1_i1 * w_c0_i1_j1; acc_c8_x0 += in_x1_i1 * w_c8_i1_j1;
      acc_c0_x1 += in_x2_i1 * w_c0_i1_j1; acc_c8_x1 += in_x2_i1 * w_c8_i1_j1;
      acc_c0_x2 += in_x3_i1 * w_c0_i1_j1; acc_c8_x2 += in_x3_i1 * w_c8_i1_j1;
      const float in_x4_i1 = in[at + 3]; acc_c0_x3 += in_x4_i1 * w_c0_i1_j1; acc_c8_x3 += in_x4_i1 * w_c8_i1_j1;
      acc_c0_x0 += in_x1_i2 * w_c0_i2_j1; acc_c8_x0 += in_x1_i2 * w_c8_i2_j1;
      acc_c0_x1 += in_x2_i2 * w_c0_i2_j1; acc_c8_x1 += in_x2_i2 * w_c8_i2_j1;
      acc_c0_x2 += in_x3_i2 * w_c0_i2_j1; acc_c8_x2 += in_x3_i2 * w_c8_i2_j1;
      const float in_x4_i2 = y_below_7 ? in[at + 11] : 0.0f; acc_c0_x3 += in_x4_i2 * w_c0_i2_j1;
      acc_c8_x3 += in_x4_i2 * w_c8_i2_j1;
      acc_c0_x0 += in_x2_i0 * w_c0_i0_j2; acc_c8_x0 += in_x2_i0 * w_c8_i0_j2;
      acc_c0_x1 += in_x3_i0 * w_c0_i0_j2; acc_c8_x1 += in_x3_i0 * w_c8_i0_j2;
      acc_c0_x2 += in_x4_i0 * w_c0_i0_j2; acc_c8_x2 += in_x4_i0 * w_c8_i0_j2;
      const bool x_tile_below_1 = x_tile < 1;
      const float in_x5_i0 = y_above_0 && x_tile_below_1 ? in[at - 4] : 0.0f; acc_c0_x3 += in_x5_i0 * w_c0_i0_j2;
      acc_c8_x3 += in_x5_i0 * w_c8_i0_j2;
      acc_c0_x0 += in_x2_i1 * w_c0_i1_j2; acc_c8_x0 += in_x2_i1 * w_c8_i1_j2;
      acc_c0_x1 += in_x3_i1 * w_c0_i1_j2; acc_c8_x1 += in_x3_i1 * w_c8_i1_j2;
      acc_c0_x2 += in_x4_i1 * w_c0_i1_j2; acc_c8_x2 += in_x4_i1 * w_c8_i1_j2;
      const float in_x5_i1 = x_tile_below_1 ? in[at + 4] : 0.0f; acc_c0_x3 += in_x5_i1 * w_c0_i1_j2;
      acc_c8_x3 += in_x5_i1 * w_c8_i1_j2;
      acc_c0_x0 += in_x2_i2 * w_c0_i2_j2; acc_c8_x0 += in_x2_i2 * w_c8_i2_j2;
      acc_c0_x1 += in_x3_i2 * w_c0_i2_j2; acc_c8_x1 += in_x3_i2 * w_c8_i2_j2;
      acc_c0_x2 += in_x4_i2 * w_c0_i2_j2; acc_c8_x2 += in_x4_i2 * w_c8_i2_j2;
      const float in_x5_i2 = y_below_7 && x_tile_below_1 ? in[at + 12] : 0.0f; acc_c0_x3 += in_x5_i2 * w_c0_i2_j2;
      acc_c8_x3 += in_x5_i2 * w_c8_i2_j2;
      const etch_f32x8 sum_c0_x0 = acc_c0_x0 + b_c0;
      const etch_f32x8 sum_c0_x1 = acc_c0_x1 + b_c0;
      const etch_f32x8 sum_c0_x2 = acc_c0_x2 + b_c0;
      const etch_f32x8 sum_c0_x3 = acc_c0_x3 + b_c0;
      etch_store_columns_f32x8(&out[at], 64, (etch_f32x8)((etch_i32x8)sum_c0_x0 & ~(sum_c0_x0 < 0.0f)),
          (etch_f32x8)((etch_i32x8)sum_c0_x1 & ~(sum_c0_x1 < 0.0f)), (etch_f32x8)((etch_i32x8)sum_c0_x2 & ~(sum_c0_x2 < 0.0f)),
          (etch_f32x8)((etch_i32x8)sum_c0_x3 & ~(sum_c0_x3 < 0.0f)));
      const etch_f32x8 sum_c8_x0 = acc_c8_x0 + b_c8;
      const etch_f32x8 sum_c8_x1 = acc_c8_x1 + b_c8;
      const etch_f32x8 sum_c8_x2 = acc_c8_x2 + b_c8;
      const etch_f32x8 sum_c8_x3 = acc_c8_x3 + b_c8;
      etch_store_columns_f32x8(&out[at + 512], 64, (etch_f32x8)((etch_i32x8)sum_c8_x0 & ~(sum_c8_x0 < 0.0f)),
          (etch_f32x8)((etch_i32x8)sum_c8_x1 & ~(sum_c8_x1 < 0.0f)), (etch_f32x8)((etch_i32x8)sum_c8_x2 & ~(sum_c8_x2 < 0.0f)),
          (etch_f32x8)((etch_i32x8)sum_c8_x3 & ~(sum_c8_x3 < 0.0f)));
    }
  }
}
