// The same gradients, all of them, by INTERP, in C and LLVM IR.
#define ETCH_LAYERS_ALONE
#define ETCH_LAYER_BACKENDS "interp", "c", "llvm"
#include "nn/layers_test.cc"
