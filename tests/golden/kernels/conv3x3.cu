extern "C" __global__ void __launch_bounds__(3) conv3x3(float *out, const float *x, const float *y) {
  const int x_2 = (int)blockIdx.x;
  const int y_tile = (int)blockIdx.y;
  const int y_item = (int)threadIdx.x;
  float acc_c0 = 0.0f, acc_c1 = 0.0f;
  const int out_at = x_2 + y_tile * 18 + y_item * 6;
  const int y_2 = y_tile * 3 + y_item;
  for (int i = 0; i < 3; i++) {
    const int x_xyi = out_at + i * 6;
    const int yi = y_2 + i;
    const bool yi_inside = 0 < yi && yi < 7;
    const int y_i = i * 12;
    for (int j = 0; j < 3; j++) {
      const int x_xyij = x_xyi + j;
      const int xj = x_2 + j;
      const bool yixj_inside = yi_inside && xj < 7 && 0 < xj;
      const int y_ij = y_i + j * 4;
      for (int k = 0; k < 2; k++) {
        const float x_xyijk = yixj_inside ? x[x_xyij + k * 36 - 7] : 0.0f;
        const int y_at = y_ij + k * 2;
        acc_c0 += x_xyijk * y[y_at]; acc_c1 += x_xyijk * y[y_at + 1];
      }
    }
  }
  out[out_at] = acc_c0;
  out[out_at + 36] = acc_c1;
}
