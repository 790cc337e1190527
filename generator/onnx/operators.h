// The table of ONNX operators: operators.def as values. To add an operator write one row there and one function
// `Outputs f(NodeContext&)` in namespace etch::operators, in the file that the row's block names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/node.h"

namespace etch {

/// Opsets of the domain ai.onnx that are accepted.
inline constexpr int kOldestOpset = 7;
inline constexpr int kNewestOpset = 28;
/// The domain of the operators of training, and the version of it that is accepted.
inline constexpr std::string_view kTrainingDomain = "ai.onnx.preview.training";
inline constexpr int kTrainingVersion = 1;

namespace operators {
#define ONNX_OP(name, since, types, function) Outputs function(NodeContext& node);
#define ONNX_TRAINING_OP ONNX_OP
#include "onnx/operators.def"
#undef ONNX_TRAINING_OP
#undef ONNX_OP
}  // namespace operators

/// All rows, sorted by name, then by opset.
const std::vector<OperatorRow>& operator_rows();
/// The row that counts for a model with that version of the domain: the newest one that is not newer; nullptr if there is none.
const OperatorRow* find_operator(std::string_view name, int version, std::string_view domain = "");
/// The smallest `since` of the rows of an operator of ai.onnx; nullopt if it is unknown.
std::optional<int> oldest_opset_of(std::string_view name);
/// The known operator with the most similar name, for the help of an error ("Leaky_Relu" -> "LeakyRelu"); empty if none is near.
std::string nearest_operator(std::string_view name);
/// Whether a row's `types` accept `dtype`.
bool accepts(const OperatorRow& row, DType dtype);
/// A row's types in words: "float, integer, bool".
std::string types_text(const OperatorRow& row);

}  // namespace etch
