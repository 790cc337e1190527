// The same gradients on OpenCL.
#define ETCH_LAYERS_ALONE
#define ETCH_LAYER_BACKENDS "opencl"
#include "nn/layers_test.cc"
