// Internal to quant/: functions of one or two quantised values of a byte.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "lazy/tensor.h"
#include "quant/bounds.h"
#include "quant/linear.h"

namespace etch {

/// A float becomes an int32 without a bound of its own if it is nearer to 0.
constexpr double kSafeFloat = 1 << 30;

inline constexpr std::int64_t kBytes = 256;  // of one type

/// Of a table of shape [256], the element at each of `index`, which is at most 255.
Tensor read_table(const Tensor& table, const Tensor& index);

/// A value each element of which is computed from one element of one or two values of a byte (which may be constants that are stored so),
/// and constants that are the same everywhere.
struct ByteFunction {
  std::vector<Tensor> of;  // int8 or uint8, each of the function's shape
  /// For all bytes, in the order of unsigned ones: a constant of shape [], [256] or [256, 256].
  Tensor results;
  int cost = 0;  // of computing one, in additions
};

/// The functions among a graph's buffers, each found once; whoever asks from the sources up never waits for a long chain.
class ByteFunctions {
 public:
  /// `bounds`: of the integers of `graph`; lives as long as this.
  ByteFunctions(LazyGraph& graph, BoundsFinder& bounds) : graph_(graph), bounds_(bounds) {}
  /// nullptr: `buffer` is no such function, or one of many operations.
  const ByteFunction* of(const LazyBuffer* buffer);
  /// The same bytes as `buffer`, a function of bytes, for less. That of one byte is read from a table of its 256 results. One of two that
  /// is saturate(rint(exact) + zero), with one zero point in int32, and a linear function at heart becomes a sum of integers that is tried
  /// for all 65 536 pairs. Where none is right for all of them, because floats are rounded on the way, the products of one byte that
  /// are added are read from tables, and others rounded: no compiler can contract them. nullopt: `buffer` is best as it is.
  std::optional<Tensor> simpler(const LazyBuffer* buffer, const LazyBuffer* exact, const Tensor& zero);

 private:
  std::optional<ByteFunction> find(const LazyBuffer* buffer);
  /// A byte that is in memory or computed for its own sake is the function that gives it.
  const ByteFunction* operand(const LazyBuffer* buffer);
  Tensor read(const ByteFunction& f);
  Tensor sum(const Tensor& a, const Tensor& b, const LinearFit& fit);

  LazyGraph& graph_;
  BoundsFinder& bounds_;
  std::unordered_map<const LazyBuffer*, std::optional<ByteFunction>> known_, operands_;
};

}  // namespace etch
