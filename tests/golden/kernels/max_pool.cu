extern "C" __global__ void __launch_bounds__(256) max_pool(float *out, const float *x) {
  const int x_2 = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  const int cy = (int)(blockIdx.y * blockDim.y + threadIdx.y);
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
