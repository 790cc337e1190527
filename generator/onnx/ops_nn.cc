// Convolution and pooling. ONNX's window attributes (auto_pad, pads, strides, dilations, ceil_mode) become a Window here.
#include <algorithm>
#include <limits>

#include "ir/lazyop.h"
#include "onnx/convolution.h"
#include "onnx/limits.h"
#include "onnx/operators.h"
#include "onnx/ops_common.h"

namespace etch::operators {
namespace {

using Ints = std::vector<std::int64_t>;

constexpr std::int64_t kMostOfAWindow = 1 << 24;  // limit of kernel, stride, ...: a larger number means a damaged file

/// An attribute with one number for each spatial axis.
Ints per_axis(NodeContext& node, const std::string& name, std::size_t count, std::int64_t fallback, std::int64_t least) {
  const Ints values = node.attribute_ints(name, Ints(count, fallback));
  bool valid = values.size() == count;
  for (std::int64_t v : values) valid = valid && v >= least && v <= kMostOfAWindow;
  if (!valid) {
    node.fail("attribute " + name + " is " + list_text(values) + ", " + std::to_string(count) + " numbers from " + std::to_string(least) +
              " to " + std::to_string(kMostOfAWindow) + " are expected");
  }
  return values;
}

/// Axes 2 and up of a [N,C,...] tensor.
std::size_t spatial_axes(const NodeContext& node, const Tensor& x, int most) {
  if (x.rank() < 3 || x.rank() > 2 + most) {
    node.fail("its input has the shape " + shape_text(x.shape()) + ", 1 to " + std::to_string(most) +
              " axes after batch and channels are accepted");
  }
  return static_cast<std::size_t>(x.rank() - 2);
}

/// (before, after) of each axis so that SAME_* gives ceil(size / stride) outputs.
void pad_same(const NodeContext& node, const Tensor& x, bool upper, Window& window) {
  window.pads.clear();
  for (std::size_t i = 0; i < window.kernel.size(); i++) {
    const Sint size = x.dim(static_cast<int>(i) + 2);
    const std::int64_t stride = window.stride[i], extent = (window.kernel[i] - 1) * window.dilation[i] + 1;
    Sint total = (floordiv(size + (stride - 1), stride) - 1) * stride + (extent - size);
    if (extent == 1 || total.max() <= 0) {
      total = 0;
    } else if (total.is_int() || extent >= stride) {
      // A kernel that is at least as wide as the stride covers every element.
    } else {
      node.fail("its pads by auto_pad SAME are none at some values of the open size " + to_text(size) + " of axis " +
                    std::to_string(i + 2) + " and some at others",
                node.size_help({size}) + "; or export the model with explicit pads");
    }
    const Sint less = floordiv(total, 2);
    window.pads.emplace_back(upper ? less : total - less, upper ? total - less : less);
  }
}

/// The window of a convolution or pooling of `x` with that kernel.
Window window_of(NodeContext& node, const Tensor& x, Ints kernel, bool has_dilations) {
  const std::size_t count = kernel.size();
  Window window;
  window.kernel = std::move(kernel);
  window.stride = per_axis(node, "strides", count, 1, 1);
  window.dilation = has_dilations ? per_axis(node, "dilations", count, 1, 1) : Ints(count, 1);
  const std::string auto_pad = node.attribute_string("auto_pad", "NOTSET");
  const Ints pads = per_axis(node, "pads", 2 * count, 0, 0);
  for (std::size_t i = 0; i < count; i++) window.pads.emplace_back(pads[i], pads[count + i]);
  if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
    pad_same(node, x, auto_pad == "SAME_UPPER", window);
  } else if (auto_pad == "VALID") {
    window.pads.assign(count, {0, 0});
  } else if (auto_pad != "NOTSET" && !auto_pad.empty()) {
    node.fail("attribute auto_pad is '" + auto_pad + "', accepted are NOTSET, SAME_UPPER, SAME_LOWER, VALID");
  }
  Shape reach = {x.dim(0), x.dim(1)};  // upper bound of the elements of all windows
  for (std::size_t i = 0; i < count; i++) {
    reach.push_back(x.dim(static_cast<int>(i) + 2) + window.pads[i].first + window.pads[i].second);
    reach.push_back(window.kernel[i]);
  }
  require_sane_shape(reach, node, kMaxComputed);
  return window;
}

/// The kernel of a weight [.., .., k...]; attribute kernel_shape, if given, must agree.
Ints kernel_of(NodeContext& node, const Tensor& weight) {
  Ints kernel;
  for (int axis = 2; axis < weight.rank(); axis++) kernel.push_back(fixed_dim(node, weight, axis, "weight"));
  const Ints given = node.attribute_ints("kernel_shape", kernel);
  if (given != kernel)
    node.fail("attribute kernel_shape is " + list_text(given) + ", the weight has the shape " + shape_text(weight.shape()));
  return kernel;
}

Tensor bias_of(const NodeContext& node, int i, std::int64_t channels) {
  if (!node.has_input(i)) return Tensor();
  require_same_type(node, 0, i);
  const Tensor bias = node.input(i);
  if (bias.rank() != 1 || !bias.dim(0).is_int(channels)) {
    node.fail("its bias has the shape " + shape_text(bias.shape()) + ", [" + std::to_string(channels) + "] is expected");
  }
  return bias;
}

Ints pool_kernel(NodeContext& node, const Tensor& x) {
  const std::size_t count = spatial_axes(node, x, 3);
  if (!node.has_attribute("kernel_shape")) node.fail("attribute kernel_shape is missing");
  return per_axis(node, "kernel_shape", count, 1, 1);
}

std::vector<int> spatial(const NodeContext& node, const Tensor& x) {
  if (x.rank() < 3) node.fail("its input has the shape " + shape_text(x.shape()) + ", axes after batch and channels are needed");
  std::vector<int> axes;
  for (int axis = 2; axis < x.rank(); axis++) axes.push_back(axis);
  return axes;
}

/// The position in all of x of each window's largest element, the first one if several are equal; never of padding, even if that is as
/// large. `column_major`: counted as if the spatial axes were stored in the opposite order.
Tensor max_indices(const NodeContext& node, const Tensor& x, const Window& window, bool column_major) {
  const double lowest = is_float(x.dtype()) ? -std::numeric_limits<double>::infinity() : static_cast<double>(int_min(x.dtype()));
  Shape stored = x.shape();
  std::vector<int> order;
  for (int axis = 0; axis < x.rank(); axis++) order.push_back(axis < 2 || !column_major ? axis : x.rank() + 1 - axis);
  for (int axis = 0; axis < x.rank(); axis++)
    stored[static_cast<std::size_t>(axis)] = fixed_dim(node, x, order[static_cast<std::size_t>(axis)], "input");
  const Tensor numbers = Tensor::arange(node.graph(), product(stored)).reshape(stored).permute(order);
  const auto rows = [&](const Tensor& windows) { return windows.flatten(x.rank(), -1); };  // [N,C,o...,k...] -> [N,C,o...,K]
  const Tensor values = rows(x.windows(window, lowest));
  const Tensor inside = rows(Tensor::full(node.graph(), x.shape(), Scalar::of_int(DType::Bool, 1)).windows(window, 0));
  const Tensor largest = Tensor::binary(Op::Or, values.equal(values.max({x.rank()}, true)), is_nan(values));
  const Tensor at = positions(node.graph(), values.dim(x.rank()), x.rank(), x.rank() + 1, DType::Int32);
  std::int64_t count = 1;
  for (std::int64_t k : window.kernel) count *= k;
  const Tensor place = Tensor::binary(Op::And, largest, inside).where(at, integer(at, count - 1)).reduce(Op::ReduceMin, {x.rank()}, true);
  return rows(numbers.windows(window, 0)).gather_elements(x.rank(), place).squeeze({x.rank()});
}

/// Sets the pads and the missing output_padding of ConvTranspose if attribute output_shape or SAME_* prescribes the output's size.
void fit_output(NodeContext& node, const Tensor& x, const Ints& output_pads, Window& window) {
  const std::size_t count = window.kernel.size();
  const std::string auto_pad = node.attribute_string("auto_pad", "NOTSET");
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  if (!same && !node.has_attribute("output_shape")) return;
  Ints wanted;
  if (node.has_attribute("output_shape")) {
    wanted = node.attribute_ints("output_shape");
    if (wanted.size() == count + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);  // some exporters list N and C too
    if (wanted.size() != count)
      node.fail("attribute output_shape is " + list_text(wanted) + ", " + std::to_string(count) + " sizes are expected");
  }
  window.pads.clear();
  for (std::size_t i = 0; i < count; i++) {
    // Without output_shape there are size * stride outputs, so the number that is cut off does not depend on the size.
    const std::int64_t beyond = wanted.empty() ? 0 : window.stride[i] * fixed_dim(node, x, static_cast<int>(i) + 2, "input") - wanted[i];
    const std::int64_t total = beyond - window.stride[i] + output_pads[i] + (window.kernel[i] - 1) * window.dilation[i] + 1;
    const std::int64_t half = total >= 0 ? total / 2 : 0;  // negative: zeros are added at the far end
    window.pads.emplace_back(auto_pad == "SAME_UPPER" ? half : total - half, auto_pad == "SAME_UPPER" ? total - half : half);
    if (total < 0) window.pads.back() = {0, total};
  }
}

}  // namespace

