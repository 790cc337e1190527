// Each way that a choice of the schedule can be taken in computes the same: what a search may try is right. Wanted numbers are the loops of
// quant/convs.h.
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
  const std::int64_t channels = pick({3, 4, 8, 12}), size = pick({4, 5, 8}), outputs = pick({8, 10, 16});
  Conv middle = random_conv(rng, channels, channels, size, 3, channels);
  middle.stride = pick({1, 2});
  Conv first = random_conv(rng, pick({2, 3}), channels, size, pick({1, 3}));
  return chain({first, middle, random_conv(rng, channels, outputs, middle.size_out(), 1),
                random_conv(rng, outputs, pick({4, 16}), middle.size_out(), 3)});
}

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
        unusual[choice.subject.substr(0, choice.subject.find('_'))]++;
      }
    }
  }
  EXPECT_GE(unusual["order"], 4);
  EXPECT_GE(unusual["padding"], 2);
}

INSTANTIATE_TEST_SUITE_P(Targets, LayoutWaysOfBytes, testing::Values("cortex-m4f", "cortex-m55", "x86-64-vnni", "c99"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

// Values of every type may lie in another order, though the heuristics give it to integers alone.
TEST(LayoutWays, OfFloatsAreRight) {
  std::mt19937 rng(5);
  GraphBuilder g("net", 13);
  const auto weights = [&](const std::string& name, Ints shape) {
    std::int64_t size = 1;
    for (const std::int64_t d : shape) size *= d;
    std::vector<double> values;
    for (std::int64_t i = 0; i < size; i++) values.push_back(static_cast<double>(static_cast<std::int64_t>(rng() % 17)) - 8);
    return g.initializer(name, Array::of_doubles(DType::Float32, std::move(shape), values));
  };
  const Value x = g.input("x", DType::Float32, {1, 3, 6, 7});
  const Value first = g.node("Relu", {g.node("Conv", {x, weights("w1", {4, 3, 3, 3})}, {{"pads", Ints{1, 1, 1, 1}}}, "first")});
  const Value pool = g.node("MaxPool", {first}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}}, "pool");
  g.output(g.node("Conv", {pool, weights("w2", {5, 4, 1, 1})}, {}, "second"), DType::Float32, {1, 5, 3, 3});
  const Net usual = with_rows(net_of(g, "cortex-m4f", true), {});
  std::vector<double> values;
  for (int i = 0; i < 3 * 6 * 7; i++) values.push_back(static_cast<double>(rng() % 9) - 4);
  const Array input = Array::of_doubles(DType::Float32, {1, 3, 6, 7}, values);
  const auto interp = make_reference_device(), device = make_device("c", {});
  // Sums of small whole numbers, which are exact in any order.
  const Array want = interp->load(lower_model(usual.frontend, nullptr, usual.options))->run({input}).at(0);
  int unusual = 0;
  for (const LayoutChoice& choice : usual.frontend.schedule.choices)
    for (const int way : choice.ways) {
      if (way == choice.usual) continue;
      const Net other = with_way(usual, choice, way);
      EXPECT_NE(to_text(other.frontend.schedule), to_text(usual.frontend.schedule)) << choice.subject;
      EXPECT_EQ(device->load(lower_model(other.frontend, device->language(), other.options))->run({input}).at(0), want) << choice.subject;
      unusual++;
    }
  EXPECT_GE(unusual, 4);
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
