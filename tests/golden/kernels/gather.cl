__kernel void gather(__global float *out, const __global float *x, const __global long *y) {
  const int n_tile = (int)get_group_id(0);
  const int n_item = (int)get_local_id(0);
  const int m_item = (int)get_local_id(1);
  const long y_m = y[m_item];
  const long raised = y_m < (-10L) ? (-10L) : y_m;
  const long limited = 9L < raised ? 9L : raised;
  const long from_start = limited < 0L ? limited + 10L : limited;
  const int picked = (int)from_start;
  const int at_n = n_tile * 3 + n_item;
  out[at_n + m_item * 6] = x[at_n + picked * 6];
}
