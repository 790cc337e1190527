// Internal to schedule/: kernels some of whose axes become several.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "ir/lazyop.h"

namespace etch {

/// For each axis of an AST where it is cut: sizes of what lies inside of a cut. {4, 8} makes three axes of one of size 32: 4, 2 and 4.
class AxisCuts {
 public:
  explicit AxisCuts(std::size_t rank) : inner_(rank) {}

  /// Cuts the axes along which `st` runs across positions that are multiples of `distance` in its buffer, so that no part crosses one.
  /// Axes whose size or stride does not divide stay.
  void add(const ShapeTracker& st, std::int64_t distance);
  bool empty() const;
  /// The sizes of the axes of a node of `shape`; axes that it was reduced along have size 1. nullopt: cuts of one axis don't divide.
  std::optional<std::vector<Sint>> shape(const std::vector<Sint>& shape) const;
  /// The axes that came from these.
  std::vector<int> axes(const std::vector<int>& old) const;

 private:
  std::vector<std::set<std::int64_t>> inner_;
};

/// `root` with cut axes; nullopt where it can't have them: a scan along one, sizes that don't divide.
std::optional<const LazyOp*> with_cut_axes(LazyOps& ops, const LazyOp* root, const AxisCuts& cuts);

/// The number of views of all leaves and Stores of an AST.
std::size_t views_of(const LazyOp* root);

}  // namespace etch
