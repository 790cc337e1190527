#include "interp/reduce.h"

#include <algorithm>

#include "base/error.h"
#include "ir/contraction.h"

namespace etch::interp {
namespace {

struct Axes {
  Domain kept, reduced;
};

Axes axes_of(const LazyOp* op, const Inputs& inputs) {
  const std::vector<std::int64_t> shape = fixed(op->src[0]->shape, *inputs.vars);
  Axes axes;
  for (int a = 0; a < static_cast<int>(shape.size()); a++) {
    const bool reduced = std::ranges::find(op->axes(), a) != op->axes().end();
    const std::int64_t size = shape[static_cast<std::size_t>(a)];
    if (size != 1) (reduced ? axes.reduced : axes.kept).push_back({a, size});
  }
  return axes;
}

void copy_out(DType dtype, const Block& from, std::int64_t n, Block& to, std::int64_t at) {
  if (is_float(dtype)) {
    std::copy_n(from.f.begin(), n, to.f.begin() + at);
  } else {
    std::copy_n(from.i.begin(), n, to.i.begin() + at);
  }
}

// The product that `op` sums without a cast: it is added unrounded, and only the sum is rounded.
const LazyOp* exact_product(const LazyOp* op) {
  const std::optional<Contraction> c = contraction_of(op);
  return c && c->casts.empty() ? c->product : nullptr;
}

// Computes a block of results at a time, one reduced position after the other, which gives long inner loops.
void reduce_outer(const LazyOp* op, const Axes& axes, const Inputs& inputs, Block& out) {
  Domain domain = axes.reduced;
  domain.insert(domain.end(), axes.kept.begin(), axes.kept.end());
  BlockProgram program(op->src[0], domain, inputs, exact_product(op));
  const std::int64_t results = size_of(axes.kept), turns = size_of(axes.reduced);
  Block acc;
  (is_float(op->dtype) ? acc.f.resize(kBlock) : acc.i.resize(kBlock));
  for (std::int64_t at = 0; at < results; at += kBlock) {
    const std::int64_t n = std::min(kBlock, results - at);
    start(op->op, op->dtype, static_cast<std::size_t>(n), acc);
    for (std::int64_t turn = 0; turn < turns; turn++)
      accumulate(op->op, op->dtype, program.run(turn * results + at, n), static_cast<std::size_t>(n), acc);
    copy_out(op->dtype, acc, n, out, at);
  }
}

// Computes one result after the other, along the reduced axes.
void reduce_inner(const LazyOp* op, const Axes& axes, const Inputs& inputs, Block& out) {
  Domain domain = axes.kept;
  domain.insert(domain.end(), axes.reduced.begin(), axes.reduced.end());
  BlockProgram program(op->src[0], domain, inputs, exact_product(op));
  const std::int64_t turns = size_of(axes.reduced), total = size_of(domain);
  for (std::int64_t at = 0; at < total; at += kBlock) {
    const std::int64_t n = std::min(kBlock, total - at);
    const Block& values = program.run(at, n);
    for (std::int64_t k = 0; k < n;) {
      const std::int64_t result = (at + k) / turns;
      const std::int64_t run = std::min(n - k, turns - (at + k) % turns);
      accumulate_run(op->op, op->dtype, values, static_cast<std::size_t>(k), static_cast<std::size_t>(run), out,
                     static_cast<std::size_t>(result));
      k += run;
    }
  }
}

// Whether reading along the reduced axes is the better order.
bool inner_is_better(const LazyOp* op, const Axes& axes, const Inputs& inputs) {
  if (size_of(axes.kept) < 64) return true;
  if (axes.reduced.empty() || axes.reduced.back().size < 64) return false;
  for (const LazyOp* leaf : leaves_of(op->src[0])) {
    if (leaf->op == Op::Const) continue;
    const std::vector<FixedView> views = views_of(leaf, inputs);
    const std::int64_t along = views.back().strides[static_cast<std::size_t>(axes.reduced.back().axis)];
    const std::int64_t across = axes.kept.empty() ? 0 : views.back().strides[static_cast<std::size_t>(axes.kept.back().axis)];
    if (along == 1 && across != 1) return true;
  }
  return false;
}

/// Each row along the axis, one element after the other; each total is rounded to its type, but the next one is not computed from that.
void scan(const LazyOp* op, const Inputs& inputs, Reduced& result) {
  const std::vector<std::int64_t>& shape = result.shape;
  const auto axis = static_cast<std::size_t>(op->axes()[0]);
  Domain domain;
  std::int64_t inner = 1, outer = 1;
  for (std::size_t a = 0; a < shape.size(); a++) {
    if (a != axis && shape[a] != 1) domain.push_back({static_cast<int>(a), shape[a]});
    (a < axis ? outer : inner) *= a == axis ? 1 : shape[a];
  }
  const std::int64_t turns = shape[axis];
  domain.push_back({static_cast<int>(axis), turns});
  BlockProgram program(op->src[0], domain, inputs, exact_product(op));
  Block total;
  (is_float(op->dtype) ? total.f.resize(1) : total.i.resize(1));
  const std::int64_t count = outer * inner * turns;
  for (std::int64_t at = 0; at < count; at += kBlock) {
    const std::int64_t n = std::min(kBlock, count - at);
    const Block& values = program.run(at, n);
    for (std::int64_t k = 0; k < n; k++) {
      const std::int64_t row = (at + k) / turns, turn = (at + k) % turns;
      if (turn == 0) start(op->op, op->dtype, 1, total);
      accumulate_run(op->op, op->dtype, values, static_cast<std::size_t>(k), 1, total, 0);
      copy_out(op->dtype, total, 1, result.values, (row / inner * turns + turn) * inner + row % inner);
    }
  }
}

}  // namespace

Reduced reduce(const LazyOp* op, const Inputs& inputs) {
  Reduced result;
  result.dtype = op->dtype;
  result.shape = fixed(op->shape, *inputs.vars);
  const auto size = static_cast<std::size_t>(element_count(result.shape));
  (is_float(op->dtype) ? result.values.f.resize(size) : result.values.i.resize(size));
  if (size == 0) return result;
  if (is_scan(op)) {
    scan(op, inputs, result);
    round_block(op->dtype, size, result.values);
    return result;
  }
  start(op->op, op->dtype, size, result.values);
  const Axes axes = axes_of(op, inputs);
  if (size_of(axes.reduced) == 0) return result;
  if (contract(op, inputs, result)) {
    // as matrix products
  } else if (inner_is_better(op, axes, inputs)) {
    reduce_inner(op, axes, inputs, result.values);
  } else {
    reduce_outer(op, axes, inputs, result.values);
  }
  round_block(op->dtype, size, result.values);
  return result;
}

}  // namespace etch::interp
