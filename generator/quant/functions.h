// Internal to quant/: functions of one or two quantised values of a byte, and of one of 16 bits.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "lazy/tensor.h"
#include "quant/bounds.h"
#include "quant/linear.h"
#include "quant/pieces.h"

namespace etch {

/// A float becomes an int32 without a bound of its own if it is nearer to 0.
constexpr double kSafeFloat = 1 << 30;

inline constexpr std::int64_t kBytes = 256;  // of one type

/// Of a table of shape [256], the element at each of `index`, which is at most 255.
Tensor read_table(const Tensor& table, const Tensor& index);

/// A value each element of which is computed from one element of one or two values of a byte (which may be constants that are stored so),
/// or of one value of 16 bits, and constants that are the same everywhere.
struct NarrowFunction {
  std::vector<Tensor> of;  // int8, uint8, int16 or uint16, each of the function's shape
  /// For all values, in the order of unsigned ones: a constant of shape [], [256], [256, 256] or [65536].
  Tensor results;
  Tensor exact = {};      // of one of 16 bits: the same, but computed in float64 where the graph says float32
  int cost = 0;           // of computing one, in additions
  bool is_pinned = true;  // ONNX leaves one result in float32: none of its nodes calls the math library, or adds to a product of its own
};

/// The functions among a graph's buffers, each found once; whoever asks from the sources up never waits for a long chain.
class NarrowFunctions {
 public:
  /// `bounds`: of the integers of `graph`; lives as long as this.
  NarrowFunctions(LazyGraph& graph, BoundsFinder& bounds) : graph_(graph), bounds_(bounds) {}
  /// nullptr: `buffer` is no such function, or one of many operations.
  const NarrowFunction* of(const LazyBuffer* buffer);
  /// The same integers as `buffer`, of at most 16 bits, for less. A function of one byte is read from a table of its 256 results. One of
  /// two bytes that is saturate(rint(exact) + zero), with one zero point in int32, and a linear function at heart becomes a sum of integers
  /// that is tried for all 65 536 pairs. Where none is right for all of them, because floats are rounded on the way, the products of one
  /// byte that are added are read from tables, and others rounded: no compiler can contract them. nullopt: `buffer` is best as it is.
  std::optional<Tensor> simpler(const LazyBuffer* buffer, const LazyBuffer* exact, const Tensor& zero);
  /// saturate(rint(exact) + zero), of `dtype`, as polynomials of integers, see pieces.h. nullopt: it is no function of one value of 16 bits
  /// that ONNX leaves open (what it pins down in float32 to the bit stays as it is), or has no such polynomials.
  std::optional<Tensor> polynomials(const LazyBuffer* exact, const Tensor& zero, DType dtype);

 private:
  std::optional<NarrowFunction> find(const LazyBuffer* buffer);
  /// An integer that is in memory or computed for its own sake is the function that gives it.
  const NarrowFunction* operand(const LazyBuffer* buffer);
  Tensor read(const NarrowFunction& f);
  Tensor sum(const Tensor& a, const Tensor& b, const LinearFit& fit);
  Tensor in_pieces(const Tensor& x, const Pieces& pieces);

  LazyGraph& graph_;
  BoundsFinder& bounds_;
  std::map<DType, Tensor> values_;  // all of a type
  std::unordered_map<const LazyBuffer*, std::optional<NarrowFunction>> known_, operands_;
};

}  // namespace etch
