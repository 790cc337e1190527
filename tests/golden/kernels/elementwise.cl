__kernel void elementwise(__global float *out, const __global float *x, const __global float *y) {
  const int n_item = (int)get_local_id(0);
  const int at = n_item * 4;
  const float x_n0 = x[at]; out[at] = (x_n0 + y[at]) * x_n0;
  const float x_n1 = x[at + 1]; out[at + 1] = (x_n1 + y[at + 1]) * x_n1;
  const float x_n2 = x[at + 2]; out[at + 2] = (x_n2 + y[at + 2]) * x_n2;
  const float x_n3 = x[at + 3]; out[at + 3] = (x_n3 + y[at + 3]) * x_n3;
}
