/* e^x = 2^n e^r, within 2 ulp */
static inline float etch_exp_f32(float x) {
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

static void grouped_softmax(void *const *arg) {
  float *const out = (float *)arg[0];
  const float *const x = (const float *)arg[1];
  for (int n = 0; n < 3; n++) {
    float largest = -INFINITY;
    const int at_n = n * 4096;
    for (int k_tile = 0; k_tile < 1024; k_tile++) {
      const int k = k_tile * 4;
      const int x_at = at_n + k;
      const float x_k0 = x[x_at];
      largest = largest < x_k0 || x_k0 != x_k0 ? x_k0 : largest;
      const float x_k1 = x[x_at + 1];
      largest = largest < x_k1 || x_k1 != x_k1 ? x_k1 : largest;
      const float x_k2 = x[x_at + 2];
      largest = largest < x_k2 || x_k2 != x_k2 ? x_k2 : largest;
      const float x_k3 = x[x_at + 3];
      largest = largest < x_k3 || x_k3 != x_k3 ? x_k3 : largest;
    }
    float sum = 0.0f;
    for (int k_tile_2 = 0; k_tile_2 < 1024; k_tile_2++) {
      const int k = k_tile_2 * 4;
      const int at = at_n + k;
      const float exp_value_k0 = etch_exp_f32(x[at] - largest); out[at] = exp_value_k0;
      sum += exp_value_k0;
      const float exp_value_k1 = etch_exp_f32(x[at + 1] - largest); out[at + 1] = exp_value_k1;
      sum += exp_value_k1;
      const float exp_value_k2 = etch_exp_f32(x[at + 2] - largest); out[at + 2] = exp_value_k2;
      sum += exp_value_k2;
      const float exp_value_k3 = etch_exp_f32(x[at + 3] - largest); out[at + 3] = exp_value_k3;
      sum += exp_value_k3;
    }
    for (int k_tile_3 = 0; k_tile_3 < 1024; k_tile_3++) {
      const int k = k_tile_3 * 4;
      const int out_at = at_n + k;
      out[out_at] = out[out_at] / sum; out[out_at + 1] = out[out_at + 1] / sum; out[out_at + 2] = out[out_at + 2] / sum;
      out[out_at + 3] = out[out_at + 3] / sum;
    }
  }
}
