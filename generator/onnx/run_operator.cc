#include "onnx/run_operator.h"

#include <deque>
#include <optional>
#include <string_view>

namespace etch {
namespace {

bool computes_wide(const OperatorRow& row) { return std::string_view(row.types).find('F') != std::string_view::npos; }

// The 16-bit float type that all float inputs have; nullopt if they have another type or different ones.
std::optional<DType> half_type(const ImportedNode& node) {
  std::optional<DType> half;
  for (const Value* value : node.inputs()) {
    if (value == nullptr || !is_float(value->dtype())) continue;
    if (half && *half != value->dtype()) return std::nullopt;
    half = value->dtype();
  }
  return half && bytes_of(*half) == 2 ? half : std::nullopt;
}

}  // namespace

Outputs run_operator(ImportedNode& node, const OperatorRow& row) {
  const std::optional<DType> half = computes_wide(row) ? half_type(node) : std::nullopt;
  if (!half) return row.function(node);
  std::deque<Value> wide;
  std::vector<const Value*> inputs = node.inputs();
  for (const Value*& value : inputs) {
    if (value == nullptr || value->dtype() != *half) continue;
    wide.push_back({value->tensor.cast(DType::Float32), std::nullopt});
    value = &wide.back();
  }
  ImportedNode widened = node.with_inputs(std::move(inputs));
  Outputs outputs = row.function(widened);
  node.acknowledge_all(widened);
  for (Tensor& output : outputs)
    if (output && output.dtype() == DType::Float32) output = output.cast(*half);
  return outputs;
}

}  // namespace etch
