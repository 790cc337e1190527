/* OpenCL C: a kernel's name is not a symbol of the program, and local memory is not static state. */
__kernel void r_4(__global float *out, __global const float *in) {
  __local float shared[4];
  const int l = get_local_id(0);
  shared[l] = in[l];
  barrier(CLK_LOCAL_MEM_FENCE);
  float acc = 0.0f;
  for (int i = 0; i < 4; i++) acc += shared[i];
  out[l] = exp2(acc);
  while (acc < 1.0f) acc += 1.0f;  // expect: unbounded-loop
}
