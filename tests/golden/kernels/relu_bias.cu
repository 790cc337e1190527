extern "C" __global__ void __launch_bounds__(12) relu_bias(float *out, const float *x, const float *y) {
  const int n_tile = (int)blockIdx.x;
  const int n_item = (int)threadIdx.x;
  const int m_item = (int)threadIdx.y;
  const int at = n_tile * 3 + n_item + m_item * 6;
  const float sum = x[at] + y[m_item]; out[at] = sum < 0.0f ? 0.0f : sum;
}
