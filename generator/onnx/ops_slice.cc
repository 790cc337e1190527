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

constexpr std::int64_t kMaxPositions = 1 << 24;  // largest axis whose elements are listed one by one

using Sints = std::vector<Sint>;

/// Every step-th element of `axis` in [begin, end), backwards from the last one if step < 0.
Tensor cut(const Tensor& x, int axis, Sint begin, Sint end, std::int64_t step) {
  Padding ranges;
  for (const Sint& d : x.shape()) ranges.emplace_back(Sint(0), d);
  ranges[static_cast<std::size_t>(axis)] = {begin, end};
  std::vector<std::int64_t> steps(ranges.size(), 1);
  steps[static_cast<std::size_t>(axis)] = step;
  return x.shrink(ranges).stride(steps);
}

/// A bound of a slice, counted from the front and clamped to [0, size], or to [-1, size - 1] if the slice goes backwards. nullopt if the
/// result is not the same expression for all sizes.
std::optional<Sint> clamped_bound(Sint bound, Sint size, bool backwards) {
  const Sint low = backwards ? -1 : 0, high = backwards ? size - 1 : size;
  if (bound.is_int() && bound.as_int() >= size.max()) return high;
  if (bound.is_int() && bound.as_int() < -size.max()) return low;
  if (bound.max() < 0)
    bound = size + bound;
  else if (bound.min() < 0)
    return std::nullopt;
  const auto below = try_min(bound, high);
  return below ? try_max(*below, low) : std::nullopt;
}

/// The smallest size for which the bounds lie inside and in order, for constant bounds that are not meant to reach an end; 0 if none is
/// known.
std::int64_t least_size(Sint start, Sint end, Sint size, bool backwards) {
  std::int64_t least = 0;
  std::vector<std::int64_t> inside;
  for (const Sint& bound : {start, end}) {
    if (!bound.is_int() || bound.as_int() >= size.max() || bound.as_int() < -size.max()) continue;
    inside.push_back(bound.as_int());
    least = std::max(least, bound.as_int() < 0 ? -bound.as_int() : bound.as_int() + (backwards ? 1 : 0));
  }
  if (inside.size() < 2) return least;
  const std::int64_t front = backwards ? inside[1] : inside[0], back = backwards ? inside[0] : inside[1];
  if (front >= 0 && back < 0) least = std::max(least, front - back);
  return front < 0 && back >= 0 ? 0 : least;
}

std::string not_inside(int axis, Sint size, Sint start, Sint end, std::int64_t step) {
  const std::int64_t least = least_size(start, end, size, step < 0);
  return "the slice " + to_text(start) + ":" + to_text(end) + ":" + std::to_string(step) + " of axis " + std::to_string(axis) +
         " lies inside for some of its sizes " + to_text(size) + " (" + std::to_string(size.min()) + ".." + std::to_string(size.max()) +
         ") and not for others" + (least > size.min() && least <= size.max() ? "; it does from " + std::to_string(least) + " on" : "");
}

Tensor slice_axis(const NodeContext& node, const Tensor& x, int axis, Sint start, Sint end, std::int64_t step) {
  const Sint size = x.dim(axis);
  // Unlike numpy, ONNX clamps the start of a slice to an element, also if the slice goes backwards.
  if (step < 0 && start.is_int() && start.as_int() < -size.max()) start = -size;
  if (size.is_int() && start.is_int() && end.is_int()) return x.slice(axis, start.as_int(), end.as_int(), step);
  const bool backwards = step < 0;
  const std::optional<Sint> first = clamped_bound(start, size, backwards), last = clamped_bound(end, size, backwards);
  if (!first || !last) node.fail(not_inside(axis, size, start, end, step), node.size_help({size, start, end}));
  const Sint span = backwards ? *first - *last : *last - *first;
  if (span.max() <= 0) return cut(x, axis, 0, 0, 1);
  if (!proves_nonnegative(span)) node.fail(not_inside(axis, size, start, end, step), node.size_help({size, start, end}));
  const std::int64_t by = std::clamp(step, -span.max(), span.max());  // a longer step takes the first element too, and no other
  return backwards ? cut(x, axis, *last + 1, *first + 1, by) : cut(x, axis, *first, *last, by);
}

