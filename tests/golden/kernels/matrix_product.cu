/* What a work-item has of a tile of 16 x 16 sums of 16 products. */
static __device__ inline void etch_mma_m16n16k16_f16(float (&d)[8], unsigned short a0, unsigned short a1, unsigned short a2, unsigned short a3, unsigned short a4, unsigned short a5, unsigned short a6, unsigned short a7, unsigned short b0, unsigned short b1, unsigned short b2, unsigned short b3, unsigned short b4, unsigned short b5, unsigned short b6, unsigned short b7) {
  const unsigned short a[8] = {a0, a1, a2, a3, a4, a5, a6, a7};
  const unsigned short b[8] = {b0, b1, b2, b3, b4, b5, b6, b7};
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  unsigned x[4], y[4];
  for (int i = 0; i < 4; i++) x[i] = a[2 * i] | (unsigned)a[2 * i + 1] << 16;
  for (int i = 0; i < 4; i++) y[i] = b[2 * i] | (unsigned)b[2 * i + 1] << 16;
  for (int half = 0; half < 2; half++)
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[4 * half]), "+f"(d[4 * half + 1]), "+f"(d[4 * half + 2]), "+f"(d[4 * half + 3])
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[2 * half]), "r"(y[2 * half + 1]));
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 750
  unsigned x[4], y[4];
  for (int i = 0; i < 4; i++) x[i] = a[2 * i] | (unsigned)a[2 * i + 1] << 16;
  for (int i = 0; i < 4; i++) y[i] = b[2 * i] | (unsigned)b[2 * i + 1] << 16;
  for (int part = 0; part < 4; part++) {
    const int half = part / 2, k = part % 2;
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+f"(d[4 * half]), "+f"(d[4 * half + 1]), "+f"(d[4 * half + 2]), "+f"(d[4 * half + 3])
                 : "r"(x[2 * k]), "r"(x[2 * k + 1]), "r"(y[2 * half + k]));
  }
#else
  __shared__ unsigned short all_a[32][256], all_b[32][256];
  const int item = (int)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)), tile = item / 32;
  const int p0 = item % 4;
  const int p1 = item / 4 % 8;
  all_a[tile][(p1) * 16 + p0 * 2] = a[0];
  all_a[tile][(p1) * 16 + p0 * 2 + 1] = a[1];
  all_a[tile][(p1 + 8) * 16 + p0 * 2] = a[2];
  all_a[tile][(p1 + 8) * 16 + p0 * 2 + 1] = a[3];
  all_a[tile][(p1) * 16 + p0 * 2 + 8] = a[4];
  all_a[tile][(p1) * 16 + p0 * 2 + 9] = a[5];
  all_a[tile][(p1 + 8) * 16 + p0 * 2 + 8] = a[6];
  all_a[tile][(p1 + 8) * 16 + p0 * 2 + 9] = a[7];
  all_b[tile][(p1) * 16 + p0 * 2] = b[0];
  all_b[tile][(p1) * 16 + p0 * 2 + 1] = b[1];
  all_b[tile][(p1) * 16 + p0 * 2 + 8] = b[2];
  all_b[tile][(p1) * 16 + p0 * 2 + 9] = b[3];
  all_b[tile][(p1 + 8) * 16 + p0 * 2] = b[4];
  all_b[tile][(p1 + 8) * 16 + p0 * 2 + 1] = b[5];
  all_b[tile][(p1 + 8) * 16 + p0 * 2 + 8] = b[6];
  all_b[tile][(p1 + 8) * 16 + p0 * 2 + 9] = b[7];
  __syncthreads();
  for (int k = 0; k < 16; k++)
    d[0] += etch_half_to_float(all_a[tile][(p1) * 16 + k]) * etch_half_to_float(all_b[tile][(p0 * 2) * 16 + k]);
  for (int k = 0; k < 16; k++)
    d[1] += etch_half_to_float(all_a[tile][(p1) * 16 + k]) * etch_half_to_float(all_b[tile][(p0 * 2 + 1) * 16 + k]);
  for (int k = 0; k < 16; k++)
    d[2] += etch_half_to_float(all_a[tile][(p1 + 8) * 16 + k]) * etch_half_to_float(all_b[tile][(p0 * 2) * 16 + k]);
  for (int k = 0; k < 16; k++)
    d[3] += etch_half_to_float(all_a[tile][(p1 + 8) * 16 + k]) * etch_half_to_float(all_b[tile][(p0 * 2 + 1) * 16 + k]);
  for (int k = 0; k < 16; k++)
    d[4] += etch_half_to_float(all_a[tile][(p1) * 16 + k]) * etch_half_to_float(all_b[tile][(p0 * 2 + 8) * 16 + k]);
  for (int k = 0; k < 16; k++)
    d[5] += etch_half_to_float(all_a[tile][(p1) * 16 + k]) * etch_half_to_float(all_b[tile][(p0 * 2 + 9) * 16 + k]);
  for (int k = 0; k < 16; k++)
    d[6] += etch_half_to_float(all_a[tile][(p1 + 8) * 16 + k]) * etch_half_to_float(all_b[tile][(p0 * 2 + 8) * 16 + k]);
  for (int k = 0; k < 16; k++)
    d[7] += etch_half_to_float(all_a[tile][(p1 + 8) * 16 + k]) * etch_half_to_float(all_b[tile][(p0 * 2 + 9) * 16 + k]);
  __syncthreads();
