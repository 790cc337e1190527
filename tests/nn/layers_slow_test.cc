// The same gradients in C.
#define ETCH_LAYERS_ALONE
#define ETCH_LAYER_BACKENDS "c"
#include "nn/layers_test.cc"
