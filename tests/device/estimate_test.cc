// What a kernel's estimates say (count_work, bytes_moved, estimate_of), against an evaluator that counts each operation that it does and
// each position that it reads. It does as tinygrad's FlopCounter: a part of the AST that is used twice is computed, and counted, once
// (there consume_flops() takes a part's count away when it is used; here each node of the AST is visited once), casts are free, and a
// reduction does one operation for each element that goes into it.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "device/runner.h"
#include "interp/interp.h"
#include "support/device_checks.h"
#include "support/random_ast.h"

namespace etch {
namespace {

using test::Index;

struct CountedAst : test::KnownAst {
  std::vector<std::pair<const LazyOp*, test::KnownView>> views;
  bool masked = false;
};

/// Elementwise operations on views of buffers of several types, some computed from reductions; element k of a buffer is k + 1.
class Asts : public test::RandomAsts {
 public:
  using RandomAsts::RandomAsts;
  std::unique_ptr<test::KnownAst> next() override { return make(one_in(2)); }

  std::unique_ptr<CountedAst> make(bool masked) {
    auto made = std::make_unique<CountedAst>();
    CountedAst& ast = *made;
    ast.masked = masked;
    shape_.clear();
    for (std::int64_t rank = draw(1, 3); rank > 0; rank--) shape_.push_back(draw(1, 5));
    std::vector<const LazyOp*> nodes;
    for (std::int64_t left = draw(1, 4); left > 0; left--) nodes.push_back(leaf(ast));
    for (std::int64_t left = draw(0, 7); left > 0; left--) nodes.push_back(combined(ast.ops, nodes));
    const LazyOp* value = combined(ast.ops, {nodes.back()});
    for (const auto& [load, view] : ast.views)  // whatever was left out
      value = ast.ops.elementwise(Op::Add, {value, ast.ops.cast(load, DType::Float32)});
    if (one_in(2)) value = reduced(ast.ops, value);
    ast.store = ast.ops.store(0, value, ShapeTracker::from_shape(value->shape));
    return made;
  }

 private:
  const LazyOp* leaf(CountedAst& ast) {
    const auto dtype = pick({DType::Float32, DType::Int16, DType::Float64, DType::UInt8});
    double next = 0;
    test::ViewOdds odds;
    odds.masked = ast.masked ? 2 : 0;
    const test::KnownView view = this->view(ast, dtype, shape_, odds, [&] { return ++next; });
    const LazyOp* load = ast.ops.load(view.buffer, dtype, view.st);
    ast.views.emplace_back(load, view);
    return ast.ops.cast(load, DType::Float32);
  }

  const LazyOp* reduced(LazyOps& ops, const LazyOp* a) {
    std::vector<int> axes;
    for (std::size_t k = 0; k < shape_.size(); k++)
      if (one_in(2)) axes.push_back(static_cast<int>(k));
    if (axes.empty()) axes.push_back(0);
    return ops.reduce(pick({Op::ReduceSum, Op::ReduceMax}), a, axes);
  }

  /// A new node of some of `nodes`, which may be one and the same.
  const LazyOp* combined(LazyOps& ops, const std::vector<const LazyOp*>& nodes) {
    const auto any = [&] { return nodes[static_cast<std::size_t>(draw(0, static_cast<std::int64_t>(nodes.size()) - 1))]; };
    switch (draw(0, 5)) {
      case 0:
        return ops.elementwise(Op::Neg, {any()});
      case 1:
        return ops.elementwise(Op::Where, {ops.elementwise(Op::CmpLt, {any(), any()}), any(), any()});
      case 2: {
        const LazyOp* a = any();
        return ops.elementwise(Op::Sub, {a, ops.expand(reduced(ops, a), a->shape)});
      }
      case 3:
        return ops.cast(ops.cast(any(), DType::Float64), DType::Float32);
      default:
        return ops.elementwise(pick({Op::Add, Op::Max, Op::Min, Op::Sub}), {any(), any()});
    }
  }

  Index shape_;
};

Index sizes_of(const std::vector<Sint>& shape) {
  Index sizes;
  for (const Sint& d : shape) sizes.push_back(d.as_int());
  return sizes;
}

/// Evaluates an AST element by element, each node once, and counts.
class Counter {
 public:
  explicit Counter(const CountedAst& ast) : ast_(ast) { result = at(ast.store->src[0]); }

  std::vector<double> result;
  std::int64_t operations = 0;
  std::map<int, std::set<double>> positions;  // of each buffer, those that are read, plus 1

 private:
  using Values = std::vector<double>;

  const Values& at(const LazyOp* op) {
    const auto known = values_.find(op);
    return known != values_.end() ? known->second : values_.emplace(op, compute(op)).first->second;
  }

  Values compute(const LazyOp* op) {
    Values out;
    const Index shape = sizes_of(op->shape);
    if (op->op == Op::Load) {
      const test::KnownView& view = std::ranges::find(ast_.views, op, &std::pair<const LazyOp*, test::KnownView>::first)->second;
      test::for_each_index(shape, [&](const Index& i, std::size_t) {
        out.push_back(view.value(i));
        if (out.back() != 0) positions[view.buffer].insert(out.back());
      });
      return out;
    }
    std::vector<Values> src;
    for (const LazyOp* s : op->src) src.push_back(at(s));
    if (op->op == Op::Expand) {
      const Index from = sizes_of(op->src[0]->shape);
      test::for_each_index(shape, [&](const Index& i, std::size_t) { out.push_back(src[0][number_of(i, from)]); });
      return out;
    }
    if (is_reduce(op->op)) {
      out.assign(static_cast<std::size_t>(product(op->shape).as_int()), op->op == Op::ReduceSum ? 0 : -INFINITY);
      test::for_each_index(sizes_of(op->src[0]->shape), [&](const Index& i, std::size_t k) {
        double& to = out[number_of(i, shape)];
        to = op->op == Op::ReduceSum ? to + src[0][k] : std::max(to, src[0][k]);
        operations++;
      });
      return out;
    }
    for (std::size_t k = 0; k < src[0].size(); k++) {
      out.push_back(apply(op->op, src, k));
      if (op->op != Op::Cast) operations++;
    }
    return out;
  }

