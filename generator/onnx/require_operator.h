// Internal to onnx/: what a node may be.
#pragma once

#include <string>

#include "onnx/operators.h"

namespace onnx {
class ModelProto;
class NodeProto;
}  // namespace onnx

namespace etch {

/// UnsupportedError if the node calls a function of the model, or an operator of another domain than ONNX's own.
void require_main_domain(const onnx::NodeProto& node, const onnx::ModelProto& model, const std::string& place);
/// The row of the node's operator; UnsupportedError if there is none at `opset`.
const OperatorRow& require_operator(const onnx::NodeProto& node, int opset, const std::string& place);

}  // namespace etch
