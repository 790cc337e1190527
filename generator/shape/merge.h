// Internal to shape/: fewer views with the same map from index to buffer.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "shape/view.h"

namespace etch {

/// Merges neighbouring views wherever one view can say the same.
std::vector<View> merge_views(std::vector<View> views);

/// Index variables over the visible shape, owned by the sizes' Symbols or, if all are ints, by itself.
class IndexProbe {
 public:
  explicit IndexProbe(const std::vector<View>& views);
  const std::vector<Sint>& idxs() const { return idxs_; }
  /// Whether the expression depends on the index of that axis.
  bool mentions(Sint x, std::size_t axis) const;
  /// The factor of that index, if x is linear in it; 0 for an axis of size 1.
  std::optional<Sint> stride(Sint x, std::size_t axis) const;

 private:
  std::unique_ptr<Symbols> own_;
  std::vector<Sint> idxs_;
};

}  // namespace etch
