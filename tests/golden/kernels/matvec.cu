extern "C" __global__ void __launch_bounds__(32) matvec(float *out, const float *x, const float *y) {
  const int k_item = (int)threadIdx.x;
  const int n_item = (int)threadIdx.y;
  float acc_n0 = 0.0f, acc_n4 = 0.0f, acc_n8 = 0.0f, acc_n12 = 0.0f;
  const int x_at = k_item + n_item * 8;
  const float y_k = y[k_item]; acc_n0 += x[x_at] * y_k; acc_n4 += x[x_at + 32] * y_k; acc_n8 += x[x_at + 64] * y_k;
  acc_n12 += x[x_at + 96] * y_k;
  __shared__ float sums[128];
  const int sums_n = n_item * 32;
  const int sums_at = k_item * 4 + sums_n;
  sums[sums_at] = acc_n0; sums[sums_at + 1] = acc_n4; sums[sums_at + 2] = acc_n8; sums[sums_at + 3] = acc_n12;
  __syncthreads();
  if (k_item < 1) {
    float total_n0 = 0.0f, total_n4 = 0.0f, total_n8 = 0.0f, total_n12 = 0.0f;
    for (int item = 0; item < 8; item++) {
      const int sums_at_2 = sums_n + item * 4;
      const float sums_nitem = sums[sums_at_2]; total_n0 += sums_nitem;
      const float sums_nitem_2 = sums[sums_at_2 + 1]; total_n4 += sums_nitem_2;
      const float sums_nitem_3 = sums[sums_at_2 + 2]; total_n8 += sums_nitem_3;
      const float sums_nitem_4 = sums[sums_at_2 + 3]; total_n12 += sums_nitem_4;
    }
    out[n_item] = total_n0;
    out[n_item + 4] = total_n4;
    out[n_item + 8] = total_n8;
    out[n_item + 12] = total_n12;
  }
}
