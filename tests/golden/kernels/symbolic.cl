__kernel void symbolic(__global float *out, const __global float *x, const int n) {
  const int nn = (int)get_global_id(0);
  float acc = 0.0f;
  const int x_at = nn * 8;
  acc += x[x_at]; acc += x[x_at + 1]; acc += x[x_at + 2]; acc += x[x_at + 3]; acc += x[x_at + 4]; acc += x[x_at + 5];
  acc += x[x_at + 6]; acc += x[x_at + 7];
  out[nn] = acc;
}
