#include "lazy/functions.h"

#include <algorithm>
#include <numbers>

#include "base/error.h"
#include "lazy/graph.h"
#include "lazy/tape.h"
#include "lazy/tensor_util.h"

namespace etch {
namespace {

// --- words of the column `backward`

const Tensor zero;  // no tensor: nothing flows back

Tensor zeros(const Tensor& x) { return x.full_like(0); }

/// (1 - x)(1 + x), which keeps its digits near 1 and -1.
Tensor one_minus_square(const Tensor& x) { return (x.full_like(1) - x) * (x + 1.0); }

/// The part of a normal distribution below x, plus x times its density there.
Tensor gelu_slope(const Tensor& x) {
  const Tensor part = ((x * (1 / std::numbers::sqrt2)).erf() + 1.0) * 0.5;
  return part + x * (x * x * -0.5).exp() * (std::numbers::inv_sqrtpi / std::numbers::sqrt2);
}

/// `g` where a < b, half of it where they are equal.
Tensor where_less(const Tensor& g, const Tensor& a, const Tensor& b) { return (a < b).where(g, a.equal(b).where(g * 0.5, zeros(g))); }

Tensor where_positive(const Tensor& g, const Tensor& y) { return (zeros(y) < y).where(g, zeros(g)); }

/// Of pow(a, b) for a; 0 for the exponent 0 even where a is 0.
Tensor of_base(const Tensor& g, const Tensor& a, const Tensor& b) { return b.equal(zeros(b)).where(zeros(g), g * b * a.pow(b - 1.0)); }

/// Of y = pow(a, b) for b; 0 where a is 0, as the limit is for positive exponents.
Tensor of_exponent(const Tensor& g, const Tensor& a, const Tensor& y) { return a.equal(zeros(a)).where(zeros(g), g * y * a.log()); }

/// `g` shared equally by the elements of `a` that are the extreme y of their row.
Tensor shared(const Tensor& g, const Tensor& a, const Tensor& y) {
  std::vector<int> axes;
  for (int i = 0; i < a.rank(); i++)
    if (!(a.dim(i) == y.dim(i))) axes.push_back(i);
  if (axes.empty()) return g;
  const Tensor found = a.equal(y);
  return found.where(g / found.cast(g.dtype()).sum(axes, true), zeros(a));
}

/// The product of all elements up to each one, that one left out, along the last axis.
Tensor products_before(const Tensor& x) {
  Shape edge = x.shape(), rest = x.shape();
  edge.back() = 1;
  Padding but_last;
  for (const Sint& d : rest) but_last.emplace_back(0, d);
  but_last.back().second = rest.back() - 1;
  const Tensor shifted = Tensor::cat({Tensor::full(x.graph(), edge, Scalar::of_int(x.dtype(), 1)), x.shrink(but_last)}, -1);
  const Tensor products(&x.graph(), x.graph().scan(Op::ReduceProd, shifted.buffer(), x.rank() - 1));
  return x.graph().tape().add_without_gradient("RunningProduct", {shifted}, {products})[0];
}

std::vector<int> inverse(const std::vector<int>& order) {
  std::vector<int> result(order.size());
  for (std::size_t i = 0; i < order.size(); i++) result[index_of(order[i])] = static_cast<int>(i);
  return result;
}

/// The axes of the reduction `b` in the order in which `view` shows them, those of size 1 last; empty if it shows anything else.
std::vector<int> order_shown(const LazyBuffer* b, const ShapeTracker& view) {
  if (view.views().size() != 1 || is_masked(view) || !view.size().is_int() || !(view.size() == b->st.size())) return {};
  const View &shown = view.views()[0], &own = b->st.views()[0];
  std::vector<int> order;
  for (std::size_t k = 0; k < shown.shape.size(); k++)
    for (std::size_t i = 0; i < own.shape.size(); i++)
      if (!(own.shape[i] == 1) && own.shape[i] == shown.shape[k] && own.strides[i] == shown.strides[k])
        order.push_back(static_cast<int>(i));
  for (std::size_t i = 0; i < own.shape.size(); i++)
    if (own.shape[i] == 1) order.push_back(static_cast<int>(i));
  return order.size() == own.shape.size() ? order : std::vector<int>{};
}

/// `g` or, if that shows a sum with its axes in another order, the sum computed in this order: what is added to it, or an update that it
/// is for, is then part of the kernel that sums.
Tensor sum_in_order(const Tensor& g) {
  const LazyBuffer *view = g.buffer(), *b = view->base;
  if (!b->is_reduction() || is_scan(b) || shows_base(view)) return g;
  const std::vector<int> order = order_shown(b, view->st);
  if (order.empty()) return g;
  LazyGraph& graph = g.graph();
  const std::vector<int> back = inverse(order);
  std::vector<int> axes;
  for (int a : b->axes) axes.push_back(back[index_of(a)]);
  std::ranges::sort(axes);
  const LazyBuffer* sum = graph.reduce(b->op, graph.view(b->src[0], b->src[0]->st.permute(order)), axes);
  return Tape::as_noted(Tensor(&graph, graph.view(sum, sum->st.reshape(view->shape()))), g);
}

/// For each element the product of the others that are reduced together with it; right also where some are 0.
Tensor product_of_others(const Tensor& a, const std::vector<int>& axes) {
  std::vector<int> order;
  Shape outer;
  for (int i = 0; i < a.rank(); i++)
    if (std::ranges::find(axes, i) == axes.end()) {
      order.push_back(i);
      outer.push_back(a.dim(i));
    }
  order.insert(order.end(), axes.begin(), axes.end());
  const Tensor moved = a.permute(order);
  outer.push_back(-1);
  const Tensor rows = moved.reshape(outer);
  const Tensor after = products_before(rows.flip({-1})).flip({-1});
  return (products_before(rows) * after).reshape(moved.shape()).permute(inverse(order));
}

// --- words of functions.def

Tensor abs_of(const Tensor& x) {
  // + 0.0 makes 0.0 of -0.0.
  return (x < zeros(x)).where(x.neg(), is_float(x.dtype()) ? x + zeros(x) : x);
}

Tensor sign_of(const Tensor& x) {
  const Tensor positive = (zeros(x) < x).where(x.full_like(1), x + zeros(x));  // 0 and NaN stay; + 0.0 makes 0.0 of -0.0
  return is_unsigned(x.dtype()) ? positive : (x < zeros(x)).where(x.full_like(-1), positive);
}

Tensor softplus_of(const Tensor& x) { return x.relu() + x.abs().neg().exp().log1p(); }

Tensor expanded(const Tensor& x, const Shape& shape) {
  Shape own(shape.size() - x.shape().size(), 1);
  own.insert(own.end(), x.shape().begin(), x.shape().end());
  const ShapeTracker& st = x.buffer()->st;
  const ShapeTracker aligned = own == x.shape() ? st : st.reshape(own);
  return {&x.graph(), x.graph().view(x.buffer(), own == shape ? aligned : aligned.expand(shape))};
}

Tensor strided(const Tensor& x, const FunctionArguments& f) {
  Shape shape;
  std::vector<Sint> strides;
  for (const AxisStep& s : f.steps) {
    shape.push_back(s.size);
    strides.emplace_back(s.step);
  }
  LazyGraph& graph = x.graph();
  const ShapeTracker above({View::create(std::move(shape), std::move(strides), f.shape[0])});
  return {&graph, graph.view(x.buffer(), graph.stacked(graph.reshaped(x.buffer()->st, {x.size()}), above))};
}

/// The sum over what a tensor of `shape` was repeated along to become as large as `g`.
Tensor summed(const Tensor& g, const Shape& shape) {
  const std::size_t added = g.shape().size() - shape.size();
  std::vector<int> axes;
  for (std::size_t i = 0; i < g.shape().size(); i++)
    if (i < added || !(g.shape()[i] == shape[i - added])) axes.push_back(static_cast<int>(i));
  return (axes.empty() ? g : g.sum(axes, true)).reshape(shape);
}

/// Where the elements of `x` are in x padded by f.ranges.
Padding inside(const FunctionArguments& f, const Tensor& x) {
  Padding ranges;
  for (std::size_t i = 0; i < f.ranges.size(); i++) ranges.emplace_back(f.ranges[i].first, f.ranges[i].first + x.shape()[i]);
  return ranges;
}

/// What the part f.ranges of `x` leaves out at both ends.
Padding cut_off(const FunctionArguments& f, const Tensor& x) {
  Padding pads;
  for (std::size_t i = 0; i < f.ranges.size(); i++) pads.emplace_back(f.ranges[i].first, x.shape()[i] - f.ranges[i].second);
  return pads;
}

/// `g` at every step-th element of a tensor as large as `x`, with zeros between.
Tensor between(const Tensor& g, const std::vector<std::int64_t>& steps, const Tensor& x) {
  Tensor result = g;
  Padding pads;
  std::vector<int> backwards;
  for (int i = 0; i < x.rank(); i++) {
    const std::int64_t step = steps[index_of(i)];
    result = result.spread(i, std::abs(step));
    const Sint rest = x.dim(i) - result.dim(i);
    if (step < 0) backwards.push_back(i);
    pads.emplace_back(0, rest);
  }
  result = result.pad(pads);
  return backwards.empty() ? result : result.flip(backwards);
}

/// For rows `a` with one element each at `index`: `g` there, 0 at the others.
Tensor scattered(const Tensor& g, const Tensor& a, const Tensor& index) {
  const Sint n = a.dim(-1);
  const Tensor last = Tensor::size_value(a.graph(), n - 1, index.dtype()), size = Tensor::size_value(a.graph(), n, index.dtype());
  const Tensor counted = is_unsigned(index.dtype()) ? index : (index < 0.0).where(index + size, index).maximum(index.full_like(0));
  const Tensor here = counted.minimum(last).one_hot(n);
  return here.where(g.unsqueeze(-1), a.full_like(0));
}

// --- rows

/// The value of a row; nothing is noted while its parts are computed.
Tensor value_of(Function function, const std::vector<Tensor>& operands, const FunctionArguments& f) {
  const Tensor &a = operands[0], &b = operands.size() > 1 ? operands[1] : zero;
  LazyGraph& graph = a.graph();
  const NoGrad scope(graph);
  const LazyBuffer* x = a.buffer();
  const auto of = [&](const LazyBuffer* buffer) { return Tensor(&graph, buffer); };
  switch (function) {
#define FUNCTION(name, forward, backward, meaning) \
  case Function::name:                             \
    return forward;
#include "lazy/functions.def"
  }
  fail_check("every function has a row", std::source_location::current());
}

Tensor gradient_of(Function function, const TapeNote& note, const FunctionArguments& f, const Tensor& g, int k) {
  const Tensor &a = note.operands[0], &b = note.operands.size() > 1 ? note.operands[1] : zero, &y = note.results[0];
  const auto none = [&]() -> Tensor { refuse_gradient(note); };
  switch (function) {
#define FUNCTION(name, forward, backward, meaning) \
  case Function::name:                             \
    return backward;
#include "lazy/functions.def"
  }
  fail_check("every function has a row", std::source_location::current());
}

Tensor value_of(Op op, const std::vector<Tensor>& operands, const FunctionArguments& f) {
  LazyGraph& graph = operands[0].graph();
  if (op == Op::Cast) return {&graph, graph.cast(operands[0].buffer(), f.dtype)};
  if (op == Op::Bitcast) return {&graph, graph.bitcast(operands[0].buffer(), f.dtype)};
  if (is_reduce(op)) return {&graph, graph.reduce(op, operands[0].buffer(), f.axes)};
  std::vector<const LazyBuffer*> buffers;
  for (const Tensor& t : operands) buffers.push_back(t.buffer());
  return {&graph, graph.elementwise(op, buffers)};
}

Tensor gradient_of(Op op, const TapeNote& note, const FunctionArguments& f, const Tensor& g, int k) {
  const Tensor &a = note.operands[0], &b = note.operands.size() > 1 ? note.operands[1] : zero, &y = note.results[0];
  const auto none = [&]() -> Tensor { refuse_gradient(note); };
  const std::vector<int>& axes = f.axes;
  switch (op) {
#define OP(name, group, arity, types, traits, cost, word, backward, meaning) \
  case Op::name:                                                             \
    return backward;
#include "ir/ops.def"
  }
  fail_check("every operation has a row", std::source_location::current());
}

template <class Row>
Tensor applied(Row row, std::string_view name, std::vector<Tensor> operands, FunctionArguments arguments) {
  const Tensor value = value_of(row, operands, arguments);
  Tape& tape = value.graph().tape();
  const RequiresGrad required = tape.of_result(operands);
  if (required == RequiresGrad::No) return Tape::detached(value);
  if (required == RequiresGrad::Unset || !is_float(value.dtype())) return value;
  const auto backward = [row, f = std::move(arguments)](const TapeNote& note, const std::vector<Tensor>& gradients,
                                                        const std::vector<bool>& wanted) {
    std::vector<Tensor> result(wanted.size());
    for (std::size_t k = 0; k < wanted.size(); k++)
      if (wanted[k]) result[k] = gradient_of(row, note, f, gradients[0], static_cast<int>(k));
    return result;
  };
  return tape.add({.function = name, .operands = std::move(operands), .results = {value}, .backward = backward})[0];
}

}  // namespace

Tensor apply(Function function, std::vector<Tensor> operands, FunctionArguments arguments) {
  return applied(function, kFunctions[static_cast<std::size_t>(function)], std::move(operands), std::move(arguments));
}

Tensor apply(Op op, std::vector<Tensor> operands, FunctionArguments arguments) {
  return applied(op, name_of(op), std::move(operands), std::move(arguments));
}

}  // namespace etch
