// Internal to onnx/: what an ONNX file declares besides its nodes: name, producer, opset, types and sizes.
#pragma once

#include <string>
#include <string_view>

#include "onnx/import.h"

namespace onnx {
class ModelProto;
class TypeProto_Tensor;
class ValueInfoProto;
}  // namespace onnx

namespace etch {

bool is_main_domain(const std::string& domain);
/// The version of a domain that the model imports (empty: ai.onnx); 0 if it does not.
int version_of_domain(const onnx::ModelProto& model, std::string_view domain);
bool is_accepted_opset(int opset);

/// Fills name, producer, IR version and declared tensors of `result`. UserError if there is no graph.
void read_header(const onnx::ModelProto& model, const ImportOptions& options, const std::string& place, ImportedModel& result);
/// Sets the opset of `result`, then throws UserError if it is not accepted.
void read_opset(const onnx::ModelProto& model, const std::string& place, ImportedModel& result);

/// The type of an input or output; UnsupportedError unless it is a tensor.
const onnx::TypeProto_Tensor& require_tensor_type(const onnx::ValueInfoProto& info, const std::string& place);
/// The DType with that ONNX type number; UnsupportedError if there is none.
DType require_dtype(int type, const std::string& place);

/// Compares an output with what the file declares; sizes that it leaves open may be anything. Another type is a UserError, and so are
/// other sizes, except if the caller gave sizes (`bound`): then the declared numbers may be outdated, which is only worth a warning.
/// The result is the text of that warning; empty if nothing differs.
std::string differs_from_declared(const onnx::ValueInfoProto& info, const Tensor& tensor, const std::string& place, bool bound);

}  // namespace etch
