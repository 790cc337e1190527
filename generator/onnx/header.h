// What an ONNX file says of itself before any node is looked at: name, producer, opset, the types that it declares. Internal to onnx/.
#pragma once

#include <string>

#include "onnx/import.h"

namespace onnx {
class ModelProto;
class TensorShapeProto;
}  // namespace onnx

namespace etch {

bool is_main_domain(const std::string& domain);
bool is_accepted_opset(int opset);

/// Fills name, producer, IR version and declared tensors of `result`. UserError if there is no graph.
void read_header(const onnx::ModelProto& model, const ImportOptions& options, const std::string& place, ImportedModel& result);
/// Sets the opset of `result`, then throws if it is not one of ours.
void read_opset(const onnx::ModelProto& model, const std::string& place, ImportedModel& result);

/// "batch,3,?": the sizes as the file has them.
std::string declared_sizes(const onnx::TensorShapeProto& shape);

}  // namespace etch
