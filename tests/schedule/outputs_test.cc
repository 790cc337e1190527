// The schedule's guarantees for outputs, variable sizes, large kernels, origins and folded constants.
#include <gtest/gtest.h>

#include <cmath>

#include "schedule/order.h"
#include "schedule/schedule.h"
#include "support/run_schedule.h"
#include "support/tensor_cases.h"

namespace etch {
namespace {

Array counting(std::vector<std::int64_t> shape, int seed = 0) {
  std::int64_t n = 1;
  for (std::int64_t d : shape) n *= d;
  std::vector<double> values;
  for (std::int64_t i = 0; i < n; i++) values.push_back(static_cast<double>((i * 7919 + seed * 104729) % 61 - 30) / 16);
  return Array::of_doubles(DType::Float32, std::move(shape), values);
}

Array ints(std::vector<std::int64_t> shape, const std::vector<std::int64_t>& values) {
  return Array::of_ints(DType::Int32, std::move(shape), values);
}

TEST(Outputs, ViewsCopiesAndRepetitionsAreBuffersOfTheirOwn) {
  const auto graph = LazyGraph::create();
  const Tensor x = Tensor::input(*graph, "x", DType::Int32, {2, 3});
  const Tensor c = Tensor::constant(*graph, ints({2}, {7, 8}), "c");
  const Tensor y = x + 1.0, empty = x.slice(0, 0, 0);
  const Tensor three = Tensor::full(*graph, {2}, Scalar::of_int(DType::Int32, 3));
  const std::vector<std::pair<Tensor, Array>> rows = {
      {x, ints({2, 3}, {1, 2, 3, 4, 5, 6})},
      {x.transpose(), ints({3, 2}, {1, 4, 2, 5, 3, 6})},
      {y, ints({2, 3}, {2, 3, 4, 5, 6, 7})},
      {y, ints({2, 3}, {2, 3, 4, 5, 6, 7})},
      {y.reshape({6}), ints({6}, {2, 3, 4, 5, 6, 7})},
      {y.transpose(), ints({3, 2}, {2, 5, 3, 6, 4, 7})},
      {y.sum({1}), ints({2}, {9, 18})},
      {y.sum({1}).expand({3, 2}), ints({3, 2}, {9, 18, 9, 18, 9, 18})},
      {c, ints({2}, {7, 8})},
      {c * 2.0, ints({2}, {14, 16})},
      {three, ints({2}, {3, 3})},
      {Tensor::arange(*graph, 3, DType::Int32), ints({3}, {0, 1, 2})},
      {x.pad({{0, 0}, {1, 0}}), ints({2, 4}, {0, 1, 2, 3, 0, 4, 5, 6})},
      {empty, ints({0, 3}, {})},
      {empty.sum({0}), ints({3}, {0, 0, 0})},
      {empty.max({0}).cast(DType::Int64), Array::of_ints(DType::Int64, {3}, std::vector<std::int64_t>(3, int_min(DType::Int32)))},
  };
  std::vector<OutputSpec> outputs;
  for (std::size_t i = 0; i < rows.size(); i++) outputs.push_back({"y" + std::to_string(i), rows[i].first});
  const Schedule schedule = create_schedule(*graph, outputs);
  const std::vector<Array> got = test::run_schedule(schedule, {{"x", rows[0].second}});
  for (std::size_t i = 0; i < rows.size(); i++) {
    EXPECT_EQ(test::difference(got[i], rows[i].second), "") << i;
    for (std::size_t k = 0; k < i; k++)
      EXPECT_TRUE(schedule.outputs[i].buffer != schedule.outputs[k].buffer || got[i].size() == 0) << i << " and " << k;
    EXPECT_NE(schedule.outputs[i].buffer->kind, LazyKind::Input);
    EXPECT_NE(schedule.outputs[i].buffer->kind, LazyKind::Data);
  }
  EXPECT_EQ(schedule.inputs.size(), 1u);
}

struct SymbolicRow {
  const char* name;
  Tensor (*build)(const Tensor& x, LazyGraph& graph);  // x: [batch, 2, 6, 6]
};

Tensor weight(LazyGraph& graph, std::vector<std::int64_t> shape, int seed) {
  return Tensor::constant(graph, counting(std::move(shape), seed));
}
const Window kWindow{.kernel = {3, 3}, .stride = {2, 1}, .dilation = {}, .pads = {{1, 1}, {0, 1}}};

constexpr SymbolicRow kSymbolic[] = {
    {"reshape", [](const Tensor& x, LazyGraph&) { return x.reshape({-1, 12}) * 2.0; }},
    {"reshape keeps batch", [](const Tensor& x, LazyGraph&) { return x.reshape({x.dim(0), -1}) * 2.0; }},
    {"flatten, linear", [](const Tensor& x, LazyGraph& g) { return x.flatten(1).linear(weight(g, {72, 5}, 1), weight(g, {5}, 2)).relu(); }},
    {"matmul", [](const Tensor& x, LazyGraph& g) { return x.matmul(weight(g, {6, 4}, 1)); }},
    {"matmul of two", [](const Tensor& x, LazyGraph&) { return x.matmul(x.transpose()); }},
    {"batch times batch", [](const Tensor& x, LazyGraph&) { return x.flatten(1).matmul(x.flatten(1).transpose()); }},
    {"conv", [](const Tensor& x, LazyGraph& g) { return x.conv(weight(g, {4, 2, 3, 3}, 1), weight(g, {4}, 2), kWindow).relu(); }},
    {"conv, batchnorm",
     [](const Tensor& x, LazyGraph& g) {
       const Tensor v = weight(g, {4}, 3).square() + 1.0;
       return x.conv(weight(g, {4, 2, 3, 3}, 1), weight(g, {4}, 2), kWindow)
           .batchnorm(weight(g, {4}, 4), weight(g, {4}, 5), weight(g, {4}, 6), v, 1e-3);
     }},
    {"depthwise conv", [](const Tensor& x, LazyGraph& g) { return x.conv(weight(g, {4, 1, 3, 3}, 1), Tensor(), kWindow, 2); }},
    {"conv transpose",
     [](const Tensor& x, LazyGraph& g) { return x.conv_transpose(weight(g, {2, 3, 3, 3}, 1), Tensor(), kWindow, {1, 0}); }},
    {"max pool", [](const Tensor& x, LazyGraph&) { return x.max_pool(kWindow); }},
    {"average pool", [](const Tensor& x, LazyGraph&) { return x.average_pool(kWindow, false); }},
    {"softmax", [](const Tensor& x, LazyGraph&) { return x.softmax(-1); }},
    {"softmax over batch", [](const Tensor& x, LazyGraph&) { return x.softmax(0); }},
    {"mean over batch", [](const Tensor& x, LazyGraph&) { return x.mean({0, 2}); }},
    {"layernorm", [](const Tensor& x, LazyGraph&) { return x.layernorm(1, 1e-5); }},
    {"cat", [](const Tensor& x, LazyGraph&) { return Tensor::cat({x, x * 2.0, x.slice(1, 0, 1)}, 1); }},
    {"cat along batch", [](const Tensor& x, LazyGraph&) { return Tensor::cat({x, x.exp()}, 0); }},
    {"pad, shrink", [](const Tensor& x, LazyGraph&) { return x.pad({{0, 0}, {0, 0}, {1, 2}, {-1, 3}}, 5).slice(2, 1, 7); }},
    {"pad of exp", [](const Tensor& x, LazyGraph&) { return x.exp().pad({{0, 0}, {0, 0}, {1, 2}, {0, 0}}); }},
    {"transpose", [](const Tensor& x, LazyGraph&) { return x.permute({0, 2, 3, 1}).relu(); }},
    {"flip, stride", [](const Tensor& x, LazyGraph&) { return x.flip({3}).stride({1, 1, 2, 1}); }},
    {"gather", [](const Tensor& x, LazyGraph& g) { return x.gather(2, Tensor::constant(g, ints({2, 2}, {0, 5, 3, -1}))); }},
    {"argmax", [](const Tensor& x, LazyGraph&) { return x.argmax(3, false); }},
    {"cumsum", [](const Tensor& x, LazyGraph&) { return x.cumsum(2); }},
    {"cumsum over batch", [](const Tensor& x, LazyGraph&) { return x.cumsum(0, true, true); }},
    {"size", [](const Tensor& x, LazyGraph& g) { return Tensor::size_value(g, x.dim(0) * 3 + 1); }},
    {"arange over batch",
     [](const Tensor& x, LazyGraph& g) { return x * Tensor::arange(g, x.dim(0), DType::Float32).reshape({-1, 1, 1, 1}); }},
};

TEST(Symbolic, BatchAsVariableEqualsEachFixedBatch) {
  for (const SymbolicRow& row : kSymbolic) {
    try {
      const auto graph = LazyGraph::create();
      const Sint batch = graph->symbols().variable("batch", 1, 9);
      const Tensor x = Tensor::input(*graph, "x", DType::Float32, {batch, 2, 6, 6});
      const Schedule schedule = create_schedule(*graph, {{"y", row.build(x, *graph)}});
      for (const std::int64_t n : {1, 2, 5, 9}) {
        const Array data = counting({n, 2, 6, 6});
        const auto fixed = LazyGraph::create();
        const Array expected = row.build(Tensor::constant(*fixed, data), *fixed).evaluate().value();
        EXPECT_EQ(test::difference(test::run_schedule(schedule, {{"x", data}}, {{"batch", n}}).at(0), expected, 1e-5), "")
            << row.name << " " << n;
      }
    } catch (const std::exception& e) {
      ADD_FAILURE() << row.name << ": " << e.what();
    }
  }
}

TEST(Limits, NoKernelReadsTooMuchOrIsTooLong) {
  const auto graph = LazyGraph::create();
  std::map<std::string, Array> values;
  std::vector<Tensor> many;
  for (int i = 0; i < 40; i++) {
    const std::string name = "x" + std::to_string(i);
    many.push_back(Tensor::input(*graph, name, DType::Float32, {2, 3}));
    values.emplace(name, counting({2, 3}, i));
  }
  Tensor sum = many[0], chain = many[0], shifted = many[1];
  for (const Tensor& t : many) sum = sum + t;
  for (int i = 0; i < 700; i++) chain = (i % 2 == 0 ? chain * 0.5 : chain + 1.0);
  for (int i = 0; i < 24; i++) shifted = shifted + shifted.pad({{0, 0}, {1, 0}}).shrink({{0, 2}, {0, 3}});
  const Schedule schedule =
      create_schedule(*graph, {{"cat", Tensor::cat(many, 0)}, {"sum", sum}, {"chain", chain}, {"shifted", shifted * (1.0 / 16777216)}});
  for (const ScheduleItem& item : schedule.items) {
    EXPECT_LE(item.inputs.size(), 15u);
    EXPECT_LE(toposort(item.ast).size(), 256u);
  }
  EXPECT_LE(schedule.items.size(), 40u);
  const std::vector<Array> got = test::run_schedule(schedule, values);
  std::vector<double> total(6), parts;
  for (int i = 0; i < 40; i++)
    for (std::int64_t k = 0; k < 6; k++) {
      const double v = values.at("x" + std::to_string(i)).double_at(k);
      parts.push_back(v);
      total[static_cast<std::size_t>(k)] += v * (i == 0 ? 2 : 1);
    }
  EXPECT_EQ(test::difference(got[0], Array::of_doubles(DType::Float32, {80, 3}, parts)), "");
  EXPECT_EQ(test::difference(got[1], Array::of_doubles(DType::Float32, {2, 3}, total)), "");
  // x -> x / 2 + 1, 350 times, has 2 as its fixed point.
  EXPECT_EQ(test::difference(got[2], Array::of_doubles(DType::Float32, {2, 3}, std::vector<double>(6, 2.0))), "");
  // x[j] + x[j - 1], 24 times: binomial coefficients.
  std::vector<double> binomial;
  for (std::int64_t r = 0; r < 2; r++)
    for (std::int64_t j = 0; j < 3; j++) {
      double v = 0;
      const double coefficients[] = {1, 24, 276};
      for (std::int64_t k = 0; k <= j; k++) v += coefficients[k] * values.at("x1").double_at(r * 3 + j - k);
      binomial.push_back(v / 16777216);
    }
  EXPECT_EQ(test::difference(got[3], Array::of_doubles(DType::Float32, {2, 3}, binomial)), "");
}

TEST(Recompute, WhatIsDearIsComputedOnce) {
  const auto graph = LazyGraph::create();
  const Tensor x = Tensor::input(*graph, "x", DType::Float32, {4, 8});
  const Tensor dear = (x.exp() + 1.0).log(), cheap = x * 2.0;
  std::vector<OutputSpec> outputs;
  for (int i = 0; i < 3; i++) outputs.push_back({"d" + std::to_string(i), (dear * (i + 2.0)).sum({i % 2})});
  for (int i = 0; i < 3; i++) outputs.push_back({"c" + std::to_string(i), (cheap * (i + 3.0)).sum({i % 2})});
  const Schedule schedule = create_schedule(*graph, outputs);
  int exps = 0;
  for (const ScheduleItem& item : schedule.items)
    for (const LazyOp* op : toposort(item.ast)) exps += op->op == Op::Exp ? 1 : 0;
  EXPECT_EQ(exps, 1);
  EXPECT_EQ(schedule.items.size(), 7u);  // the logarithm, six sums
}

TEST(Recompute, SmallTypesAreStoredSmall) {
  // int8 and float16 operands of sums stay what they are in memory: the cast to the type of the sum is repeated.
  const auto graph = LazyGraph::create();
  const Tensor x = Tensor::input(*graph, "x", DType::Int8, {4, 16}), h = Tensor::input(*graph, "h", DType::Float16, {4, 16});
  const Tensor w = Tensor::constant(*graph, Array::filled(DType::Int8, {16, 8}, Scalar::of_int(DType::Int8, 3)));
  const Tensor v = Tensor::constant(*graph, counting({16, 8}).reshaped({16, 8})).cast(DType::Float16).contiguous();
  const Schedule schedule = create_schedule(
      *graph, {{"y", x.matmul(w)}, {"z", h.relu().matmul(v)}, {"e", x.gather(1, Tensor::constant(*graph, ints({3}, {1, 3, 5})))}});
  ASSERT_EQ(schedule.items.size(), 4u) << to_text(schedule);
  for (const ScheduleItem& item : schedule.items)
    for (const LazyBuffer* b : item.inputs) EXPECT_LE(bytes_of(b->dtype), 2) << to_text(schedule);
}

TEST(Provenance, KernelsNameTheNodesTheyCompute) {
  const auto graph = LazyGraph::create();
  const Tensor x = Tensor::input(*graph, "x", DType::Float32, {1, 2, 6, 6});
  Tensor y;
  const auto step = [&](const char* name, auto make) {
    OriginScope scope(*graph, name);
    y = make();
  };
  step("conv1", [&] { return x.conv(weight(*graph, {3, 2, 3, 3}, 1), weight(*graph, {3}, 2), {.kernel = {3, 3}}); });
  step("bn1", [&] {
    return y.batchnorm(weight(*graph, {3}, 3), weight(*graph, {3}, 4), weight(*graph, {3}, 5), weight(*graph, {3}, 6).square() + 1.0, 1e-5);
  });
  step("relu1", [&] { return y.relu(); });
  step("flatten", [&] { return y.flatten(1); });
  step("fc", [&] { return y.linear(weight(*graph, {48, 4}, 7), weight(*graph, {4}, 8)); });
  const Schedule schedule = create_schedule(*graph, {{"y", y}});
  ASSERT_EQ(schedule.items.size(), 2u) << to_text(schedule);
  EXPECT_EQ(schedule.items[0].nodes, (std::vector<std::string>{"conv1", "bn1", "relu1"}));
  EXPECT_EQ(schedule.items[1].nodes, (std::vector<std::string>{"flatten", "fc"}));
  ASSERT_EQ(schedule.items[0].inputs.size(), 3u);  // x, weights, one vector
  EXPECT_EQ(schedule.items[0].inputs[1]->data.size(), 54);
  EXPECT_EQ(schedule.items[0].inputs[2]->data.size(), 3);
}

TEST(Views, ConvolutionReadsItsInputThroughAsFewViewsAsPossible) {
  struct Row {
    const char* name;
    std::vector<std::int64_t> kernel;
    Window window;
    std::size_t views;
  };
  const Row rows[] = {
      {"1x1", {5, 4, 1, 1}, {.kernel = {1, 1}}, 1},
      {"1x1, stride 2", {5, 4, 1, 1}, {.kernel = {1, 1}, .stride = {2, 2}}, 1},
      {"3x3", {5, 4, 3, 3}, {.kernel = {3, 3}}, 1},
      {"3x3, stride, dilation", {5, 4, 3, 3}, {.kernel = {3, 3}, .stride = {2, 3}, .dilation = {2, 1}}, 1},
      {"3x3, negative pads", {5, 4, 3, 3}, {.kernel = {3, 3}, .stride = {}, .dilation = {}, .pads = {{-1, 0}, {0, -1}}}, 1},
      {"3x3, pads", {5, 4, 3, 3}, {.kernel = {3, 3}, .stride = {}, .dilation = {}, .pads = {{1, 1}, {1, 1}}}, 2},
  };
  for (const Row& row : rows) {
    const auto graph = LazyGraph::create();
    const Tensor x = Tensor::input(*graph, "x", DType::Float32, {1, 4, 9, 9});
    const Schedule schedule = create_schedule(*graph, {{"y", x.conv(weight(*graph, row.kernel, 1), Tensor(), row.window)}});
    ASSERT_EQ(schedule.items.size(), 1u) << row.name;
    for (const LazyOp* op : toposort(schedule.items[0].ast)) {
      if (op->op != Op::Load) continue;
      EXPECT_EQ(op->st().views().size(), op->mem().index == 1 ? row.views : 1u) << row.name;
    }
  }
}

TEST(Order, LowerPeakIsChosen) {
  // Wide values that shrink at once: computing all wide ones first would keep eight of them.
  const auto graph = LazyGraph::create();
  const Tensor x = Tensor::input(*graph, "x", DType::Float32, {1, 16});
  Tensor sum;
  for (int i = 0; i < 8; i++) {
    const Tensor wide = (x + static_cast<double>(i)).exp().matmul(weight(*graph, {16, 1000}, i)).contiguous();
    const Tensor narrow = wide.matmul(weight(*graph, {1000, 16}, i + 20));
    sum = sum ? sum + narrow : narrow;
  }
  const Schedule schedule = create_schedule(*graph, {{"y", sum}});
  EXPECT_LE(peak_bytes(schedule.items, {schedule.outputs[0].buffer}), 4 * (1000 + 16 * 16));
}

TEST(Order, PeakCountsEachOutputOfAKernelAlone) {
  // Of the two outputs of the first kernel the second, 64 elements, is read for the last time by the next; over the first one lies y.
  const auto graph = LazyGraph::create();
  const Tensor x = Tensor::input(*graph, "x", DType::Float32, {4, 16});
  const Tensor a = (x + 1.0).contiguous(), b = (a * 2.0).contiguous();
  const Tensor narrow = b.reshape({1, 64}).matmul(weight(*graph, {64, 8}, 0)).contiguous();
  const Tensor row = narrow.matmul(weight(*graph, {8, 16}, 1)).contiguous();
  const Schedule schedule = create_schedule(*graph, {{"y", a + row}});
  ASSERT_EQ(schedule.items.size(), 4u) << to_text(schedule);
  ASSERT_EQ(schedule.items[0].more.size(), 1u) << to_text(schedule);
  EXPECT_EQ(peak_bytes(schedule.items, {}), 4 * (64 + 16 + 64)) << "a, row and y";
  EXPECT_EQ(peak_bytes(schedule.items, {}, Reuse::InPlace), 4 * (64 + 64 + 8)) << "a, b and narrow";
}

TEST(Text, ReadsLikeTheSchedule) {
  const auto graph = LazyGraph::create();
  const Tensor x = Tensor::input(*graph, "x", DType::Float32, {4});
  OriginScope scope(*graph, "double");
  const Tensor y = x * 2.0;
  EXPECT_EQ(to_text({y.buffer()}),
            "%0 = Input float32 [4] 'x'\n"
            "%1 = Const float32 [] 2.0  # double\n"
            "%2 = View float32 [4] %1 ShapeTracker(View((4), strides=(0), offset=0))  # double\n"
            "%3 = Mul float32 [4] %0 %2  # double\n"
            "outputs %3\n");
  EXPECT_EQ(to_text(create_schedule(*graph, {{"y", y}})),
            "input 'x' float32 [4]\n\n"
            "kernel 0: t0 float32 [4] from 'x'   # double\n"
            "%0 = Load float32 [4] buffer 1 ShapeTracker(View((4), strides=(1), offset=0, contiguous))\n"
            "%1 = Const float32 [4] 2.0 ShapeTracker(View((4), strides=(0), offset=0))\n"
            "%2 = Mul float32 [4] %0 %1\n"
            "%3 = Store float32 [4] %2 buffer 0 ShapeTracker(View((4), strides=(1), offset=0, contiguous))\n\n"
            "output 'y' float32 [4] = t0\n");
}

}  // namespace
}  // namespace etch