#endif
}

extern "C" __global__ void __launch_bounds__(32) matrix_product(float *out, const unsigned short *x, const unsigned short *y) {
  const int n_item = (int)threadIdx.x;
  const int m_item = (int)threadIdx.y;
  float acc_m0_n0 = 0.0f, acc_m0_n1 = 0.0f, acc_m8_n0 = 0.0f, acc_m8_n1 = 0.0f;
  float acc_m0_n8 = 0.0f, acc_m0_n9 = 0.0f, acc_m8_n8 = 0.0f, acc_m8_n9 = 0.0f;
  const int at_n = n_item * 2;
  const int x_nm = at_n + m_item * 32;
  const int y_nm = n_item * 32 + m_item;
  for (int k_tile = 0; k_tile < 2; k_tile++) {
    const int k = k_tile * 16;
    const int x_at = x_nm + k;
    const int y_at = y_nm + k * 16;
    float tile[8] = {acc_m0_n0, acc_m0_n1, acc_m8_n0, acc_m8_n1, acc_m0_n8, acc_m0_n9, acc_m8_n8, acc_m8_n9};
    etch_mma_m16n16k16_f16(tile, x[x_at], x[x_at + 1], x[x_at + 256], x[x_at + 257], x[x_at + 8], x[x_at + 9], x[x_at + 264],
        x[x_at + 265], y[y_at], y[y_at + 16], y[y_at + 128], y[y_at + 144], y[y_at + 8], y[y_at + 24], y[y_at + 136],
        y[y_at + 152]);
    acc_m0_n0 = tile[0];
    acc_m0_n1 = tile[1];
    acc_m8_n0 = tile[2];
    acc_m8_n1 = tile[3];
    acc_m0_n8 = tile[4];
    acc_m0_n9 = tile[5];
    acc_m8_n8 = tile[6];
    acc_m8_n9 = tile[7];
  }
  const int out_at = at_n + m_item * 16;
  out[out_at] = acc_m0_n0;
  out[out_at + 1] = acc_m0_n1;
  out[out_at + 128] = acc_m8_n0;
  out[out_at + 129] = acc_m8_n1;
  out[out_at + 8] = acc_m0_n8;
  out[out_at + 9] = acc_m0_n9;
  out[out_at + 136] = acc_m8_n8;
  out[out_at + 137] = acc_m8_n9;
}
