#include "onnx/require_operator.h"

#include <onnx/onnx_pb.h>

#include "base/error.h"
#include "onnx/header.h"
#include "onnx/order.h"

namespace etch {

using onnx::NodeProto;

void require_known_domain(const NodeProto& node, const onnx::ModelProto& model, const std::string& place) {
  for (const auto& function : model.functions()) {
    if (function.name() != node.op_type() || function.domain() != node.domain()) continue;
    throw UnsupportedError(node_place(place, node), "it calls the model-local function '" + function.domain() + "." + function.name() + "'",
                           "inline the functions: onnx.inliner.inline_local_functions(model)", "model-local functions");
  }
  if (is_main_domain(node.domain()) || node.domain() == kTrainingDomain) return;
  throw UnsupportedError(
      node_place(place, node),
      "its operator is of the domain '" + node.domain() + "', operators of ai.onnx and " + std::string(kTrainingDomain) + " are accepted",
      "give a function in C that computes it, --custom " + node.domain() + "." + node.op_type() +
          "=FUNCTION --custom-file FILE.c, or export the model without operators of other domains",
      "operators of the domain " + node.domain());
}

namespace {

const OperatorRow& require_training_operator(const NodeProto& node, int version, const std::string& place) {
  const std::string domain(kTrainingDomain);
  if (version != kTrainingVersion) {
    throw UnsupportedError(node_place(place, node),
                           version == 0 ? "the model names no version of its domain " + domain
                                        : "the model uses version " + std::to_string(version) + " of its domain " + domain,
                           "version " + std::to_string(kTrainingVersion) + " is accepted", "version of the domain " + domain);
  }
  if (const OperatorRow* row = find_operator(node.op_type(), version, kTrainingDomain)) return *row;
  std::string known;
  for (const OperatorRow& row : operator_rows())
    if (row.domain == kTrainingDomain) known += (known.empty() ? "" : ", ") + std::string(row.name);
  throw UnsupportedError(node_place(place, node), "the domain " + domain + " has no operator '" + node.op_type() + "'",
                         "it has " + known + "; those of ai.onnx have no domain in a node", "operator " + node.op_type());
}

}  // namespace

const OperatorRow& require_operator(const NodeProto& node, int opset, const std::string& place) {
  if (!is_main_domain(node.domain())) return require_training_operator(node, opset, place);
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
