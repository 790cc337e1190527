// A convolution with a node's attributes (auto_pad, dilations, group, kernel_shape, pads, strides), for all operators that are
// convolutions: Conv on floats, ConvInteger and QLinearConv on integers minus their zero points.
#pragma once

#include "onnx/node.h"

namespace etch::operators {

/// x [N, C, d...] by weight [M, C / group, k...], bias [M] or empty. UserError at the node if they do not fit.
Tensor convolution(NodeContext& node, const Tensor& x, const Tensor& weight, const Tensor& bias);

}  // namespace etch::operators
