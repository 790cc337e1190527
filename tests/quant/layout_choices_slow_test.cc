// Each way that a choice of the schedule can be taken in computes the same: what a search may try is right. Wanted numbers are the loops of
// quant/convs.h.
#include <functional>
#include <numeric>

#include "quant/convs.h"
#include "support/rounds.h"

namespace etch {
namespace {

using namespace test::convs;

Net with_rows(Net net, OptTable rows) {
  net.options.lists_choices = true;
  net.options.rows = std::make_shared<const OptTable>(std::move(rows));
  net.frontend = read_model(net.options);
  return net;
}

Net with_way(const Net& net, const LayoutChoice& choice, int way) {
  OptTable rows;
  rows.set_layout(choice.key, TunedLayout{choice.subject, way});
  return with_rows(net, std::move(rows));
}

std::vector<Conv> random_chain(std::mt19937& rng) {
  const auto pick = [&](std::initializer_list<std::int64_t> from) { return *(from.begin() + rng() % from.size()); };
  const std::int64_t channels = pick({3, 8, 12, 32}), size = pick({4, 5, 8}), outputs = pick({8, 10, 32});
  Conv middle = random_conv(rng, channels, channels, size, 3, channels);
  middle.stride = pick({1, 2});
  Conv first = random_conv(rng, pick({2, 3}), channels, size, pick({1, 3}));
  return chain({first, middle, random_conv(rng, channels, outputs, middle.size_out(), 1),
                random_conv(rng, outputs, pick({4, 16}), middle.size_out(), 3)});
}

bool is_block(const LayoutChoice& choice, int way) { return way >= static_cast<int>(std::ranges::count(choice.subject, '_')); }

class LayoutWaysOfBytes : public testing::TestWithParam<const char*> {};

TEST_P(LayoutWaysOfBytes, EachWayIsTakenAndRight) {
  std::mt19937 rng(7);
  std::map<std::string, int> unusual;  // ways that were tried, by the kind of the choice
  for (int round = 0; round < test::rounds(2); round++) {
    const std::vector<Conv> convs = random_chain(rng);
    const Net usual = with_rows(net_of(convs, GetParam()), {});
    for (const LayoutChoice& choice : usual.frontend.schedule.choices) {
      EXPECT_EQ(choice.taken, choice.usual);
      for (const int way : choice.ways) {
        if (way == choice.usual) continue;
        const Net other = with_way(usual, choice, way);
        const auto& choices = other.frontend.schedule.choices;
        const auto same = std::ranges::find(choices, choice.key, &LayoutChoice::key);
        ASSERT_NE(same, choices.end()) << choice.subject;
        EXPECT_EQ(same->taken, way) << choice.subject;
        expect_right(other, convs, rng);
        if (HasFailure()) FAIL() << choice.subject << ": " << way << "\n" << to_text(other.frontend.schedule);
        const std::string kind = choice.subject.substr(0, choice.subject.find('_'));
        unusual[kind == "order" && is_block(choice, way) ? "blocks" : kind]++;
      }
    }
  }
  EXPECT_GE(unusual["order"], 4);
  EXPECT_GE(unusual["padding"], 1) << "the copies that the peak of memory has room for";
  if (find_target(GetParam(), std::filesystem::path(ETCH_SOURCE_DIR "/targets")).vector.integers) {
    EXPECT_GE(unusual["blocks"], 2);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, LayoutWaysOfBytes, testing::Values("cortex-m4f", "cortex-m55", "x86-64-vnni", "c99"),
                         [](const auto& row) {
                           std::string name = row.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

Array small_numbers(std::mt19937& rng, const Ints& shape, int most = 4) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies()); i++)
    values.push_back(static_cast<double>(static_cast<int>(rng() % static_cast<unsigned>(2 * most + 1)) - most));
  return Array::of_doubles(DType::Float32, shape, values);
}

struct WaysTried {
  int unusual = 0, blocks = 0, blocks_at_once = 0;
};

// Runs the network with every way; its sums are of small whole numbers, which are exact in any order.
WaysTried try_float_ways(const GraphBuilder& g, const char* target, const Array& input) {
  const Net usual = with_rows(net_of(g, target, true), {});
  const auto interp = make_reference_device(), device = make_device("c", {});
  const Net plain = with_rows(net_of(g, "c99", true), {});  // in the order of the axes
  const Array want = interp->load(lower_model(plain.frontend, nullptr, plain.options))->run({input}).at(0);
  EXPECT_EQ(device->load(lower_model(usual.frontend, device->language(), usual.options))->run({input}).at(0), want);
  const auto expect_same = [&](const Net& other) {
    EXPECT_NE(to_text(other.frontend.schedule), to_text(usual.frontend.schedule));
    EXPECT_EQ(interp->load(lower_model(other.frontend, nullptr, other.options))->run({input}).at(0), want);
    EXPECT_EQ(device->load(lower_model(other.frontend, device->language(), other.options))->run({input}).at(0), want);
  };
  WaysTried tried;
  OptTable blocks;
  for (const LayoutChoice& choice : usual.frontend.schedule.choices)
    for (const int way : choice.ways) {
      if (way == choice.usual) {
        tried.blocks += is_block(choice, way);
        continue;
      }
      SCOPED_TRACE(choice.subject + ", way " + std::to_string(way));
      expect_same(with_way(usual, choice, way));
      tried.unusual++;
      tried.blocks += is_block(choice, way);
      if (is_block(choice, way)) blocks.set_layout(choice.key, TunedLayout{choice.subject, way});
    }
  if (tried.blocks == 0) return tried;
  const Net all = with_rows(usual, blocks);
  expect_same(all);
  for (const LayoutChoice& choice : all.frontend.schedule.choices) tried.blocks_at_once += is_block(choice, choice.taken);
  return tried;
}

// Values of every type may lie in another order, though the heuristics give it to integers alone.
TEST(LayoutWays, OfFloatsAreRight) {
  std::mt19937 rng(5);
  GraphBuilder g("net", 13);
  const auto weights = [&](const std::string& name, const Ints& shape) { return g.initializer(name, small_numbers(rng, shape)); };
  const Value x = g.input("x", DType::Float32, {1, 3, 6, 7});
  const Value first = g.node("Relu", {g.node("Conv", {x, weights("w1", {4, 3, 3, 3})}, {{"pads", Ints{1, 1, 1, 1}}}, "first")});
  const Value pool = g.node("MaxPool", {first}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}}, "pool");
  g.output(g.node("Conv", {pool, weights("w2", {5, 4, 1, 1})}, {}, "second"), DType::Float32, {1, 5, 3, 3});
  const WaysTried tried = try_float_ways(g, "cortex-m4f", small_numbers(rng, {1, 3, 6, 7}));
  EXPECT_GE(tried.unusual, 4);
  EXPECT_EQ(tried.blocks, 0) << "the target has no vectors to fill";
}

