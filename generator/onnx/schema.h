// What ONNX itself allows a node: how many inputs and outputs, which attributes, and whether the operator still exists at the
// model's opset. Read from schemas.def. A node beyond it is refused, so that nothing in a file is ignored silently.
#pragma once

#include <string_view>
#include <vector>

namespace onnx {
class NodeProto;
}

namespace etch {

class ImportedNode;

/// One row of schemas.def: it holds from `since` on until the operator's next row.
struct Schema {
  static constexpr int kAny = -1, kRemoved = -2;  // of `inputs`, `outputs`

  std::string_view name;
  int since;
  int inputs, outputs;          // the most of them
  std::string_view attributes;  // separated by blanks

  bool removed() const { return inputs == kRemoved; }
  bool has_attribute(std::string_view attribute) const;
};

const std::vector<Schema>& schemas();
/// The definition that counts at `opset`; nullptr if the operator is not one of ours or is newer.
const Schema* find_schema(std::string_view name, int opset);

/// UserError at the node if it has more than its operator's definition allows.
void require_schema(const ImportedNode& node, const onnx::NodeProto& proto);

}  // namespace etch
