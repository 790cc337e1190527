// Internal to onnx/: what a node may be.
#pragma once

#include <string>

#include "onnx/operators.h"

namespace onnx {
class ModelProto;
class NodeProto;
}  // namespace onnx

namespace etch {

/// UnsupportedError if the node calls a function of the model, or an operator of a domain that has none of ours.
void require_known_domain(const onnx::NodeProto& node, const onnx::ModelProto& model, const std::string& place);
/// The row of the node's operator; UnsupportedError if there is none at that version of the node's domain.
const OperatorRow& require_operator(const onnx::NodeProto& node, int version, const std::string& place);

}  // namespace etch
