// Internal to quant/: the least and the largest value of integers.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "lazy/graph.h"

namespace etch {

struct IntegerBounds {
  std::int64_t low = 0, high = 0;
  bool within(const IntegerBounds& other) const { return low >= other.low && high <= other.high; }
  bool operator==(const IntegerBounds&) const = default;
};

/// All values of an integer type.
IntegerBounds bounds_of_type(DType dtype);

/// nullopt: the result does not fit 64 bits.
std::optional<IntegerBounds> sum_of(const IntegerBounds& a, const IntegerBounds& b);
std::optional<IntegerBounds> product_of(const IntegerBounds& a, const IntegerBounds& b);

/// Bounds of buffers of integer types, never wider than the type: exact for constants of moderate size, by the operation for Cast, Add,
/// Sub, Mul, Max, Min, sums, largest and least values and for views, else those of the type. Each is computed once; whoever asks from the
/// sources up never waits for a long chain.
class BoundsFinder {
 public:
  explicit BoundsFinder(LazyGraph& graph) : graph_(graph) {}
  IntegerBounds of(const LazyBuffer* buffer);
  /// The same for those of integers, unless a constant would have to be computed, which then has no need of its sources' bounds.
  void visit(const LazyBuffer* buffer);

 private:
  IntegerBounds computed(const LazyBuffer* buffer);
  IntegerBounds of_base(const LazyBuffer* base);
  IntegerBounds of_reduction(const LazyBuffer* reduction);

  LazyGraph& graph_;
  std::unordered_map<const LazyBuffer*, IntegerBounds> known_;
};

}  // namespace etch
