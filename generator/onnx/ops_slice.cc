// Operators that take or add ranges of elements: Slice, Pad, Gather.
#include <algorithm>
#include <limits>

#include "ir/lazyop.h"
#include "onnx/limits.h"
#include "onnx/operators.h"
#include "onnx/ops_common.h"

namespace etch::operators {
namespace {

using Ints = std::vector<std::int64_t>;

constexpr std::int64_t kMaxPositions = 1 << 24;  // of an axis whose elements are named one by one

/// A bound of a slice with a step > 0, counted from the front and clamped to [0, size]. Nothing if that can't be decided.
std::optional<Sint> clamped_bound(Sint bound, Sint size) {
  if (bound.is_int() && bound.as_int() >= size.max()) return size;
  if (bound.is_int() && bound.as_int() <= -size.max()) return Sint(0);
  if (bound.max() < 0)
    bound = size + bound;
  else if (bound.min() < 0)
    return std::nullopt;
  if (const auto below = try_min(bound, size)) return try_max(*below, 0);
  return std::nullopt;
}

Tensor slice_axis(const NodeContext& node, const Tensor& x, int axis, Sint start, Sint end, std::int64_t step) {
  const Sint size = x.dim(axis);
  if (size.is_int() && start.is_int() && end.is_int()) return x.slice(axis, start.as_int(), end.as_int(), step);
  const std::optional<Sint> first = clamped_bound(start, size), last = clamped_bound(end, size);
  if (step != 1 || !first || !last) {
    node.fail("the slice " + to_text(start) + ":" + to_text(end) + ":" + std::to_string(step) + " of axis " + std::to_string(axis) +
                  " of size " + to_text(size) + " can't be decided while generating",
              "bind the dimension to one value: --dim NAME=VALUE");
  }
  Padding ranges;
  for (int i = 0; i < x.rank(); ++i) ranges.emplace_back(Sint(0), x.dim(i));
  ranges[static_cast<std::size_t>(axis)] = {*first, try_max(*first, *last).value_or(*last)};
  return x.shrink(ranges);
}

/// For each position of an axis of `size` padded by (before, after), the source position that `mode` takes.
Ints sources_of(const NodeContext& node, std::int64_t size, std::int64_t before, std::int64_t after, const std::string& mode) {
  if (size == 0 || (size == 1 && mode == "reflect" && (before > 0 || after > 0))) {
    node.fail("an axis of size " + std::to_string(size) + " can't be padded in mode " + mode);
  }
  if (before + size + after > kMaxPositions) {
    node.fail("its pads make an axis of " + std::to_string(before + size + after) + " elements, mode " + mode + " is supported up to " +
              std::to_string(kMaxPositions));
  }
  Ints sources;
  for (std::int64_t i = -before; i < size + after; ++i) {
    std::int64_t source = i;
    if (mode == "edge") source = std::clamp<std::int64_t>(i, 0, size - 1);
    if (mode == "wrap") source = ((i % size) + size) % size;
    if (mode == "reflect") {
      const std::int64_t period = std::max<std::int64_t>(2 * (size - 1), 1);
      source = ((i % period) + period) % period;
      if (source >= size) source = period - source;
    }
    sources.push_back(source);
  }
  return sources;
}

/// Slices of `axis` at constant positions: runs of equal distance are slices, so nothing is looked up when the model runs.
Tensor take_runs(const Tensor& x, int axis, const Ints& positions) {
  std::vector<Tensor> runs;
  std::size_t i = 0;
  while (i < positions.size()) {
    const std::int64_t step = i + 1 < positions.size() ? positions[i + 1] - positions[i] : 1;
    std::size_t n = 1;
    while (i + n < positions.size() && positions[i + n] - positions[i + n - 1] == step) ++n;
    if (step == 0) {
      Shape shape = x.shape();
      shape[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(n);
      runs.push_back(x.slice(axis, positions[i], positions[i] + 1).expand(shape));
    } else {
      const std::int64_t last = positions[i + n - 1] + (step > 0 ? 1 : -1);
      const std::int64_t end = last < 0 ? std::numeric_limits<std::int64_t>::min() : last;  // going backwards, up to element 0
      runs.push_back(x.slice(axis, positions[i], end, step));
    }
    i += n;
  }
  return runs.size() == 1 ? runs[0] : Tensor::cat(runs, axis);
}

std::size_t run_count(const Ints& positions) {
  std::size_t runs = 0, i = 0;
  while (i < positions.size()) {
    std::size_t n = std::min<std::size_t>(2, positions.size() - i);
    while (i + n < positions.size() && positions[i + n] - positions[i + n - 1] == positions[i + 1] - positions[i]) ++n;
    i += n;
    ++runs;
  }
  return runs;
}

struct PadInputs {
  std::vector<Sint> pads;  // begins of all axes, then ends
  Scalar value;            // of the input's type
};

/// Pads of all axes from the forms of opsets 2, 11 and 18.
PadInputs read_pads(NodeContext& node, const Tensor& x) {
  const std::size_t rank = static_cast<std::size_t>(x.rank());
  PadInputs result{{}, Scalar::of_int(x.dtype(), 0)};
  if (node.opset() < 11) {
    for (std::int64_t p : node.attribute_ints("pads")) result.pads.push_back(p);
    result.value = Scalar::of_double(x.dtype(), node.attribute_float("value", 0.0));
  } else {
    result.pads = node.require_dims(1, "pads");
    if (node.has_input(2)) {
      const Array value = node.require_constant(2, "constant_value");
      if (value.size() != 1) node.fail("constant_value has " + std::to_string(value.size()) + " elements, one is expected");
      result.value = value.at(0).cast(x.dtype());
    }
  }
  for (const Sint& p : result.pads) {
    if (p.min() < -kMaxElements || p.max() > kMaxElements) node.fail("one of its pads is " + to_text(p) + ", at most 2^31 are accepted");
  }
  std::vector<int> axes;
  if (node.opset() >= 18 && node.has_input(3)) {
    for (std::int64_t axis : node.require_constant(3, "axes").ints()) axes.push_back(axis_of(node, axis, x.rank(), "axes"));
  } else {
    for (int axis = 0; axis < x.rank(); ++axis) axes.push_back(axis);
  }
  if (result.pads.size() != 2 * axes.size()) {
    node.fail("it has " + std::to_string(result.pads.size()) + " pads for " + std::to_string(axes.size()) +
              " axes, two for each are expected");
  }
  std::vector<Sint> all(2 * rank, Sint(0));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    all[static_cast<std::size_t>(axes[i])] = result.pads[i];
    all[rank + static_cast<std::size_t>(axes[i])] = result.pads[axes.size() + i];
  }
  result.pads = std::move(all);
  return result;
}

}  // namespace

Outputs slice(NodeContext& node) {
  Tensor x = node.input(0);
  std::vector<Sint> starts, ends;
  Ints axes, steps;
  if (node.opset() < 10) {
    for (std::int64_t v : node.attribute_ints("starts")) starts.push_back(v);
    for (std::int64_t v : node.attribute_ints("ends")) ends.push_back(v);
    axes = node.attribute_ints("axes", Ints{});
  } else {
    starts = node.require_dims(1, "starts");
    ends = node.require_dims(2, "ends");
    if (node.has_input(3)) axes = node.require_constant(3, "axes").ints();
    if (node.has_input(4)) steps = node.require_constant(4, "steps").ints();
  }
  if (axes.empty()) {
    for (std::size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size()) {
    node.fail("it has " + std::to_string(starts.size()) + " starts, " + std::to_string(ends.size()) + " ends, " +
              std::to_string(axes.size()) + " axes and " + std::to_string(steps.size()) + " steps, equally many are expected");
  }
  axes_of(node, axes, x.rank());  // refuses an axis that is named twice
  for (std::size_t i = 0; i < starts.size(); ++i) {
    if (steps[i] == 0) node.fail("steps is " + list_text(steps) + ", a step of 0 is not accepted");
    x = slice_axis(node, x, axis_of(node, axes[i], x.rank(), "axes"), starts[i], ends[i], steps[i]);
  }
  return {x};
}

Outputs pad(NodeContext& node) {
  Tensor x = node.input(0);
  const std::string mode = node.attribute_string("mode", "constant");
  const PadInputs inputs = read_pads(node, x);
  const std::size_t rank = static_cast<std::size_t>(x.rank());
  Padding shrinking, growing;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const Sint before = inputs.pads[axis], after = inputs.pads[rank + axis];
    shrinking.emplace_back(before.max() < 0 ? before : Sint(0), after.max() < 0 ? after : Sint(0));
    growing.emplace_back(before.max() < 0 ? Sint(0) : before, after.max() < 0 ? Sint(0) : after);
  }
  Shape result = x.shape();
  for (std::size_t axis = 0; axis < rank; ++axis) result[axis] = result[axis] + inputs.pads[axis] + inputs.pads[rank + axis];
  for (const Sint& size : result) {
    if (size.min() < 0)
      node.fail("its pads leave the shape " + shape_text(result) + " of its input " + shape_text(x.shape()) + ", sizes are >= 0");
  }
  require_sane_shape(result, node);
  x = x.pad(shrinking);
  if (mode == "constant") return {x.pad(growing, inputs.value)};
  if (mode != "reflect" && mode != "edge" && (mode != "wrap" || node.opset() < 19)) {
    node.fail("attribute mode is '" + mode + "', accepted are constant, reflect, edge, and from opset 19 on wrap");
  }
  for (int axis = 0; axis < x.rank(); ++axis) {
    const auto& [before, after] = growing[static_cast<std::size_t>(axis)];
    if (before.is_int(0) && after.is_int(0)) continue;
    if (!before.is_int() || !after.is_int())
      node.fail("its pads depend on a variable dimension, mode " + mode + " needs numbers", "bind the dimension: --dim NAME=VALUE");
    x = take_runs(x, axis, sources_of(node, fixed_dim(node, x, axis, "input"), before.as_int(), after.as_int(), mode));
  }
  return {x};
}

Outputs gather(NodeContext& node) {
  const Tensor x = node.input(0), index = node.input(1);
  if (!is_int(index.dtype())) node.fail("its indices are " + std::string(name_of(index.dtype())) + ", integers are expected");
  const int axis = axis_of(node, node.attribute_int("axis", 0), x.rank());
  const std::optional<Array> constant = node.constant(1);
  if (!constant || !x.dim(axis).is_int()) return {x.gather(axis, index)};
  const std::int64_t size = x.dim(axis).as_int();
  Ints positions = constant->ints();
  for (std::int64_t& p : positions) {
    if (p < -size || p >= size) node.fail("its index " + std::to_string(p) + " is outside an axis of size " + std::to_string(size));
    if (p < 0) p += size;
  }
  constexpr std::size_t kFewRuns = 4;  // more joined slices would cost more than one indexed load
  if (positions.empty() || run_count(positions) > kFewRuns) return {x.gather(axis, index)};
  Shape shape = x.shape();
  shape.erase(shape.begin() + axis);
  shape.insert(shape.begin() + axis, constant->shape().begin(), constant->shape().end());
  return {take_runs(x, axis, positions).reshape(shape)};
}

}  // namespace etch::operators