Tensor convolution(NodeContext& node, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  spatial_axes(node, x, 3);
  if (weight.rank() != x.rank())
    node.fail("its weight has the shape " + shape_text(weight.shape()) + ", " + std::to_string(x.rank()) + " axes are expected");
  const Window window = window_of(node, x, kernel_of(node, weight), true);
  const std::int64_t groups = node.attribute_int("group", 1);
  const std::int64_t channels = fixed_dim(node, x, 1, "input"), outputs = fixed_dim(node, weight, 0, "weight"),
                     per_group = fixed_dim(node, weight, 1, "weight");
  if (groups < 1 || per_group * groups != channels || outputs % groups != 0) {
    node.fail(
        "input " + shape_text(x.shape()) + " and weight " + shape_text(weight.shape()) + " do not fit with group " + std::to_string(groups),
        "the weight is [M, C / group, ...] and M a multiple of group");
  }
  if (bias && (bias.rank() != 1 || !bias.dim(0).is_int(outputs))) {
    node.fail("its bias has the shape " + shape_text(bias.shape()) + ", [" + std::to_string(outputs) + "] is expected");
  }
  return x.conv(weight, bias, window, groups);
}

Outputs conv(NodeContext& node) {
  require_same_type(node, 0, 1);
  if (node.has_input(2)) require_same_type(node, 0, 2);
  return {convolution(node, node.input(0), node.input(1), node.has_input(2) ? node.input(2) : Tensor())};
}

