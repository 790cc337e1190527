// Internal to onnx/: calls an operator's function.
#pragma once

#include "onnx/imported_node.h"
#include "onnx/node.h"

namespace etch {

/// The outputs of the row's function for `node`. If the row's types say so (F), 16-bit floats are computed in float32 and rounded once.
Outputs run_operator(ImportedNode& node, const OperatorRow& row);

}  // namespace etch
