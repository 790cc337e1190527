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
extern "C" __global__ void __launch_bounds__(1) halves(unsigned short *out, const unsigned short *a, const unsigned short *b,
    const bool *is) {
  const int n = (int)blockIdx.x;
  const float a_n = etch_half_to_float(a[n]);
  out[n] = etch_float_to_half(is[n] ? etch_round_half(etch_round_half(etch_exp_f32(a_n)) / etch_half_to_float(b[n])) : a_n);
}
