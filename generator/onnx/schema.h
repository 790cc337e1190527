// What ONNX itself allows a node: the number and types of its inputs and outputs, its attributes, and whether the operator still
// exists at the model's opset (from schemas.def). A node with anything else is refused, so that nothing in a file is ignored silently.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/dtype.h"

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
  int inputs, outputs;          // largest number of them, kAny or kRemoved
  std::string_view attributes;  // separated by blanks
  std::string_view types;       // "T T I, I=iq T=efd", see schemas.def

  bool removed() const { return inputs == kRemoved; }
  bool has_attribute(std::string_view attribute) const;
  /// The name of input `i`'s type, "T"; inputs with the same name have the same type. Empty if there is no such input.
  std::string_view type_of(int i) const;
  /// Whether input `i` is one of several that may differ in their types, though the name is one.
  bool has_own_type(int i) const;
  /// The types that input `i` may have.
  std::vector<DType> types_of(int i) const;
};

const std::vector<Schema>& schemas();
/// The definition that counts at `opset`; nullptr if schemas.def lacks the operator or it is newer than `opset`.
const Schema* find_schema(std::string_view name, int opset);

/// UserError at the node if it has more than its operator's definition allows.
void require_schema(const ImportedNode& node, const onnx::NodeProto& proto);
/// UserError at the node if an input has a type that the definition does not allow.
void require_types(const ImportedNode& node);

}  // namespace etch
