// Functions: what the tape records. Each is a row with its value and its gradient, of ir/ops.def for one operation of a LazyBuffer, of
// functions.def for the rest (tinygrad's mlops.py). Gradients are written with Tensor methods, so that they have gradients themselves.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/op.h"
#include "lazy/affine.h"
#include "lazy/tensor.h"

namespace etch {

enum class Function : std::uint8_t {
#define FUNCTION(name, forward, backward, meaning) name,
#include "lazy/functions.def"
};

inline constexpr std::string_view kFunctions[] = {
#define FUNCTION(name, forward, backward, meaning) #name,
#include "lazy/functions.def"
};

/// What a function takes besides tensors; each row uses some of it.
struct FunctionArguments {
  Shape shape = {};
  std::vector<int> axes = {};
  Padding ranges = {};
  std::vector<std::int64_t> numbers = {};
  std::vector<AxisStep> steps = {};
  DType dtype{};
  Window window = {};
  std::int64_t groups = 1;
};

/// The value of a function, noted on the tape if one of its operands requires a gradient. The arguments are right: Tensor checks them.
Tensor apply(Function function, std::vector<Tensor> operands, FunctionArguments arguments = {});
/// The same of an operation. Cast and Bitcast take `dtype`; reductions take `axes`, which stay with size 1.
Tensor apply(Op op, std::vector<Tensor> operands, FunctionArguments arguments = {});

// --- what functions.cc and gradients of windows share

/// [N, groups, 1, o.., C/groups, k..]: the windows of x [N,C,d..], as a convolution multiplies them.
Tensor windows_of_groups(const Tensor& x, const Window& window, std::int64_t groups);
Tensor convolution(const Tensor& x, const Tensor& weight, const Window& window, std::int64_t groups);
Tensor largest_of_windows(const Tensor& x, const Window& window);
/// The gradient of a convolution to its input of shape `x`, as one product without the zeros between the windows of a stride; nullopt where
/// no stride is above 1, `x` has no multiples of the strides, a kernel is dilated, padding in front is negative, or sizes are open.
std::optional<Tensor> conv_input_by_phases(const Tensor& g, const Shape& x, const Tensor& weight, const Window& window,
                                           std::int64_t groups);
Tensor of_conv_input(const Tensor& g, const Tensor& x, const Tensor& weight, const FunctionArguments& f);
Tensor of_conv_weight(const Tensor& g, const Tensor& x, const Tensor& weight, const FunctionArguments& f);
Tensor of_max_pool(const Tensor& g, const Tensor& x, const Tensor& y, const Window& window);
/// The adjoint of affine_view: each element of `g` is added to the element of a tensor of `shape` that it was read from.
Tensor added_up(const Tensor& g, const FunctionArguments& f, const Shape& shape);

}  // namespace etch
