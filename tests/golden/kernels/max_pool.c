static void max_pool(void *const *arg) {
  float *const out = (float *)arg[0];
  const float *const x = (const float *)arg[1];
  for (int cy = 0; cy < 6; cy++) {
    const int x_cy = cy * 12;
    const int out_at = cy * 3;
    for (int x_2 = 0; x_2 < 3; x_2++) {
      float acc = -INFINITY;
      const int x_at = x_cy + x_2 * 2;
      const float x_i0_j0 = x[x_at];
      acc = acc < x_i0_j0 || x_i0_j0 != x_i0_j0 ? x_i0_j0 : acc;
      const float x_i1_j0 = x[x_at + 6];
      acc = acc < x_i1_j0 || x_i1_j0 != x_i1_j0 ? x_i1_j0 : acc;
      const float x_i0_j1 = x[x_at + 1];
      acc = acc < x_i0_j1 || x_i0_j1 != x_i0_j1 ? x_i0_j1 : acc;
      const float x_i1_j1 = x[x_at + 7];
      acc = acc < x_i1_j1 || x_i1_j1 != x_i1_j1 ? x_i1_j1 : acc;
      out[out_at + x_2] = acc;
    }
  }
}
