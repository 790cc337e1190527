// Every operation of ops.def on every type, on every backend that runs generated text, against tables computed by numpy and, for leaves
// and movement, where each element comes from. INTERP has the same rows in tests/interp.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "support/backends.h"
#include "support/every_op.h"

namespace etch {
namespace {

// One program of all operations in `some`, which are for one backend.
void expect_right(std::span<const test::OpOnBackend> some) {
  const std::string& backend = some.front().backend;
  const auto device = test::backend(backend);
  if (!device) GTEST_SKIP() << device.why;
  LazyOps ops;
  std::vector<test::OpKernel> rows;
  for (const test::OpOnBackend& one : some)
    for (test::OpKernel& kernel : test::kernels_of(ops, one.op)) rows.push_back(std::move(kernel));
  std::vector<test::BackendKernel> kernels;
  for (const test::OpKernel& k : rows) kernels.push_back({k.store, &k.row.args, k.row.result.size(), {}});
  const Program program = test::program_of(kernels, *device->language(), test::options_for(*device->language()));
  const std::vector<Array> got = device->load(program)->run({});
  ASSERT_EQ(got.size(), rows.size());
  for (std::size_t k = 0; k < rows.size(); k++) {
    // A row has what OpenCL allows its own functions; + - * / are exact.
    const double ulp = backend == "opencl" ? rows[k].row.ulp : 2;
    EXPECT_EQ(test::op_mismatch(rows[k].row, got[k], ulp), "") << name_of(rows[k].row.op) << "\n" << program.kernels[k].text.source;
  }
}

class EveryOp : public testing::TestWithParam<test::OpOnBackend> {};
INSTANTIATE_TEST_SUITE_P(Ops, EveryOp, testing::ValuesIn(test::every_op_on({"c", "llvm"})), test::name_of_row);
TEST_P(EveryOp, IsRightForEveryType) { expect_right({&GetParam(), 1}); }

// Where a program takes long to begin with, whatever is in it, some operations share one.
constexpr std::size_t kPrograms = 8;
class OpsOnDevices : public testing::TestWithParam<std::tuple<const char*, std::size_t>> {};
INSTANTIATE_TEST_SUITE_P(Ops, OpsOnDevices, testing::Combine(testing::Values("opencl", "cuda"), testing::Range<std::size_t>(0, kPrograms)),
                         [](const auto& row) {
                           return std::string(std::get<0>(row.param)) + "_" + std::to_string(std::get<1>(row.param));
                         });

TEST_P(OpsOnDevices, AreRightForEveryType) {
  const auto& [backend, part] = GetParam();
  const std::vector<test::OpOnBackend> all = test::every_op_on({backend});
  const std::size_t begin = all.size() * part / kPrograms, end = all.size() * (part + 1) / kPrograms;
  expect_right(std::span(all).subspan(begin, end - begin));
}

}  // namespace
}  // namespace etch
