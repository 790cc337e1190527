// Internal to quant/: between which two values each element of a buffer lies, whatever the inputs are.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "lazy/graph.h"

namespace etch {

/// The least and the largest value per element, row-major. An axis along which they are the same has size 1, others have the buffer's.
struct ValueRange {
  std::vector<std::int64_t> shape;
  std::vector<double> low, high;

  bool is_point(std::size_t i) const { return low[i] == high[i]; }
  bool is_point() const { return low == high; }
  bool operator==(const ValueRange&) const = default;
};

/// Ranges of buffers of bool, integers up to 32 bits and float32; of integers of 64 bits where they are exact in double. Operations on
/// float32 are monotonic, so the ends go through the same roundings as the values. Each range is found once; whoever asks from the
/// sources up never waits for a long chain. Constants are computed only where they meet a value with a range.
class RangeFinder {
 public:
  explicit RangeFinder(LazyGraph& graph) : graph_(graph) {}
  /// nullptr: nothing is known. Of an integer up to 32 bits that never happens, as its type has bounds.
  const ValueRange* of(const LazyBuffer* buffer);

 private:
  std::optional<ValueRange> find(const LazyBuffer* buffer);
  std::optional<ValueRange> of_view(const LazyBuffer* view);
  std::optional<ValueRange> of_operation(const LazyBuffer* base);
  std::optional<ValueRange> of_elementwise(const LazyBuffer* base);
  std::optional<ValueRange> of_reduction(const LazyBuffer* reduction);
  std::optional<ValueRange> of_gather(const LazyBuffer* gather);
  void forget(const LazyBuffer* constant);

  LazyGraph& graph_;
  std::unordered_map<const LazyBuffer*, std::optional<ValueRange>> known_;
};

/// Row-major strides of an array of `shape`; 0 along axes of size 1, which stand for every index.
std::vector<std::int64_t> strides_over(const std::vector<std::int64_t>& shape);

/// Calls visit(position, indices) for each element of a row-major array.
template <class Visit>
void for_each_index(const std::vector<std::int64_t>& shape, Visit visit) {
  std::size_t count = 1;
  for (const std::int64_t n : shape) count *= static_cast<std::size_t>(n);
  std::vector<std::int64_t> at(shape.size(), 0);
  for (std::size_t i = 0; i < count; i++) {
    visit(i, at);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (++at[axis] < shape[axis]) break;
      at[axis] = 0;
    }
  }
}

}  // namespace etch
