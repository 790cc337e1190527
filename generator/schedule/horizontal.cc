#include "schedule/horizontal.h"

#include <algorithm>
#include <optional>

#include "codegen/options.h"
#include "ir/contraction.h"
#include "schedule/loops.h"
#include "schedule/rewrite_ast.h"

namespace etch {
namespace {

/// A kernel that stores a sum of products, or that and more added to it.
struct Product {
  std::int64_t weights = 0, uses = 0;  // elements of a constant, and how often each is a factor
};

std::optional<Product> product_of(const ScheduleItem& item) {
  if (second_tree(item.ast) != nullptr) return std::nullopt;
  std::optional<Contraction> found;
  for (const LazyOp* op : toposort(item.ast)) {
    if (is_indexed(op) || op->op == Op::Index) return std::nullopt;
    if (!is_reduce(op->op)) continue;
    if (found || !(found = contraction_of(op))) return std::nullopt;
  }
  if (!found || found->sum->dtype != DType::Float32 || !found->casts.empty()) return std::nullopt;
  const LazyOp *a = found->a(), *b = found->b();
  if (a->op != Op::Load || b->op != Op::Load) return std::nullopt;
  const bool has_a = item.input_of(a)->kind == LazyKind::Data, has_b = item.input_of(b)->kind == LazyKind::Data;
  const Sint weights = positions_read(has_a ? a : b), products = product(found->product->shape);
  if (has_a == has_b || !weights.is_int() || weights.is_int(0) || !products.is_int()) return std::nullopt;
  return Product{weights.as_int(), products.as_int() / weights.as_int()};
}

class Fusions {
 public:
  Fusions(LazyGraph& graph, Schedule& schedule, const ScheduleOptions& options)
      : graph_(graph), items_(schedule.items), options_(options) {}

  bool run() {
    bool has_fused = false;
    for (std::size_t row = 0; row < items_.size(); row++)
      for (std::size_t rows = 0; rows < items_.size(); rows++)
        if (row != rows && fit(items_[row], items_[rows])) {
          items_[row] = fused(items_[row], items_[rows]);
          items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(rows));
          row -= rows < row ? 1 : 0;
          has_fused = true;
          break;
        }
    return has_fused;
  }

 private:
  bool fit(const ScheduleItem& row, const ScheduleItem& rows) const {
    const bool are_asts = row.external == nullptr && rows.external == nullptr;
    if (!are_asts || row.loops.empty() || row.loops != rows.loops || row.ast->shape == rows.ast->shape) return false;
    if (!rows.more.empty() || static_cast<int>(row.outs().size()) >= options_.max_outputs) return false;
    if (static_cast<int>(row.inputs.size() + rows.inputs.size()) > options_.max_inputs) return false;
    const std::optional<Product> one = product_of(row), many = product_of(rows);
    const bool waits = one && one->uses == 1 && one->weights * bytes_of(DType::Float32) > options_.first_cache_bytes;
    return waits && many && many->uses > 1 && is_apart(rows);
  }

  // The loop has none in it, and nothing in it reads or writes what the item writes, or writes what it reads.
  bool is_apart(const ScheduleItem& item) const {
    return std::ranges::all_of(items_, [&](const ScheduleItem& other) {
      if (&other == &item || std::ranges::find(other.loops, item.loops.back()) == other.loops.end()) return true;
      const auto writes = [&](const LazyBuffer* b) { return other.writes(b); };
      const bool reads = std::ranges::find(other.inputs, item.out) != other.inputs.end();
      return other.loops == item.loops && !reads && !writes(item.out) && std::ranges::none_of(item.inputs, writes);
    });
  }

  // Its outputs come first, then the inputs of both.
  ScheduleItem fused(const ScheduleItem& row, const ScheduleItem& rows) {
    LazyOps& ops = graph_.ops();
    const auto moved = [&](const LazyOp* root, int outputs, int inputs) {
      return rewrite_ast(ops, root, [&](const LazyOp* op, const std::vector<const LazyOp*>& src) -> const LazyOp* {
        if (op->op == Op::Load) return ops.load(op->mem().index + inputs, op->dtype, op->st());
        return op->op == Op::Store ? ops.store(op->mem().index + outputs, src[0], op->st(), {src.begin() + 1, src.end()}) : nullptr;
      });
    };
    const int outputs = static_cast<int>(row.outs().size()), inputs = static_cast<int>(row.inputs.size());
    const LazyOp* first = moved(row.ast, 0, 1);
    std::vector<const LazyOp*> others(first->src.begin() + 1, first->src.end());
    others.push_back(moved(rows.ast, outputs, outputs + inputs));
    ScheduleItem made = row;
    made.ast = ops.store(0, first->src[0], first->st(), others);
    made.more.push_back(rows.out);
    made.inputs.insert(made.inputs.end(), rows.inputs.begin(), rows.inputs.end());
    made.nodes = rows.nodes;  // first: values are named after the last node
    std::erase_if(made.nodes, [&](const std::string& node) { return std::ranges::find(row.nodes, node) != row.nodes.end(); });
    made.nodes.insert(made.nodes.end(), row.nodes.begin(), row.nodes.end());
    return made;
  }

  LazyGraph& graph_;
  std::vector<ScheduleItem>& items_;
  const ScheduleOptions& options_;
};

}  // namespace

void fuse_horizontally(LazyGraph& graph, Schedule& schedule, const ScheduleOptions& options) {
  if (!schedule.loops.empty() && Fusions(graph, schedule, options).run()) schedule.loops = find_loops(schedule.items);
}

}  // namespace etch
