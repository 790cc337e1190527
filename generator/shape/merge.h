// Internal to shape/: fewer views with the same map from index to buffer.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "shape/view.h"

namespace etch {

/// Merges adjacent views wherever one view can express both.
std::vector<View> merge_views(std::vector<View> views);
/// The same if only the last view is new: those below it have been merged before.
std::vector<View> merge_last_view(std::vector<View> views);

/// One view with the map of all of `views`, found by trying all indices. Sizes must be ints with few elements.
std::optional<View> merge_by_trial(const std::vector<View>& views);

/// Largest position read by the views, -1 if none; all sizes are ints. Exact unless the search gets too long, then an
/// upper bound.
std::int64_t largest_position(const std::vector<View>& views);

/// Whether every size, stride, offset and mask is an int.
bool all_ints(const View& v);

/// Index variables over the visible shape, for questions about an index expression. They belong to the Symbols of the sizes or, if
/// all sizes are ints, to a Symbols of the probe.
class IndexProbe {
 public:
  explicit IndexProbe(const std::vector<View>& views);
  const std::vector<Sint>& idxs() const { return idxs_; }
  /// Whether the expression depends on the index of that axis.
  bool depends_on(Sint x, std::size_t axis) const;
  /// The factor of that index, if x is linear in it; 0 for an axis of size 1.
  std::optional<Sint> stride(Sint x, std::size_t axis) const;

 private:
  std::unique_ptr<Symbols> own_;
  std::vector<Sint> idxs_;
};

}  // namespace etch
