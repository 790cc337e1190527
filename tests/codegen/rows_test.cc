// Lanes along the rows of planes, with borders at both ends of a row, above and below, along channels that are no multiple of the lanes,
// and along channels of what is stored in planes: convolutions of small whole numbers, whose sums are exact, against loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "codegen/kernel.h"
#include "memory/plan.h"
#include "support/exact_kernels.h"
#include "support/in_place.h"
#include "support/random_windows.h"
#include "support/rounds.h"

namespace etch {
namespace {

using test::windows::convolution;
using test::windows::LaidWindow;

LaidWindow random_rows(std::mt19937& rng) {
  const auto pick = [&](std::int64_t low, std::int64_t high) { return std::uniform_int_distribution<std::int64_t>(low, high)(rng); };
  LaidWindow w{.channels = pick(1, 3), .outputs = pick(1, 3), .height = pick(3, 12), .width = pick(16, 50)};
  w.kernel = pick(1, 3);
  w.stride = pick(1, 2);
  w.pad = pick(0, w.kernel - 1);
  w.depthwise = pick(0, 2) > 0;
  return w;
}

// What is looked for among random windows: some of them have it, or the comparison shows nothing of it.
struct Wanted {
  LaidWindow (*random)(std::mt19937& rng);
  bool (*has)(const Kernel& chosen, const ProgramKernel& made, const LaidWindow& window);
  bool may_lay_out;  // the taps
};

// Random kernels, of which `add` makes one more: what they compute equals what loops do, and of some `has` finds what is looked for.
template <typename Add, typename Has>
void compare_all(test::ExactKernels& kernels, std::size_t rounds, bool may_lay_out, const Add& add, const Has& has) {
  if (!kernels.is_there()) GTEST_SKIP() << kernels.why();
  for (std::size_t i = 0; i < rounds; i++) add();
  kernels.run(may_lay_out);
  int seen = 0;
  for (std::size_t i = 0; i < rounds; i++) seen += has(i, kernels.program.kernels[i]) ? 1 : 0;
  EXPECT_GT(seen, static_cast<int>(rounds / 6));
}

void compare(const char* name, const Language& language, int vector_bits, const Wanted& wanted, unsigned seed) {
  test::ExactKernels kernels(name, language, vector_bits);
  if (vector_bits == 512) kernels.options.float_registers = 32;
  std::mt19937 rng(seed);
  LazyOps ops;
  std::vector<LaidWindow> windows;
  std::vector<const LazyOp*> stores;
  const auto add = [&] {
    const LaidWindow& w = windows.emplace_back(wanted.random(rng));
    const auto arguments = test::windows::arguments_of(w, DType::Float32);
    const std::vector<Array> inputs{test::small_numbers(rng, arguments[1].elements.as_int()),
                                    test::small_numbers(rng, arguments[2].elements.as_int())};
    stores.push_back(test::windows::store_of(ops, w, DType::Float32));
    kernels.add(stores.back(), inputs, convolution(w, inputs[0], inputs[1]));
  };
  const auto has = [&](std::size_t i, const ProgramKernel& made) {
    auto arguments = test::windows::arguments_of(windows[i], DType::Float32);
    arguments[2].is_constant = wanted.may_lay_out;
    return wanted.has(choose_opts(stores[i], arguments, kernels.options), made, windows[i]);
  };
  compare_all(kernels, static_cast<std::size_t>(test::rounds(60)), wanted.may_lay_out, add, has);
}

const Wanted kAlongRows{
    random_rows, [](const Kernel& chosen, const ProgramKernel&, const LaidWindow&) { return chosen.lanes() > 1 && chosen.has_interior(); },
    false};

TEST(LanesAlongRows, OfCGiveTheSumsOfLoops) { compare("c", kC, 256, kAlongRows, 1); }
TEST(LanesAlongRows, OfFourInCGiveTheSumsOfLoops) { compare("c", kC, 128, kAlongRows, 2); }
TEST(LanesAlongRows, OfLlvmGiveTheSumsOfLoops) { compare("llvm", kLlvm, 256, kAlongRows, 3); }

// Four vectors and more, of which the last may begin early. What is in front of the inner ones and behind them has bodies of its own, in
// which no mask of lanes changes.
LaidWindow random_long_rows(std::mt19937& rng) {
  LaidWindow w = random_rows(rng);
  w.height = std::uniform_int_distribution<std::int64_t>(3, 30)(rng);
  w.width = std::uniform_int_distribution<std::int64_t>(50, 80)(rng);
  w.kernel = 3;
  w.stride = w.pad = 1;
  w.depthwise = true;
  return w;
}

// More vectors than registers hold the sums of: else windows roll over rows as a whole.
LaidWindow random_longer_rows(std::mt19937& rng) {
  LaidWindow w = random_long_rows(rng);
  w.width = std::uniform_int_distribution<std::int64_t>(130, 170)(rng);
  return w;
}

bool has_masks_that_stay(const Kernel& chosen, const ProgramKernel& made, const LaidWindow&) {
  const auto has = [&](const char* text) { return made.text.source.find(text) != std::string::npos; };
  return chosen.lanes() > 1 && has("for (int x_tile") && !has("x_above") && !has("x_below") && !has("x_tile_above") && !has("x_tile_below");
}

const Wanted kBordersOfRows{random_long_rows, has_masks_that_stay, false},
    kBordersOfLongerRows{random_longer_rows, has_masks_that_stay, false};

TEST(BordersOfRows, OfFourInCHaveMasksThatStay) { compare("c", kC, 128, kBordersOfRows, 23); }
TEST(BordersOfRows, OfEightInCHaveMasksThatStay) { compare("c", kC, 256, kBordersOfRows, 24); }
TEST(BordersOfRows, OfSixteenInCHaveMasksThatStay) { compare("c", kC, 512, kBordersOfLongerRows, 25); }

LaidWindow random_steps_of_two(std::mt19937& rng) {
  LaidWindow w = random_rows(rng);
  w.width = std::uniform_int_distribution<std::int64_t>(24, 90)(rng);
  w.stride = 2;
  return w;
}

// Lanes that are every second element of a row, of which the first and the last may lie outside: of two vectors.
const Wanted kEverySecond{
    random_steps_of_two,
    [](const Kernel&, const ProgramKernel& made, const LaidWindow&) { return made.uops.find("Load float32x") != std::string::npos; },
    false};

TEST(EverySecond, OfFourInCGivesTheSumsOfLoops) { compare("c", kC, 128, kEverySecond, 13); }
TEST(EverySecond, OfEightInLlvmGivesTheSumsOfLoops) { compare("llvm", kLlvm, 256, kEverySecond, 14); }
TEST(EverySecond, OfSixteenInCGivesTheSumsOfLoops) { compare("c", kC, 512, kEverySecond, 15); }

// Of tiles at the border of a row lanes at one end lie outside, or beside the row of another tile.
LaidWindow random_borders(std::mt19937& rng) {
  LaidWindow w = random_rows(rng);
  w.kernel = std::uniform_int_distribution<std::int64_t>(2, 4)(rng);
  w.stride = 1;
  w.pad = std::uniform_int_distribution<std::int64_t>(1, w.kernel - 1)(rng);
  w.width = 8 * std::uniform_int_distribution<std::int64_t>(2, 7)(rng) + w.kernel - 1 - 2 * w.pad;
  return w;
}

// What lies outside is zero, or where tiles share a body an element that is read there.
const Wanted kBetweenEnds{random_borders,
                          [](const Kernel& chosen, const ProgramKernel& made, const LaidWindow&) {
                            const std::string lanes = std::to_string(chosen.lanes());
                            const auto has = [&](const std::string& text) { return made.uops.find(text) != std::string::npos; };
                            const bool reads_elements = has("Load float32 %1 ");  // of the image
                            return has("Vectorize boolx" + lanes) ? has("Where float32x" + lanes)
                                                                  : has("Vectorize float32x" + lanes) && !reads_elements;
                          },
                          false};

TEST(BetweenEnds, OfFourInCAreTheSumsOfLoops) { compare("c", kC, 128, kBetweenEnds, 18); }
TEST(BetweenEnds, OfEightInCAreTheSumsOfLoops) { compare("c", kC, 256, kBetweenEnds, 19); }
TEST(BetweenEnds, OfSixteenInLlvmAreTheSumsOfLoops) { compare("llvm", kLlvm, 512, kBetweenEnds, 20); }

// Copies of rows shorter than a vector, which would begin before the first row or end behind the last: of halves.
void compare_short_rows(const char* name, const Language& language, unsigned seed) {
  test::ExactKernels kernels(name, language, 256);
  std::mt19937 rng(seed);
  LazyOps ops;
  const auto add = [&] {
    const auto pick = [&](std::int64_t low, std::int64_t high) { return std::uniform_int_distribution<std::int64_t>(low, high)(rng); };
    const std::int64_t height = pick(2, 5), width = pick(4, 7), left = pick(0, 8 - width), right = 8 - width - left;
    const ShapeTracker from = ShapeTracker::from_shape({height, width}).pad({{1, 1}, {left, right}});
    const Array in = test::small_numbers(rng, height * width);
    std::vector<double> out(static_cast<std::size_t>((height + 2) * 8));
    for (std::int64_t i = 0; i < height * width; i++)
      out[static_cast<std::size_t>((i / width + 1) * 8 + left + i % width)] = in.double_at(i);
    const LazyOp* store = ops.store(0, ops.load(1, DType::Float32, from), ShapeTracker::from_shape({height + 2, 8}));
    kernels.add(store, {in}, std::move(out), std::vector<Opt>{{OptOp::Vector, 1, 8}});
  };
  const auto has = [](std::size_t, const ProgramKernel& made) { return made.uops.find("Load float32x4") != std::string::npos; };
  compare_all(kernels, static_cast<std::size_t>(test::rounds(20)), false, add, has);
}

TEST(BetweenEnds, OfShortRowsInCAreHalves) { compare_short_rows("c", kC, 21); }
TEST(BetweenEnds, OfShortRowsInLlvmAreHalves) { compare_short_rows("llvm", kLlvm, 22); }

// GCC's predictive commoning is off where it would cost registers for sums.
TEST(VectorSums, OfSeveralAreWhatGccKeepsNothingBeside) {
  LazyOps ops;
  const LaidWindow w{.channels = 4, .outputs = 32, .height = 8, .width = 8, .kernel = 3, .out_last = true};
  for (const int bits : {0, 512}) {
    CodegenOptions options = test::options_for(kC);
    options.vector_bits = bits;
    const KernelSignature signature{"k", test::windows::arguments_of(w, DType::Float32), {}};
    const ProgramKernel made = generate_kernel(test::windows::store_of(ops, w, DType::Float32), signature, kC, options);
    const std::string pragmas = pragmas_for(std::span(&made, 1));
    EXPECT_EQ(pragmas.find("no-predictive-commoning") != std::string::npos, bits > 0) << pragmas;
  }
}

LaidWindow random_channels(std::mt19937& rng) {
  const auto pick = [&](std::int64_t low, std::int64_t high) { return std::uniform_int_distribution<std::int64_t>(low, high)(rng); };
  LaidWindow w{.channels = pick(1, 6), .outputs = pick(9, 70), .height = pick(3, 8), .width = pick(3, 8)};
  w.kernel = pick(1, 3);
  w.in_last = pick(0, 1) > 0;
  w.out_last = true;
  return w;
}

// The last vector of channels begins earlier, and the taps of its first lanes lie in memory twice.
const Wanted kAlongChannels{random_channels,
                            [](const Kernel& chosen, const ProgramKernel& made, const LaidWindow& w) {
                              const std::int64_t all = w.outputs * w.channels * w.kernel * w.kernel;
                              return chosen.lanes() > 1 && made.arguments[2].layout && made.arguments[2].elements.as_int() > all;
                            },
                            true};

TEST(LanesAlongChannels, OfAnyNumberInCGiveTheSumsOfLoops) { compare("c", kC, 256, kAlongChannels, 4); }
TEST(LanesAlongChannels, OfAnyNumberInLlvmGiveTheSumsOfLoops) { compare("llvm", kLlvm, 512, kAlongChannels, 5); }

LaidWindow random_planes(std::mt19937& rng) {
  LaidWindow w = random_channels(rng);
  w.width = std::uniform_int_distribution<std::int64_t>(4, 20)(rng);
  w.out_last = false;
  return w;
}

// Vectors of channels, of which four pixels are stored as columns of planes.
const Wanted kColumns{
    random_planes,
    [](const Kernel&, const ProgramKernel& made, const LaidWindow&) { return made.uops.find("StoreColumns") != std::string::npos; }, true};

TEST(Columns, OfFourInCGiveTheSumsOfLoops) { compare("c", kC, 128, kColumns, 6); }
TEST(Columns, OfSixteenInCGiveTheSumsOfLoops) { compare("c", kC, 512, kColumns, 7); }
TEST(Columns, OfEightInLlvmGiveTheSumsOfLoops) { compare("llvm", kLlvm, 256, kColumns, 8); }

// Wide rows of few products: as many pixels as lanes at once, and four at a time what is left of a tile.
LaidWindow random_wide_planes(std::mt19937& rng) {
  const auto pick = [&](std::int64_t low, std::int64_t high) { return std::uniform_int_distribution<std::int64_t>(low, high)(rng); };
  return {.channels = pick(1, 2), .outputs = 16 * pick(1, 2), .height = pick(3, 5), .width = 4 * pick(4, 12), .kernel = 1 + 2 * pick(0, 1)};
}

const Wanted kSquares{random_wide_planes,
                      [](const Kernel& chosen, const ProgramKernel& made, const LaidWindow&) {
                        const auto has_square = [&](const Axis& a) {
                          return a.kind == AxisKind::Upcast && a.size.as_int() >= chosen.lanes();
                        };
                        return made.uops.find("StoreColumns") != std::string::npos && std::ranges::any_of(chosen.axes(), has_square);
                      },
                      true};

TEST(Columns, AsManyAsEightLanesInCGiveTheSumsOfLoops) { compare("c", kC, 256, kSquares, 9); }
TEST(Columns, AsManyAsSixteenLanesInCGiveTheSumsOfLoops) { compare("c", kC, 512, kSquares, 10); }
TEST(Columns, AsManyAsEightLanesInLlvmGiveTheSumsOfLoops) { compare("llvm", kLlvm, 256, kSquares, 11); }
TEST(Columns, AsManyAsSixteenLanesInLlvmGiveTheSumsOfLoops) { compare("llvm", kLlvm, 512, kSquares, 12); }

// Sums over neighbouring channels, as of LRN, of what has channels innermost, into blocks of as many channels as lanes: in all blocks but
// the first and the last no lane is outside.
void compare_blocks(const char* name, const Language& language, int lanes, unsigned seed) {
  test::ExactKernels kernels(name, language, 32 * lanes);
  std::mt19937 rng(seed);
  const auto pick = [&](std::int64_t low, std::int64_t high) { return std::uniform_int_distribution<std::int64_t>(low, high)(rng); };
  LazyOps ops;
  const auto add = [&] {
    const std::int64_t blocks = pick(4, 7), pixels = pick(1, 30), window = pick(2, 5), before = pick(0, window - 1);
    const std::int64_t channels = blocks * lanes, padded = channels + window - 1;
    const View pad = View::create({padded, pixels}, std::vector<Sint>{1, channels}, -before,
                                  std::vector<Range>{{before, before + channels}, {0, pixels}});
    const View windows = View::create({blocks, pixels, lanes, window}, std::vector<Sint>{lanes * pixels, 1, pixels, pixels});
    const LazyOp* sum = ops.reduce(Op::ReduceSum, ops.load(1, DType::Float32, ShapeTracker({pad, windows})), {3});
    const Array in = test::small_numbers(rng, channels * pixels);
    std::vector<double> out(static_cast<std::size_t>(channels * pixels));
    for (std::int64_t c = 0; c < channels; c++)
      for (std::int64_t x = 0; x < pixels; x++)
        for (std::int64_t from = std::max<std::int64_t>(c - before, 0); from < std::min(c - before + window, channels); from++)
          out[static_cast<std::size_t>((c / lanes * pixels + x) * lanes + c % lanes)] += in.double_at(x * channels + from);
    kernels.add(ops.store(0, sum, ShapeTracker::from_shape({blocks, pixels, lanes, 1})), {in}, out);
  };
  const auto has = [&](std::size_t, const ProgramKernel& made) {
    return made.uops.find("Load float32x" + std::to_string(lanes)) != std::string::npos;
  };
  compare_all(kernels, static_cast<std::size_t>(test::rounds(20)), false, add, has);
}

TEST(AcrossBlocks, OfFourInCGiveTheSumsOfLoops) { compare_blocks("c", kC, 4, 16); }
TEST(AcrossBlocks, OfEightInLlvmGiveTheSumsOfLoops) { compare_blocks("llvm", kLlvm, 8, 17); }
TEST(AcrossBlocks, OfSixteenInCGiveTheSumsOfLoops) { compare_blocks("c", kC, 16, 18); }

LaidWindow random_residual(std::mt19937& rng) {
  const auto pick = [&](std::int64_t low, std::int64_t high) { return std::uniform_int_distribution<std::int64_t>(low, high)(rng); };
  LaidWindow w{.channels = pick(1, 6), .outputs = pick(9, 40), .height = pick(3, 8), .width = pick(3, 8)};
  w.out_last = w.in_last = pick(0, 1) > 0;
  w.residual = true;
  return w;
}

// Sums that are added to what lies where they are stored. What the last vector or tile begins with, another one has stored before.
void compare_residuals(const char* name, const Language& language, int vector_bits, unsigned seed) {
  const auto device = test::backend(name);
  if (!device) GTEST_SKIP() << device.why;
  std::mt19937 rng(seed);
  test::InPlace in_place(language, vector_bits);
  std::vector<std::unique_ptr<test::KnownAst>> cases;
  CodegenOptions options = test::options_for(language);
  options.vector_bits = vector_bits;
  std::ptrdiff_t overlapping = 0;
  const auto rounds = static_cast<std::size_t>(test::rounds(80));
  while (cases.size() < rounds) {
    const LaidWindow w = random_residual(rng);
    auto c = std::make_unique<test::KnownAst>();
    c->store = test::windows::store_of(c->ops, w, DType::Float32);
    const auto arguments = test::windows::arguments_of(w, DType::Float32);
    for (std::size_t i = 1; i < arguments.size(); i++) c->inputs.push_back(test::small_numbers(rng, arguments[i].elements.as_int()));
    c->expected = convolution(w, c->inputs[0], c->inputs[1]);
    for (std::size_t i = 0; i < c->expected.size(); i++) c->expected[i] += c->inputs[2].double_at(static_cast<std::int64_t>(i));
    EXPECT_TRUE(in_place.add(*c));
    overlapping +=
        std::ranges::any_of(choose_opts(c->store, arguments, options).axes(), [](const Axis& a) { return a.overlap > 0; }) ? 1 : 0;
    cases.push_back(std::move(c));
  }
  const MemoryPlan plan = plan_memory(in_place.program());
  EXPECT_GE(std::ranges::count_if(plan.placements, [](const Placement& p) { return p.in_place_of >= 0; }), std::ssize(cases));
  EXPECT_GT(overlapping, std::ssize(cases) / 3);
  const std::vector<Array> got = device->load(in_place.program())->run({});
  for (std::size_t k = 0; k < cases.size(); k++) ASSERT_EQ(got[k].doubles(), cases[k]->expected) << k << "\n" << to_text(cases[k]->store);
}

TEST(ResidualsInPlace, OfCGiveTheSumsOfLoops) { compare_residuals("c", kC, 256, 6); }
TEST(ResidualsInPlace, OfSixteenInCGiveTheSumsOfLoops) { compare_residuals("c", kC, 512, 7); }
TEST(ResidualsInPlace, OfLlvmGiveTheSumsOfLoops) { compare_residuals("llvm", kLlvm, 256, 8); }

}  // namespace
}  // namespace etch
