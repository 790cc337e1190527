#include "schedule/shuffles.h"

#include <algorithm>

#include "schedule/axis_cuts.h"
#include "schedule/rewrite_ast.h"

namespace etch {
namespace {

/// Cuts where `st` runs across elements of what `below` shows that do not follow each other there.
void add_borders(AxisCuts& cuts, const ShapeTracker& st, const View& below) {
  std::int64_t distance = 1;
  for (std::size_t axis = below.shape.size(); axis-- > 1;) {
    distance *= below.shape[axis].as_int();
    if (distance > 1) cuts.add(st, distance);
  }
}

/// `st`, whose second view is cut so that the first one becomes a part of it; nullopt where that is not so.
std::optional<ShapeTracker> with_one_view_less(const ShapeTracker& st) {
  const std::vector<View>& views = st.views();
  AxisCuts cuts(views[1].shape.size());
  add_borders(cuts, ShapeTracker({views[1]}), views[0]);
  const auto shape = cuts.shape(views[1].shape);
  if (cuts.empty() || !shape) return std::nullopt;
  const ShapeTracker cut = ShapeTracker({views[1]}).reshape(*shape);
  if (cut.views().size() != 1) return std::nullopt;
  std::vector<View> merged = (ShapeTracker({views[0]}) + cut).simplify().views();
  if (merged.size() != 1) return std::nullopt;
  merged.insert(merged.end(), views.begin() + 2, views.end());
  return ShapeTracker(std::move(merged)).simplify();
}

bool is_shuffled(const LazyOp* op) {
  return op->op == Op::Load && !is_indexed(op) && op->st().views().size() > 1 &&
         std::ranges::all_of(op->st().views(), &View::has_fixed_shape) && !op->st().views()[0].mask;
}

/// The AST with cut axes, and views that became parts of others; nullopt if there is nothing to cut.
std::optional<const LazyOp*> cut(LazyOps& ops, const LazyOp* ast) {
  AxisCuts cuts(ast->shape.size());
  for (const LazyOp* op : toposort(ast)) {
    if (!is_shuffled(op)) continue;
    const std::vector<View>& views = op->st().views();
    add_borders(cuts, ShapeTracker(std::vector<View>(views.begin() + 1, views.end())), views[0]);
  }
  if (cuts.empty()) return std::nullopt;
  const std::optional<const LazyOp*> root = with_cut_axes(ops, ast, cuts);
  if (!root) return std::nullopt;
  return rewrite_ast(ops, *root, [&](const LazyOp* op, const std::vector<const LazyOp*>&) -> const LazyOp* {
    if (op->op != Op::Load || is_indexed(op)) return nullptr;
    ShapeTracker st = op->st().simplify();
    if (is_shuffled(op) && st.views().size() > 1)
      if (auto less = with_one_view_less(st)) st = *less;
    if (st.views().size() >= op->st().views().size()) return nullptr;
    return ops.load(op->mem().index, op->dtype, st);
  });
}

}  // namespace

void cut_at_shuffles(LazyGraph& graph, Schedule& schedule) {
  for (ScheduleItem& item : schedule.items) {
    if (item.ast == nullptr) continue;
    const std::optional<const LazyOp*> made = cut(graph.ops(), item.ast);
    if (made && views_of(*made) < views_of(item.ast)) item.ast = *made;
  }
}

}  // namespace etch
