// PIPELINE: which kernels of several stages may compute the first stage one turn of a loop early (see linearizer_pipeline.cc).
#include <algorithm>
#include <span>
#include <vector>

#include "base/subscript.h"
#include "base/toposort.h"
#include "codegen/kernel.h"

namespace etch {
namespace {

// What a stage computes of each element, or reads: not what is below an earlier reduction.
std::vector<const LazyOp*> operations_of(const Kernel& k, int stage) {
  std::vector<const LazyOp*> roots;
  for (const LazyOp* reduce : k.reduces_of(stage)) roots.push_back(reduce->src[0]);
  return toposort<LazyOp>(roots, [](const LazyOp* op) -> std::span<const LazyOp* const> {
    if (is_reduce(op->op)) return {};
    return op->src;
  });
}

// Accumulators of the first two stages, if the steps of unrolled loops have some of their own.
std::int64_t sums_of_both(const Kernel& k) {
  std::int64_t copies = 1;
  for (const Axis& a : k.axes())
    if ((a.kind == AxisKind::Upcast && a.stage == Axis::kOuter) || (a.kind == AxisKind::Unroll && a.stage == 1)) copies *= a.size.as_int();
  return copies * static_cast<std::int64_t>(k.reduces_of(0).size() + k.reduces_of(1).size());
}

bool has_library_call(const Kernel& k, int stage) {
  return std::ranges::any_of(operations_of(k, stage), [](const LazyOp* op) { return is_elementwise(op->op) && is_library_call(op->op); });
}

}  // namespace

// What is read early is read again by the second stage in its own turn, so that it must still be there then: an output that may lie over
// it may do so as before. And nothing of one value for each row is read, which would be loaded again in each step.
bool Kernel::may_begin_early() const {
  const std::vector<const LazyOp*> second = operations_of(*this, 1);
  return std::ranges::all_of(operations_of(*this, 0), [&](const LazyOp* op) {
    if (op->op == Op::Load) return !is_indexed(op) && std::ranges::find(second, op) != second.end();
    return op->op != Op::Expand && !is_reduce(op->op);
  });
}

bool Kernel::first_stages_are_alike() const {
  std::vector<Axis> first, second;
  for (const Axis& a : axes_) {
    Axis own = a;
    own.stage = 0;
    if (a.stage == 0) first.push_back(own);
    if (a.stage == 1) second.push_back(own);
  }
  return first == second;
}

std::optional<std::string> Kernel::why_not_early() const {
  if (reduce_stages_ < 2 || is_scan() || tensor_) return "its second stage has a sum, which is no running one";
  if (count(AxisKind::Global) == 0) return "there is a loop over an axis that is not reduced";
  const Axis& a = axes_[at(count(AxisKind::Global) - 1)];
  const bool has_next = a.size.is_int() && a.size.as_int() > 1 && a.overlap == 0;
  if (!has_next) return "the innermost loop has a known number of turns, more than one, which do not overlap";
  if (lanes() > 1 && !reduces_lanes()) return "lanes are of the reduced axis";
  if (!may_begin_early()) return "the first stage reads what the second one reads too, element by element";
  return first_stages_are_alike() ? std::nullopt : std::optional("the first two stages have the same loops");
}

std::optional<std::string> Kernel::why_no_pipeline(const Opt& opt) const {
  if (options_->has_local) return "the language runs loops in order: it has no grid";
  if (opt.axis != 0 || opt.amount != 0) return "it takes no axis and no amount";
  return pipelined_ ? std::optional("nothing is computed ahead yet") : why_not_early();
}

int Kernel::pipelined_axis() const { return pipelined_ && !why_not_early() ? count(AxisKind::Global) - 1 : -1; }

bool Kernel::stores_late() const {
  if (pipelined_axis() < 0 || reduce_stages_ != 2 || options_->overlap) return false;
  const auto is_of = [&](AxisKind kind, int stage) { return [=](const Axis& a) { return a.kind == kind && a.stage == stage; }; };
  const auto loop = std::ranges::find_if(axes_, is_of(AxisKind::Reduce, 1)), last = std::ranges::find(axes_, AxisKind::Inner, &Axis::kind);
  if (count(AxisKind::Inner) != 1 || std::ranges::count_if(axes_, is_of(AxisKind::Reduce, 1)) != 1) return false;
  const bool are_of_rows =
      std::ranges::all_of(toposort(ast_), [&](const LazyOp* op) { return op->op != Op::Expand || is_of_row(*this, op->src[0]); });
  if (!are_of_rows) return false;
  // Elements that follow each other in the last stage do so in the second one, and steps that are unrolled there are some of these.
  return std::ranges::all_of(axes_, [&](const Axis& a) {
    if (a.stage == Axis::kOuter || a.stage == 0) return true;
    return a.kind != AxisKind::Upcast && a.dim == last->dim && a.dim == loop->dim && a.multiplier % last->multiplier == 0;
  });
}

// Where the second stage computes exp or the like of each element, the first one costs little beside it: it loads, and its comparisons or
// additions take other units than products. Where rows come from memory, to ask for them in time counts more. Each worker computes a turn
// more than it has.
bool pipeline_stages(Kernel& k) {
  constexpr std::int64_t kFewestTurns = 8;
  constexpr std::int64_t kOfPolynomials = 16;  // registers for their factors and what is summed
  constexpr double kLastCache = 8;             // the last cache has several times as much as the second one
  const CodegenOptions& options = k.options();
  const int row = k.count(AxisKind::Global) - 1;
  if (options.in_order || options.overlap || k.reduce_stages() < 2 || row < 0 || !k.reduces_lanes()) return false;
  const std::int64_t turns = k.axes()[at(row)].size.min() / std::max(options.workers.most, 1);
  if (turns < kFewestTurns || !has_library_call(k, 1) || has_library_call(k, 0)) return false;
  if (sums_of_both(k) + kOfPolynomials > options.float_registers) return false;
  const bool is_far = options.cache_bytes > 0 && bytes_of_rows(k, row) > kLastCache * static_cast<double>(options.cache_bytes);
  return !is_far && k.try_apply({OptOp::Pipeline});
}

}  // namespace etch
