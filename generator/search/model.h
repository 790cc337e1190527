// A static model of cost: so much for each of a few kinds of work that a kernel does, fitted to kernels that were measured. It tells which
// others are worth measuring, and how well it tells that.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/options.h"
#include "ir/uop.h"

namespace etch {

enum class WorkKind : std::uint8_t {
  VectorArithmetic,
  ScalarArithmetic,
  Integers,   // those of indices among them
  LongSteps,  // divisions, roots, calls of the library: in additions
  VectorLoads,
  ScalarLoads,
  VectorStores,
  ScalarStores,
  Lanes,     // moved into vectors and out of them
  Choices,   // conditions, and what they choose
  Turns,     // of loops
  Products,  // dot and matrix products
  Requests,  // of lines of a cache
  Spills,    // sums and loaded values without a register, in each turn
  kCount
};

/// What kernels do, of each kind: registers of vectors and numbers, in all turns of their loops.
using KernelWork = std::array<double, static_cast<std::size_t>(WorkKind::kCount)>;

/// `turns`: how often each UOp runs (steps.h).
KernelWork work_of(const UOpList& uops, const std::vector<double>& turns, const CodegenOptions& options);

/// How well a model tells costs that it has not seen: each fifth of the measurements by the other four.
struct ModelFit {
  std::size_t measured = 0;
  double median_error = 0, large_error = 0;  // relative; nine of ten are not above the second
  double in_order = 0;                       // the part of the pairs whose costs differ by more than a tenth that it puts in order
};

class CostModel {
 public:
  /// A kernel that was measured; `cost` is above 0.
  void add(const KernelWork& work, double cost);

  /// Of a kernel; before anything was measured as if each step took 1.
  double cost(const KernelWork& work) const;

  /// nullopt before there are enough measurements.
  std::optional<ModelFit> fit() const;

 private:
  struct Sample {
    KernelWork work;
    double cost = 0;
  };

  static KernelWork weights_of(const std::vector<const Sample*>& samples);

  std::vector<Sample> samples_;
  mutable std::optional<KernelWork> weights_;  // of all samples
};

}  // namespace etch
