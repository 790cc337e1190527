__kernel void relu_bias(__global float *out, const __global float *x, const __global float *y) {
  const int n_tile = (int)get_group_id(0);
  const int n_item = (int)get_local_id(0);
  const int m_item = (int)get_local_id(1);
  const int at = n_tile * 3 + n_item + m_item * 6;
  const float sum = x[at] + y[m_item]; out[at] = sum < 0.0f ? 0.0f : sum;
}
