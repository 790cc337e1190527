// All of the ONNX backend's node tests on the backends on which ./dev test runs a tenth.
#define ETCH_FURTHER_BACKENDS
#include "node_suite_slow_test.cc"