Outputs conv_transpose(NodeContext& node) {
  const Tensor x = node.input(0), weight = node.input(1);
  require_same_type(node, 0, 1);
  const std::size_t count = spatial_axes(node, x, 3);
  if (weight.rank() != x.rank())
    node.fail("its weight has the shape " + shape_text(weight.shape()) + ", " + std::to_string(x.rank()) + " axes are expected");
  Window window = window_of(node, x, kernel_of(node, weight), true);
  const Ints output_pads = per_axis(node, "output_padding", count, 0, 0);
  const std::int64_t groups = node.attribute_int("group", 1);
  const std::int64_t channels = fixed_dim(node, x, 1, "input"), inputs = fixed_dim(node, weight, 0, "weight");
  if (groups < 1 || inputs != channels || channels % groups != 0) {
    node.fail(
        "input " + shape_text(x.shape()) + " and weight " + shape_text(weight.shape()) + " do not fit with group " + std::to_string(groups),
        "the weight is [C, M / group, ...] and C a multiple of group");
  }
  fit_output(node, x, output_pads, window);
  Shape reach = {x.dim(0), x.dim(1)};  // windows over the input with zeros between its elements
  for (std::size_t i = 0; i < count; i++) {
    reach.push_back(x.dim(static_cast<int>(i) + 2) * window.stride[i] + 2 * (window.kernel[i] * window.dilation[i]) + output_pads[i]);
    reach.push_back(window.kernel[i]);
  }
  require_sane_shape(reach, node, kMaxComputed);
  return {x.conv_transpose(weight, bias_of(node, 2, groups * fixed_dim(node, weight, 1, "weight")), window, output_pads, groups)};
}

Outputs max_pool(NodeContext& node) {
  const Tensor x = node.input(0);
  const bool column_major = node.attribute_int("storage_order", 0) != 0;  // affects only the values of Indices
  Window window = window_of(node, x, pool_kernel(node, x), node.opset() >= 10);
  window.ceil = node.opset() >= 10 && node.attribute_int("ceil_mode", 0) != 0;
  const Tensor y = x.max_pool(window);
  if (!node.has_output(1)) return {y};
  return {y, max_indices(node, x, window, column_major)};
}

Outputs average_pool(NodeContext& node) {
  const Tensor x = node.input(0);
  Window window = window_of(node, x, pool_kernel(node, x), node.opset() >= 19);
  window.ceil = node.opset() >= 10 && node.attribute_int("ceil_mode", 0) != 0;
  return {x.average_pool(window, node.attribute_int("count_include_pad", 0) != 0)};
}

Outputs lp_pool(NodeContext& node) {
  const Tensor x = node.input(0);
  Window window = window_of(node, x, pool_kernel(node, x), node.opset() >= 18);
  window.ceil = node.opset() >= 18 && node.attribute_int("ceil_mode", 0) != 0;
  const std::int64_t p = node.attribute_int("p", 2);
  if (p < 1) node.fail("attribute p is " + std::to_string(p) + ", a number >= 1 is expected");
  return {x.lp_pool(window, p)};
}

Outputs global_average_pool(NodeContext& node) {
  const Tensor x = node.input(0);
  return {x.mean(spatial(node, x), true)};
}

Outputs global_max_pool(NodeContext& node) {
  const Tensor x = node.input(0);
  return {x.max(spatial(node, x), true)};
}

Outputs global_lp_pool(NodeContext& node) {
  const Tensor x = node.input(0), wide = widened(x).abs();
  const std::int64_t p = node.attribute_int("p", 2);
  if (p < 1) node.fail("attribute p is " + std::to_string(p) + ", a number >= 1 is expected");
  const std::vector<int> axes = spatial(node, x);
  if (p == 1) return {wide.sum(axes, true).cast(x.dtype())};
  if (p == 2) return {wide.square().sum(axes, true).sqrt().cast(x.dtype())};
  const double power = static_cast<double>(p);
  return {wide.pow(number(wide, power)).sum(axes, true).pow(number(wide, 1.0 / power)).cast(x.dtype())};
}

}  // namespace etch::operators
