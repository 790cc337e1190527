#include "audit/cuda_header.h"

namespace etch {

// Values and prototypes are those of the CUDA Runtime API's manual.
std::string_view cuda_header() {
  return R"c(#ifndef __CUDA_RUNTIME_API_H__
#define __CUDA_RUNTIME_API_H__
#include <stddef.h>
typedef enum cudaError { cudaSuccess = 0 } cudaError_t;
enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3
};
typedef struct CUstream_st *cudaStream_t;
typedef struct {
  unsigned int x, y, z;
} dim3;
struct cudaFuncAttributes {
  size_t sharedSizeBytes;
  size_t constSizeBytes;
  size_t localSizeBytes;
  int maxThreadsPerBlock;
  int numRegs;
  int ptxVersion;
  int binaryVersion;
};
cudaError_t cudaGetLastError(void);
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaMalloc(void **memory, size_t bytes);
cudaError_t cudaFree(void *memory);
cudaError_t cudaMallocHost(void **memory, size_t bytes);
cudaError_t cudaFreeHost(void *memory);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream);
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *function);
cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes, cudaStream_t stream);
#endif
)c";
}

// Memory of a block is written down as a variable of the kernel, which no other kernel sees.
std::string_view cuda_words() {
  return R"c(#pragma GCC system_header
#define __global__ __attribute__((annotate("gpu kernel")))
#define __device__
#define __shared__
#define __launch_bounds__(...)
#define __syncthreads() ((void)0)
struct etch_place {
  unsigned x, y, z;
};
extern const etch_place blockIdx, threadIdx, blockDim;
)c";
}

}  // namespace etch
