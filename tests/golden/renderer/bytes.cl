__kernel void bytes(__global char *out, const __global char *in, const int n) {
  const int gid0 = (int)get_group_id(0);
  const int gid1 = (int)get_group_id(1);
  const int x0 = gid0 + gid1 * 5;
  const char v0 = in[x0];
  out[x0] = (char)((char)(v0 + 1) * v0);
}
