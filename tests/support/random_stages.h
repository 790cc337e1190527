// For tests: random ASTs of several stages and scans: reductions that depend on each other, values between them, views, masks, results of
// the whole and of the reduced shape.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "ir/near.h"
#include "support/random_ast.h"

namespace etch::test {

inline std::int64_t product(const Index& sizes) {
  std::int64_t n = 1;
  for (const std::int64_t s : sizes) n *= s;
  return n;
}

/// A part of an AST, and its values by hand, row-major.
struct Part {
  const LazyOp* op = nullptr;
  Index shape;
  std::vector<double> values;
};

class Stages : public RandomAsts {
 public:
  using RandomAsts::RandomAsts;

  std::unique_ptr<KnownAst> next() override {
    ast_ = std::make_unique<KnownAst>();
    whole_.clear();
    axes_.clear();
    for (std::int64_t rank = draw(1, 4); rank > 0; rank--) whole_.push_back(pick({1, 2, 3, 4, 5, 8, 16}));
    if (whole_.size() < 3 && draw(0, 1) == 0) whole_.back() = pick({7, 13, 19, 22, 35, 47});  // lanes leave something over
    for (int a = 0; a < static_cast<int>(whole_.size()); a++)
      if (whole_[static_cast<std::size_t>(a)] > 1 && draw(0, 1) == 1) axes_.push_back(a);
    if (axes_.empty()) {
      whole_.back() = 8;
      axes_ = {static_cast<int>(whole_.size()) - 1};
    }
    reduced_ = whole_;
    for (const int a : axes_) reduced_[static_cast<std::size_t>(a)] = 1;
    const Part x = leaf(whole_);
    if (draw(0, 4) == 0) return finished(binary(Op::Sub, scan(binary(Op::Max, x, leaf(whole_)), axes_.back()), leaf(whole_)));
    if (draw(0, 4) == 0) {  // a value that is kept for the last stage, multiplied by what may be masked or lie in the output's place
      const Part kept = exp(binary(Op::Sub, x, expand(reduce(x))));
      return finished(binary(Op::Sub, kept, expand(reduce(binary(Op::Mul, kept, leaf(whole_))))));
    }
    Part now = x;
    for (std::int64_t stages = draw(1, 3); stages > 0; stages--) {
      Part row = reduce(draw(0, 2) == 0 ? binary(Op::Mul, now, leaf(whole_)) : now);
      if (draw(0, 1) == 1) row = binary(Op::Mul, row, constant(0.125));
      if (draw(0, 2) == 0) row = binary(Op::Add, row, leaf(reduced_));
      const Part rows = expand(row);
      now = binary(pick<Op>({Op::Sub, Op::Max, Op::Sub}), draw(0, 1) == 1 ? x : draw(0, 1) == 1 ? now : leaf(whole_), rows);
      if (draw(0, 2) == 0) now = exp(now);
    }
    if (draw(0, 3) == 0)
      now = reduce(now);
    else if (draw(0, 2) == 0)
      now = binary(Op::Add, now, leaf(whole_));
    return finished(now);
  }

 private:
  std::unique_ptr<KnownAst> finished(const Part& result) {
    ast_->store = ast_->ops.store(0, result.op, ShapeTracker::from_shape(sints(result.shape)));
    ast_->expected = result.values;
    return std::move(ast_);
  }

  std::size_t row_of(const Index& at) const {
    std::int64_t number = 0;
    for (std::size_t k = 0; k < at.size(); k++) number = number * reduced_[k] + (reduced_[k] == 1 ? 0 : at[k]);
    return static_cast<std::size_t>(number);
  }

  Part leaf(const Index& shape) {
    const auto seen = view(*ast_, DType::Float32, shape, {.in_order = one_in(2), .repeats = 5, .backwards = 5, .masked = 6},
                           [&] { return static_cast<double>(draw(-16, 16)) / 16; });
    Part part{ast_->ops.load(seen.buffer, DType::Float32, seen.st), shape, {}};
    for_each_index(shape, [&](const Index& at, std::size_t) { part.values.push_back(seen.value(at)); });
    return part;
  }

