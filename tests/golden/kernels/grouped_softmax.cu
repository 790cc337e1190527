/* e^x = 2^n e^r, within 2 ulp */
static __device__ inline float etch_exp_f32(float x) {
  const float above = x < -104.0f ? -104.0f : x;
  const float bounded = 89.0f < above ? 89.0f : above;
  const bool is_small = x < 0.0f;
  const float to_whole = is_small ? 12583103.0f : 12582975.0f;
  const float whole = bounded * 1.442695f + to_whole;
  const float n = whole - to_whole;
  const float r = bounded - n * 0.6933594f + n * 0.00021219444f;
  const float product = (((((0.0013821041f * r + 0.008368674f) * r + 0.041668262f) * r + 0.16666521f) * r + 0.49999994f) * r
      + 1.0f) * r;
  return (product + 1.0f) * etch_f32_of_bits(etch_f32_bits(whole) << 23u) * (is_small ? 5.421011e-20f : 1.8446744e+19f);
}

extern "C" __global__ void __launch_bounds__(256) grouped_softmax(float *out, const float *x) {
  const int n = (int)blockIdx.x;
  const int k_item = (int)threadIdx.x;
  float own_largest = -INFINITY;
  const int at_nk = n * 4096 + k_item;
  for (int k_tile = 0; k_tile < 4; k_tile++) {
    const int k = k_tile * 1024;
    const int x_at = at_nk + k;
    const float x_k0 = x[x_at];
    own_largest = own_largest < x_k0 || x_k0 != x_k0 ? x_k0 : own_largest;
    const float x_k256 = x[x_at + 256];
    own_largest = own_largest < x_k256 || x_k256 != x_k256 ? x_k256 : own_largest;
    const float x_k512 = x[x_at + 512];
    own_largest = own_largest < x_k512 || x_k512 != x_k512 ? x_k512 : own_largest;
    const float x_k768 = x[x_at + 768];
    own_largest = own_largest < x_k768 || x_k768 != x_k768 ? x_k768 : own_largest;
  }
  __shared__ float each_largest[256];
  each_largest[k_item] = own_largest;
  __syncthreads();
  const bool k_below_16 = k_item < 16;
  if (k_below_16) {
    float part_largest = -INFINITY;
    for (int item = 0; item < 16; item++) {
      const float each_largest_kitem = each_largest[k_item + item * 16];
      const float larger = part_largest < each_largest_kitem || each_largest_kitem != each_largest_kitem ? each_largest_kitem
          : part_largest;
      part_largest = larger;
    }
    each_largest[k_item] = part_largest;
  }
  __syncthreads();
  float largest = -INFINITY;
  for (int item_2 = 0; item_2 < 16; item_2++) {
    const float each_largest_item = each_largest[item_2];
    largest = largest < each_largest_item || each_largest_item != each_largest_item ? each_largest_item : largest;
  }
  float own_sum = 0.0f;
  for (int k_tile_2 = 0; k_tile_2 < 4; k_tile_2++) {
    const int k = k_tile_2 * 1024;
    const int at = at_nk + k;
    const float exp_value_k0 = etch_exp_f32(x[at] - largest); out[at] = exp_value_k0;
    own_sum += exp_value_k0;
    const float exp_value_k256 = etch_exp_f32(x[at + 256] - largest); out[at + 256] = exp_value_k256;
    own_sum += exp_value_k256;
    const float exp_value_k512 = etch_exp_f32(x[at + 512] - largest); out[at + 512] = exp_value_k512;
    own_sum += exp_value_k512;
    const float exp_value_k768 = etch_exp_f32(x[at + 768] - largest); out[at + 768] = exp_value_k768;
    own_sum += exp_value_k768;
  }
  __shared__ float each_sum[256];
  each_sum[k_item] = own_sum;
  __syncthreads();
  if (k_below_16) {
    float part_sum = 0.0f;
    for (int item_3 = 0; item_3 < 16; item_3++) {
      const float each_sum_kitem = each_sum[k_item + item_3 * 16]; part_sum += each_sum_kitem;
    }
    each_sum[k_item] = part_sum;
  }
  __syncthreads();
  float sum = 0.0f;
  for (int item_4 = 0; item_4 < 16; item_4++) {
    const float each_sum_item = each_sum[item_4]; sum += each_sum_item;
  }
  for (int k_tile_3 = 0; k_tile_3 < 4; k_tile_3++) {
    const int k = k_tile_3 * 1024;
    const int out_at = at_nk + k;
    out[out_at] = out[out_at] / sum; out[out_at + 256] = out[out_at + 256] / sum; out[out_at + 512] = out[out_at + 512] / sum;
    out[out_at + 768] = out[out_at + 768] / sum;
  }
}
