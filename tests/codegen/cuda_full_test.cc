// Kernels in CUDA, run on the processor: every operation for every type it has, on pairs of values that are difficult for it. Those of the
// tables that numpy computed are among the slow tests (ops_slow_test.cc).
#include <gtest/gtest.h>

#include "support/on_device.h"

namespace etch {
namespace {

TEST(CudaOperations, OnEveryType) {
  DeviceOptions options;
  options.of<CudaOptions>().device = "cpu";
  options.of<CudaOptions>().contract = true;
  options.of<CudaOptions>().flags = {"-std=c++17", "-O1"};
  options.timeout_s = 900;
  LazyOps ops;
  const std::vector<test::OpCase> cases = test::op_cases(ops, true);
  ASSERT_GT(cases.size(), 1000u);
  test::expect_operations(*make_device("cuda", options), cases, test::options_for(kCuda));
}

}  // namespace
}  // namespace etch
