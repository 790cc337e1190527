// The same gradients on OpenCL, and where CUDA runs on the processor.
#define ETCH_GRADIENTS_ALONE
#define ETCH_GRADIENT_BACKENDS "opencl", "cuda"
#include "jit/gradients_test.cc"
