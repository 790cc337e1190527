// Interning, views, identities and constants of the graph, and the errors of Tensor.
#include "lazy/graph.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "lazy/tensor.h"

namespace etch {
namespace {

const double kInfinity = std::numeric_limits<double>::infinity();

TEST(LazyGraph, EqualIsTheSame) {
  const auto graph = LazyGraph::create();
  const Tensor x = Tensor::input(*graph, "x", DType::Float32, {2, 3}), other = Tensor::input(*graph, "x", DType::Float32, {2, 3});
  EXPECT_NE(x.buffer(), other.buffer());
  EXPECT_EQ((x + 1.0).buffer(), (x + 1.0).buffer());
  EXPECT_EQ((x.full_like(1) + x).buffer(), (x + 1.0).buffer());
  EXPECT_NE((x + 0.0).buffer(), (x + -0.0).buffer());
  EXPECT_EQ(x.transpose().transpose().buffer(), x.buffer());
  EXPECT_EQ(x.reshape({6}).reshape({2, 3}).buffer(), x.buffer());
  EXPECT_EQ(x.flip({1}).flip({1}).buffer(), x.buffer());
  EXPECT_EQ(x.pad({{1, 1}, {0, 2}}).shrink({{1, 3}, {0, 3}}).buffer(), x.buffer());
  const Array data = Array::of_ints(DType::Int32, {2}, std::vector<std::int64_t>{1, 2});
  EXPECT_EQ(Tensor::constant(*graph, data, "a").buffer(), Tensor::constant(*graph, data, "b").buffer());
  EXPECT_NE(Tensor::constant(*graph, data).buffer(), Tensor::constant(*graph, data.reshaped({1, 2})).buffer());
  EXPECT_EQ(x.contiguous().buffer(), x.buffer());
  EXPECT_EQ(x.transpose().contiguous().contiguous().buffer(), x.transpose().contiguous().buffer());
}

struct Identity {
  const char* text;
  DType dtype;
  bool same;  // is x itself
  Tensor (*build)(const Tensor&);
};

Tensor number(const Tensor& x, double v) { return x.full_like(v); }

constexpr Identity kIdentities[] = {
    {"x + -0.0", DType::Float32, true, [](const Tensor& x) { return x + -0.0; }},
    {"x + 0.0", DType::Float32, false, [](const Tensor& x) { return x + 0.0; }},
    {"x - 0.0", DType::Float32, true, [](const Tensor& x) { return x - 0.0; }},
    {"x - -0.0", DType::Float32, false, [](const Tensor& x) { return x - -0.0; }},
    {"x * 1", DType::Float32, true, [](const Tensor& x) { return x * 1.0; }},
    {"1 * x", DType::Float32, true, [](const Tensor& x) { return number(x, 1) * x; }},
    {"x / 1", DType::Float32, true, [](const Tensor& x) { return x / 1.0; }},
    {"x * 0", DType::Float32, false, [](const Tensor& x) { return x * 0.0; }},
    {"x - x", DType::Float32, false, [](const Tensor& x) { return x - x; }},
    {"x == x", DType::Float32, false, [](const Tensor& x) { return x.equal(x); }},
    {"-(-x)", DType::Float32, true, [](const Tensor& x) { return x.neg().neg(); }},
    {"-1 * (-x)", DType::Float32, true, [](const Tensor& x) { return x.neg() * -1.0; }},
    {"max(x, x)", DType::Float32, true, [](const Tensor& x) { return x.maximum(x); }},
    {"x ** 1", DType::Float32, true, [](const Tensor& x) { return x.pow(number(x, 1)); }},
    {"x + 0", DType::Int32, true, [](const Tensor& x) { return x + 0.0; }},
    {"0 + x", DType::UInt64, true, [](const Tensor& x) { return number(x, 0) + x; }},
    {"x & -1", DType::Int32, true, [](const Tensor& x) { return Tensor::binary(Op::And, x, number(x, -1)); }},
    {"x | 0", DType::UInt8, true, [](const Tensor& x) { return Tensor::binary(Op::Or, x, number(x, 0)); }},
    {"x ^ 5 ^ 5", DType::Int8, true,
     [](const Tensor& x) { return Tensor::binary(Op::Xor, Tensor::binary(Op::Xor, x, number(x, 5)), number(x, 5)); }},
    {"x << 0", DType::Int32, true, [](const Tensor& x) { return Tensor::binary(Op::Shl, x, number(x, 0)); }},
    {"not not x", DType::Bool, true, [](const Tensor& x) { return x.logical_not().logical_not(); }},
    {"x == true", DType::Bool, true, [](const Tensor& x) { return x.equal(number(x, 1)); }},
    {"true ? x : y", DType::Float32, true, [](const Tensor& x) { return number(x.cast(DType::Bool), 1).where(x, x * 2.0); }},
    {"c ? x : x", DType::Float32, true, [](const Tensor& x) { return (x < 0.0).where(x, x); }},
    {"cast to int64 and back", DType::Int32, true, [](const Tensor& x) { return x.cast(DType::Int64).cast(DType::Int32); }},
    {"cast to float and back", DType::Int32, false, [](const Tensor& x) { return x.cast(DType::Float32).cast(DType::Int32); }},
    {"cast to float and back", DType::Int16, true, [](const Tensor& x) { return x.cast(DType::Float32).cast(DType::Int16); }},
    {"sum of a size 1 axis", DType::Float32, true, [](const Tensor& x) { return x.unsqueeze(0).sum({0}); }},
    {"gather by 0, 1", DType::Float32, true,
     [](const Tensor& x) {
       return x.gather(0, Tensor::constant(x.graph(), Array::of_ints(DType::Int64, {2}, std::vector<std::int64_t>{0, 1})));
     }},
};

TEST(LazyGraph, IdentitiesHoldForEveryValue) {
  for (const Identity& row : kIdentities) {
    const auto graph = LazyGraph::create();
    const Tensor x = Tensor::input(*graph, "x", row.dtype, {2, 3});
    EXPECT_EQ(row.build(x).buffer() == x.buffer(), row.same) << row.text << " " << name_of(row.dtype);
  }
}

struct Fold {
  const char* text;
  double expected;
  Tensor (*build)(LazyGraph&);
};

Tensor f32(LazyGraph& g, double v) { return Tensor::full(g, {2}, Scalar::of_double(DType::Float32, v)); }
Tensor i32(LazyGraph& g, double v) { return Tensor::full(g, {2}, Scalar::of_double(DType::Int32, v)); }

constexpr Fold kFolds[] = {
    {"2 + 3", 5, [](LazyGraph& g) { return f32(g, 2) + f32(g, 3); }},
    {"0.1 + 0.2 in float32", static_cast<double>(0.1f + 0.2f), [](LazyGraph& g) { return f32(g, 0.1) + f32(g, 0.2); }},
    {"inf * 0", std::numeric_limits<double>::quiet_NaN(), [](LazyGraph& g) { return f32(g, kInfinity) * f32(g, 0); }},
    {"7 / -2", -3, [](LazyGraph& g) { return i32(g, 7) / i32(g, -2); }},
    {"2147483647 + 1", -2147483648.0, [](LazyGraph& g) { return i32(g, 2147483647) + i32(g, 1); }},
    {"cast 3.9", 3, [](LazyGraph& g) { return f32(g, 3.9).cast(DType::Int32); }},
    {"sum of two", 10, [](LazyGraph& g) { return f32(g, 5).sum(); }},
    {"max", 5, [](LazyGraph& g) { return f32(g, 5).max(); }},
    {"prod", 25, [](LazyGraph& g) { return f32(g, 5).prod(); }},
    {"sum of none", 0, [](LazyGraph& g) { return f32(g, 5).slice(0, 0, 0).sum(); }},
    {"exp2(3)", 8, [](LazyGraph& g) { return f32(g, 3).exp2(); }},
    {"sqrt(2 < 3)", 1, [](LazyGraph& g) { return (f32(g, 2) < f32(g, 3)).sqrt(); }},
    {"pad with itself", 4, [](LazyGraph& g) { return f32(g, 4).pad({{1, 1}}, 4).slice(0, 1, 3); }},
};

TEST(LazyGraph, NumbersAreFoldedWhenTheyMeet) {
  for (const Fold& row : kFolds) {
    const auto graph = LazyGraph::create();
    const Scalar* value = const_value(row.build(*graph).buffer());
    ASSERT_NE(value, nullptr) << row.text;
    EXPECT_TRUE(value->as_double() == row.expected || (value->is_nan() && row.expected != row.expected))
        << row.text << " is " << value->to_text();
  }
}

TEST(LazyGraph, SumsOfProductsAreNotStoredAsProducts) {
  // 2^27 products: stored, they would take a gigabyte and the time limit.
  const auto graph = LazyGraph::create();
  const std::int64_t n = 512;
  const Tensor a = Tensor::constant(*graph, Array::filled(DType::Float32, {n, n}, Scalar::of_double(DType::Float32, 0.5)));
  const Tensor b = Tensor::constant(*graph, Array::filled(DType::Float32, {n, n}, Scalar::of_double(DType::Float32, 3)));
  EXPECT_EQ(a.matmul(b.transpose()).evaluate()->double_at(n * n - 1), 768);
}

TEST(LazyGraph, OriginsNestAndStay) {
  const auto graph = LazyGraph::create();
  const Tensor x = Tensor::input(*graph, "x", DType::Float32, {2});
  Tensor y, z;
  {
    OriginScope outer(*graph, "outer");
    y = x + 1.0;
    OriginScope inner(*graph, "inner");
    z = (x + 1.0).exp();
  }
  EXPECT_EQ(x.buffer()->origins, std::vector<std::string>{});
  EXPECT_EQ(y.buffer()->origins, std::vector<std::string>{"outer"});
  EXPECT_EQ(z.buffer()->origins, std::vector<std::string>{"inner"});
  EXPECT_EQ(z.buffer()->src[0], y.buffer());
  EXPECT_LT(graph->origin_rank("outer"), graph->origin_rank("inner"));
  EXPECT_TRUE(graph->origins().empty());
}

TEST(LazyGraph, DeepGraphsNeedNoDeepStack) {
  const auto graph = LazyGraph::create();
  Tensor x = Tensor::constant(*graph, Array::filled(DType::Float32, {1}, Scalar::of_double(DType::Float32, 1)));
  for (int i = 0; i < 20000; i++) x = x * 0.5 + 1.0;
  EXPECT_EQ(x.evaluate()->double_at(0), 2);
}

struct Created {
  const char* text;
  std::vector<double> expected;
  Tensor (*build)(LazyGraph&);
};

TEST(Tensor, WhatTakesNoMemoryHasTheseValues) {
  const Created rows[] = {
      {"arange", {0, 1, 2}, [](LazyGraph& g) { return Tensor::arange(g, 3); }},
      {"arange of floats",
       {1.5, 1, 0.5, 0},
       [](LazyGraph& g) {
         return Tensor::arange(g, 4, DType::Float32, Scalar::of_double(DType::Float32, 1.5), Scalar::of_double(DType::Float32, -0.5));
       }},
      {"arange of one",
       {7},
       [](LazyGraph& g) { return Tensor::arange(g, 1, DType::Int16, Scalar::of_int(DType::Int16, 7), Scalar::of_int(DType::Int16, 2)); }},
      {"eye", {0, 1, 0, 0, 0, 1}, [](LazyGraph& g) { return Tensor::eye(g, 2, 3, DType::Float32, 1); }},
      {"eye below", {0, 0, 1, 0, 0, 1}, [](LazyGraph& g) { return Tensor::eye(g, 3, 2, DType::Int8, -1); }},
      {"padded arange", {0, 0, 1, 2, 0}, [](LazyGraph& g) { return Tensor::arange(g, 3).pad({{1, 1}}); }},
      {"arange backwards, padded with 9", {9, 2, 1, 0}, [](LazyGraph& g) { return Tensor::arange(g, 3).flip({0}).pad({{1, 0}}, 9); }},
      {"size", {12}, [](LazyGraph& g) { return Tensor::size_value(g, 12); }},
  };
  for (const Created& row : rows) {
    const auto graph = LazyGraph::create();
    EXPECT_EQ(row.build(*graph).evaluate()->doubles(), row.expected) << row.text;
  }
}

struct Wrong {
  const char* text;                  // part of the message
  Tensor (*build)(const Tensor& x);  // [2, 3] float32
};

constexpr Wrong kWrong[] = {
    {"do not broadcast", [](const Tensor& x) { return x + x.transpose(); }},
    {"another number of elements", [](const Tensor& x) { return x.reshape({7}); }},
    {"not divisible", [](const Tensor& x) { return x.reshape({4, -1}); }},
    {"more than one", [](const Tensor& x) { return x.reshape({-1, -1}); }},
    {"accepted are -2 to 1", [](const Tensor& x) { return x.sum({2}); }},
    {"named twice", [](const Tensor& x) { return x.sum({1, -1}); }},
    {"only dimensions of 1 expand", [](const Tensor& x) { return x.expand({2, 6}); }},
    {"cuts more", [](const Tensor& x) { return x.pad({{-1, -2}, {0, 0}}); }},
    {"shrink: [0, 3) ", [](const Tensor& x) { return x.shrink({{0, 3}, {0, 3}}); }},
    {"the step is 0", [](const Tensor& x) { return x.slice(0, 0, 2, 0); }},
    {"matmul: [2,3] by [2,3]: 3 columns against 2 rows", [](const Tensor& x) { return x.matmul(x); }},
    {"window: a kernel of 3 with dilation 1 does not fit into 2 elements",
     [](const Tensor& x) { return x.reshape({1, 1, 2, 3}).max_pool({.kernel = {3, 3}}); }},
    {"channels and groups", [](const Tensor& x) { return x.reshape({1, 2, 3}).conv(x.reshape({1, 3, 2}), Tensor(), {.kernel = {2}}); }},
    {"Xor: of float32", [](const Tensor& x) { return Tensor::binary(Op::Xor, x, x); }},
    {"accepted are integers", [](const Tensor& x) { return x.gather(0, x); }},
    {"index 2 of axis 0", [](const Tensor& x) { return x.gather(0, Tensor::full(x.graph(), {1}, Scalar::of_int(DType::Int64, 2))); }},
    {"accepted is bool", [](const Tensor& x) { return x.where(x, x); }},
    {"cat: shapes", [](const Tensor& x) { return Tensor::cat({x, x.transpose()}, 0); }},
    {"einsum: 'ij,jk->ik' names 2 operands, given are 1", [](const Tensor& x) { return Tensor::einsum("ij,jk->ik", {x}); }},
    {"einsum: 'ij->ik': the result names an axis that no operand has", [](const Tensor& x) { return Tensor::einsum("ij->ik", {x}); }},
    {"another size", [](const Tensor& x) { return x.bitcast(DType::Int64); }},
    {"as_strided: [2,2] has 2 axes, strides has 1", [](const Tensor& x) { return x.as_strided({2, 2}, {1}); }},
    {"as_strided: [2,2] reads elements 2 to 6 of 6", [](const Tensor& x) { return x.as_strided({2, 2}, {1, 3}, 2); }},
    {"as_strided: [3] reads elements -1 to 1 of 6", [](const Tensor& x) { return x.as_strided({3}, {-1}, 1); }},
    {"as_strided: [-1]: a dimension is negative", [](const Tensor& x) { return x.as_strided({-1}, {1}); }},
};

TEST(Tensor, WhatCannotBeRightIsAShapeError) {
  for (const Wrong& row : kWrong) {
    const auto graph = LazyGraph::create();
    const Tensor x = Tensor::input(*graph, "x", DType::Float32, {2, 3});
    try {
      row.build(x);
      ADD_FAILURE() << row.text << ": no error";
    } catch (const ShapeError& e) {
      EXPECT_NE(std::string(e.what()).find(row.text), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace etch
