// Channels that are shuffled (those of groups, one of each in turn) in front of a convolution: kernels whose indices are sums of products.
#include <gtest/gtest.h>

#include <random>

#include "device/device.h"
#include "driver/compile.h"
#include "onnx/builder.h"

namespace etch {
namespace {

using Ints = GraphBuilder::Ints;
using Value = GraphBuilder::Value;

struct Case {
  std::int64_t groups, channels, size, window, stride;  // channels of a group; rows and columns
};

class Shuffles : public testing::TestWithParam<Case> {
 protected:
  Shuffles() {
    const Case& c = GetParam();
    const std::int64_t channels = c.groups * c.channels, pad = c.window / 2;
    const auto numbers = [&](std::int64_t n) {
      std::vector<double> values;
      for (std::int64_t i = 0; i < n; i++) values.push_back(static_cast<double>(static_cast<int>(rng_() % 9)) - 4);
      return values;
    };
    x_ = numbers(channels * c.size * c.size);
    w_ = numbers(channels * c.window * c.window);
    GraphBuilder g("shuffled", 13);
    Value x = g.input("x", DType::Float32, {1, channels, c.size, c.size});
    x = g.node("Relu", {x});  // what is shuffled is computed
    x = g.node("Reshape", {x, g.initializer("cut", Array::of_ints(DType::Int64, {5}, Ints{1, c.groups, c.channels, c.size, c.size}))});
    x = g.node("Transpose", {x}, {{"perm", Ints{0, 2, 1, 3, 4}}});
    x = g.node("Reshape", {x, g.initializer("whole", Array::of_ints(DType::Int64, {4}, Ints{1, channels, c.size, c.size}))});
    const Value w = g.initializer("w", Array::of_doubles(DType::Float32, {channels, 1, c.window, c.window}, w_));
    const Value y =
        g.node("Conv", {x, w}, {{"group", channels}, {"pads", Ints{pad, pad, pad, pad}}, {"strides", Ints{c.stride, c.stride}}});
    out_ = (c.size - 1) / c.stride + 1;
    g.output(y, DType::Float32, {1, channels, out_, out_});
    options_.import = {.bytes = g.bytes(), .name = "shuffled"};
  }

  std::vector<double> expected() const {
    const Case& c = GetParam();
    std::vector<double> y;
    for (std::int64_t channel = 0; channel < c.groups * c.channels; channel++)
      for (std::int64_t row = 0; row < out_; row++)
        for (std::int64_t column = 0; column < out_; column++) {
          double sum = 0;
          for (std::int64_t i = 0; i < c.window; i++)
            for (std::int64_t j = 0; j < c.window; j++) {
              const std::int64_t yy = row * c.stride + i - c.window / 2, xx = column * c.stride + j - c.window / 2;
              if (yy < 0 || xx < 0 || yy >= c.size || xx >= c.size) continue;
              const std::int64_t from = channel % c.groups * c.channels + channel / c.groups;
              sum += std::max(x_[static_cast<std::size_t>((from * c.size + yy) * c.size + xx)], 0.0) *
                     w_[static_cast<std::size_t>((channel * c.window + i) * c.window + j)];
            }
          y.push_back(sum);
        }
    return y;
  }

  std::mt19937 rng_{7};
  std::int64_t out_ = 0;
  std::vector<double> x_, w_;
  CompileOptions options_;
};

TEST_P(Shuffles, AreAxesOfTheirOwn) {
  const Case& c = GetParam();
  const std::int64_t channels = c.groups * c.channels;
  const Array input = Array::of_doubles(DType::Float32, {1, channels, c.size, c.size}, x_);
  for (const char* target : {"c99", "x86-64-v3"}) {
    options_.target = find_target(target, ETCH_SOURCE_DIR "/targets");
    const Frontend frontend = read_model(options_);
    for (const ScheduleItem& item : frontend.schedule.items)
      for (const LazyOp* op : toposort(item.ast))
        EXPECT_TRUE(op->op != Op::Load || op->st().views().size() <= 2) << target << "\n" << to_text(item.ast);
    const Array got = make_reference_device()->load(lower_model(frontend, nullptr, options_))->run({input}).at(0);
    const std::vector<double> want = expected();
    ASSERT_EQ(got.size(), static_cast<std::int64_t>(want.size()));
    for (std::int64_t i = 0; i < got.size(); i++) ASSERT_EQ(got.double_at(i), want[static_cast<std::size_t>(i)]) << target << " " << i;
    const Program c_program = lower_model(frontend, &language_of(options_.target), options_);
    for (const ProgramKernel& kernel : c_program.kernels) EXPECT_EQ(kernel.text.source.find('%'), std::string::npos) << kernel.text.source;
    EXPECT_EQ(make_device("c", {})->load(c_program)->run({input}).at(0), got) << target;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Shuffles,
                         testing::Values(Case{4, 6, 6, 3, 1}, Case{2, 16, 5, 3, 2}, Case{3, 8, 9, 1, 1}, Case{4, 17, 14, 3, 1}),
                         [](const auto& row) { return std::to_string(row.param.groups) + "_of_" + std::to_string(row.param.channels); });

}  // namespace
}  // namespace etch
