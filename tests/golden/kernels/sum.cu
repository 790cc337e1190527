extern "C" __global__ void __launch_bounds__(3) sum(float *out, const float *x) {
  const int n_item = (int)threadIdx.x;
  float acc = 0.0f;
  const int x_at = n_item * 8;
  acc += x[x_at]; acc += x[x_at + 1]; acc += x[x_at + 2]; acc += x[x_at + 3]; acc += x[x_at + 4]; acc += x[x_at + 5];
  acc += x[x_at + 6]; acc += x[x_at + 7];
  out[n_item] = acc;
}