  Part constant(double value) {
    const ShapeTracker st({View::create(sints(reduced_), std::vector<Sint>(reduced_.size(), 0))});
    return {ast_->ops.constant(Scalar::of_double(DType::Float32, value), st), reduced_,
            std::vector<double>(static_cast<std::size_t>(product(reduced_)), value)};
  }

  Part binary(Op op, const Part& a, const Part& b) {
    Part part{ast_->ops.elementwise(op, {a.op, b.op}), a.shape, {}};
    for (std::size_t i = 0; i < a.values.size(); i++) {
      const double x = a.values[i], y = b.values[i];
      part.values.push_back(op == Op::Add ? x + y : op == Op::Sub ? x - y : op == Op::Mul ? x * y : std::max(x, y));
    }
    return part;
  }

  Part exp(const Part& a) {
    const ShapeTracker st({View::create(sints(a.shape), std::vector<Sint>(a.shape.size(), 0))});
    // Never above 1: what follows stays small.
    const LazyOp* low = ast_->ops.elementwise(Op::Min, {a.op, ast_->ops.constant(Scalar::of_int(DType::Float32, 0), st)});
    Part part{ast_->ops.elementwise(Op::Exp, {low}), a.shape, {}};
    for (const double v : a.values) part.values.push_back(std::exp(std::min(v, 0.0)));
    return part;
  }

  Part reduce(const Part& a) {
    const Op op = pick<Op>({Op::ReduceSum, Op::ReduceSum, Op::ReduceMax, Op::ReduceMin});
    Part part{ast_->ops.reduce(op, a.op, axes_), reduced_, {}};
    part.values.assign(static_cast<std::size_t>(product(reduced_)), op == Op::ReduceSum ? 0 : op == Op::ReduceMax ? -HUGE_VAL : HUGE_VAL);
    for_each_index(whole_, [&](const Index& at, std::size_t number) {
      double& total = part.values[row_of(at)];
      const double v = a.values[number];
      total = op == Op::ReduceSum ? total + v : op == Op::ReduceMax ? std::max(total, v) : std::min(total, v);
    });
    return part;
  }

  Part scan(const Part& a, int axis) {
    const Op op = pick<Op>({Op::ReduceSum, Op::ReduceSum, Op::ReduceMax, Op::ReduceProd});
    Part part{ast_->ops.scan(op, a.op, axis), whole_, a.values};
    std::int64_t step = 1;
    for (std::size_t k = static_cast<std::size_t>(axis) + 1; k < whole_.size(); k++) step *= whole_[k];
    for_each_index(whole_, [&](const Index& at, std::size_t number) {
      if (at[static_cast<std::size_t>(axis)] == 0) return;
      const double before = part.values[number - static_cast<std::size_t>(step)], v = part.values[number];
      part.values[number] = op == Op::ReduceSum ? before + v : op == Op::ReduceMax ? std::max(before, v) : before * v;
    });
    return part;
  }

  Part expand(const Part& a) {
    Part part{ast_->ops.expand(a.op, sints(whole_)), whole_, {}};
    for_each_index(whole_, [&](const Index& at, std::size_t) { part.values.push_back(a.values[row_of(at)]); });
    return part;
  }

  std::unique_ptr<KnownAst> ast_;
  Index whole_, reduced_;
  std::vector<int> axes_;
};

inline std::string first_difference(const Array& got, const std::vector<double>& want) {
  double scale = 1;
  for (const double w : want) scale = std::max(scale, std::fabs(w));
  for (std::int64_t i = 0; i < got.size(); i++) {
    const double g = got.double_at(i), w = want[static_cast<std::size_t>(i)];
    if (!is_near(g, w, 3e-5 * scale))
      return "element " + std::to_string(i) + " is " + std::to_string(g) + ", expected " + std::to_string(w);
  }
  return got.size() == static_cast<std::int64_t>(want.size()) ? "" : "another size";
}

}  // namespace etch::test
