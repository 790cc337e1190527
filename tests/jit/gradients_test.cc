// Gradients against finite differences in double: every float operation of ops.def, every function, and what is made of them. The
// differences are INTERP's on constants; the gradients are computed on each backend.
#include <gtest/gtest.h>

#include "base/error.h"
#include "jit/jit_backends.h"
#include "lazy/functions.h"
#include "lazy/graph.h"
#include "lazy/tape.h"
#include "support/differences.h"
#include "support/expect_error.h"
#include "support/rounds.h"

namespace etch {
namespace {

using test::spread_values;
using test::weighted;
using Tensors = std::vector<Tensor>;
using Shapes = std::vector<std::vector<std::int64_t>>;

struct GradientCase {
  std::string name;
  Shapes shapes;
  double low, high;  // of the operands
  std::function<Tensor(const Tensors&)> f;
};

double loss_of(const GradientCase& c, const std::vector<Array>& arrays) {
  const auto graph = LazyGraph::create();
  Tensors operands;
  for (const Array& a : arrays) operands.push_back(Tensor::constant(*graph, a));
  if (const std::optional<Array> value = weighted(c.f(operands)).evaluate()) return value->doubles()[0];
  Session session(make_device("interp"));  // a loop is not computed while it is traced
  for (std::size_t k = 0; k < arrays.size(); k++) operands[k] = session.from(arrays[k]);
  return session.values(weighted(c.f(operands))).doubles()[0];
}

std::vector<double> differences(const GradientCase& c, const std::vector<Array>& arrays, std::size_t operand) {
  return test::derivatives(arrays[operand], [&](const Array& moved) {
    std::vector<Array> changed = arrays;
    changed[operand] = moved;
    return loss_of(c, changed);
  });
}

struct Range {
  Op op;
  double low, high;
};
/// Where operations are smooth that are not so in all of (-2, 2).
constexpr Range kRanges[] = {
    {Op::Log, 0.3, 3},     {Op::Log2, 0.3, 3},         {Op::Sqrt, 0.3, 3},        {Op::Pow, 0.3, 3},      {Op::Log1p, -0.6, 3},
    {Op::Tan, -1.2, 1.2},  {Op::Asin, -0.8, 0.8},      {Op::Acos, -0.8, 0.8},     {Op::Atanh, -0.8, 0.8}, {Op::Acosh, 1.3, 4},
    {Op::Div, 0.5, 2},     {Op::Mod, 1.1, 1.9},        {Op::Floor, 0.1, 0.9},     {Op::Ceil, 0.1, 0.9},   {Op::Trunc, 0.1, 0.9},
    {Op::Rint, -0.4, 0.4}, {Op::RintSmall, -0.4, 0.4}, {Op::ExpNonPos, -3, -0.1},
};

std::vector<GradientCase> operations() {
  std::vector<GradientCase> cases;
  for (std::size_t i = 0; i < std::size(kOps); i++) {
    const Op op = static_cast<Op>(i);
    const auto* own = std::ranges::find(kRanges, op, &Range::op);
    const auto [unused, low, high] = own == std::end(kRanges) ? Range{op, -2, 2} : *own;
    const std::string name(name_of(op));
    if (!is_legal(op, DType::Float64) || gives_bool(op) || is_conversion(op)) continue;
    if (info(op).group == OpGroup::Unary)
      cases.push_back({name, {{7}}, low, high, [op](const Tensors& x) { return x[0].unary(op); }});
    else if (info(op).group == OpGroup::Binary)
      cases.push_back({name, {{2, 3}, {3}}, low, high, [op](const Tensors& x) { return Tensor::binary(op, x[0], x[1]); }});
    else if (is_reduce(op))
      cases.push_back({name, {{2, 3, 2}}, low, high, [op](const Tensors& x) { return x[0].reduce(op, {0, 2}, false); }});
  }
  return cases;
}

Tensor indices(const Tensor& like, const std::vector<std::int64_t>& values) {
  return Tensor::constant(like.graph(), Array::of_ints(DType::Int64, {static_cast<std::int64_t>(values.size())}, values));
}

Window window(std::vector<std::int64_t> kernel, std::vector<std::int64_t> stride, std::vector<std::int64_t> dilation, Padding pads) {
  return {.kernel = std::move(kernel), .stride = std::move(stride), .dilation = std::move(dilation), .pads = std::move(pads)};
}

/// Of each element.
std::vector<GradientCase> element_functions() {
  const auto one = [](std::string name, Tensor (Tensor::*f)() const) {
    return GradientCase{std::move(name), {{7}}, -2, 2, [f](const Tensors& x) { return (x[0].*f)(); }};
  };
  return {
      one("relu", &Tensor::relu),
      one("sigmoid", &Tensor::sigmoid),
      one("softplus", &Tensor::softplus),
      one("sign", &Tensor::sign),
      one("abs", &Tensor::abs),
      one("silu", &Tensor::silu),
      one("mish", &Tensor::mish),
      one("softsign", &Tensor::softsign),
      one("selu", &Tensor::selu),
      one("hardswish", &Tensor::hardswish),
      one("contiguous", &Tensor::contiguous),
      one("contiguous_backward", &Tensor::contiguous_backward),
      {"zero", {{3}}, -2, 2, [](const Tensors& x) { return apply(Function::Zero, {x[0]}) + x[0]; }},
      {"gelu", {{5}}, -2, 2, [](const Tensors& x) { return x[0].gelu(false) + x[0].gelu(true); }},
      {"elu, celu, leaky relu, clip",
       {{9}},
       -2,
       2,
       [](const Tensors& x) { return x[0].elu(0.7) + x[0].celu(1.3) + x[0].leaky_relu(0.1) + x[0].clip(-1, 0.5); }},
      {"powers",
       {{5}},
       0.3,
       2,
       [](const Tensors& x) { return x[0].pow(x[0].full_like(2)) + x[0].pow(x[0].full_like(-1)) + x[0].pow(x[0].full_like(2.5)); }},
      {"power of a negative base", {{4}}, -2, -0.5, [](const Tensors& x) { return x[0].pow(x[0].full_like(-3)); }},
      {"where", {{2, 3}, {3}}, -2, 2, [](const Tensors& x) { return (x[0] < 0.1).where(x[1] * x[0], x[0].exp()); }},
      {"cast", {{3}}, -2, 2, [](const Tensors& x) { return (x[0].cast(DType::Float64) * 3.0).cast(DType::Float64); }},
      {"a value used often", {{3}}, -2, 2, [](const Tensors& x) { return x[0] * x[0] + x[0].exp() * x[0] - x[0].sum() * x[0]; }},
  };
}

std::vector<GradientCase> movements() {
  return {
      {"reshape, permute", {{2, 3, 4}}, -2, 2, [](const Tensors& x) { return x[0].reshape({4, 6}).permute({1, 0}).reshape({3, 8}).exp(); }},
      {"permute", {{2, 3, 2}}, -2, 2, [](const Tensors& x) { return x[0].permute({1, 2, 0}).exp() * x[0].permute({1, 0, 2}); }},
      {"expand", {{3, 1}}, -2, 2, [](const Tensors& x) { return x[0].expand({2, 3, 4}).exp(); }},
      {"pad", {{2, 3}}, -2, 2, [](const Tensors& x) { return x[0].pad({{1, 0}, {-1, 2}}, 0.5).exp(); }},
      {"shrink", {{4, 3}}, -2, 2, [](const Tensors& x) { return x[0].shrink({{1, 3}, {0, 2}}).exp(); }},
      {"flip", {{4, 3}}, -2, 2, [](const Tensors& x) { return x[0].flip({0}) * x[0]; }},
      {"stride", {{7, 5}}, -2, 2, [](const Tensors& x) { return x[0].stride({3, -2}).exp(); }},
      {"at", {{4, 3}}, -2, 2, [](const Tensors& x) { return x[0].at(0, 2).exp(); }},
      {"slice", {{9}}, -2, 2, [](const Tensors& x) { return x[0].slice(0, 7, 0, -3).exp(); }},
      {"as_strided", {{4, 4}}, -2, 2, [](const Tensors& x) { return x[0].as_strided({3, 3, 2}, {4, -1, 3}, 3).exp(); }},
      {"repeat", {{2, 2}}, -2, 2, [](const Tensors& x) { return x[0].repeat({2, 3}).exp(); }},
      {"cat, stack, split",
       {{2, 2}, {1, 2}},
       -2,
       2,
       [](const Tensors& x) {
         const Tensor all = Tensor::cat({x[0], x[1], x[0]}, 0);
         return Tensor::stack({all.split(0, {2, 3})[1], all.split(0, {3, 2})[0]}, 1).exp();
       }},
  };
}

/// Elements at positions, and sums and products of rows.
std::vector<GradientCase> row_functions() {
  return {
      {"gather",
       {{4, 3}},
       -2,
       2,
       [](const Tensors& x) {
         // An index that depends on no constants alone.
         const Tensor index = Tensor::arange(x[0].graph(), 3) - (x[0].sum().floor() * 0.0).cast(DType::Int64);
         return x[0].gather(0, index).exp().sum({0}) * x[0].gather(1, indices(x[0], {2, -1, 0}));
       }},
      {"gather in steps",
       {{6}},
       -2,
       2,
       [](const Tensors& x) {
         const auto at = [&](const std::vector<std::int64_t>& positions) { return x[0].gather(0, indices(x[0], positions)); };
         return at({5, 3, 1}).exp() + at({2, 2, 2}) + at({0, 1, 0}) * at({4, 3, 2});
       }},
      {"gather elements",
       {{3, 2}},
       -2,
       2,
       [](const Tensors& x) {
         const Tensor index = Tensor::arange(x[0].graph(), 2).reshape({1, 2}) - (x[0].sum().floor() * 0.0).cast(DType::Int64);
         return x[0].gather_elements(0, index).exp();
       }},
      {"cumsum", {{2, 4}}, -2, 2, [](const Tensors& x) { return x[0].cumsum(1, true, true).exp() + x[0].cumsum(0).sin(); }},
      {"prod", {{2, 3}}, -2, 2, [](const Tensors& x) { return x[0].prod({1}) * x[0].prod(); }},
      {"mean, variance", {{3, 4}}, -2, 2, [](const Tensors& x) { return x[0].mean({1}).exp() + x[0].variance({1}, false, 1); }},
      {"softmax", {{2, 4}}, -2, 2, [](const Tensors& x) { return x[0].softmax(1) * x[0] + x[0].log_softmax(0); }},
      {"layernorm", {{2, 6}}, -2, 2, [](const Tensors& x) { return x[0].layernorm(1, 1e-3).exp(); }},
      {"batchnorm",
       {{2, 3, 2}, {3}, {3}},
       0.5,
       2,
       [](const Tensors& x) { return x[0].batchnorm(x[1], x[2], x[0].mean({0, 2}), x[0].variance({0, 2}), 1e-3).exp(); }},
      {"matmul", {{2, 2, 3}, {3, 4}}, -1, 1, [](const Tensors& x) { return x[0].matmul(x[1]).exp(); }},
      {"einsum", {{2, 3}, {3, 2}}, -1, 1, [](const Tensors& x) { return Tensor::einsum("ij,jk->ki", {x[0], x[1]}).exp(); }},
      {"linear", {{2, 3}, {3, 4}, {4}}, -1, 1, [](const Tensors& x) { return x[0].linear(x[1], x[2]).tanh(); }},
  };
}

std::vector<GradientCase> convolutions() {
  const Window strided = window({3, 2}, {2, 1}, {1, 2}, {{1, 0}, {0, 1}}), cut = window({2, 2}, {3, 2}, {1, 1}, {{-1, 2}, {1, 0}});
  return {
      {"conv", {{2, 2, 6, 5}, {3, 2, 3, 2}, {3}}, -1, 1, [=](const Tensors& x) { return x[0].conv(x[1], x[2], strided).tanh(); }},
      {"conv of parts", {{1, 2, 6, 5}, {2, 2, 2, 2}}, -1, 1, [=](const Tensors& x) { return x[0].conv(x[1], {}, cut).tanh(); }},
      {"conv in groups",
       {{1, 4, 5}, {6, 2, 3}},
       -1,
       1,
       [](const Tensors& x) { return x[0].conv(x[1], {}, window({3}, {1}, {1}, {{1, 1}}), 2).tanh(); }},
      {"depthwise conv",
       {{1, 3, 4, 4}, {3, 1, 3, 3}},
       -1,
       1,
       [](const Tensors& x) { return x[0].conv(x[1], {}, window({3, 3}, {1, 2}, {1, 1}, {{1, 1}, {1, 1}}), 3).tanh(); }},
      {"conv_transpose",
       {{1, 4, 3, 3}, {4, 1, 3, 2}},
       -1,
       1,
       [](const Tensors& x) { return x[0].conv_transpose(x[1], {}, window({3, 2}, {2, 1}, {1, 2}, {{1, 0}, {0, 1}}), {1, 0}, 2).tanh(); }},
      // The differences are of products by phases, the gradients of the form with zeros.
      {"conv_transpose, twice the size",
       {{1, 2, 3, 3}, {2, 2, 4, 4}},
       -1,
       1,
       [](const Tensors& x) { return x[0].conv_transpose(x[1], {}, window({4, 4}, {2, 2}, {1, 1}, {{1, 1}, {1, 1}}), {}).tanh(); }},
      {"conv_transpose of an odd kernel in groups",
       {{1, 4, 3}, {4, 1, 3}},
       -1,
       1,
       [](const Tensors& x) { return x[0].conv_transpose(x[1], {}, window({3}, {2}, {1}, {{1, 1}}), {1}, 2).tanh(); }},
      {"conv of even kernels with strides and odd pads",
       {{1, 2, 6, 4}, {2, 2, 4, 2}},
       -1,
       1,
       [](const Tensors& x) { return x[0].conv(x[1], {}, window({4, 2}, {2, 2}, {1, 1}, {{1, 1}, {1, 1}})).tanh(); }},
  };
}

std::vector<GradientCase> pools_and_loops() {
  const Window strided = window({3, 2}, {2, 1}, {1, 2}, {{1, 0}, {0, 1}});
  return {
      {"max_pool", {{1, 2, 6, 5}}, -1, 1, [=](const Tensors& x) { return x[0].max_pool(strided).exp(); }},
      {"max_pool, rounded up",
       {{1, 1, 6}},
       -1,
       1,
       [](const Tensors& x) {
         Window w = window({3}, {2}, {1}, {{0, 0}});
         w.ceil = true;
         return x[0].max_pool(w).exp();
       }},
      {"average_pool",
       {{1, 2, 6, 5}},
       -1,
       1,
       [=](const Tensors& x) { return x[0].average_pool(strided, false).exp() + x[0].average_pool(strided, true); }},
      {"lp_pool", {{1, 2, 6, 5}}, 0.3, 1, [=](const Tensors& x) { return x[0].lp_pool(strided, 3).exp(); }},
      {"loop",
       {{3}, {2, 3}, {3, 3}},
       -1,
       1,
       [](const Tensors& x) {
         const auto turn = [inputs = x[1].repeat({2, 1}), weight = x[2]](Sint t, const Tensors& now) -> LoopTurn {
           const Tensor next = (now[0].matmul(weight) + inputs.at(0, t)).tanh();
           return {{next, now[1] + 1.0}, {next * now[0]}};
         };
         const Tensor count = Tensor::full(x[0].graph(), {}, Scalar::of_int(DType::Int32, 0));
         const LoopResults results = Tensor::loop(x[0].graph(), 4, {x[0], count}, turn);
         return results.listed[0] + results.carried[0] + results.carried[1].cast(DType::Float64);
       }},
      {"triu, diagonal", {{3, 3}}, -1, 1, [](const Tensors& x) { return x[0].triu(1).exp() + x[0].diagonal(0, 1); }},
  };
}

std::vector<GradientCase> functions() {
  std::vector<GradientCase> all;
  for (const auto& part : {element_functions(), movements(), row_functions(), convolutions(), pools_and_loops()})
    all.insert(all.end(), part.begin(), part.end());
#ifdef ETCH_GRADIENTS_ALONE
  return all;
#else  // under sanitizers a quarter: gradients_slow_test.cc has all of them
  std::vector<GradientCase> some;
  for (std::size_t i = 0; i < all.size(); i += test::rounds(4) == 4 ? 1 : 4) some.push_back(all[i]);
  return some;
#endif
}

class Gradients : public test::JitBackends {
 protected:
  void expect_gradients(const std::vector<GradientCase>& cases) {
    Tensors gradients;
    std::vector<std::vector<Array>> arrays;
    for (const GradientCase& c : cases) {
      Tensors operands;
      arrays.emplace_back();
      for (std::size_t k = 0; k < c.shapes.size(); k++) {
        arrays.back().push_back(spread_values(c.shapes[k], c.low, c.high, static_cast<int>(k)));
        operands.push_back(session().from(arrays.back().back()).requires_grad(true));
      }
      weighted(c.f(operands)).backward();
      for (const Tensor& t : operands) {
        ASSERT_TRUE(t.grad()) << c.name;
        ASSERT_EQ(t.grad().shape(), t.shape()) << c.name;
        gradients.push_back(t.grad());
      }
    }
    gradients = session().realize(gradients);
    std::size_t next = 0;
    for (std::size_t i = 0; i < cases.size(); i++)
      for (std::size_t k = 0; k < cases[i].shapes.size(); k++) {
        SCOPED_TRACE(cases[i].name + ", operand " + std::to_string(k));
        test::expect_near(doubles(gradients[next++]), differences(cases[i], arrays[i], k), 1e-6);
      }
  }
};
#ifndef ETCH_GRADIENT_BACKENDS
#define ETCH_GRADIENT_BACKENDS "interp"
#endif
INSTANTIATE_TEST_SUITE_P(Backends, Gradients, testing::Values(ETCH_GRADIENT_BACKENDS), test::name_of_backend);

TEST_P(Gradients, OfOperationsAreThoseOfDifferences) { expect_gradients(operations()); }
TEST_P(Gradients, OfFunctionsAreThoseOfDifferences) { expect_gradients(functions()); }

class OnTape : public testing::Test {
 protected:
  Session session_{make_device("interp")};
  Tensor leaf(const std::vector<double>& values, bool required = true) {
    const Tensor t = session_.from(Array::of_doubles(DType::Float64, {static_cast<std::int64_t>(values.size())}, values));
    return required ? t.requires_grad(true) : t;
  }
  std::vector<double> doubles(const Tensor& t) { return session_.values(t).doubles(); }
};
using GradientsOfGradients = OnTape;
using Tapes = OnTape;

#ifdef ETCH_SECOND_GRADIENTS
// Differences of the first gradients, against the gradients of these.
TEST_F(GradientsOfGradients, AreThoseOfDifferences) {
  const auto has = [](const GradientCase& c, std::string_view name) { return c.name == name; };
  std::vector<GradientCase> cases = operations();
  for (GradientCase& c : functions()) cases.push_back(std::move(c));
  // A product of all but one element is a running product, whose own gradient is not defined; nor is that of a loop's.
  std::erase_if(cases, [&](const GradientCase& c) { return has(c, "ReduceProd") || has(c, "prod") || has(c, "loop"); });
  for (const GradientCase& c : cases) {
    SCOPED_TRACE(c.name);
    const Array values = spread_values(c.shapes[0], c.low, c.high, 0);
    std::vector<Array> others;
    for (std::size_t k = 1; k < c.shapes.size(); k++) others.push_back(spread_values(c.shapes[k], c.low, c.high, static_cast<int>(k)));
    const auto first = [&](const Tensor& x) {
      Tensors operands{x};
      for (const Array& a : others) operands.push_back(session_.from(a));
      const Tensor g = Tensor::gradients({weighted(c.f(operands))}, {x})[0];
      return weighted(g * (g + 0.5));
    };
    const Tensor x = session_.from(values).requires_grad(true);
    const Tensor g = Tensor::gradients({first(x)}, {x})[0];
    const std::vector<double> expected =
        test::derivatives(values, [&](const Array& moved) { return doubles(first(session_.from(moved).requires_grad(true)))[0]; });
    if (!g) {
      for (double e : expected) EXPECT_NEAR(e, 0, 1e-6);  // linear: the first gradient depends on nothing
      continue;
    }
    test::expect_near(doubles(g), expected, 1e-6);
  }
}
#endif

#ifndef ETCH_GRADIENTS_ALONE
TEST_F(Tapes, RequiresGradHasThreeValues) {
  const Tensor yes = leaf({1, 2}), no = leaf({1, 2}, false).requires_grad(false), unset = leaf({1, 2}, false);
  EXPECT_EQ(yes.requires_grad(), RequiresGrad::Yes);
  EXPECT_EQ(no.requires_grad(), RequiresGrad::No);
  EXPECT_EQ(unset.requires_grad(), RequiresGrad::Unset);
  EXPECT_EQ((yes * no).requires_grad(), RequiresGrad::Yes);
  EXPECT_EQ((no + no.exp()).requires_grad(), RequiresGrad::No);
  EXPECT_EQ((no * unset).requires_grad(), RequiresGrad::Unset);
  EXPECT_EQ(yes.detach().exp().requires_grad(), RequiresGrad::No);
  EXPECT_EQ((yes < no).requires_grad(), RequiresGrad::Unset);  // bool has no gradient
  const Tensor again = unset;
  unset.requires_grad(true);
  EXPECT_EQ(again.requires_grad(), RequiresGrad::Yes) << "every Tensor of that memory knows it";
}

TEST_F(Tapes, NothingIsNotedWhileGradientsAreOff) {
  const Tensor x = leaf({1, 2});
  const int before = session_.graph().tape().size();
  {
    const NoGrad off(session_.graph());
    EXPECT_EQ(x.exp().requires_grad(), RequiresGrad::Unset);
  }
  EXPECT_EQ(session_.graph().tape().size(), before);
  EXPECT_EQ(x.exp().requires_grad(), RequiresGrad::Yes);
}

TEST_F(Tapes, GradientsAddUpUntilTheyAreZeroed) {
  const Tensor x = leaf({1, 2}), y = leaf({3, 4});
  (x * y).sum().backward();
  (x * x).sum().backward();
  EXPECT_EQ(doubles(x.grad()), (std::vector<double>{5, 8}));
  EXPECT_EQ(doubles(y.grad()), (std::vector<double>{1, 2}));
  x.zero_grad();
  EXPECT_FALSE(x.grad());
  (x.detach() * x).sum().backward();
  EXPECT_EQ(doubles(x.grad()), (std::vector<double>{1, 2}));
}

TEST_F(Tapes, WhatIsRealizedOnTheWayKeepsItsGradient) {
  const Tensor x = leaf({1, 2}), y = session_.realize((x * x).contiguous());
  (y * y).sum().backward();
  EXPECT_EQ(doubles(x.grad()), (std::vector<double>{4, 32}));
}

// Equal largest elements share the gradient (as in tinygrad), and smooth functions have none of their parts' corners.
TEST_F(Tapes, EqualElementsAndCorners) {
  const Tensor x = leaf({2, 5, 5, 1});
  EXPECT_EQ(doubles(Tensor::gradients({x.max()}, {x})[0]), (std::vector<double>{0, 0.5, 0.5, 0}));
  EXPECT_EQ(doubles(Tensor::gradients({x.reshape({1, 1, 4}).max_pool(Window{.kernel = {2}}).sum()}, {x})[0]),
            (std::vector<double>{0, 1.5, 1.5, 0}));
  const Tensor zero = leaf({0.0});
  const auto at_zero = [&](const Tensor& y) { return doubles(Tensor::gradients({y.sum()}, {zero})[0])[0]; };
  EXPECT_EQ(at_zero(zero.softplus()), 0.5);
  EXPECT_EQ(at_zero(zero.elu(1)), 1);
  const Tensor large = leaf({200});
  for (const Tensor& y : {large.elu(1), large.celu(2), large.softplus()})
    EXPECT_EQ(doubles(Tensor::gradients({y.sum()}, {large})[0])[0], 1) << "where exp is infinite";
  EXPECT_EQ(at_zero(zero.relu()), 0);
  EXPECT_EQ(at_zero(zero.maximum(zero.full_like(0))), 0.5);
  EXPECT_EQ(at_zero(zero.pow(leaf({2}, false))), 0);
  EXPECT_EQ(at_zero(zero.floor()), 0) << "it was reached, and small changes change nothing";
  const Tensor others = leaf({0, 3, 0.5});
  EXPECT_EQ(doubles(Tensor::gradients({others.prod()}, {others})[0]), (std::vector<double>{1.5, 0, 0}));
}

TEST_F(Tapes, MistakesAreNamed) {
  const Tensor x = leaf({1, 2});
  const auto refused = [](const std::function<void()>& f, std::string_view says) { test::expect_error<ShapeError>(f, says); };
  refused([&] { (x * x).backward(); }, "backward: of float64 [2]; accepted is a scalar");
  refused([&] { leaf({1}, false).sum().backward(); }, "nothing that requires a gradient");
  refused([&] { (x * x).requires_grad(true); }, "which is computed or a constant");
  refused([&] { x.full_like(1).requires_grad(true); }, "which is computed or a constant");
  refused([&] { session_.from(Array::of_ints(DType::Int32, {1}, std::vector<std::int64_t>{1})).requires_grad(true); },
          "accepted are floats");
  refused([&] { (void)Tensor::gradients({x}, {x}); }, "accepted is a scalar, or a gradient of its own");
  refused([&] { (void)Tensor::gradients({x}, {x}, {x.sum()}); }, "the given one is float64 []");
  refused([&] { x.bitcast(DType::Int64).bitcast(DType::Float64).sum().backward(); }, "nothing that requires a gradient");
  // Silence would be a wrong gradient: of bits as another float, and where a gradient has none itself.
  {
    const OriginScope scope(session_.graph(), "bits", "BitCast");
    const Tensor half = session_.from(Array::of_doubles(DType::Float16, {2}, std::vector<double>{1, 2})).requires_grad(true);
    refused([&] { half.bitcast(DType::BFloat16).sum().backward(); }, "the gradient of Bitcast (node 'bits') is not defined");
  }
  const Tensor product = Tensor::gradients({x.prod()}, {x})[0];
  refused([&] { (void)Tensor::gradients({product.sum()}, {x}); }, "the gradient of RunningProduct is not defined");
  const auto turn = [](Sint, const Tensors& now) -> LoopTurn { return {{now[0] * now[0]}, {}}; };
  const Tensor last = Tensor::loop(session_.graph(), 3, {x}, turn).carried[0];
  const Tensor once = Tensor::gradients({last.sum()}, {x})[0];
  EXPECT_EQ(doubles(once), (std::vector<double>{8, 8 * 128}));  // of x^8
  refused([&] { (void)Tensor::gradients({once.sum()}, {x}); }, "the gradient of the gradient of a Loop is not defined");
}

// tinygrad's names of its Functions, and what they are called here.
TEST(Functions, AreThoseOfTinygrad) {
  constexpr std::pair<const char*, const char*> kNames[] = {
      {"Contiguous", ""},   {"ContiguousBackward", ""},
      {"Cast", ""},         {"Zero", ""},
      {"Neg", ""},          {"Sin", ""},
      {"Relu", ""},         {"Log", ""},
      {"Exp", ""},          {"Sqrt", ""},
      {"Sigmoid", ""},      {"Less", "CmpLt"},
      {"Eq", "CmpEq"},      {"Xor", ""},
      {"Add", ""},          {"Sub", ""},
      {"Mul", ""},          {"Div", ""},
      {"Where", ""},        {"Sum", "ReduceSum"},
      {"Max", "ReduceMax"}, {"Expand", ""},
      {"Reshape", ""},      {"Permute", ""},
      {"Pad", ""},          {"Shrink", ""},
      {"Flip", ""},
  };
  EXPECT_EQ(std::size(kNames), 27u);
  for (const auto& [theirs, ours] : kNames) {
    const std::string_view name = *ours == 0 ? theirs : ours;
    EXPECT_TRUE(op_named(name) || std::ranges::find(kFunctions, name) != std::end(kFunctions)) << theirs;
  }
}
#endif  // ETCH_GRADIENTS_ALONE

}  // namespace
}  // namespace etch
