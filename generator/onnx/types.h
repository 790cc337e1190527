// ONNX's element types and DType. ONNX numbers its types (TensorProto.DataType); errors name those for which there is no DType.
#pragma once

#include <optional>
#include <string>

#include "ir/dtype.h"

namespace etch {

/// The DType for an ONNX type number; nullopt for string, complex, float8, 4-bit and unknown types.
std::optional<DType> dtype_of_onnx(int type);
/// ONNX's number for `dtype`.
int onnx_type_of(DType dtype);
/// "float16", "string", "float8e4m3fn", "int4", ... or "type 99": also for types without a DType.
std::string onnx_type_name(int type);
/// All accepted types in one line, for the help of an error.
std::string accepted_types_text();

}  // namespace etch
