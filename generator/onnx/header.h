// What an ONNX file says of itself beside its nodes: name, producer, opset, the types and sizes that it declares. Internal to onnx/.
#pragma once

#include <string>

#include "onnx/import.h"

namespace onnx {
class ModelProto;
class TypeProto_Tensor;
class ValueInfoProto;
}  // namespace onnx

namespace etch {

bool is_main_domain(const std::string& domain);
bool is_accepted_opset(int opset);

/// Fills name, producer, IR version and declared tensors of `result`. UserError if there is no graph.
void read_header(const onnx::ModelProto& model, const ImportOptions& options, const std::string& place, ImportedModel& result);
/// Sets the opset of `result`, then throws if it is not one of ours.
void read_opset(const onnx::ModelProto& model, const std::string& place, ImportedModel& result);

/// The type of an input or output; UnsupportedError unless it is a tensor.
const onnx::TypeProto_Tensor& require_tensor_type(const onnx::ValueInfoProto& info, const std::string& place);
/// The element type of that number; UnsupportedError if it is none of ours.
DType require_dtype(int type, const std::string& place);

/// Compares an output with what the file declares; what it leaves open is free. Another type is a UserError, and so are other sizes, but
/// where the caller gave sizes (`bound`): the declared numbers may be from before they had names, which is worth a warning. The result is
/// its text; empty: nothing differs.
std::string differs_from_declared(const onnx::ValueInfoProto& info, const Tensor& tensor, const std::string& place, bool bound);

}  // namespace etch
