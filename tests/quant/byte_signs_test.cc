// Bytes of a model's input that have another sign than the target's dot products take.
#include "quant/convs.h"

namespace etch::byte_signs_test {
namespace {

using namespace test::convs;

struct Row {
  const char* target;
  DType input, stored;
};
constexpr Row kRows[] = {{"cortex-m55", DType::UInt8, DType::Int8}, {"x86-64-vnni", DType::Int8, DType::UInt8}};

Conv of_type(const Conv& c, DType dtype) { return dtype == DType::UInt8 ? in_uint8(c) : c; }

// The types of what is multiplied with weights, in the order of the kernels.
std::vector<DType> operands(const Schedule& schedule) {
  std::vector<DType> types;
  for (const ScheduleItem& item : schedule.items)
    for (const LazyOp* op : toposort(item.ast))
      if (op->op == Op::Load && item.input_of(op)->kind != LazyKind::Data && item.inputs.size() > 1) types.push_back(op->dtype);
  return types;
}

// Padding, windows laid side by side, and nothing that is copied anyway.
TEST(ByteSigns, OfInputsChangeWhereTheyAreCopied) {
  std::mt19937 rng(1);
  struct Kind {
    std::int64_t channels, kernel, outputs;
    std::size_t items;  // beside those of the sums
  };
  for (const Row& row : kRows)
    for (const Kind& kind : {Kind{3, 3, 16, 1}, Kind{16, 3, 16, 1}, Kind{15, 3, 16, 2}, Kind{16, 1, 64, 1}}) {
      const Conv first = random_conv(rng, kind.channels, kind.outputs, 5, kind.kernel), second = random_conv(rng, kind.outputs, 160, 5, 1);
      const std::vector<Conv> convs = chain({of_type(first, row.input), of_type(second, row.input)});
      const Net net = net_of(convs, row.target);
      EXPECT_EQ(net.frontend.schedule.items.size(), 2 + kind.items) << row.target << "\n" << to_text(net.frontend.schedule);
      EXPECT_EQ(operands(net.frontend.schedule), (std::vector<DType>{row.stored, row.stored})) << to_text(net.frontend.schedule);
      // compiling them takes long: each kind on one target
      if ((kind.channels == 16) == (row.stored == DType::Int8)) expect_right(net, convs, rng);
      if (testing::Test::HasFailure()) FAIL() << row.target << " " << kind.channels << "x" << kind.kernel;
    }
}

// A copy that would take more memory than anything else is not made.
TEST(ByteSigns, StayWhereMemoryWouldGrow) {
  std::mt19937 rng(2);
  for (const Row& row : kRows) {
    const std::vector<Conv> convs{of_type(random_conv(rng, 16, 64, 5, 1), row.input)};
    const Net net = net_of(convs, row.target);
    EXPECT_EQ(operands(net.frontend.schedule), std::vector<DType>{row.input}) << row.target;
    expect_right(net, convs, rng);
  }
}

// Sums have no constant that the offset could join: it becomes one.
TEST(ByteSigns, AreRightWithoutZeroPoints) {
  std::mt19937 rng(3);
  for (const Row& row : kRows) {
    Conv first = random_conv(rng, 16, 16, 5, 3);
    first.x_zero = row.input == DType::UInt8 ? -128 : 0;
    const std::vector<Conv> convs = chain({of_type(first, row.input), of_type(random_conv(rng, 16, 128, 5, 1), row.input)});
    const Net net = net_of(convs, row.target);
    EXPECT_EQ(operands(net.frontend.schedule), (std::vector<DType>{row.stored, row.stored}));
    expect_right(net, convs, rng);
  }
}

// Between kernels nothing is rounded to one type and then moved to the other.
TEST(ByteSigns, OfRequantisedSumsAreThoseThatAreStored) {
  std::mt19937 rng(4);
  for (const Row& row : kRows) {
    const std::vector<Conv> convs =
        chain({of_type(random_conv(rng, 16, 16, 5, 3), row.input), of_type(random_conv(rng, 16, 128, 5, 1), row.input)});
    const Net net = net_of(convs, row.target);
    std::int64_t sums = 0;
    for (const ScheduleItem& item : net.frontend.schedule.items)
      for (const LazyOp* op : toposort(item.ast)) {
        if (item.out == net.frontend.schedule.outputs[0].buffer || item.inputs.size() < 2) continue;
        EXPECT_TRUE(op->op != Op::Cast || op->dtype != row.input) << to_text(item.ast);
        sums += is_reduce(op->op) ? 1 : 0;
      }
    EXPECT_EQ(sums, 1);
    expect_right(net, convs, rng);
  }
}

}  // namespace
}  // namespace etch::byte_signs_test
