// The same gradients in C.
#define ETCH_GRADIENTS_ALONE
#define ETCH_GRADIENT_BACKENDS "c"
#include "jit/gradients_test.cc"
