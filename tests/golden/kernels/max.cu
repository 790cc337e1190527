extern "C" __global__ void __launch_bounds__(3) max(float *out, const float *x) {
  const int n_item = (int)threadIdx.x;
  float acc = -INFINITY;
  const int x_at = n_item * 8;
  const float x_k0 = x[x_at];
  acc = acc < x_k0 || x_k0 != x_k0 ? x_k0 : acc;
  const float x_k1 = x[x_at + 1];
  acc = acc < x_k1 || x_k1 != x_k1 ? x_k1 : acc;
  const float x_k2 = x[x_at + 2];
  acc = acc < x_k2 || x_k2 != x_k2 ? x_k2 : acc;
  const float x_k3 = x[x_at + 3];
  acc = acc < x_k3 || x_k3 != x_k3 ? x_k3 : acc;
  const float x_k4 = x[x_at + 4];
  acc = acc < x_k4 || x_k4 != x_k4 ? x_k4 : acc;
  const float x_k5 = x[x_at + 5];
  acc = acc < x_k5 || x_k5 != x_k5 ? x_k5 : acc;
  const float x_k6 = x[x_at + 6];
  acc = acc < x_k6 || x_k6 != x_k6 ? x_k6 : acc;
  const float x_k7 = x[x_at + 7];
  acc = acc < x_k7 || x_k7 != x_k7 ? x_k7 : acc;
  out[n_item] = acc;
}
