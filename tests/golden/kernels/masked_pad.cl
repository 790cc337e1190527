__kernel void masked_pad(__global float *out, const __global float *x) {
  out[0] = 0.0f; out[7] = 0.0f; out[14] = 0.0f; out[21] = 0.0f; out[1] = 0.0f;
  out[8] = x[0]; out[15] = x[5];
  out[22] = 0.0f; out[2] = 0.0f;
  out[9] = x[1]; out[16] = x[6];
  out[23] = 0.0f; out[3] = 0.0f;
  out[10] = x[2]; out[17] = x[7];
  out[24] = 0.0f; out[4] = 0.0f;
  out[11] = x[3]; out[18] = x[8];
  out[25] = 0.0f; out[5] = 0.0f;
  out[12] = x[4]; out[19] = x[9];
  out[26] = 0.0f; out[6] = 0.0f; out[13] = 0.0f; out[20] = 0.0f; out[27] = 0.0f;
}
