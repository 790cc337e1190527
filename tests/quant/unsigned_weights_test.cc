// Weights as unsigned bytes: the same numbers as loops of this file by ONNX's definition, one kernel, and one sum of the elements that all
// channels share.
#include "quant/convs.h"

namespace etch::test {
namespace {

using convs::Conv;

Conv random_conv(Conv conv, std::mt19937& rng) {
  conv.weights = convs::bytes(conv.outputs * (conv.channels / conv.groups) * conv.kernel * conv.kernel, rng);
  return conv;
}

struct Case {
  Conv conv;
  bool is_split;  // whether it has a sum beside the products
};

const Case kCases[] = {
    {{.channels = 16, .outputs = 8, .size = 5, .x_zero = -128}, true},
    {{.channels = 24, .outputs = 12, .size = 6, .x_zero = 7, .y_zero = -3}, true},
    {{.channels = 9, .outputs = 7, .size = 3}, true},
    {{.channels = 16, .outputs = 2, .size = 5}, false},                           // few channels share an element
    {{.channels = 4, .outputs = 8, .size = 5}, false},                            // short sums
    {{.channels = 8, .outputs = 8, .size = 5, .kernel = 3, .groups = 8}, false},  // each channel has elements of its own
};

std::int64_t count(const ProgramKernel& kernel, UOpKind kind) {
  return std::ranges::count_if(kernel.code.order, [&](const UOp* u) { return u->uop == kind; });
}

TEST(UnsignedWeights, GiveTheSameNumbers) {
  std::mt19937 rng(1);
  for (const Case& c : kCases) {
    const Conv conv = random_conv(c.conv, rng);
    SCOPED_TRACE(std::to_string(conv.channels) + " to " + std::to_string(conv.outputs));
    const convs::Net net = convs::net_of({conv}, "cortex-m0plus");
    EXPECT_EQ(net.frontend.schedule.items.size(), 1u);
    const Program program = lower_model(net.frontend, &language_of(net.options.target), net.options);
    ASSERT_EQ(program.kernels.size(), 1u);
    const bool has_unsigned = std::ranges::any_of(program.kernels[0].arguments, [](const auto& a) { return a.dtype == DType::UInt8; });
    EXPECT_EQ(has_unsigned, c.is_split);
    convs::expect_right(net, {conv}, rng);
  }
}

// Tiles of channels have a sum of products each, and one of elements for all of them.
TEST(UnsignedWeights, ChannelsShareASum) {
  std::mt19937 rng(2);
  const Conv conv = random_conv({.channels = 32, .outputs = 16, .size = 4}, rng);
  const convs::Net net = convs::net_of({conv}, "cortex-m0plus");
  const Program program = lower_model(net.frontend, &language_of(net.options.target), net.options);
  const ProgramKernel& kernel = program.kernels.at(0);
  EXPECT_NE(kernel.opts.find("UPCAST"), std::string::npos) << kernel.opts;
  EXPECT_EQ(count(kernel, UOpKind::DefineAcc), 4 + 1) << kernel.uops;
}

TEST(UnsignedWeights, ChainsAreRight) {
  std::mt19937 rng(3);
  const std::vector<Conv> all{random_conv({.channels = 8, .outputs = 12, .size = 7, .y_zero = -128}, rng),
                              random_conv({.channels = 12, .outputs = 12, .size = 7, .kernel = 3, .groups = 12, .x_zero = -128}, rng),
                              random_conv({.channels = 12, .outputs = 16, .size = 7, .x_zero = 0, .y_zero = 9}, rng)};
  convs::expect_right(convs::net_of(all, "cortex-m0plus"), all, rng);
}

}  // namespace
}  // namespace etch::test
