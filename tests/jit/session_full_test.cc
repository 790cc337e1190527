// The tests of session_test.cc that are not run elsewhere on OPENCL and CUDA.
#define ETCH_FURTHER_BACKENDS
#include "session_test.cc"
