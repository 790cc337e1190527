__kernel void grouped_sum(__global float *out, const __global float *x) {
  const int n_tile = (int)get_group_id(0);
  const int n_item = (int)get_local_id(0);
  const int k_item = (int)get_local_id(1);
  float acc = 0.0f;
  const int x_at = n_tile * 128 + n_item * 64 + k_item * 4;
  for (int k_in = 0; k_in < 4; k_in++) {
    acc += x[x_at + k_in];
  }
  __local float sums[32];
  sums[n_item + k_item * 2] = acc;
  barrier(CLK_LOCAL_MEM_FENCE);
  const int out_at = n_tile * 2;
  if (n_item < 1 && k_item < 1) {
    float total_n0 = 0.0f, total_n1 = 0.0f;
    for (int item = 0; item < 16; item++) {
      const int sums_at = item * 2;
      const float sums_item = sums[sums_at]; total_n0 += sums_item;
      const float sums_item_2 = sums[sums_at + 1]; total_n1 += sums_item_2;
    }
    out[out_at] = total_n0;
    out[out_at + 1] = total_n1;
  }
}
