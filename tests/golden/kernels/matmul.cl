__kernel void matmul(__global float *out, const __global float *x, const __global float *y) {
  const int n_tile = (int)get_group_id(0);
  const int n_item = (int)get_local_id(0);
  const int m_item = (int)get_local_id(1);
  float acc = 0.0f;
  const int x_at = m_item * 8;
  const int y_at = n_tile * 24 + n_item * 8;
  acc += x[x_at] * y[y_at];
  acc += x[x_at + 1] * y[y_at + 1];
  acc += x[x_at + 2] * y[y_at + 2];
  acc += x[x_at + 3] * y[y_at + 3];
  acc += x[x_at + 4] * y[y_at + 4];
  acc += x[x_at + 5] * y[y_at + 5];
  acc += x[x_at + 6] * y[y_at + 6];
  acc += x[x_at + 7] * y[y_at + 7];
  out[n_tile * 3 + n_item + m_item * 6] = acc;
}
