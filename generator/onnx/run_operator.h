// The call of an operator's function. Internal to onnx/.
#pragma once

#include "onnx/imported_node.h"
#include "onnx/node.h"

namespace etch {

/// What the row's function makes of the node; where the row says so (F), 16-bit floats by way of float32, rounded once.
Outputs run_operator(ImportedNode& node, const OperatorRow& row);

}  // namespace etch
