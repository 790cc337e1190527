// Internal to quant/: which indices of each axis of each buffer have to be computed.
#pragma once

#include <unordered_map>
#include <vector>

#include "lazy/graph.h"
#include "quant/value_ranges.h"

namespace etch {

/// Sums in int32 are where indices die: what is the same for every input, along an axis that is summed, is a constant in the sum. An index
/// of a buffer that reaches no output but through such places need not be computed. Elementwise operations, windows that slide along other
/// axes, flattening, padding and slices hand indices on; what hands them on in other ways needs all of them.
class LiveIndices {
 public:
  LiveIndices(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs, std::int64_t tile);

  RangeFinder& ranges() { return ranges_; }
  /// Whether `buffer` is the same for every input: a constant, or integers of which the range is one point.
  bool is_known(const LazyBuffer* buffer);
  /// Of each index of `axis`, whether it is needed.
  std::vector<bool> of(const LazyBuffer* buffer, int axis) const;
  /// Whether an index of `axis` is not needed.
  bool has_dead(const LazyBuffer* buffer, int axis) const;
  /// Whether a sum has an index less to add, or an operation need not be computed at all.
  bool found_any() const { return found_any_; }

 private:
  std::vector<int>& first(const LazyBuffer* buffer);
  int first(const LazyBuffer* buffer, int axis) const;
  int root(int number) const;
  void unite(int a, int b);
  void unite_axes(const LazyBuffer* a, int axis_of_a, const LazyBuffer* b, int axis_of_b);
  void need(const LazyBuffer* buffer, int axis);
  void need_all(const LazyBuffer* buffer);
  void visit(const LazyBuffer* buffer);
  void visit_view(const LazyBuffer* view);
  void visit_operation(const LazyBuffer* base);
  void visit_reduction(const LazyBuffer* reduction);
  void visit_gather(const LazyBuffer* gather);
  bool can_take(const LazyBuffer* constant);
  /// Needs whatever is needed for what is needed already.
  void settle();
  /// Needs a few dead indices more where those that are left would not fill whole tiles of kernels.
  void fill_tiles(std::int64_t tile);
  /// Needs what a sum can't do without; false if all of it was needed before.
  bool need_for(const LazyBuffer* reduction);

  LazyGraph& graph_;
  RangeFinder ranges_;
  std::unordered_map<const LazyBuffer*, std::vector<int>> first_;  // per axis: the number of its first index; -1: all are needed
  mutable std::vector<int> parent_;                                // indices that are needed together; each path is shortened when read
  std::vector<bool> needed_;                                       // of roots
  std::vector<const LazyBuffer*> exits_;                           // sums in which indices may die
  bool found_any_ = false;
};

}  // namespace etch
