extern "C" __global__ void __launch_bounds__(3) layer_norm(float *out, const float *x) {
  const int n_item = (int)threadIdx.x;
  float sum = 0.0f;
  const int at_n = n_item * 8;
  for (int k_tile = 0; k_tile < 2; k_tile++) {
    const int k = k_tile * 4;
    const int x_at = at_n + k;
    sum += x[x_at]; sum += x[x_at + 1]; sum += x[x_at + 2]; sum += x[x_at + 3];
  }
  float sum_2 = 0.0f;
  const float product = sum * 0.125f;
  for (int k_tile_2 = 0; k_tile_2 < 2; k_tile_2++) {
    const int k = k_tile_2 * 4;
    const int x_at = at_n + k;
    const float diff_k0 = x[x_at] - product; sum_2 += diff_k0 * diff_k0;
    const float diff_k1 = x[x_at + 1] - product; sum_2 += diff_k1 * diff_k1;
    const float diff_k2 = x[x_at + 2] - product; sum_2 += diff_k2 * diff_k2;
    const float diff_k3 = x[x_at + 3] - product; sum_2 += diff_k3 * diff_k3;
  }
  const float sqrt_value = sqrtf(sum_2 * 0.125f + 1e-05f);
  for (int k_tile_3 = 0; k_tile_3 < 2; k_tile_3++) {
    const int k = k_tile_3 * 4;
    const int at = at_n + k;
    out[at] = (x[at] - product) / sqrt_value; out[at + 1] = (x[at + 1] - product) / sqrt_value;
    out[at + 2] = (x[at + 2] - product) / sqrt_value; out[at + 3] = (x[at + 3] - product) / sqrt_value;
  }
}
