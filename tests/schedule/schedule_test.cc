// Schedules run by the reference, compared with numpy, and their number of kernels.
#include "schedule/schedule.h"

#include <gtest/gtest.h>

#include "support/run_schedule.h"
#include "support/tensor_cases.h"

namespace etch {
namespace {

/// The tensors of a case: input `only` (or, if -1, every input) is known when the network runs, the others while generating.
std::vector<Tensor> make_inputs(LazyGraph& graph, const test::TensorCase& c, int only, std::map<std::string, Array>& values) {
  std::vector<Tensor> inputs;
  for (int i = 0; i < static_cast<int>(c.inputs.size()); i++) {
    const Array& a = c.inputs[static_cast<std::size_t>(i)];
    const std::string name = "x" + std::to_string(i);
    if (only != -1 && i != only) {
      inputs.push_back(Tensor::constant(graph, a, name));
      continue;
    }
    inputs.push_back(Tensor::input(graph, name, a.dtype(), Shape(a.shape().begin(), a.shape().end())));
    values.emplace(name, a);
  }
  return inputs;
}

TEST(Schedule, MethodsOnInputsAgreeWithNumpy) {
  for (const test::TensorCase& c : test::tensor_cases()) {
    const int variants = c.inputs.size() > 1 ? static_cast<int>(c.inputs.size()) : 0;
    for (int only = -1; only < variants; only++) {
      const std::string what = c.name + ", run time input " + std::to_string(only);
      try {
        const auto graph = LazyGraph::create();
        std::map<std::string, Array> values;
        const std::vector<Tensor> inputs = make_inputs(*graph, c, only, values);
        const Schedule schedule = create_schedule(*graph, {{"y", c.build(inputs)}});
        const std::vector<Array> got = test::run_schedule(schedule, values);
        EXPECT_EQ(test::difference(got.at(0), c.expected), "") << what << "\n" << to_text(schedule);
      } catch (const std::exception& e) {
        ADD_FAILURE() << what << ": " << e.what();
      }
    }
  }
}

Array random_array(std::vector<std::int64_t> shape, int seed) {
  std::int64_t n = 1;
  for (std::int64_t d : shape) n *= d;
  std::vector<double> values;
  for (std::int64_t i = 0; i < n; i++) values.push_back(static_cast<double>((i * 7919 + seed * 104729) % 61 - 30) / 16);
  return Array::of_doubles(DType::Float32, std::move(shape), values);
}

struct Net {
  LazyGraph& graph;
  int weights = 0;
  Tensor input(const std::string& name, Shape shape) { return Tensor::input(graph, name, DType::Float32, std::move(shape)); }
  Tensor weight(std::vector<std::int64_t> shape) {
    weights++;
    return Tensor::constant(graph, random_array(std::move(shape), weights), "w" + std::to_string(weights));
  }
  Tensor ids(const std::string& name, Shape shape) { return Tensor::input(graph, name, DType::Int64, std::move(shape)); }
  Tensor positive(std::vector<std::int64_t> shape) {
    return Tensor::constant(graph, *(weight(std::move(shape)).square() + 0.5).evaluate());
  }
};

const Window kWindow3{.kernel = {3, 3}, .stride = {}, .dilation = {}, .pads = {{1, 1}, {1, 1}}};

Tensor conv3(Net& n, const Tensor& x, std::int64_t outputs, bool bias = true) {
  const std::int64_t inputs = x.dim(1).as_int();
  return x.conv(n.weight({outputs, inputs, 3, 3}), bias ? n.weight({outputs}) : Tensor(), kWindow3);
}

Tensor norm(Net& n, const Tensor& x) {
  const std::int64_t c = x.dim(1).as_int();
  return x.batchnorm(n.weight({c}), n.weight({c}), n.weight({c}), n.positive({c}), 1e-5);
}

struct CountRow {
  const char* name;
  int kernels;
  Tensor (*build)(Net&);
};

constexpr CountRow kCounts[] = {
    {"conv + relu", 1, [](Net& n) { return conv3(n, n.input("x", {1, 3, 8, 8}), 4).relu(); }},
    {"conv + bn + relu", 1, [](Net& n) { return norm(n, conv3(n, n.input("x", {1, 3, 8, 8}), 4, false)).relu(); }},
    {"conv + bias + bn + relu", 1, [](Net& n) { return norm(n, conv3(n, n.input("x", {1, 3, 8, 8}), 4)).relu(); }},
    {"conv + bias + residual + relu", 1,
     [](Net& n) { return (conv3(n, n.input("x", {1, 3, 8, 8}), 4) + n.input("r", {1, 4, 8, 8})).relu(); }},
    {"residual of the input", 1,
     [](Net& n) {
       const Tensor x = n.input("x", {1, 4, 8, 8});
       return (norm(n, conv3(n, x, 4)) + x).relu();
     }},
    {"relu before conv", 2, [](Net& n) { return conv3(n, n.input("x", {1, 3, 8, 8}).relu(), 4); }},
    {"two convs", 2, [](Net& n) { return conv3(n, conv3(n, n.input("x", {1, 3, 8, 8}), 4).relu(), 5).relu(); }},
    {"two convs added", 2,
     [](Net& n) {
       const Tensor x = n.input("x", {1, 3, 8, 8});
       return (norm(n, conv3(n, x, 4)) + norm(n, conv3(n, x, 4))).relu();
     }},
    {"conv that is used beside its bn", 1,
     [](Net& n) {
       const Tensor y = conv3(n, n.input("x", {1, 3, 8, 8}), 4);
       return norm(n, y) + y;
     }},
    {"conv transpose + bn", 1,
     [](Net& n) {
       return norm(n, n.input("x", {1, 3, 8, 8}).conv_transpose(n.weight({3, 4, 3, 3}), n.weight({4}), {.kernel = {3, 3}}, {})).relu();
     }},
    {"grouped conv + bn", 1,
     [](Net& n) { return norm(n, n.input("x", {1, 4, 8, 8}).conv(n.weight({6, 2, 3, 3}), n.weight({6}), {.kernel = {3, 3}}, 2)).relu(); }},
    {"attention: three projections, scores, softmax, values", 6,
     [](Net& n) {
       const Tensor x = n.input("x", {5, 8}), q = x.matmul(n.weight({8, 4})), k = x.matmul(n.weight({8, 4})),
                    v = x.matmul(n.weight({8, 4}));
       return (q.matmul(k.transpose()) * 0.5).softmax(1).matmul(v);
     }},
    {"hardswish uses the conv twice", 1, [](Net& n) { return norm(n, conv3(n, n.input("x", {1, 3, 8, 8}), 4)).hardswish(); }},
    {"silu", 1, [](Net& n) { return conv3(n, n.input("x", {1, 3, 8, 8}), 4).silu(); }},
    {"gelu of matmul", 1, [](Net& n) { return n.input("x", {4, 8}).matmul(n.weight({8, 3})).gelu(false); }},
    {"matmul + bias", 1, [](Net& n) { return n.input("x", {4, 8}).linear(n.weight({8, 3}), n.weight({3})); }},
    {"MLP layer", 1, [](Net& n) { return n.input("x", {4, 8}).linear(n.weight({8, 3}), n.weight({3})).relu(); }},
    {"transposed weight", 1, [](Net& n) { return n.input("x", {4, 8}).matmul(n.weight({3, 8}).transpose()); }},
    {"attention of one head: scores, softmax, values", 3,
     [](Net& n) {
       const Tensor q = n.input("q", {5, 4}), k = n.input("k", {5, 4}), v = n.input("v", {5, 4});
       return (q.matmul(k.transpose()) * 0.5).softmax(1).matmul(v);
     }},
    {"softmax", 1, [](Net& n) { return n.input("x", {4, 8}).softmax(1); }},
    {"softmax of the channels", 1, [](Net& n) { return n.input("x", {2, 5, 4, 4}).softmax(1); }},
    {"softmax of a row", 1, [](Net& n) { return n.input("x", {1, 8}).softmax(1); }},
    {"log softmax", 1,
     [](Net& n) {
       const Tensor x = n.input("x", {4, 8}), low = x - x.max({1}, true);
       return low - low.exp().sum({1}, true).log();
     }},
    {"log of the sum of exp", 1,
     [](Net& n) {
       const Tensor x = n.input("x", {4, 8}), top = x.max({1}, true);
       return (x - top).exp().sum({1}, true).log() + top;
     }},
    {"layernorm", 1, [](Net& n) { return n.input("x", {4, 8}).layernorm(1, 1e-5); }},
    {"layernorm with scale and bias", 1, [](Net& n) { return n.input("x", {4, 8}).layernorm(1, 1e-5) * n.weight({8}) + n.weight({8}); }},
    {"RMS norm", 1,
     [](Net& n) {
       const Tensor x = n.input("x", {4, 8});
       return x / (x.square().mean({1}, true) + 1e-5).sqrt() * n.weight({8});
     }},
    {"instance norm", 1,
     [](Net& n) {
       const Tensor x = n.input("x", {2, 3, 4, 4}), centred = x - x.mean({2, 3}, true);
       return centred / (centred.square().mean({2, 3}, true) + 1e-5).sqrt() * n.weight({1, 3, 1, 1}) + n.weight({1, 3, 1, 1});
     }},
    {"running sum", 1, [](Net& n) { return n.input("x", {4, 8}).cumsum(1); }},
    {"running sum with what is before and behind it", 1,
     [](Net& n) { return (n.input("x", {4, 8}).relu().cumsum(0, true) * 2.0 + n.weight({8})).relu(); }},
    {"running sum backwards", 2, [](Net& n) { return n.input("x", {4, 8}).cumsum(0, true, true) * 2.0; }},
    {"x / sum of x", 1,
     [](Net& n) {
       const Tensor x = n.input("x", {4, 8});
       return x / x.sum({1}, true);
     }},
    {"64 times x - max of x", 16,
     [](Net& n) {
       Tensor x = n.input("x", {8, 7});
       for (int i = 0; i < 64; i++) x = x - x.max({1}, true);
       return x;
     }},
    {"four times softmax", 3,
     [](Net& n) {
       Tensor x = n.input("x", {8, 7});
       for (int i = 0; i < 4; i++) x = x.softmax(1);
       return x;
     }},
    {"layernorm, gelu, layernorm", 1, [](Net& n) { return n.input("x", {8, 7}).layernorm(1, 1e-5).gelu(false).layernorm(1, 1e-5); }},
    {"softmax that is used elsewhere too", 2,
     [](Net& n) {
       const Tensor y = n.input("x", {4, 8}).softmax(1);
       return y + y.max({0}, true);
     }},
    {"argmax", 1, [](Net& n) { return n.input("x", {4, 8}).argmax(1, false); }},
    {"max pool with pads", 1, [](Net& n) { return n.input("x", {1, 2, 8, 8}).max_pool(kWindow3); }},
    {"average pool with pads", 1, [](Net& n) { return n.input("x", {1, 2, 8, 8}).average_pool(kWindow3, false); }},
    {"global average pool", 1, [](Net& n) { return n.input("x", {1, 2, 8, 8}).mean({2, 3}, true); }},
    {"conv + flatten + linear", 2,
     [](Net& n) { return conv3(n, n.input("x", {1, 3, 4, 4}), 4).relu().flatten(1).linear(n.weight({64, 3}), n.weight({3})); }},
    {"lookup in an embedding", 1, [](Net& n) { return n.weight({9, 4}).gather(0, n.ids("i", {2, 5})); }},
    {"lookup in converted weights", 1,
     [](Net& n) { return Tensor::input(n.graph, "x", DType::Float16, {9, 4}).cast(DType::Float32).gather(0, n.ids("i", {5})); }},
    {"lookup of elements", 1, [](Net& n) { return n.input("x", {3, 8}).gather_elements(1, n.ids("i", {3, 2})); }},
    {"embedding + conv + relu", 1,
     [](Net& n) {
       const Tensor x = n.weight({9, 4}).gather(0, n.ids("i", {1, 16})).permute({0, 2, 1});
       return x.conv(n.weight({5, 4, 3}), n.weight({5}), {.kernel = {3}, .stride = {}, .dilation = {}, .pads = {{1, 1}}}).relu();
     }},
    {"lookup in what a kernel computes", 2, [](Net& n) { return n.input("x", {9, 4}).relu().gather(0, n.ids("i", {5})); }},
    {"lookup at what a kernel computes", 2, [](Net& n) { return n.weight({9, 4}).gather(0, n.ids("i", {5}) * 2.0); }},
    {"one-hot times a matrix", 1, [](Net& n) { return n.ids("i", {5}).one_hot(9).cast(DType::Float32).matmul(n.weight({9, 4})); }},
    {"cat", 1, [](Net& n) { return Tensor::cat({n.input("x", {2, 3}), n.input("y", {2, 4}), n.input("z", {2, 5})}, 1); }},
    {"elementwise chain", 1, [](Net& n) { return ((n.input("x", {4, 8}) * 3.0 + 1.0).relu() - n.input("y", {8})).exp(); }},
    {"copy of an input", 1, [](Net& n) { return n.input("x", {4, 8}); }},
    {"transposed input", 1, [](Net& n) { return n.input("x", {4, 8}).transpose(); }},
};

TEST(Schedule, KernelCounts) {
  for (const CountRow& row : kCounts) {
    const auto graph = LazyGraph::create();
    Net net{*graph};
    const Schedule schedule = create_schedule(*graph, {{"y", row.build(net)}});
    EXPECT_EQ(static_cast<int>(schedule.items.size()), row.kernels) << row.name << "\n" << to_text(schedule);
  }
}

// On a grid one work-item computes a row, or a group of them if its length can be divided: else a long single row is left to several
// kernels.
TEST(Schedule, StagesOfAGridHaveManyRows) {
  bool (*shares_row)(std::int64_t) = nullptr;
  const auto kernels = [&](std::int64_t rows, std::int64_t length) {
    const auto graph = LazyGraph::create();
    const Tensor x = Tensor::input(*graph, "x", DType::Float32, {rows, length});
    return create_schedule(*graph, {{"y", x.softmax(1)}}, {.min_rows = 256, .shares_row = shares_row}).items.size();
  };
  for (const bool shares : {false, true}) {
    shares_row = shares ? [](std::int64_t elements) { return elements == 32000; } : static_cast<bool (*)(std::int64_t)>(nullptr);
    EXPECT_EQ(kernels(256, 1000), 1u);
    EXPECT_EQ(kernels(1, 10), 1u);
    EXPECT_EQ(kernels(1, 32000) == 1u, shares);
    EXPECT_GT(kernels(1, 31991), 1u);
  }
}

// Sums that select are lookups, without work that grows with the number of positions. What is expected is written out.
TEST(Schedule, SumsThatSelectAreLookups) {
  constexpr double kInf = INFINITY;
  const struct {
    const char* name;
    Tensor (*build)(const Tensor& i, const Tensor& w);
    double w2;  // the last element of w = {10, 11, w2}
    std::vector<std::int64_t> i;
    std::vector<double> expected;
    bool is_lookup;
  } rows[] = {
      {"one-hot times a matrix",
       [](const Tensor& i, const Tensor& w) { return i.one_hot(3).cast(DType::Float32).matmul(w.unsqueeze(1)); },
       12,
       {2, 0, 1, -1, 3},
       {12, 10, 11, 0, 0},
       true},
      {"on and off",
       [](const Tensor& i, const Tensor& w) { return i.one_hot(3).where(w.full_like(1), w.full_like(0)).matmul(w.unsqueeze(1)); },
       12,
       {2, 0, 1, -1, 3},
       {12, 10, 11, 0, 0},
       true},
      {"0 times infinity",
       [](const Tensor& i, const Tensor& w) { return i.one_hot(3).cast(DType::Float32).matmul(w.unsqueeze(1)); },
       kInf,
       {2, 0},
       {kInf, NAN},
       false},
      {"where",
       [](const Tensor& i, const Tensor& w) { return i.one_hot(3).where(w, w.full_like(0)).sum({1}); },
       kInf,
       {2, 0, 1, -1, 3},
       {kInf, 10, 11, 0, 0},
       true},
      {"where not",
       [](const Tensor& i, const Tensor& w) { return i.one_hot(3).where(w.full_like(0), w).sum({1}); },
       12,
       {2, 0, 3},
       {21, 23, 33},
       false},
      {"off is not 0",
       [](const Tensor& i, const Tensor& w) { return i.one_hot(3).where(w, w.full_like(1)).sum({1}); },
       12,
       {2, 0, 3},
       {14, 12, 3},
       false},
  };
  for (const auto& row : rows) {
    const auto graph = LazyGraph::create();
    const auto n = static_cast<std::int64_t>(row.i.size());
    const Tensor i = Tensor::input(*graph, "i", DType::Int32, {n});
    const Tensor w = Tensor::constant(*graph, Array::of_doubles(DType::Float32, {3}, std::vector<double>{10, 11, row.w2}), "w");
    const Schedule schedule = create_schedule(*graph, {{"y", row.build(i, w).reshape({n})}});
    const Array got = test::run_schedule(schedule, {{"i", Array::of_ints(DType::Int32, {n}, row.i)}}).at(0);
    EXPECT_EQ(test::difference(got, Array::of_doubles(DType::Float32, {n}, row.expected), 0), "") << row.name;
    ASSERT_EQ(schedule.items.size(), 1u) << row.name;
    const bool sums = std::ranges::any_of(toposort(schedule.items[0].ast), [](const LazyOp* op) { return is_reduce(op->op); });
    EXPECT_EQ(!sums, row.is_lookup) << row.name << "\n" << to_text(schedule);
  }
}

// What is dequantised for a sum of floats is computed again for each product, unless there are many.
TEST(Schedule, NarrowValuesAreWidenedAgainWhereThatIsCheap) {
  const struct {
    const char* name;
    bool in_float;
    std::int64_t columns;
    std::size_t kernels;
  } rows[] = {{"few products", true, 8, 1}, {"many products", true, 128, 2}, {"many products of integers", false, 128, 1}};
  for (const auto& row : rows) {
    const auto graph = LazyGraph::create();
    const Tensor x = Tensor::input(*graph, "x", DType::UInt8, {4, 32}).cast(DType::Int32) - 3.0;
    const Tensor values = row.in_float ? x.cast(DType::Float32) * 0.7 : x;
    const Tensor w = Tensor::input(*graph, "w", values.dtype(), {32, row.columns});
    const Schedule schedule = create_schedule(*graph, {{"y", values.matmul(w)}});
    EXPECT_EQ(schedule.items.size(), row.kernels) << row.name << "\n" << to_text(schedule);
  }
}

// sum(x * w) * s or / s: what numpy 1.23.2 gives in float32 for (x @ w) * s, and whether s may move into w.
TEST(Schedule, ScalesMoveIntoWeightsThatStayInRange) {
  constexpr double kInf = INFINITY, kNan = NAN;
  const struct {
    const char* name;
    Op op;
    std::vector<double> x, w, s, expected;  // [1,2], [2,2], [2]
    bool folds;
  } rows[] = {
      {"ordinary", Op::Mul, {1, 2}, {1, 0, 0, 2}, {0.5, 4}, {0.5, 16}, true},
      {"ordinary quotient", Op::Div, {1, 2}, {1, 0, 0, 2}, {0.5, 4}, {2, 1}, true},
      {"a channel that is switched off", Op::Mul, {1, 2}, {1, 0, 0, 2}, {0, 4}, {0, 16}, true},
      {"division by zero", Op::Div, {1, 1}, {1, 0, 0, 2}, {0, 0}, {kInf, kInf}, false},
      {"infinite", Op::Mul, {1, 1}, {1, 0, 0, 2}, {kInf, 1}, {kInf, 2}, false},
      {"not a number", Op::Mul, {1, 1}, {1, 0, 0, 2}, {kNan, 1}, {kNan, 2}, false},
      {"weights vanish", Op::Mul, {1e30, 1e30}, {1e-30, 0, 0, 2e-30}, {1e-20, 1e-20}, {1e-20, 2e-20}, false},
      {"weights become subnormal", Op::Mul, {1e10, 0}, {1e-20, 0, 0, 1}, {1e-20, 1}, {9.999999e-31, 0}, false},
      {"weights overflow", Op::Mul, {1e-30, 0}, {1e30, 0, 0, 1}, {1e20, 1}, {1e20, 0}, false},
      {"a subnormal inverse", Op::Div, {1e10, 0}, {1e10, 0, 0, 1}, {2e38, 1}, {5e-19, 0}, false},
  };
  for (const auto& row : rows) {
    const auto graph = LazyGraph::create();
    const auto array = [](std::vector<std::int64_t> shape, const std::vector<double>& values) {
      return Array::of_doubles(DType::Float32, std::move(shape), values);
    };
    const Tensor x = Tensor::input(*graph, "x", DType::Float32, {1, 2});
    const Tensor product = x.matmul(Tensor::constant(*graph, array({2, 2}, row.w), "w"));
    const Tensor s = Tensor::constant(*graph, array({2}, row.s), "s");
    const Schedule schedule = create_schedule(*graph, {{"y", row.op == Op::Mul ? product * s : product / s}});
    const Array got = test::run_schedule(schedule, {{"x", array({1, 2}, row.x)}}).at(0);
    EXPECT_EQ(test::difference(got, array({1, 2}, row.expected), 0), "") << row.name;
    ASSERT_EQ(schedule.items.size(), 1u) << row.name;
    EXPECT_EQ(schedule.items[0].inputs.size(), row.folds ? 2u : 3u) << row.name << "\n" << to_text(schedule);
  }
}

}  // namespace
}  // namespace etch
