// Shape arithmetic on integers that hold Variables: the chains Shape -> Gather -> Mul -> Concat -> Reshape that exporters
// write must be known while generating, also where a dimension stays variable.
#pragma once

#include <optional>
#include <vector>

#include "onnx/imported_node.h"
#include "onnx/operators.h"

namespace etch {

/// What `node` makes, if it reads the shape of a tensor with variable dimensions, or integers that came from one, and the
/// operator is one that shape arithmetic uses. Nothing: call the operator's function as for any node.
///   Shape of x[N,3,8]      ->  [N,3,8]
///   Gather([N,3,8], 0)     ->  N
///   Mul(N, 4)              ->  4*N
std::optional<std::vector<Value>> shape_arithmetic(ImportedNode& node, const OperatorRow& row);

}  // namespace etch