// [channels / 8, rows, columns, 8]: windows, channels one by one, residual sums, concatenated channels and a fully connected layer read it.
TEST(LayoutWays, OfBlocksOfFloatsAreRight) {
  std::mt19937 rng(6);
  GraphBuilder g("net", 13);
  const auto conv = [&](const std::string& name, const Value& v, const Ints& shape, std::int64_t pad, std::int64_t groups) {
    const Value w = g.initializer(name + "_w", small_numbers(rng, shape, 1));
    const Value y = g.node("Conv", {v, w}, {{"pads", Ints(4, pad)}, {"group", groups}}, name);
    const auto number = [&](const std::string& what, double n) {
      return g.initializer(name + what, Array::of_doubles(DType::Float32, {}, std::vector<double>{n}));
    };
    return g.node("Clip", {y, number("_low", -8), number("_high", 8)}, {}, name + "_clip");
  };
  const Value x = g.input("x", DType::Float32, {1, 3, 5, 6});
  const Value first = conv("first", x, {16, 3, 3, 3}, 1, 1), each = conv("each", first, {16, 1, 3, 3}, 1, 16);
  const Value sum = g.node("Add", {conv("wide", each, {16, 16, 1, 1}, 0, 1), first}, {}, "sum");
  const Value both = g.node("Concat",
                            {g.node("MaxPool", {sum}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{1, 2}}}, "pool"),
                             g.node("AveragePool", {sum}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{1, 2}}}, "mean")},
                            {{"axis", std::int64_t{1}}}, "both");
  const Value last = conv("last", both, {16, 32, 3, 3}, 1, 1);
  const Value flat = g.node("Flatten", {last}, {{"axis", std::int64_t{1}}}, "flat");
  g.output(g.node("Gemm", {flat, g.initializer("gemm_w", small_numbers(rng, {16 * 4 * 3, 5}))}, {}, "gemm"), DType::Float32, {1, 5});
  const WaysTried tried = try_float_ways(g, "x86-64-v3", small_numbers(rng, {1, 3, 5, 6}));
  EXPECT_GE(tried.blocks, 6);
  EXPECT_EQ(tried.blocks_at_once, tried.blocks) << "what lies in blocks reads and writes blocks";
}

// A choice is found by what it is about: neither the model's names nor what stands before it matter, the target's figures do.
TEST(LayoutKeys, AreOfTheKernelsAndTheTargetAlone) {
  std::mt19937 rng(8);
  const std::vector<Conv> convs = random_chain(rng);
  const auto keys = [](const Net& net) {
    std::vector<std::string> all;
    for (const LayoutChoice& c : net.frontend.schedule.choices) all.push_back(c.key);
    return all;
  };
  const std::vector<std::string> own = keys(with_rows(net_of(convs, "cortex-m4f"), {}));
  std::vector<Conv> longer = convs;
  longer.push_back(random_conv(rng, convs.back().outputs, 4, convs.back().size_out(), 1));
  ASSERT_GE(own.size(), 3u);
  const std::vector<std::string> more = keys(with_rows(net_of(chain(longer), "cortex-m4f"), {}));
  EXPECT_NE(std::ranges::find(more, own[0]), more.end());
  for (const std::string& key : keys(with_rows(net_of(convs, "cortex-m55"), {}))) EXPECT_EQ(std::ranges::find(own, key), own.end()) << key;
}

// A row whose way can't be taken changes nothing.
TEST(LayoutRows, OfNoWayAreLeftOut) {
  std::mt19937 rng(9);
  const std::vector<Conv> convs = random_chain(rng);
  const Net usual = with_rows(net_of(convs, "cortex-m4f"), {});
  OptTable rows;
  for (const LayoutChoice& choice : usual.frontend.schedule.choices) rows.set_layout(choice.key, TunedLayout{choice.subject, 4000});
  EXPECT_EQ(to_text(with_rows(usual, rows).frontend.schedule), to_text(usual.frontend.schedule));
}

}  // namespace
}  // namespace etch
