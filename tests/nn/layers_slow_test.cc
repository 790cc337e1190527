// The same gradients in C and LLVM IR.
#define ETCH_LAYERS_ALONE
#define ETCH_LAYER_BACKENDS "c", "llvm"
#include "nn/layers_test.cc"
