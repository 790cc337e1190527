extern "C" __global__ void __launch_bounds__(256) symbolic(float *out, const float *x, const int n) {
  const int nn = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  float acc = 0.0f;
  const int x_at = nn * 8;
  acc += x[x_at]; acc += x[x_at + 1]; acc += x[x_at + 2]; acc += x[x_at + 3]; acc += x[x_at + 4]; acc += x[x_at + 5];
  acc += x[x_at + 6]; acc += x[x_at + 7];
  out[nn] = acc;
}
