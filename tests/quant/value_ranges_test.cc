// Ranges hold for the values that the reference computes, and are as narrow as they can be where that is evident.
#include "quant/value_ranges.h"

#include <gtest/gtest.h>

#include <random>

#include "lazy/tensor.h"
#include "support/evaluate.h"

namespace etch {

void PrintTo(const ValueRange& range, std::ostream* out) {
  *out << testing::PrintToString(range.shape) << " " << testing::PrintToString(range.low) << " to " << testing::PrintToString(range.high);
}

namespace {

using Ints = std::vector<std::int64_t>;
using Doubles = std::vector<double>;

struct Wanted {
  const char* what;
  Tensor (*of)(const Tensor& x, const Tensor& c);  // x: int8 [3,4], -128 ... 127; c: 2, -3, 0, 5 along the second axis
  Ints shape;
  Doubles low, high;
};

const Wanted kWanted[] = {
    {"input", [](const Tensor& x, const Tensor&) { return x; }, {1, 1}, {-128}, {127}},
    {"sum",
     [](const Tensor& x, const Tensor& c) { return x.cast(DType::Int32) + c; },
     {1, 4},
     {-126, -131, -128, -123},
     {129, 124, 127, 132}},
    {"difference",
     [](const Tensor& x, const Tensor& c) { return c - x.cast(DType::Int32); },
     {1, 4},
     {-125, -130, -127, -122},
     {130, 125, 128, 133}},
    {"product",
     [](const Tensor& x, const Tensor& c) { return x.cast(DType::Int32) * c; },
     {1, 4},
     {-256, -381, 0, -640},
     {254, 384, 0, 635}},
    {"what wraps around",
     [](const Tensor& x, const Tensor& c) { return (x.cast(DType::Int32) + c).cast(DType::Int8); },
     {1, 4},
     {-128, -128, -128, -128},
     {127, 127, 127, 127}},
    {"rectified",
     [](const Tensor& x, const Tensor& c) { return (x.cast(DType::Int32) * c).clip(0, 100); },
     {1, 4},
     {0, 0, 0, 0},
     {100, 100, 0, 100}},
    {"a sum along the first axis",
     [](const Tensor& x, const Tensor& c) { return (x.cast(DType::Int32) * c).sum({0}, true); },
     {1, 4},
     {-768, -1143, 0, -1920},
     {762, 1152, 0, 1905}},
    {"a sum along the second",
     [](const Tensor& x, const Tensor& c) { return (x.cast(DType::Int32) * c).sum({1}, true); },
     {1, 1},
     {-1277},
     {1273}},
    {"the largest",
     [](const Tensor& x, const Tensor& c) { return (x.cast(DType::Int32) + c).reduce(Op::ReduceMax, {1}, true); },
     {1, 1},
     {-123},
     {132}},
    {"padded",
     [](const Tensor& x, const Tensor& c) { return (x.cast(DType::Int32).clip(3, 4) + c).pad({{1, 0}, {0, 1}}); },
     {4, 5},
     {0, 0, 0, 0, 0, 5, 0, 3, 8, 0, 5, 0, 3, 8, 0, 5, 0, 3, 8, 0},
     {0, 0, 0, 0, 0, 6, 1, 4, 9, 0, 6, 1, 4, 9, 0, 6, 1, 4, 9, 0}},
    {"padded along the varying axis",
     [](const Tensor& x, const Tensor& c) { return (x.cast(DType::Int32).clip(3, 4) + c).pad({{0, 0}, {0, 1}}); },
     {1, 5},
     {5, 0, 3, 8, 0},
     {6, 1, 4, 9, 0}},
    {"padded, then flattened with the varying axis",
     [](const Tensor& x, const Tensor& c) {
       return (x.cast(DType::Int32).clip(3, 4) + c).permute({1, 0}).pad({{0, 0}, {1, 0}}).reshape({16});
     },
     {16},
     {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
     {6, 6, 6, 6, 1, 1, 1, 1, 4, 4, 4, 4, 9, 9, 9, 9}},
    {"scaled and rounded",
     [](const Tensor& x, const Tensor& c) {
       return ((x.cast(DType::Int32) * c).cast(DType::Float32) * 0.1f).unary(Op::Rint).cast(DType::Int32);
     },
     {1, 4},
     {-26, -38, 0, -64},
     {25, 38, 0, 64}},
    {"shifted",
     [](const Tensor& x, const Tensor& c) {
       const Tensor products = x.cast(DType::Int32) * c;
       return Tensor::binary(Op::Shr, products, products.full_like(2.0));
     },
     {1, 4},
     {-64, -96, 0, -160},
     {63, 96, 0, 158}},
    {"the last bits",
     [](const Tensor& x, const Tensor& c) {
       const Tensor products = x.cast(DType::Int32) * c;
       return Tensor::binary(Op::And, products, products.full_like(3.0));
     },
     {1, 4},
     {0, 0, 0, 0},
     {3, 3, 0, 3}},
    {"too large for int8",
     [](const Tensor& x, const Tensor& c) { return ((x.cast(DType::Int32) * c).cast(DType::Float32) * 0.3f).cast(DType::Int8); },
     {1, 4},
     {-76, -114, 0, -128},
     {76, 115, 0, 127}},
};

TEST(ValueRanges, AreExactWhereThatIsEvident) {
  for (const Wanted& wanted : kWanted) {
    const auto graph = LazyGraph::create();
    const Tensor x = Tensor::input(*graph, "x", DType::Int8, {3, 4});
    const Tensor c = Tensor::constant(*graph, Array::of_ints(DType::Int32, {1, 4}, Ints{2, -3, 0, 5})).expand({3, 4});
    RangeFinder ranges(*graph);
    const ValueRange* range = ranges.of(wanted.of(x, c).buffer());
    ASSERT_NE(range, nullptr) << wanted.what;
    EXPECT_EQ(*range, (ValueRange{wanted.shape, wanted.low, wanted.high})) << wanted.what;
  }
}

TEST(ValueRanges, OfFloatsAreNotKnown) {
  const auto graph = LazyGraph::create();
  const Tensor x = Tensor::input(*graph, "x", DType::Float32, {3});
  RangeFinder ranges(*graph);
  EXPECT_EQ(ranges.of((x * 0.0f).buffer()), nullptr) << "NaN, infinity";
  EXPECT_EQ(*ranges.of(x.cast(DType::Int8).buffer()), (ValueRange{{1}, {-128}, {127}}));
}

TEST(ValueRanges, OfTablesAreThoseOfTheirPart) {
  const auto graph = LazyGraph::create();
  const Tensor x = Tensor::input(*graph, "x", DType::UInt8, {3});
  const Tensor table =
      Tensor::constant(*graph, Array::of_ints(DType::Int8, {6}, Ints{9, -1, 5, 3, -7, 100})).reshape({1, 6}).expand({3, 6});
  RangeFinder ranges(*graph);
  const auto at = [&](double low, double high) {
    return *ranges.of(graph->gather(table.buffer(), x.clip(low, high).cast(DType::Int32).buffer()));
  };
  EXPECT_EQ(at(1, 3), (ValueRange{{1}, {-1}, {5}}));
  EXPECT_EQ(at(4, 4), (ValueRange{{1}, {-7}, {-7}}));
  EXPECT_EQ(at(4, 6), (ValueRange{{1}, {-7}, {100}})) << "beyond the end: the last";
}

Tensor random_operation(const Tensor& a, const Tensor& b, std::mt19937& random) {
  const bool is_float_now = is_float(a.dtype());
  const auto number = static_cast<double>(static_cast<int>(random() % 21) - 10);
  const auto axis = static_cast<std::int64_t>(random() % 2);
  switch (random() % 14) {
    case 0:
      return a + b;
    case 1:
      return a - b;
    case 2:
      return a * b;
    case 3:
      return a.maximum(b);
    case 4:
      return a.minimum(b);
    case 5:
      return a.clip(number - 3, number + 4);
    case 6:
      return is_float_now ? a.unary(Op::Rint) : a.cast(DType::Float32) * static_cast<float>(number / 7);
    case 7:
      return is_float_now ? (a / static_cast<float>(number < 0 ? number : number + 1)).clip(-100, 100).cast(DType::Int32) : a;
    case 8:
      return is_float_now ? a : a.sum({static_cast<int>(axis)}, true).expand(a.shape());
    case 9:
      return a.reduce(Op::ReduceMax, {static_cast<int>(axis)}, true).expand(a.shape());
    case 10:
      return a.pad({{axis, 0}, {0, 1}}).shrink({{0, 4}, {1, 6}});
    case 11:
      return is_float_now ? a : a.cast(DType::Int8).cast(DType::Int32);
    case 12:
      return a.shrink({{0, 4}, {0, 4}}).pad({{0, 0}, {1, 0}}).reshape({20}).unary(Op::Neg).reshape({4, 5});
    default:
      return a.permute({1, 0}).reshape({4, 5});
  }
}

TEST(ValueRanges, HoldForWhatIsComputed) {
  std::mt19937 random(7);
  int narrow = 0;
  for (int turn = 0; turn < 300; turn++) {
    const auto graph = LazyGraph::create();
    Ints values;
    for (int i = 0; i < 5; i++) values.push_back(static_cast<std::int64_t>(random() % 15) - 7);
    const Tensor c = Tensor::constant(*graph, Array::of_ints(DType::Int32, {1, 5}, values)).expand({4, 5});
    std::vector<Tensor> made{Tensor::input(*graph, "x", DType::Int8, {4, 5}).cast(DType::Int32), c};
    for (int i = 0; i < 8; i++) {
      const Tensor &a = made[random() % made.size()], &b = made[random() % made.size()];
      made.push_back(random_operation(a, b.cast(a.dtype()), random));
    }
    RangeFinder ranges(*graph);
    for (const int kind : {0, 1, 2, 3}) {
      Ints input;
      for (int i = 0; i < 20; i++)
        input.push_back(kind == 0   ? -128
                        : kind == 1 ? 127
                        : kind == 2 ? (random() % 2 == 0 ? -128 : 127)
                                    : static_cast<std::int64_t>(random() % 256) - 128);
      const std::map<std::string, Array> inputs{{"x", Array::of_ints(DType::Int8, {4, 5}, input)}};
      const test::GraphEvaluator evaluator(*graph, inputs);
      for (const Tensor& t : made) {
        const ValueRange* range = ranges.of(t.buffer());
        if (range == nullptr) continue;
        const std::vector<double> got = evaluator.evaluate({t.buffer()}, {})[0].doubles();
        const Ints strides = strides_over(range->shape);
        for_each_index({4, 5}, [&](std::size_t i, const Ints& at) {
          const auto k = static_cast<std::size_t>(strides[0] * at[0] + strides[1] * at[1]);
          ASSERT_GE(got[i], range->low[k]) << "turn " << turn << "\n" << to_text({t.buffer()});
          ASSERT_LE(got[i], range->high[k]) << "turn " << turn << "\n" << to_text({t.buffer()});
        });
        narrow += range->low.size() > 1 ? 1 : 0;
      }
    }
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(narrow, 1000);
}

}  // namespace
}  // namespace etch
