// Helpers of operator functions: axes, constants in a tensor's own type, checks whose errors name the node.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "onnx/node.h"

namespace etch::operators {

/// `axis` counted from the front; UserError at the node if it is not one of a tensor of `rank`. `what` names it.
int axis_of(const NodeContext& node, std::int64_t axis, int rank, const std::string& what = "attribute axis");
/// The same for several, sorted; an axis named twice is an error.
std::vector<int> axes_of(const NodeContext& node, const std::vector<std::int64_t>& axes, int rank, const std::string& what = "axes");
/// Size of `axis`, which must be known while generating; `what` names the tensor.
std::int64_t fixed_dim(const NodeContext& node, const Tensor& tensor, int axis, const std::string& what);
/// The same for all axes.
std::vector<std::int64_t> fixed_shape(const NodeContext& node, const Tensor& tensor, const std::string& what);
/// "[2, 3]"
std::string list_text(const std::vector<std::int64_t>& values);

/// The constant `value` in the type of `like`, of rank 0 (it broadcasts).
Tensor number(const Tensor& like, double value);
Tensor integer(const Tensor& like, std::int64_t value);
/// The same in `dtype`.
Tensor number(LazyGraph& graph, DType dtype, double value);
Tensor integer(LazyGraph& graph, DType dtype, std::int64_t value);
/// A constant tensor of positions.
Tensor index_constant(LazyGraph& graph, std::vector<std::int64_t> shape, const std::vector<std::int64_t>& values);
/// A constant tensor of a float type.
Tensor float_constant(LazyGraph& graph, DType dtype, std::vector<std::int64_t> shape, const std::vector<double>& values);

/// The number that constant input `i` holds; UserError if it has not exactly one element.
Scalar constant_number(const NodeContext& node, int i, const std::string& what);

/// UserError unless inputs `a` and `b` have one type, as ONNX demands of them.
void require_same_type(const NodeContext& node, int a, int b);
/// UserError unless input `i` has one of `accepted`.
void require_type(const NodeContext& node, int i, const std::vector<DType>& accepted);
/// UserError unless the number of inputs is in [low, high].
void require_inputs(const NodeContext& node, int low, int high);

/// The positions `x` along an axis of `size` in an integer type that holds them all; negative ones, which count from the end, become
/// positive.
Tensor wrapped_index(const Tensor& x, const Sint& size);
/// The positions `x` as constant data in a small type if they depend on constants alone; else `x`.
Tensor folded_index(const Tensor& x);
/// 0, 1, ... size-1 along `axis` of `rank` axes; all other axes have size 1.
Tensor positions(LazyGraph& graph, const Sint& size, int axis, int rank, DType dtype = DType::Int64);
/// `x` with the axes in `order` in front, the rest behind; and the way back.
Tensor move_axis(const Tensor& x, int from, int to);
/// x in float32 if it is of a 16-bit float type: for sums and products that round only once, at the end.
Tensor widened(const Tensor& x);
/// Whether it is known before a run, in whatever order it is seen.
bool is_given(const Tensor& x);
/// A part of a constant as one of its own: kernels lay out constants that they read as a whole.
Tensor as_own_constant(const Tensor& part);
/// true where x is NaN; for integers a constant false.
Tensor is_nan(const Tensor& x);

/// The DType with ONNX's type number `type`, which `what` (an attribute) gave; UserError if there is none.
DType dtype_of_number(const NodeContext& node, std::int64_t type, const std::string& what);

}  // namespace etch::operators
