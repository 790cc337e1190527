__kernel void bytes(__global char *out, const __global char *in, const int n) {
  const int nn = (int)get_global_id(0);
  const int m = (int)get_global_id(1);
  const int at = nn + m * 5;
  const char in_nnm = in[at]; out[at] = (char)((char)(in_nnm + 1) * in_nnm);
}
