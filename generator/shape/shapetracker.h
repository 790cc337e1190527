// ShapeTracker: the views between a buffer and what a kernel sees. Movement operations (reshape, permute, expand, pad,
// shrink, stride) change it instead of the data. views.front() is nearest to the buffer, views.back() is the visible
// one: an index goes through the last view, its result is unflattened for the one before, and so on.
//
// A ShapeTracker is a value. It is always kept simple: adjacent views are merged when one view can express both.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "shape/symbolic.h"
#include "shape/view.h"

namespace etch {

class ShapeTracker {
 public:
  /// All elements of a buffer of that shape, in row-major order.
  static ShapeTracker from_shape(std::vector<Sint> shape);
  explicit ShapeTracker(std::vector<View> views);

  const std::vector<View>& views() const { return views_; }
  const std::vector<Sint>& shape() const { return views_.back().shape; }
  /// Number of visible elements.
  Sint size() const { return views_.back().size(); }
  bool contiguous() const { return views_.size() == 1 && views_.front().contiguous; }

  /// The same elements under another shape of equal size. InternalError if the sizes are not proved equal.
  ShapeTracker reshape(const std::vector<Sint>& new_shape) const;
  /// The same if the sizes are equal for these values of the variables: replaces a number by a variable, or the reverse. The result
  /// is correct for these values only.
  ShapeTracker reshape(const std::vector<Sint>& new_shape, const std::map<std::string, std::int64_t>& values) const;
  /// Axis i of the result is axis axes[i] of this; each axis occurs once.
  ShapeTracker permute(const std::vector<int>& axes) const;
  /// Axes of size 1 repeated to the new size; the rank and the other sizes stay.
  ShapeTracker expand(const std::vector<Sint>& new_shape) const;
  /// Adds masked elements, which read as 0, (before, after) each axis; amounts >= 0.
  ShapeTracker pad(const std::vector<Range>& amounts) const;
  /// Each element becomes a row of `n` adjacent ones, along a new last axis: the same view of a buffer of such rows.
  ShapeTracker with_rows_of(Sint n) const;
  /// The part [begin, end) of each axis, 0 <= begin <= end <= size.
  ShapeTracker shrink(const std::vector<Range>& ranges) const;
  /// Every step-th element of each axis, from the first; a negative step goes backwards from the last. No step is 0.
  ShapeTracker stride(const std::vector<std::int64_t>& steps) const;

  /// The fewest views that are found for the same map from index to buffer.
  ShapeTracker simplify() const;
  /// This one, then `other` on top of it (other's buffer is what this one shows).
  ShapeTracker operator+(const ShapeTracker& other) const;
  /// The tracker that restores `out_shape` from what this one shows; nullopt if elements are lost.
  std::optional<ShapeTracker> invert(const std::vector<Sint>& out_shape) const;

  struct Index {
    Sint idx;    // position in the buffer; meaningless where valid is 0
    Sint valid;  // 1: always read; 0: always padding
  };
  /// The buffer position that the element at `idxs` (one index per axis) reads.
  Index expr_idxs(const std::vector<Sint>& idxs) const;
  /// The same for a flat row-major index.
  Index expr_node(Sint flat) const;

  /// Per axis: how far one step moves in the buffer; nullopt if that varies, or if the axis is masked and ignore_valid is false.
  std::vector<std::optional<Sint>> real_strides(bool ignore_valid = false) const;
  /// The axes for which that is 1.
  std::vector<int> unit_stride_axes(bool ignore_valid = false) const;
  /// Per axis: whether the validity depends on its index.
  std::vector<bool> masked_axes() const;
  /// Largest position read + 1: exact when all sizes are ints (0 if nothing is read), an upper bound when symbolic.
  std::int64_t real_size() const;
  /// Whether it is one view that shows each of the first `elements` elements once, in any order; along axes of stride 0 again and again.
  bool shows_all_once(std::int64_t elements) const;
  /// The same where some axes may run backwards (a kernel that is flipped).
  bool shows_each_once(std::int64_t elements) const;
  /// Free variables of all views, sorted by name.
  std::vector<const Node*> variables() const;

  std::string to_text() const;
  friend bool operator==(const ShapeTracker& a, const ShapeTracker& b) { return a.views_ == b.views_; }
  std::size_t hash() const;

 private:
  std::vector<View> views_;
};

/// For each new axis the old axes that are merged into it, if the new shape only merges adjacent old axes; else nullopt.
std::optional<std::vector<std::vector<int>>> get_contraction(const std::vector<Sint>& old_shape, const std::vector<Sint>& new_shape);

}  // namespace etch

template <>
struct std::hash<etch::ShapeTracker> {
  std::size_t operator()(const etch::ShapeTracker& st) const noexcept { return st.hash(); }
};
