#include "schedule/axis_cuts.h"

#include <algorithm>
#include <unordered_map>

#include "base/subscript.h"

namespace etch {

void AxisCuts::add(const ShapeTracker& st, std::int64_t distance) {
  const auto strides = st.real_strides(true);
  for (std::size_t axis = 0; axis < inner_.size(); axis++) {
    const Sint& size = st.shape()[axis];
    const std::optional<Sint>& stride = strides[axis];
    if (!size.is_int() || !stride || !stride->is_int() || stride->as_int() <= 0 || distance % stride->as_int() != 0) continue;
    const std::int64_t inside = distance / stride->as_int();
    if (inside > 1 && inside < size.as_int() && size.as_int() % inside == 0) inner_[axis].insert(inside);
  }
}

bool AxisCuts::empty() const {
  return std::ranges::all_of(inner_, [](const std::set<std::int64_t>& cuts) { return cuts.empty(); });
}

std::optional<std::vector<Sint>> AxisCuts::shape(const std::vector<Sint>& shape) const {
  std::vector<Sint> result;
  for (std::size_t axis = 0; axis < inner_.size(); axis++) {
    const std::set<std::int64_t>& cuts = inner_[axis];
    if (cuts.empty() || shape[axis].is_int(1)) {
      result.insert(result.end(), cuts.size(), Sint(1));
      result.push_back(shape[axis]);
      continue;
    }
    if (!shape[axis].is_int()) return std::nullopt;
    std::int64_t outer = shape[axis].as_int();
    for (auto inside = cuts.rbegin(); inside != cuts.rend(); outer = *inside++) {
      if (outer % *inside != 0) return std::nullopt;
      result.emplace_back(outer / *inside);
    }
    result.emplace_back(outer);
  }
  result.insert(result.end(), shape.begin() + static_cast<std::ptrdiff_t>(inner_.size()), shape.end());
  return result;
}

std::vector<int> AxisCuts::axes(const std::vector<int>& old) const {
  std::vector<int> result;
  int first = 0;
  for (std::size_t axis = 0; axis < inner_.size(); axis++) {
    const int count = static_cast<int>(inner_[axis].size()) + 1;
    if (std::ranges::find(old, static_cast<int>(axis)) != old.end())
      for (int i = 0; i < count; i++) result.push_back(first + i);
    first += count;
  }
  return result;
}

namespace {

std::optional<const LazyOp*> cut_view(LazyOps& ops, const LazyOp* op, const std::vector<const LazyOp*>& src, const AxisCuts& cuts) {
  const auto shape = cuts.shape(op->st().shape());  // with the axis of an indexed Load's positions
  if (!shape) return std::nullopt;
  ShapeTracker st = op->st().reshape(*shape);
  if (op->op == Op::Load && src.empty()) return ops.load(op->mem().index, op->dtype, st);
  if (op->op == Op::Load) return ops.load_at(op->mem().index, op->dtype, st, src[0]);
  if (op->op == Op::Store) return ops.store(op->mem().index, src[0], st, {src.begin() + 1, src.end()});
  return op->op == Op::Const ? ops.constant(op->constant().value, st) : ops.index(op->dtype, st);
}

std::optional<const LazyOp*> cut_node(LazyOps& ops, const LazyOp* op, const std::vector<const LazyOp*>& src, const AxisCuts& cuts) {
  if (info(op->op).group == OpGroup::Buffer) return cut_view(ops, op, src, cuts);
  if (is_reduce(op->op)) {
    std::vector<int> axes = cuts.axes(op->axes());
    if (!is_scan(op)) return ops.reduce(op->op, src[0], std::move(axes));
    if (axes.size() > 1) return std::nullopt;
    return ops.scan(op->op, src[0], axes[0]);
  }
  const auto shape = cuts.shape(op->shape);
  return shape ? std::optional(ops.rebuild(op, src, *shape)) : std::nullopt;
}

}  // namespace

std::optional<const LazyOp*> with_cut_axes(LazyOps& ops, const LazyOp* root, const AxisCuts& cuts) {
  std::unordered_map<const LazyOp*, const LazyOp*> done;  // look-up only
  for (const LazyOp* op : toposort(root)) {
    std::vector<const LazyOp*> src;
    for (const LazyOp* s : op->src) src.push_back(done.at(s));
    const std::optional<const LazyOp*> made = cut_node(ops, op, src, cuts);
    if (!made) return std::nullopt;
    done[op] = *made;
  }
  return done.at(root);
}

std::size_t views_of(const LazyOp* root) {
  std::size_t views = 0;
  for (const LazyOp* op : toposort(root))
    if (info(op->op).group == OpGroup::Buffer) views += op->st().views().size();
  return views;
}

}  // namespace etch
