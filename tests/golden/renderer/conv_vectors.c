/* 8 vectors as columns, side by side from `to` on: element l of each lies l * `stride` further. */
ETCH_INLINE void etch_store_square_f32x8(float *to, intptr_t stride, const etch_f32x8 *column) {
#if (defined(__clang__) || __GNUC__ >= 12) && !defined(__riscv)
  etch_f32x8 row[8]; /* each four columns as rows of four, in each four lanes */
  for (int c = 0; c < 8; c += 4) {
    const etch_f32x8 *const v = &column[c];
    const etch_f32x8 ab = ETCH_MIX_8(v[0], v[1], 0, 8, 1, 9), cd = ETCH_MIX_8(v[2], v[3], 0, 8, 1, 9);
    const etch_f32x8 ab2 = ETCH_MIX_8(v[0], v[1], 2, 10, 3, 11), cd2 = ETCH_MIX_8(v[2], v[3], 2, 10, 3, 11);
    row[c] = ETCH_MIX_8(ab, cd, 0, 1, 8, 9), row[c + 1] = ETCH_MIX_8(ab, cd, 2, 3, 10, 11);
    row[c + 2] = ETCH_MIX_8(ab2, cd2, 0, 1, 8, 9), row[c + 3] = ETCH_MIX_8(ab2, cd2, 2, 3, 10, 11);
  }
  for (int l = 0; l < 4; l++) { /* the same four lanes of all of these, side by side */
    *(etch_f32x8_u *)(to + l * stride) = __builtin_shufflevector(row[l], row[l + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    *(etch_f32x8_u *)(to + (l + 4) * stride) = __builtin_shufflevector(row[l], row[l + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
#else
  for (int c = 0; c < 8; c += 4) etch_store_columns_f32x8(to + c, stride, column[c], column[c + 1], column[c + 2], column[c + 3]);
#endif
}
static void conv_relu(void *const *arg) {
  float *const out = (float *)arg[0];
  const float *const in = (const float *)arg[1];
  const float *const w = (const float *)arg[2];
  const float *const b = (const float *)arg[3];
  for (int c_tile = 0; c_tile < 2; c_tile++) {
    const int c = c_tile * 8;
    const int w_at = c * 9;
    const etch_f32x8 w_i0_j0 = *(const etch_f32x8_u *)&w[w_at], w_i1_j0 = *(const etch_f32x8_u *)&w[w_at + 8];
    const etch_f32x8 w_i2_j0 = *(const etch_f32x8_u *)&w[w_at + 16], w_i0_j1 = *(const etch_f32x8_u *)&w[w_at + 24];
    const etch_f32x8 w_i1_j1 = *(const etch_f32x8_u *)&w[w_at + 32], w_i2_j1 = *(const etch_f32x8_u *)&w[w_at + 40];
    const etch_f32x8 w_i0_j2 = *(const etch_f32x8_u *)&w[w_at + 48], w_i1_j2 = *(const etch_f32x8_u *)&w[w_at + 56];
    const etch_f32x8 w_i2_j2 = *(const etch_f32x8_u *)&w[w_at + 64];
    const etch_f32x8 b_c = *(const etch_f32x8_u *)&b[c];
    const int out_c = c * 64;
    for (int y = 1; y < 7; y++) {
      etch_f32x8 acc_x0 = {0.0f}, acc_x1 = {0.0f}, acc_x2 = {0.0f}, acc_x3 = {0.0f};
      etch_f32x8 acc_x4 = {0.0f}, acc_x5 = {0.0f}, acc_x6 = {0.0f}, acc_x7 = {0.0f};
      const int in_at = y * 8;
      const float in_x1_i0 = in[in_at - 8]; acc_x1 += in_x1_i0 * w_i0_j0;
      const float in_x2_i0 = in[in_at - 7]; acc_x2 += in_x2_i0 * w_i0_j0;
      const float in_x3_i0 = in[in_at - 6]; acc_x3 += in_x3_i0 * w_i0_j0;
      const float in_x4_i0 = in[in_at - 5]; acc_x4 += in_x4_i0 * w_i0_j0;
      const float in_x5_i0 = in[in_at - 4]; acc_x5 += in_x5_i0 * w_i0_j0;
      const float in_x6_i0 = in[in_at - 3]; acc_x6 += in_x6_i0 * w_i0_j0;
      const float in_x7_i0 = in[in_at - 2]; acc_x7 += in_x7_i0 * w_i0_j0;
      const float in_x1_i1 = in[in_at]; acc_x1 += in_x1_i1 * w_i1_j0;
      const float in_x2_i1 = in[in_at + 1]; acc_x2 += in_x2_i1 * w_i1_j0;
      const float in_x3_i1 = in[in_at + 2]; acc_x3 += in_x3_i1 * w_i1_j0;
      const float in_x4_i1 = in[in_at + 3]; acc_x4 += in_x4_i1 * w_i1_j0;
      const float in_x5_i1 = in[in_at + 4]; acc_x5 += in_x5_i1 * w_i1_j0;
      const float in_x6_i1 = in[in_at + 5]; acc_x6 += in_x6_i1 * w_i1_j0;
      const float in_x7_i1 = in[in_at + 6]; acc_x7 += in_x7_i1 * w_i1_j0;
      const float in_x1_i2 = in[in_at + 8]; acc_x1 += in_x1_i2 * w_i2_j0;
      const float in_x2_i2 = in[in_at + 9]; acc_x2 += in_x2_i2 * w_i2_j0;
      const float in_x3_i2 = in[in_at + 10]; acc_x3 += in_x3_i2 * w_i2_j0;
      const float in_x4_i2 = in[in_at + 11]; acc_x4 += in_x4_i2 * w_i2_j0;
      const float in_x5_i2 = in[in_at + 12]; acc_x5 += in_x5_i2 * w_i2_j0;
      const float in_x6_i2 = in[in_at + 13]; acc_x6 += in_x6_i2 * w_i2_j0;
      const float in_x7_i2 = in[in_at + 14]; acc_x7 += in_x7_i2 * w_i2_j0;
      acc_x0 += in_x1_i0 * w_i0_j1; acc_x1 += in_x2_i0 * w_i0_j1; acc_x2 += in_x3_i0 * w_i0_j1; acc_x3 += in_x4_i0 * w_i0_j1;
      acc_x4 += in_x5_i0 * w_i0_j1; acc_x5 += in_x6_i0 * w_i0_j1; acc_x6 += in_x7_i0 * w_i0_j1;
      const float in_x8_i0 = in[in_at - 1]; acc_x7 += in_x8_i0 * w_i0_j1;
      acc_x0 += in_x1_i1 * w_i1_j1; acc_x1 += in_x2_i1 * w_i1_j1; acc_x2 += in_x3_i1 * w_i1_j1; acc_x3 += in_x4_i1 * w_i1_j1;
      acc_x4 += in_x5_i1 * w_i1_j1; acc_x5 += in_x6_i1 * w_i1_j1; acc_x6 += in_x7_i1 * w_i1_j1;
      const float in_x8_i1 = in[in_at + 7]; acc_x7 += in_x8_i1 * w_i1_j1;
      acc_x0 += in_x1_i2 * w_i2_j1; acc_x1 += in_x2_i2 * w_i2_j1; acc_x2 += in_x3_i2 * w_i2_j1; acc_x3 += in_x4_i2 * w_i2_j1;
      acc_x4 += in_x5_i2 * w_i2_j1; acc_x5 += in_x6_i2 * w_i2_j1; acc_x6 += in_x7_i2 * w_i2_j1;
      const float in_x8_i2 = in[in_at + 15]; acc_x7 += in_x8_i2 * w_i2_j1;
      acc_x0 += in_x2_i0 * w_i0_j2; acc_x1 += in_x3_i0 * w_i0_j2; acc_x2 += in_x4_i0 * w_i0_j2; acc_x3 += in_x5_i0 * w_i0_j2;
      acc_x4 += in_x6_i0 * w_i0_j2; acc_x5 += in_x7_i0 * w_i0_j2; acc_x6 += in_x8_i0 * w_i0_j2;
      acc_x0 += in_x2_i1 * w_i1_j2; acc_x1 += in_x3_i1 * w_i1_j2; acc_x2 += in_x4_i1 * w_i1_j2; acc_x3 += in_x5_i1 * w_i1_j2;
      acc_x4 += in_x6_i1 * w_i1_j2; acc_x5 += in_x7_i1 * w_i1_j2; acc_x6 += in_x8_i1 * w_i1_j2;
      acc_x0 += in_x2_i2 * w_i2_j2; acc_x1 += in_x3_i2 * w_i2_j2; acc_x2 += in_x4_i2 * w_i2_j2; acc_x3 += in_x5_i2 * w_i2_j2;
      acc_x4 += in_x6_i2 * w_i2_j2; acc_x5 += in_x7_i2 * w_i2_j2; acc_x6 += in_x8_i2 * w_i2_j2;
      const etch_f32x8 sum_x0 = acc_x0 + b_c;
      const etch_f32x8 sum_x1 = acc_x1 + b_c;
      const etch_f32x8 sum_x2 = acc_x2 + b_c;
      const etch_f32x8 sum_x3 = acc_x3 + b_c;
      const etch_f32x8 sum_x4 = acc_x4 + b_c;
      const etch_f32x8 sum_x5 = acc_x5 + b_c;
      const etch_f32x8 sum_x6 = acc_x6 + b_c;
      const etch_f32x8 sum_x7 = acc_x7 + b_c;
      etch_store_square_f32x8(&out[out_c + in_at], 64, (const etch_f32x8[]){(etch_f32x8)((etch_i32x8)sum_x0 & ~(sum_x0 < 0.0f)),
          (etch_f32x8)((etch_i32x8)sum_x1 & ~(sum_x1 < 0.0f)), (etch_f32x8)((etch_i32x8)sum_x2 & ~(sum_x2 < 0.0f)),
          (etch_f32x8)((etch_i32x8)sum_x3 & ~(sum_x3 < 0.0f)), (etch_f32x8)((etch_i32x8)sum_x4 & ~(sum_x4 < 0.0f)),
          (etch_f32x8)((etch_i32x8)sum_x5 & ~(sum_x5 < 0.0f)), (etch_f32x8)((etch_i32x8)sum_x6 & ~(sum_x6 < 0.0f)),
          (etch_f32x8)((etch_i32x8)sum_x7 & ~(sum_x7 < 0.0f))});
    }
    for (int border = 0; border < 2; border++) {
      const bool border_below_1 = border < 1;
      for (int y = border_below_1 ? 0 : 7; y < (border_below_1 ? 1 : 8); y++) {
        etch_f32x8 acc_x0 = {0.0f}, acc_x1 = {0.0f}, acc_x2 = {0.0f}, acc_x3 = {0.0f};
        etch_f32x8 acc_x4 = {0.0f}, acc_x5 = {0.0f}, acc_x6 = {0.0f}, acc_x7 = {0.0f};
        const int in_at = y * 8;
        const bool y_above_0 = 0 < y;
        const float in_x1_i0 = y_above_0 ? in[in_at - 8] : 0.0f; acc_x1 += in_x1_i0 * w_i0_j0;
        const float in_x2_i0 = y_above_0 ? in[in_at - 7] : 0.0f; acc_x2 += in_x2_i0 * w_i0_j0;
        const float in_x3_i0 = y_above_0 ? in[in_at - 6] : 0.0f; acc_x3 += in_x3_i0 * w_i0_j0;
        const float in_x4_i0 = y_above_0 ? in[in_at - 5] : 0.0f; acc_x4 += in_x4_i0 * w_i0_j0;
        const float in_x5_i0 = y_above_0 ? in[in_at - 4] : 0.0f; acc_x5 += in_x5_i0 * w_i0_j0;
        const float in_x6_i0 = y_above_0 ? in[in_at - 3] : 0.0f; acc_x6 += in_x6_i0 * w_i0_j0;
        const float in_x7_i0 = y_above_0 ? in[in_at - 2] : 0.0f; acc_x7 += in_x7_i0 * w_i0_j0;
        const float in_x1_i1 = in[in_at]; acc_x1 += in_x1_i1 * w_i1_j0;
        const float in_x2_i1 = in[in_at + 1]; acc_x2 += in_x2_i1 * w_i1_j0;
        const float in_x3_i1 = in[in_at + 2]; acc_x3 += in_x3_i1 * w_i1_j0;
        const float in_x4_i1 = in[in_at + 3]; acc_x4 += in_x4_i1 * w_i1_j0;
        const float in_x5_i1 = in[in_at + 4]; acc_x5 += in_x5_i1 * w_i1_j0;
        const float in_x6_i1 = in[in_at + 5]; acc_x6 += in_x6_i1 * w_i1_j0;
        const float in_x7_i1 = in[in_at + 6]; acc_x7 += in_x7_i1 * w_i1_j0;
        const bool y_below_7 = y < 7;
        const float in_x1_i2 = y_below_7 ? in[in_at + 8] : 0.0f; acc_x1 += in_x1_i2 * w_i2_j0;
        const float in_x2_i2 = y_below_7 ? in[in_at + 9] : 0.0f; acc_x2 += in_x2_i2 * w_i2_j0;
        const float in_x3_i2 = y_below_7 ? in[in_at + 10] : 0.0f; acc_x3 += in_x3_i2 * w_i2_j0;
        const float in_x4_i2 = y_below_7 ? in[in_at + 11] : 0.0f; acc_x4 += in_x4_i2 * w_i2_j0;
        const float in_x5_i2 = y_below_7 ? in[in_at + 12] : 0.0f; acc_x5 += in_x5_i2 * w_i2_j0;
        const float in_x6_i2 = y_below_7 ? in[in_at + 13] : 0.0f; acc_x6 += in_x6_i2 * w_i2_j0;
        const float in_x7_i2 = y_below_7 ? in[in_at + 14] : 0.0f; acc_x7 += in_x7_i2 * w_i2_j0;
        acc_x0 += in_x1_i0 * w_i0_j1; acc_x1 += in_x2_i0 * w_i0_j1; acc_x2 += in_x3_i0 * w_i0_j1; acc_x3 += in_x4_i0 * w_i0_j1;
        acc_x4 += in_x5_i0 * w_i0_j1; acc_x5 += in_x6_i0 * w_i0_j1; acc_x6 += in_x7_i0 * w_i0_j1;
        const float in_x8_i0 = y_above_0 ? in[in_at - 1] : 0.0f; acc_x7 += in_x8_i0 * w_i0_j1;
        acc_x0 += in_x1_i1 * w_i1_j1; acc_x1 += in_x2_i1 * w_i1_j1; acc_x2 += in_x3_i1 * w_i1_j1; acc_x3 += in_x4_i1 * w_i1_j1;
        acc_x4 += in_x5_i1 * w_i1_j1; acc_x5 += in_x6_i1 * w_i1_j1; acc_x6 += in_x7_i1 * w_i1_j1;
        const float in_x8_i1 = in[in_at + 7]; acc_x7 += in_x8_i1 * w_i1_j1;
        acc_x0 += in_x1_i2 * w_i2_j1; acc_x1 += in_x2_i2 * w_i2_j1; acc_x2 += in_x3_i2 * w_i2_j1; acc_x3 += in_x4_i2 * w_i2_j1;
        acc_x4 += in_x5_i2 * w_i2_j1; acc_x5 += in_x6_i2 * w_i2_j1; acc_x6 += in_x7_i2 * w_i2_j1;
        const float in_x8_i2 = y_below_7 ? in[in_at + 15] : 0.0f; acc_x7 += in_x8_i2 * w_i2_j1;
        acc_x0 += in_x2_i0 * w_i0_j2; acc_x1 += in_x3_i0 * w_i0_j2; acc_x2 += in_x4_i0 * w_i0_j2; acc_x3 += in_x5_i0 * w_i0_j2;
        acc_x4 += in_x6_i0 * w_i0_j2; acc_x5 += in_x7_i0 * w_i0_j2; acc_x6 += in_x8_i0 * w_i0_j2;
        acc_x0 += in_x2_i1 * w_i1_j2; acc_x1 += in_x3_i1 * w_i1_j2; acc_x2 += in_x4_i1 * w_i1_j2; acc_x3 += in_x5_i1 * w_i1_j2;
        acc_x4 += in_x6_i1 * w_i1_j2; acc_x5 += in_x7_i1 * w_i1_j2; acc_x6 += in_x8_i1 * w_i1_j2;
        acc_x0 += in_x2_i2 * w_i2_j2; acc_x1 += in_x3_i2 * w_i2_j2; acc_x2 += in_x4_i2 * w_i2_j2; acc_x3 += in_x5_i2 * w_i2_j2;
        acc_x4 += in_x6_i2 * w_i2_j2; acc_x5 += in_x7_i2 * w_i2_j2; acc_x6 += in_x8_i2 * w_i2_j2;
        const etch_f32x8 sum_x0 = acc_x0 + b_c;
        const etch_f32x8 sum_x1 = acc_x1 + b_c;
        const etch_f32x8 sum_x2 = acc_x2 + b_c;
        const etch_f32x8 sum_x3 = acc_x3 + b_c;
        const etch_f32x8 sum_x4 = acc_x4 + b_c;
        const etch_f32x8 sum_x5 = acc_x5 + b_c;
        const etch_f32x8 sum_x6 = acc_x6 + b_c;
        const etch_f32x8 sum_x7 = acc_x7 + b_c;
        etch_store_square_f32x8(&out[out_c + in_at], 64, (const etch_f32x8[]){(etch_f32x8)((etch_i32x8)sum_x0 & ~(sum_x0 < 0.0f)),
            (etch_f32x8)((etch_i32x8)sum_x1 & ~(sum_x1 < 0.0f)), (etch_f32x8)((etch_i32x8)sum_x2 & ~(sum_x2 < 0.0f)),
            (etch_f32x8)((etch_i32x8)sum_x3 & ~(sum_x3 < 0.0f)), (etch_f32x8)((etch_i32x8)sum_x4 & ~(sum_x4 < 0.0f)),
            (etch_f32x8)((etch_i32x8)sum_x5 & ~(sum_x5 < 0.0f)), (etch_f32x8)((etch_i32x8)sum_x6 & ~(sum_x6 < 0.0f)),
            (etch_f32x8)((etch_i32x8)sum_x7 & ~(sum_x7 < 0.0f))});
      }
    }
  }
}
