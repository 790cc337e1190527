// The dimensions of a grid: kernels with more outer axes than a grid has dimensions, and with axes longer than a language takes in y and z,
// give the same numbers as plain loops on OPENCL and CUDA.
#include <gtest/gtest.h>

#include "support/backends.h"

namespace etch {
namespace {

struct Row {
  const char* name;
  std::vector<std::int64_t> shape;  // of the output; the input has its axes in reverse order
  std::vector<Opt> opts;
  std::vector<std::int64_t> cuda_groups, cuda_items;  // that follow from the limits of CUDA
};

const LazyOp* transposed(LazyOps& ops, const std::vector<std::int64_t>& shape) {
  std::vector<Sint> reversed(shape.rbegin(), shape.rend());
  std::vector<int> order;
  for (int i = static_cast<int>(shape.size()) - 1; i >= 0; i--) order.push_back(i);
  const ShapeTracker st = ShapeTracker::from_shape(reversed).permute(order);
  const LazyOp* x = ops.load(1, DType::Int32, st);
  return ops.store(0, ops.elementwise(Op::Add, {x, x}), ShapeTracker::from_shape({shape.begin(), shape.end()}));
}

/// Element i of the output, in row-major order, is twice the element of the input with the reversed index.
std::int64_t source_of(const std::vector<std::int64_t>& shape, std::int64_t i) {
  std::int64_t from = 0;
  for (std::size_t d = shape.size(); d-- > 0; i /= shape[d]) from = from * shape[d] + i % shape[d];
  return from;
}

// Each shape keeps its axes: none is merged with its neighbour.
const Row kRows[] = {
    {"five axes", {3, 5, 2, 7, 4}, {}, {4, 7, 30}, {1, 1, 1}},
    {"y is too long", {70000, 3}, {}, {210000, 1, 1}, {1, 1, 1}},
    {"z is too long", {300, 300, 2, 3}, {}, {3, 600, 300}, {1, 1, 1}},
    {"y and z are too long", {70000, 3, 2}, {}, {420000, 1, 1}, {1, 1, 1}},
    {"z of the items is too long",
     {128, 2, 4},
     {{OptOp::Local, 0, 128}, {OptOp::Local, 0, 2}, {OptOp::Local, 0, 2}},
     {2, 1, 1},
     {2, 256, 1}},
    {"four local axes",
     {4, 3, 4, 6},
     {{OptOp::Local, 0, 2}, {OptOp::Local, 1, 3}, {OptOp::Local, 1, 2}, {OptOp::Local, 2, 3}},
     {2, 2, 2},
     {3, 2, 6}},
    {"the driver chooses", {70000, 3}, {{OptOp::NoLocals}}, {210000, 1, 1}, {1, 1, 1}},
    {"the driver chooses in three dimensions", {6, 10, 14, 3}, {{OptOp::NoLocals}, {OptOp::Upcast, 0, 2}}, {3, 14, 30}, {1, 1, 1}},
};

class Grid : public testing::TestWithParam<const char*> {};

TEST_P(Grid, DimensionsAreLimitedAndSplit) {
  const auto device = test::backend(GetParam());
  if (!device) GTEST_SKIP() << device.why;
  LazyOps ops;
  std::vector<std::vector<Array>> inputs;
  std::vector<test::BackendKernel> kernels;
  for (const Row& row : kRows) {
    std::int64_t n = 1;
    for (std::int64_t size : row.shape) n *= size;
    std::vector<double> values;
    for (std::int64_t i = 0; i < n; i++) values.push_back(static_cast<double>(i));
    inputs.push_back({Array::of_doubles(DType::Int32, {n}, values)});
  }
  for (std::size_t r = 0; r < inputs.size(); r++)
    kernels.push_back({transposed(ops, kRows[r].shape), &inputs[r], inputs[r][0].size(), kRows[r].opts});
  const Program program = test::program_of(kernels, *device->language(), test::options_for(*device->language()));
  const std::vector<Array> got = device->load(program)->run({});
  const GridLimits& limits = device->language()->limits;
  for (std::size_t r = 0; r < kernels.size(); r++) {
    SCOPED_TRACE(kRows[r].name);
    const ProgramKernel& k = program.kernels[r];
    for (std::size_t d = 0; d < 3; d++) {
      EXPECT_LE(k.global_size[d].as_int(), limits.groups[d]);
      EXPECT_LE(k.local_size[d].as_int(), limits.items[d]);
      if (device->language() != &kCuda) continue;
      EXPECT_EQ(k.global_size[d].as_int(), kRows[r].cuda_groups[d]) << d;
      EXPECT_EQ(k.local_size[d].as_int(), kRows[r].cuda_items[d]) << d;
    }
    EXPECT_EQ(k.driver_groups, std::string_view(kRows[r].name).starts_with("the driver"));
    for (std::int64_t i = 0; i < got[r].size(); i++)
      ASSERT_EQ(got[r].double_at(i), 2.0 * static_cast<double>(source_of(kRows[r].shape, i))) << i << "\n" << k.text.source;
  }
}

INSTANTIATE_TEST_SUITE_P(Launch, Grid, testing::Values("opencl", "cuda"), [](const auto& row) { return std::string(row.param); });

}  // namespace
}  // namespace etch
