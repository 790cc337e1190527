// The tests of tinyjit_test.cc that are not run elsewhere on OPENCL and CUDA.
#define ETCH_FURTHER_BACKENDS
#include "tinyjit_test.cc"
