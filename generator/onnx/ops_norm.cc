// Normalisations and Softmax, for inference. Where parameters may have a type of their own, 16-bit floats are widened here.
#include "ir/lazyop.h"
#include "onnx/operators.h"
#include "onnx/ops_common.h"

namespace etch::operators {
namespace {

using Ints = std::vector<std::int64_t>;

/// A tensor [C] as [1,C,1,...] of `rank` axes.
Tensor per_channel(const NodeContext& node, const Tensor& x, int rank, const std::string& what) {
  if (x.rank() != 1) node.fail("its " + what + " has the shape " + shape_text(x.shape()) + ", one axis is expected");
  Shape shape(static_cast<std::size_t>(rank), Sint(1));
  shape[1] = x.dim(0);
  return x.reshape(shape);
}

void require_size(const NodeContext& node, const Tensor& x, const Sint& size, const std::string& what) {
  if (x.rank() == 1 && x.dim(0) == size) return;
  node.fail("its " + what + " has the shape " + shape_text(x.shape()) + ", [" + to_text(size) + "] is expected");
}

struct Moments {
  Tensor mean, inverse_deviation;
};

/// Mean and inverse deviation over `axes`, which stay with size 1.
Moments moments(const Tensor& x, const std::vector<int>& axes, double epsilon) {
  const Tensor mean = x.mean(axes, true);
  const Tensor variance = (x - mean).square().mean(axes, true);
  return {mean, (variance + number(x, epsilon)).sqrt().reciprocal()};
}

std::vector<int> axes_from(int first, int rank) {
  std::vector<int> axes;
  for (int axis = first; axis < rank; axis++) axes.push_back(axis);
  return axes;
}

DType stash_type(NodeContext& node) {
  const DType dtype = dtype_of_number(node, node.attribute_int("stash_type", 1), "attribute stash_type");
  if (!is_float(dtype)) node.fail("attribute stash_type is " + std::string(name_of(dtype)) + ", a float type is expected");
  return dtype;
}

/// The axes over which softmax sums: before opset 13 all from `axis` on (the input is seen as a matrix), then `axis` alone.
std::vector<int> softmax_axes(NodeContext& node, const Tensor& x) {
  const bool flattens = node.opset() < 13;
  const std::int64_t given = node.attribute_int("axis", flattens ? 1 : -1);
  if (flattens && given == x.rank()) return {};  // each row has one element
  const int axis = axis_of(node, given, x.rank());
  return flattens ? axes_from(axis, x.rank()) : std::vector<int>{axis};
}

}  // namespace

Outputs relu(NodeContext& node) { return {node.input(0).relu()}; }

Outputs softmax(NodeContext& node) {
  const Tensor x = node.input(0);
  const std::vector<int> axes = softmax_axes(node, x);
  if (axes.empty()) return {x - x + number(x, 1)};
  return {x.softmax(axes)};
}

Outputs log_softmax(NodeContext& node) {
  const Tensor x = node.input(0);
  const std::vector<int> axes = softmax_axes(node, x);
  if (axes.empty()) return {x - x};
  return {x.log_softmax(axes)};
}

Outputs batch_normalization(NodeContext& node) {
  const Tensor x = node.input(0);
  require_inputs(node, 5, 5);
  if (x.rank() < 2) node.fail("its input has the shape " + shape_text(x.shape()) + ", axis 1 (channels) is missing");
  node.acknowledge("momentum");  // used in training only
  if (node.opset() >= 14 && node.attribute_int("training_mode", 0) != 0) {
    node.fail("attribute training_mode is 1, inference is supported", "export the model in evaluation mode");
  }
  if (node.opset() < 9 && node.attribute_int("spatial", 1) != 1)
    node.fail("attribute spatial is 0, one mean per channel (spatial 1) is supported");
  std::vector<Tensor> parameters;
  const char* names[] = {"scale", "bias", "mean", "variance"};
  for (int i = 1; i < 5; i++) {
    require_size(node, node.input(i), x.dim(1), names[i - 1]);
    parameters.push_back(widened(node.input(i)));
  }
  const Tensor y = widened(x).batchnorm(parameters[0], parameters[1], parameters[2], parameters[3], node.attribute_float("epsilon", 1e-5));
  return {y.cast(x.dtype())};
}

Outputs instance_normalization(NodeContext& node) {
  const Tensor x = node.input(0);
  if (x.rank() < 3) node.fail("its input has the shape " + shape_text(x.shape()) + ", axes after batch and channels are needed");
  require_size(node, node.input(1), x.dim(1), "scale");
  require_size(node, node.input(2), x.dim(1), "bias");
  const Moments m = moments(x, axes_from(2, x.rank()), node.attribute_float("epsilon", 1e-5));
  const Tensor scale = per_channel(node, node.input(1), x.rank(), "scale"), bias = per_channel(node, node.input(2), x.rank(), "bias");
  return {(x - m.mean) * m.inverse_deviation * scale + bias};
}

Outputs layer_normalization(NodeContext& node) {
  const Tensor x = node.input(0), wide = x.cast(stash_type(node));
  const int axis = axis_of(node, node.attribute_int("axis", -1), x.rank());
  const Moments m = moments(wide, axes_from(axis, x.rank()), node.attribute_float("epsilon", 1e-5));
  const Shape shape = x.shape();
  Tensor y = ((wide - m.mean) * m.inverse_deviation).cast(x.dtype()) * node.input(1);
  if (node.has_input(2)) y = y + node.input(2);
  if (!(y.shape() == shape))
    node.fail("its scale " + shape_text(node.input(1).shape()) + " or bias does not broadcast to its input " + shape_text(shape));
  return {y, m.mean, m.inverse_deviation};
}

Outputs group_normalization(NodeContext& node) {
  const Tensor x = node.input(0);
  const bool per_group = node.opset() < 21;  // scale and bias: one a group, from opset 21 on one a channel
  const Tensor wide = per_group ? widened(x) : x.cast(stash_type(node));
  if (x.rank() < 3) node.fail("its input has the shape " + shape_text(x.shape()) + ", axes after batch and channels are needed");
  const std::int64_t groups = node.attribute_int("num_groups"), channels = fixed_dim(node, x, 1, "input");
  if (groups < 1 || channels % groups != 0)
    node.fail("attribute num_groups is " + std::to_string(groups) + ", it must divide the " + std::to_string(channels) + " channels");
  Shape grouped = x.shape();
  grouped[1] = channels / groups;
  grouped.insert(grouped.begin() + 1, Sint(groups));
  const Tensor g = wide.reshape(grouped);
  const Moments m = moments(g, axes_from(2, g.rank()), node.attribute_float("epsilon", 1e-5));
  const Tensor normalised = (g - m.mean) * m.inverse_deviation;
  const Tensor scale = node.input(1).cast(wide.dtype()), bias = node.input(2).cast(wide.dtype());
  require_size(node, scale, per_group ? groups : channels, "scale");
  require_size(node, bias, per_group ? groups : channels, "bias");
  if (per_group) {
    const Tensor y = normalised * per_channel(node, scale, g.rank(), "scale") + per_channel(node, bias, g.rank(), "bias");
    return {y.reshape(x.shape()).cast(x.dtype())};
  }
  const Tensor y = normalised.reshape(x.shape()).cast(x.dtype());
  return {y * per_channel(node, node.input(1), x.rank(), "scale") + per_channel(node, node.input(2), x.rank(), "bias")};
}

Outputs lp_normalization(NodeContext& node) {
  const Tensor x = node.input(0);
  const int axis = axis_of(node, node.attribute_int("axis", -1), x.rank());
  const std::int64_t p = node.attribute_int("p", 2);
  if (p != 1 && p != 2) node.fail("attribute p is " + std::to_string(p) + ", 1 and 2 are accepted");
  const Tensor norm = p == 1 ? x.abs().sum({axis}, true) : x.square().sum({axis}, true).sqrt();
  // A vector of zeros stays zero.
  return {x / norm.equal(number(norm, 0)).where(number(norm, 1), norm)};
}

Outputs mean_variance_normalization(NodeContext& node) {
  const Tensor x = node.input(0);
  const std::vector<int> axes = axes_of(node, node.attribute_ints("axes", Ints{0, 2, 3}), x.rank(), "attribute axes");
  const Tensor centred = x - x.mean(axes, true);
  const Tensor deviation = centred.square().mean(axes, true).sqrt();
  return {centred / (deviation + number(x, 1e-9))};  // 1e-9 is part of the operator's definition
}

Outputs lrn(NodeContext& node) {
  const Tensor x = node.input(0);
  if (x.rank() < 2) node.fail("its input has the shape " + shape_text(x.shape()) + ", axis 1 (channels) is missing");
  const std::int64_t size = node.attribute_int("size");
  if (size < 1) node.fail("attribute size is " + std::to_string(size) + ", a number >= 1 is expected");
  const double alpha = node.attribute_float("alpha", 1e-4), beta = node.attribute_float("beta", 0.75),
               bias = node.attribute_float("bias", 1.0);
  // Channels become a spatial axis of their own: [N,C,d...] -> [N,1,C,D], windows of `size` along C.
  const Shape& shape = x.shape();
  const Tensor rows = x.square().reshape({shape[0], 1, shape[1], product({shape.begin() + 2, shape.end()})});
  Window window;
  window.kernel = {size, 1};
  window.pads = {{(size - 1) / 2, size / 2}, {0, 0}};
  const Tensor sums = rows.windows(window, 0).sum({4, 5}).reshape(shape);
  const Tensor scale = sums * number(x, alpha / static_cast<double>(size)) + number(x, bias);
  return {x / scale.pow(number(x, beta))};
}

}  // namespace etch::operators
