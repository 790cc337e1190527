// Internal to lazy/: views in which each axis steps along an axis of the source: windows, repetitions, strides.
#pragma once

#include <optional>
#include <vector>

#include "lazy/graph.h"

namespace etch {

/// One axis of the result: index i of it adds i * step to the position along `axis` of the source.
struct AxisStep {
  int axis = 0;
  std::int64_t step = 1;
  Sint size;
};

/// `x` with the given axes; positions start at `begin` (one per axis of x) and all lie inside x. It adds a view
/// only where x's last view pads an axis that is stepped through.
const LazyBuffer* affine_view(LazyGraph& graph, const LazyBuffer* x, const std::vector<Sint>& begin, const std::vector<AxisStep>& axes);

/// The start and the steps (outermost first) that visit `positions` along `axis`; see affine_positions.
struct AffinePositions {
  std::int64_t begin = 0;
  std::vector<AxisStep> axes;
};
/// nullopt if three steps are not enough.
std::optional<AffinePositions> affine_positions(std::vector<std::int64_t> positions, int axis);

}  // namespace etch
