// Internal to schedule/: bytes that are copied for a sum of products anyway get the sign that the target's dot products take.
#pragma once

#include <optional>

#include "schedule/apart.h"

namespace etch {

/// A factor x of a sum of products with constant weights becomes y + offset, where y is of type `stored`.
struct SignChange {
  DType stored{};
  std::int64_t offset = 0;
  const LazyOp *sum = nullptr, *weights = nullptr;  // the Load of the constant
};

/// nullopt unless `factor` is an operand, in int32, of `sum` alone, made of bytes of type `x` that are not those of
/// ScheduleOptions::stored_bytes, beside int8.
std::optional<SignChange> sign_change(const ScheduleItem& item, const LazyOp* sum, const LazyOp* factor, DType x,
                                      const ScheduleOptions& options);

/// x - offset as bytes of type `stored`.
const LazyBuffer* with_sign(LazyGraph& graph, const LazyBuffer* x, const SignChange& change);
const LazyOp* with_sign(LazyOps& ops, const LazyOp* x, const SignChange& change);
Scalar with_sign(const Scalar& x, const SignChange& change);

/// Adds to the sum, of which x is y from now on, what y is less than x: offset * sum(weights), which joins a constant that is added to it.
void add_offset(LazyGraph& graph, ScheduleItem& item, const SignChange& change);

/// Inputs of the model that many sums of products read as they are get a copy with the other sign, if the peak of memory stays.
void copy_with_sign(LazyGraph& graph, Schedule& schedule, const ScheduleOptions& options, const PeakLimit& limit);

}  // namespace etch
