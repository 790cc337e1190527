// Each kernel names exactly the nodes that it computes, also if equal operations of several nodes are one buffer in the graph.
#include <gtest/gtest.h>

#include "lazy/graph.h"
#include "lazy/tensor.h"
#include "schedule/schedule.h"

namespace etch {
namespace {

using Nodes = std::vector<std::string>;

class Credits : public testing::Test {
 protected:
  template <class Make>
  Tensor node(const std::string& name, Make make) {
    const OriginScope scope(*graph, name);
    return make();
  }
  Tensor input(const std::string& name, Shape shape, DType dtype = DType::Float32) {
    return Tensor::input(*graph, name, dtype, std::move(shape));
  }
  Tensor weights(std::vector<std::int64_t> shape, double from, DType dtype = DType::Float32) {
    std::int64_t n = 1;
    for (std::int64_t d : shape) n *= d;
    std::vector<double> values;
    for (std::int64_t i = 0; i < n; i++) values.push_back(from + static_cast<double>(i % 7));
    return Tensor::constant(*graph, Array::of_doubles(dtype, std::move(shape), values));
  }
  std::vector<Nodes> credited(const std::vector<Tensor>& outputs) {
    std::vector<OutputSpec> specs;
    for (const Tensor& t : outputs) specs.push_back({"out" + std::to_string(specs.size()), t});
    schedule = create_schedule(*graph, specs, {.max_outputs = 1});  // a kernel each
    std::vector<Nodes> result;
    for (const ScheduleItem& item : schedule.items) result.push_back(item.nodes);
    return result;
  }
  std::shared_ptr<LazyGraph> graph = LazyGraph::create();
  Schedule schedule;
};

// Two convolutions pad one input in the same way: they share the view, but not the work.
TEST_F(Credits, ConvolutionsOfOneInputAreApart) {
  const Tensor x = input("x", {1, 2, 6, 6});
  const Window window{.kernel = {3, 3}, .stride = {}, .dilation = {}, .pads = {{1, 1}, {1, 1}}};
  const Tensor a = node("conv_a", [&] { return x.conv(weights({3, 2, 3, 3}, 1), {}, window); });
  const Tensor b = node("conv_b", [&] { return x.conv(weights({4, 2, 3, 3}, 2), {}, window); });
  EXPECT_EQ(credited({a, b}), (std::vector<Nodes>{{"conv_a"}, {"conv_b"}}));
  EXPECT_EQ(schedule.items[0].main_node, "conv_a");
}

// Weights of 8 bits stay small in memory: the kernel that reads them casts them.
TEST_F(Credits, WeightsThatAreCastBelongToTheirReader) {
  const auto dequantize = [&](const Tensor& q) { return q.cast(DType::Float32); };
  const Tensor x = input("x", {4, 8});
  const Tensor v = node("dq_v", [&] { return dequantize(weights({8, 8}, 1, DType::Int8)); });
  const Tensor w = node("dq_w", [&] { return dequantize(weights({8, 8}, 2, DType::Int8)); });
  const Tensor a = node("a", [&] { return x.matmul(v); });
  const Tensor b = node("b", [&] { return a.matmul(w); });
  EXPECT_EQ(credited({b}), (std::vector<Nodes>{{"dq_v", "a"}, {"dq_w", "b"}}));
}

TEST_F(Credits, ViewsBelongToTheirReadersAndFoldedNodesToNobody) {
  const Tensor x = input("x", {4, 6});
  const Tensor t = node("transpose", [&] { return x.permute({1, 0}); });
  const Tensor s = node("sum", [&] { return t.sum({1}); });
  const Tensor m = node("max", [&] { return t.max({1}); });
  const Tensor c = node("constant", [&] { return weights({6}, 1) * weights({6}, 2) + 1.0; });
  const Tensor o = node("add", [&] { return s.flatten(0) + c; });
  node("unused", [&] { return s.exp(); });
  EXPECT_EQ(credited({o, m}), (std::vector<Nodes>{{"transpose", "sum", "add"}, {"transpose", "max"}}));
  EXPECT_EQ(schedule.items[0].main_node, "sum");
  EXPECT_EQ(schedule.folded, (Nodes{"constant", "unused"}));
}

// The same node twice is computed once, for both.
TEST_F(Credits, EqualNodesShareTheirKernel) {
  const Tensor x = input("x", {4, 6});
  const Tensor a = node("a", [&] { return x.sum({1}); });
  const Tensor b = node("b", [&] { return x.sum({1}); });
  const Tensor e = node("exp", [&] { return a.exp(); });
  const Tensor l = node("sqrt", [&] { return b.sqrt(); });
  EXPECT_EQ(credited({e, l}), (std::vector<Nodes>{{"a", "b"}, {"exp"}, {"sqrt"}}));
}

// A value that is an output twice, as it is or as a view, is copied by a kernel of the node that asked for it.
TEST_F(Credits, ACopyIsCreditedToWhatItShows) {
  const Tensor x = input("x", {4, 6});
  const Tensor a = node("a", [&] { return x.exp(); });
  const Tensor t = node("transpose", [&] { return a.permute({1, 0}); });
  EXPECT_EQ(credited({a, t}), (std::vector<Nodes>{{"a"}, {"transpose"}}));
  EXPECT_EQ(credited({a, a}), (std::vector<Nodes>{{"a"}, {"a"}}));
}

}  // namespace
}  // namespace etch
