#include "onnx/require_operator.h"

#include <onnx/onnx_pb.h>

#include "base/error.h"
#include "onnx/header.h"
#include "onnx/order.h"

namespace etch {

using onnx::NodeProto;

void require_main_domain(const NodeProto& node, const onnx::ModelProto& model, const std::string& place) {
  for (const auto& function : model.functions()) {
    if (function.name() != node.op_type() || function.domain() != node.domain()) continue;
    throw UnsupportedError(node_place(place, node), "it calls the model-local function '" + function.domain() + "." + function.name() + "'",
                           "inline the functions: onnx.inliner.inline_local_functions(model)", "model-local functions");
  }
  if (is_main_domain(node.domain())) return;
  throw UnsupportedError(node_place(place, node),
                         "its operator is of the domain '" + node.domain() + "', operators of ai.onnx are accepted",
                         "give a function in C that computes it, --custom " + node.domain() + "." + node.op_type() +
                             "=FUNCTION --custom-file FILE.c, or export the model without operators of other domains",
                         "operators of the domain " + node.domain());
}

const OperatorRow& require_operator(const NodeProto& node, int opset, const std::string& place) {
  if (const OperatorRow* row = find_operator(node.op_type(), opset)) return *row;
  if (const auto oldest = oldest_opset_of(node.op_type())) {
    throw UnsupportedError(
        node_place(place, node),
        "the operator is supported from opset " + std::to_string(*oldest) + " on, the model uses opset " + std::to_string(opset),
        "export the model with opset " + std::to_string(*oldest) + " or newer",
        "operator " + node.op_type() + " at opset " + std::to_string(opset));
  }
  const std::string nearest = nearest_operator(node.op_type());
  throw UnsupportedError(
      node_place(place, node), "operator '" + node.op_type() + "' is not supported at opset " + std::to_string(opset),
      nearest.empty() ? "'etch ops' lists the supported operators" : "did the exporter mean '" + nearest + "'? 'etch ops' lists all",
      "operator " + node.op_type());
}

}  // namespace etch
