// Every operation of ops.def on every type, on every backend that runs generated text, against tables computed by numpy and, for leaves
// and movement, where each element comes from. INTERP has the same rows in tests/interp.
#include <gtest/gtest.h>

#include "support/backends.h"
#include "support/every_op.h"

namespace etch {
namespace {

class EveryOp : public testing::TestWithParam<test::OpOnBackend> {};
INSTANTIATE_TEST_SUITE_P(Ops, EveryOp, testing::ValuesIn(test::every_op_on({"c", "llvm", "opencl", "cuda"})), test::name_of_row);

TEST_P(EveryOp, IsRightForEveryType) {
  const auto device = test::backend(GetParam().backend);
  if (!device) GTEST_SKIP() << device.why;
  LazyOps ops;
  const std::vector<test::OpKernel> rows = test::kernels_of(ops, GetParam().op);
  std::vector<test::BackendKernel> kernels;
  for (const test::OpKernel& k : rows) kernels.push_back({k.store, &k.row.args, k.row.result.size(), {}});
  const Program program = test::program_of(kernels, *device->language(), test::options_for(*device->language()));
  const std::vector<Array> got = device->load(program)->run({});
  ASSERT_EQ(got.size(), rows.size());
  for (std::size_t k = 0; k < rows.size(); k++) {
    // A row has what OpenCL allows its own functions; + - * / are exact.
    const double ulp = GetParam().backend == "opencl" ? rows[k].row.ulp : 2;
    EXPECT_EQ(test::op_mismatch(rows[k].row, got[k], ulp), "") << program.kernels[k].text.source;
  }
}

}  // namespace
}  // namespace etch
