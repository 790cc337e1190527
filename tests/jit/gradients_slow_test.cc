// The same gradients, all of them, by INTERP, in C and LLVM IR, and the gradients of gradients.
#define ETCH_GRADIENTS_ALONE
#define ETCH_SECOND_GRADIENTS
#define ETCH_GRADIENT_BACKENDS "interp", "c", "llvm"
#include "jit/gradients_test.cc"
