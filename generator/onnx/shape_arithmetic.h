// Shape arithmetic on integers that hold Variables: exporters write chains Shape -> Gather -> Mul -> Concat -> Reshape, whose values
// must be known while generating, also if a dimension stays variable.
#pragma once

#include <optional>
#include <vector>

#include "onnx/imported_node.h"
#include "onnx/operators.h"

namespace etch {

/// The outputs of `node` if it reads the shape of a tensor with variable dimensions, or integers that came from one, and shape
/// arithmetic knows the operator. nullopt: call the operator's function as for any node.
///   Shape of x[N,3,8]      ->  [N,3,8]
///   Gather([N,3,8], 0)     ->  N
///   Mul(N, 4)              ->  4*N
std::optional<std::vector<Value>> shape_arithmetic(ImportedNode& node, const OperatorRow& row);

}  // namespace etch