/// For each position of an axis of `size` padded by (before, after), the source position that `mode` takes.
Sints sources_of(const NodeContext& node, std::int64_t size, std::int64_t before, std::int64_t after, const std::string& mode) {
  if (size == 0 || (size == 1 && mode == "reflect" && (before > 0 || after > 0))) {
    node.fail("an axis of size " + std::to_string(size) + " can't be padded in mode " + mode);
  }
  if (before + size + after > kMaxPositions) {
    node.fail("its pads make an axis of " + std::to_string(before + size + after) + " elements, mode " + mode + " is supported up to " +
              std::to_string(kMaxPositions));
  }
  Sints sources;
  for (std::int64_t i = -before; i < size + after; i++) {
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

/// A run of positions with equal distances.
struct PositionRun {
  Sint first;
  std::int64_t step = 1, count = 1;
};

std::vector<PositionRun> runs_of(const Sints& positions) {
  std::vector<PositionRun> runs;
  std::size_t i = 0;
  while (i < positions.size()) {
    PositionRun run{positions[i], 1, 1};
    if (i + 1 < positions.size() && (positions[i + 1] - positions[i]).is_int()) {
      run.step = (positions[i + 1] - positions[i]).as_int();
      while (i + static_cast<std::size_t>(run.count) < positions.size() &&
             positions[i + static_cast<std::size_t>(run.count)] == run.first + run.step * run.count)
        run.count++;
    }
    i += static_cast<std::size_t>(run.count);
    runs.push_back(run);
  }
  return runs;
}

Tensor take_run(const Tensor& x, int axis, const PositionRun& run) {
  const Sint last = run.first + (run.count - 1) * run.step;
  if (run.step != 0) return cut(x, axis, run.step > 0 ? run.first : last, (run.step > 0 ? last : run.first) + 1, run.step);
  Shape shape = x.shape();
  shape[static_cast<std::size_t>(axis)] = run.count;
  return cut(x, axis, run.first, run.first + 1, 1).expand(shape);
}

/// x at `positions` of `axis`: runs of equal distance are slices, so nothing is looked up when the model runs.
void add_runs(std::vector<Tensor>& parts, const Tensor& x, int axis, const Sints& positions) {
  for (const PositionRun& run : runs_of(positions)) parts.push_back(take_run(x, axis, run));
}

Tensor take_runs(const Tensor& x, int axis, const Sints& positions) {
  std::vector<Tensor> parts;
  add_runs(parts, x, axis, positions);
  return parts.size() == 1 ? parts[0] : Tensor::cat(parts, axis);
}

/// `x` with an axis of open size padded by `mode` at both ends.
Tensor pad_open_axis(const NodeContext& node, const Tensor& x, int axis, std::int64_t before, std::int64_t after, const std::string& mode) {
  const Sint size = x.dim(axis);
  const std::int64_t least = mode == "edge" ? 1 : std::max(before, after) + (mode == "reflect" ? 1 : 0);
  if (size.min() < least) {
    node.fail("its pads of " + std::to_string(before) + " and " + std::to_string(after) + " in mode " + mode + " need at least " +
                  std::to_string(least) + " elements, axis " + std::to_string(axis) + " of size " + to_text(size) + " has from " +
                  std::to_string(size.min()) + " on",
              node.size_help({size}));
  }
  Sints front, back;
  for (std::int64_t i = before; i > 0; i--) front.push_back(mode == "edge" ? Sint(0) : mode == "wrap" ? size - i : Sint(i));
  for (std::int64_t i = 0; i < after; i++) back.push_back(mode == "edge" ? size - 1 : mode == "wrap" ? Sint(i) : size - 2 - i);
  std::vector<Tensor> parts;
  add_runs(parts, x, axis, front);
  parts.push_back(x);
  add_runs(parts, x, axis, back);
  return Tensor::cat(parts, axis);
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
    for (int axis = 0; axis < x.rank(); axis++) axes.push_back(axis);
  }
  if (result.pads.size() != 2 * axes.size()) {
    node.fail("it has " + std::to_string(result.pads.size()) + " pads for " + std::to_string(axes.size()) +
              " axes, two for each are expected");
  }
  std::vector<Sint> all(2 * rank, Sint(0));
  for (std::size_t i = 0; i < axes.size(); i++) {
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
    for (std::size_t i = 0; i < starts.size(); i++) axes.push_back(static_cast<std::int64_t>(i));
  }
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size()) {
    node.fail("it has " + std::to_string(starts.size()) + " starts, " + std::to_string(ends.size()) + " ends, " +
              std::to_string(axes.size()) + " axes and " + std::to_string(steps.size()) + " steps, equally many are expected");
  }
  axes_of(node, axes, x.rank());  // refuses an axis that is named twice
  for (std::size_t i = 0; i < starts.size(); i++) {
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
  for (std::size_t axis = 0; axis < rank; axis++) {
    const Sint before = inputs.pads[axis], after = inputs.pads[rank + axis];
    shrinking.emplace_back(before.max() < 0 ? before : Sint(0), after.max() < 0 ? after : Sint(0));
    growing.emplace_back(before.max() < 0 ? Sint(0) : before, after.max() < 0 ? Sint(0) : after);
  }
  Shape result = x.shape();
  for (std::size_t axis = 0; axis < rank; axis++) result[axis] = result[axis] + inputs.pads[axis] + inputs.pads[rank + axis];
  for (const Sint& size : result) {
    if (size.min() < 0)
      node.fail("its pads leave the shape " + shape_text(result) + " of its input " + shape_text(x.shape()) + ", sizes are >= 0",
                node.size_help({size}));
  }
  require_sane_shape(result, node);
  x = x.pad(shrinking);
  if (mode == "constant") return {x.pad(growing, inputs.value)};
  if (mode != "reflect" && mode != "edge" && (mode != "wrap" || node.opset() < 19)) {
    node.fail("attribute mode is '" + mode + "', accepted are constant, reflect, edge, and from opset 19 on wrap");
  }
  for (int axis = 0; axis < x.rank(); axis++) {
    const auto& [before, after] = growing[static_cast<std::size_t>(axis)];
    if (before.is_int(0) && after.is_int(0)) continue;
    if (!before.is_int() || !after.is_int())
      node.fail("its pads at axis " + std::to_string(axis) + " depend on an open size, mode " + mode + " needs numbers",
                node.size_help({before, after}));
    x = x.dim(axis).is_int() ? take_runs(x, axis, sources_of(node, x.dim(axis).as_int(), before.as_int(), after.as_int(), mode))
                             : pad_open_axis(node, x, axis, before.as_int(), after.as_int(), mode);
  }
  return {x};
}

Outputs gather(NodeContext& node) {
  const Tensor x = node.input(0), index = node.input(1);
  if (!is_int(index.dtype())) node.fail("its indices are " + std::string(name_of(index.dtype())) + ", integers are expected");
  const int axis = axis_of(node, node.attribute_int("axis", 0), x.rank());
  const std::optional<Array> constant = node.constant(1);
  if (!constant) return {x.gather(axis, index)};
  const Sint size = x.dim(axis);
  Sints at;
  for (std::int64_t p : constant->ints()) {
    if (p < -size.max() || p >= size.max()) {
      node.fail("its index " + std::to_string(p) + " is outside axis " + std::to_string(axis) + " of size " + to_text(size) +
                    (size.is_int() ? "" : ", which is at most " + std::to_string(size.max())),
                node.size_help({size}));
    }
    if (p < -size.min() || p >= size.min()) {
      node.fail("its index " + std::to_string(p) + " is outside axis " + std::to_string(axis) + " where the size " + to_text(size) +
                    " is below " + std::to_string(p < 0 ? -p : p + 1),
                node.size_help({size}));
    }
    at.push_back(p < 0 ? size + p : Sint(p));
  }
  constexpr std::size_t kFewRuns = 4;  // more joined slices would cost more than one indexed load
  if (at.empty() || runs_of(at).size() > kFewRuns) return {x.gather(axis, index)};
  Shape shape = x.shape();
  shape.erase(shape.begin() + axis);
  shape.insert(shape.begin() + axis, constant->shape().begin(), constant->shape().end());
  return {take_runs(x, axis, at).reshape(shape)};
}

}  // namespace etch::operators
