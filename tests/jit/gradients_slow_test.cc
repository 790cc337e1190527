// The same gradients in C and LLVM IR, and the gradients of gradients.
#define ETCH_GRADIENTS_ALONE
#define ETCH_SECOND_GRADIENTS
#define ETCH_GRADIENT_BACKENDS "c", "llvm"
#include "jit/gradients_test.cc"
