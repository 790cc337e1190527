// Convolutions in vectors of integers, as a target with Helium has them: their kernels run on this machine, in C's and LLVM's terms.
#include "quant/convs.h"
#include "support/rounds.h"

namespace etch::vectors_test {
namespace {

using namespace test::convs;

Program program_of(const Net& net) { return compile_project(net.frontend, net.options).program; }

// Kernels of which the steps contain all of `steps`.
std::int64_t kernels_with(const Program& program, const std::vector<std::string>& steps) {
  return std::ranges::count_if(program.kernels, [&](const ProgramKernel& k) {
    return std::ranges::all_of(steps, [&](const std::string& s) { return k.opts.find(s) != std::string::npos; });
  });
}

// Windows of 13 or 15 channels of 3 x 3 elements are made longer to 16 channels, with weights of 0.
TEST(Windows, OfShortPiecesAreLaidSideBySide) {
  std::mt19937 rng(1);
  for (const std::int64_t channels : {13, 15})
    for (const std::int64_t stride : {1, 2}) {
      if ((channels == 13) == (stride == 2) && test::rounds(2) == 1) continue;
      std::vector<Conv> convs{random_conv(rng, channels, 64, 8, 3)};
      convs[0].stride = stride;
      convs.push_back(random_conv(rng, 64, 256, convs[0].size_out(), 1));
      convs = chain(convs);
      const Net net = net_of(convs, "cortex-m55");
      const std::vector<ScheduleItem>& items = net.frontend.schedule.items;
      ASSERT_EQ(items.size(), 4u) << to_text(net.frontend.schedule);  // padding, windows, two sums
      EXPECT_EQ(product(items[1].out->shape()), convs[0].size_out() * convs[0].size_out() * 16 * 9) << to_text(net.frontend.schedule);
      EXPECT_GE(kernels_with(program_of(net), {"TC", "VECTOR"}), 1);
      expect_right(net, convs, rng);
    }
}

TEST(Windows, StayWhereMemoryWouldGrowOrTheyWouldBeMuchLonger) {
  std::mt19937 rng(2);
  const std::vector<std::vector<Conv>> nets{
      {random_conv(rng, 1, 64, 8, 3)},                                          // 9 elements would become 48
      {random_conv(rng, 2, 16, 16, 5)},                                         // the peak is here
      chain({random_conv(rng, 16, 16, 6, 3), random_conv(rng, 16, 16, 6, 1)}),  // channels are long enough
  };
  for (const std::vector<Conv>& convs : nets) {
    const Net net = net_of(convs, "cortex-m55");
    EXPECT_LE(net.frontend.schedule.items.size(), convs.size() + 1) << to_text(net.frontend.schedule);
    expect_right(net, convs, rng);
  }
}

// A window as large as the image lies in order already: nothing is written for it, neither an input nor what a kernel wrote.
TEST(Windows, AsLargeAsTheImageAreReadWhereTheyAre) {
  std::mt19937 rng(4);
  for (const char* target : {"cortex-m55", "cortex-a55"})
    for (const bool is_input : {true, false}) {
      Conv whole = random_conv(rng, 4, 16, 2, 2);
      whole.is_padded = false;
      std::vector<Conv> convs{whole};
      if (!is_input) convs.insert(convs.begin(), random_conv(rng, 12, 4, 2, 1));
      convs = chain(convs);
      const Net net = net_of(convs, target);
      EXPECT_EQ(net.frontend.schedule.items.size(), convs.size()) << to_text(net.frontend.schedule);
      expect_right(net, convs, rng);
    }
}

// Depthwise and dense windows, strides, sizes that tiles divide or not; channels that fill vectors or not.
TEST(IntegerVectors, GiveWhatLoopsGive) {
  std::mt19937 rng(3);
  const auto pick = [&](std::initializer_list<std::int64_t> from) { return *(from.begin() + rng() % from.size()); };
  std::int64_t vectors = 0, borders = 0, dots = 0;
  for (int round = 0; round < test::rounds(18); round++) {
    const std::int64_t channels = pick({3, 4, 8, 12, 16, 20, 32}), size = pick({3, 5, 6, 8, 9}), kernel = pick({1, 3, 5});
    const bool is_depthwise = rng() % 2 == 0;
    const std::int64_t outputs = is_depthwise ? channels : pick({4, 8, 10, 16});
    Conv middle = random_conv(rng, channels, outputs, size, kernel, is_depthwise ? channels : 1);
    middle.stride = pick({1, 1, 2});
    Conv last = random_conv(rng, outputs, pick({4, 7, 8}), middle.size_out(), 1);
    const std::vector<Conv> convs = chain({random_conv(rng, 2, channels, size, 1), middle, last});
    const Net net = net_of(convs, round % 3 == 0 ? "x86-64-vnni" : round % 3 == 1 ? "cortex-m55" : "cortex-a55");
    const Program program = program_of(net);
    vectors += kernels_with(program, {"VECTOR"});
    borders += kernels_with(program, {"VECTOR", "INTERIOR"});
    dots += kernels_with(program, {"TC"});
    expect_right(net, convs, rng);
    if (testing::Test::HasFailure()) FAIL() << to_text(net.frontend.schedule);
  }
  EXPECT_GT(vectors, test::rounds(12));
  EXPECT_GT(borders, test::rounds(2));
  EXPECT_GT(dots, test::rounds(2));
}

// What one sum gives another is stored as what the instruction takes: bytes of the other sign, or as the model says.
TEST(StoredBytes, AreThoseOfTheInstruction) {
  std::mt19937 rng(5);
  const std::vector<Conv> convs = chain({random_conv(rng, 4, 16, 6, 3), random_conv(rng, 16, 32, 6, 3), random_conv(rng, 32, 16, 6, 1)});
  const std::pair<const char*, DType> rows[] = {{"x86-64-vnni", DType::UInt8}, {"cortex-m55", DType::Int8}, {"cortex-m4f", DType::Int8}};
  for (const auto& [target, stored] : rows) {
    const Net net = net_of(convs, target, false);
    std::int64_t sums = 0;
    for (const ScheduleItem& item : net.frontend.schedule.items)
      for (const LazyOp* op : toposort(item.ast))
        if (is_reduce(op->op) && item.out != net.frontend.schedule.outputs[0].buffer) {
          EXPECT_EQ(item.out->dtype, stored) << target;
          sums++;
        }
    EXPECT_EQ(sums, 2) << target;
    EXPECT_EQ(net.frontend.schedule.outputs[0].buffer->dtype, DType::Int8) << target;
    EXPECT_GE(kernels_with(program_of(net), {"TC"}), 1) << target;
    expect_right(net, convs, rng);
  }
}

// Where memory has no room for a padded copy, an instruction reads the padding in the tiles at the border alone.
TEST(PaddedOperands, AreTakenByTheInstruction) {
  std::mt19937 rng(6);
  int number = 0;
  for (const char* target : {"cortex-m4f", "cortex-m55", "x86-64-vnni", "cortex-a55"})
    for (const std::int64_t zero : {std::int64_t{-128}, std::int64_t{0}, std::int64_t{77}})
      for (const bool wide : {false, true}) {
        if (number++ % 7 != 0 && test::rounds(2) == 1) continue;
        std::vector<Conv> convs{random_conv(rng, 16, 16, 7, 1), random_conv(rng, 16, 16, 7, 3)};
        convs[0].y_zero = zero;
        convs = chain(convs);
        const Net net = net_of(convs, target, wide);
        ASSERT_EQ(net.frontend.schedule.items.size(), 2u) << to_text(net.frontend.schedule);
        // Zeros that pad need no body of their own, but where bytes are stored with the other sign.
        const bool has_body = zero != 0 || std::string_view(target) == "x86-64-vnni";
        const Program program = program_of(net);
        EXPECT_EQ(kernels_with(program, {"TC"}), 1) << target;
        EXPECT_EQ(kernels_with(program, {"TC", "INTERIOR"}), has_body ? 1 : 0) << target;
        expect_right(net, convs, rng);
      }
}

// Products beyond 2^22, and beyond what saturates.
TEST(IntegerVectors, RoundLargeProducts) {
  std::mt19937 rng(4);
  std::vector<Conv> convs = chain({random_conv(rng, 64, 16, 4, 1), random_conv(rng, 16, 8, 4, 3)});
  for (std::int64_t& w : convs[0].weights) w = w < 0 ? -128 : 127;
  expect_right(net_of(convs, "cortex-m55"), convs, rng);
}

}  // namespace
}  // namespace etch::vectors_test
