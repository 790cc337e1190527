// Every operation on every type, on every backend that runs generated text, against the tables computed by numpy.
#include <gtest/gtest.h>

#include <cmath>

#include "support/backends.h"
#include "support/op_table.h"

namespace etch {
namespace {

void agree(const std::string& language) {
  const auto device = test::backend(language);
  if (!device) GTEST_SKIP() << "the device can't be used here";
  const std::vector<test::OpRow> rows = test::read_op_table(ETCH_TEST_DATA "/ops");
  LazyOps ops;
  std::vector<test::BackendKernel> kernels;
  for (const test::OpRow& row : rows) kernels.push_back({test::op_store(ops, row), &row.args, row.result.size(), {}});
  const Program program = test::program_of(kernels, *device->language(), test::options_for(*device->language()));
  const std::vector<Array> got = device->load(program)->run({});
  ASSERT_EQ(got.size(), rows.size());
  for (std::size_t k = 0; k < rows.size(); k++) {
    const double ulp = language == "opencl" ? rows[k].ulp : 2;  // a row has what OpenCL allows its own functions; + - * / are exact
    EXPECT_EQ(test::op_mismatch(rows[k], got[k], ulp), "") << program.kernels[k].text.source;
  }
}

TEST(OpsOnBackends, C) { agree("c"); }
TEST(OpsOnBackends, LLVM) { agree("llvm"); }
TEST(OpsOnBackends, CUDA) { agree("cuda"); }
TEST(OpsOnBackends, OpenCL) { agree("opencl"); }

}  // namespace
}  // namespace etch
