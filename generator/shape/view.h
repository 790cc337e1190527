// View: how a box of indices reads a flat buffer. Element (i0, i1, ...) is at offset + sum(i_k * strides_k); where a mask
// is given and an index is outside [begin, end) of its axis, the element is padding (0) and nothing is read.
//
// A view of rank 0 that reads nothing has a mask too, an empty one.
//
// A View is a value. Every movement returns a new one; sizes, strides, offset and mask may be symbolic.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "shape/symbolic.h"

namespace etch {

using Range = std::pair<Sint, Sint>;  // [begin, end), or (before, after) of a padding

struct View {
  std::vector<Sint> shape, strides;
  Sint offset = 0;
  std::optional<std::vector<Range>> mask;  // absent: everything is valid
  bool contiguous = true;                  // offset 0, no mask, row-major strides

  /// Makes the canonical form: the stride of an axis of size 1 is 0; a mask that hides nothing is absent; a mask that hides
  /// everything is [0, 0) on each axis, with strides and offset 0; an axis of which only one index is valid has stride 0.
  static View create(std::vector<Sint> shape, std::optional<std::vector<Sint>> strides = std::nullopt, Sint offset = 0,
                     std::optional<std::vector<Range>> mask = std::nullopt);

  /// Whether all sizes are numbers.
  bool has_fixed_shape() const;
  /// Number of indices.
  Sint size() const { return product(shape); }
  /// True if no element is read: all is padding, or there is none.
  bool is_empty() const;

  View permute(const std::vector<int>& axes) const;
  /// Axes of size 1 get the given size; others must keep theirs.
  View expand(const std::vector<Sint>& new_shape) const;
  /// Adds (before, after) padding per axis.
  View pad(const std::vector<Range>& amounts) const;
  /// Keeps [begin, end) of each axis.
  View shrink(const std::vector<Range>& ranges) const;
  /// Every step-th element; negative steps start from the end.
  View stride(const std::vector<std::int64_t>& steps) const;
  /// The same elements in row-major order under another shape; nullopt if one view can't express that.
  std::optional<View> reshape(const std::vector<Sint>& new_shape) const;
  /// The view that, applied to what this one shows, restores the order of the buffer (not its shape): it undoes permute, flip and
  /// pad. nullopt if elements repeat or are lost.
  std::optional<View> invert() const;

  std::string to_text() const;
  friend bool operator==(const View& a, const View& b) {
    return a.shape == b.shape && a.strides == b.strides && a.offset == b.offset && a.mask == b.mask;
  }
  std::size_t hash() const;
};

/// Row-major strides; 0 where the size is 1.
std::vector<Sint> strides_for_shape(const std::vector<Sint>& shape);

}  // namespace etch
