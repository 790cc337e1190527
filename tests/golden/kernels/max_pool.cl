__kernel void max_pool(__global float *out, const __global float *x) {
  const int x_2 = (int)get_global_id(0);
  const int cy = (int)get_global_id(1);
  float acc = -INFINITY;
  const int x_xcy = x_2 * 2 + cy * 12;
  for (int i = 0; i < 2; i++) {
    const int x_at = x_xcy + i * 6;
    for (int j = 0; j < 2; j++) {
      const float x_xcyij = x[x_at + j];
      acc = acc < x_xcyij || x_xcyij != x_xcyij ? x_xcyij : acc;
    }
  }
  out[x_2 + cy * 3] = acc;
}