  /// Where index `i` is in row-major order in `shape`, whose axes of size 1 stand for all indices.
  static std::size_t number_of(const Index& i, const Index& shape) {
    std::int64_t number = 0;
    for (std::size_t k = 0; k < shape.size(); k++) number = number * shape[k] + (shape[k] == 1 ? 0 : i[k]);
    return static_cast<std::size_t>(number);
  }

  static double apply(Op op, const std::vector<Values>& src, std::size_t k) {
    const double a = src[0][k], b = src.size() > 1 ? src[1][k] : 0;
    if (op == Op::Cast) return a;
    if (op == Op::Neg) return -a;
    if (op == Op::Add) return a + b;
    if (op == Op::Sub) return a - b;
    if (op == Op::Max) return std::max(a, b);
    if (op == Op::Min) return std::min(a, b);
    if (op == Op::CmpLt) return a < b ? 1 : 0;
    return a != 0 ? b : src[2][k];
  }

  const CountedAst& ast_;
  std::map<const LazyOp*, Values> values_;
};

TEST(Estimates, AgreeWithCountingEachOperation) {
  Asts asts(3);
  int masked = 0, shared = 0;
  for (int round = 0; round < 400; round++) {
    const auto ast = asts.make(round % 3 == 0);
    Counter counter(*ast);
    std::vector<const Array*> inputs;
    for (const Array& a : ast->inputs) inputs.push_back(&a);
    ASSERT_EQ(interp_evaluate(ast->store, inputs).doubles(), counter.result) << to_text(ast->store);

    const ASTSignature signature = signature_of(ast->store, "interp");
    const Estimate estimate = estimate_of(ast->store, signature.arguments);
    EXPECT_EQ(estimate.ops.as_int(), counter.operations) << to_text(ast->store);
    EXPECT_EQ(count_work(ast->store).flops.as_int(), counter.operations);
    const auto width = [&](int buffer) { return bytes_of(ast->inputs[static_cast<std::size_t>(buffer) - 1].dtype()); };
    const auto written = static_cast<std::int64_t>(counter.result.size()) * bytes_of(ast->store->dtype);
    std::int64_t read = 0, whole = 0;
    std::set<int> used;
    for (const LazyOp* op : toposort(ast->store))
      if (op->op == Op::Load && used.insert(op->mem().index).second)
        whole += width(op->mem().index) * ast->inputs[static_cast<std::size_t>(op->mem().index) - 1].size();
    for (const auto& [buffer, positions] : counter.positions) read += width(buffer) * static_cast<std::int64_t>(positions.size());
    if (!ast->masked) {
      EXPECT_EQ(estimate.mem.as_int(), read + written) << to_text(ast->store);
    } else {  // what a mask hides may be counted, as far as the buffer has it
      EXPECT_GE(estimate.mem.as_int(), read + written) << to_text(ast->store);
      EXPECT_LE(estimate.mem.as_int(), whole + written) << to_text(ast->store);
      masked++;
    }
    std::map<const LazyOp*, int> uses;
    for (const LazyOp* op : toposort(ast->store))
      for (const LazyOp* s : op->src) uses[s]++;
    shared += std::ranges::any_of(uses, [](const auto& use) { return use.second > 1 && use.first->op != Op::Load; }) ? 1 : 0;
  }
  EXPECT_GT(masked, 50);
  EXPECT_GT(shared, 100);
}

// Of open sizes they are expressions, whose values are those of the same AST with numbers.
TEST(Estimates, OfOpenSizesAreThoseOfEachSize) {
  const auto kernel = [](LazyOps& ops, const Sint& n) {
    const auto x = ops.load(1, DType::Float32, ShapeTracker::from_shape({n, 6}));
    const auto row = ops.load(2, DType::Int16, ShapeTracker::from_shape({1, 6}).expand({n, 6}));
    const LazyOp* y = ops.elementwise(Op::Mul, {x, ops.cast(row, DType::Float32)});
    const LazyOp* sum = ops.reduce(Op::ReduceSum, ops.elementwise(Op::Add, {y, y}), {1});
    return ops.store(0, sum, ShapeTracker::from_shape({n, 1}));
  };
  Symbols symbols;
  LazyOps ops;
  const Sint n = symbols.variable("n", 1, 9);
  const LazyOp* open = kernel(ops, n);
  const Estimate estimate = estimate_of(open, {{DType::Float32, n, "y"}, {DType::Float32, n * 6, "x"}, {DType::Int16, 6, "row"}});
  for (std::int64_t k = 1; k <= 9; k++) {
    EXPECT_EQ(evaluate(estimate.ops, {{"n", k}}), 3 * 6 * k);  // a product, a sum with itself, a reduction
    EXPECT_EQ(evaluate(estimate.mem, {{"n", k}}), 4 * k + 4 * 6 * k + 2 * 6);
    const LazyOp* fixed = kernel(ops, k);
    const Estimate same = estimate_of(fixed, signature_of(fixed, "interp").arguments);
    EXPECT_EQ(same.ops.as_int(), 18 * k);
    EXPECT_EQ(same.mem.as_int(), 28 * k + 12);
  }
}

}  // namespace
}  // namespace etch
