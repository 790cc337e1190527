#include "onnx/schema.h"

#include <onnx/onnx_pb.h>

#include <set>
#include <string>

#include "base/error.h"
#include "onnx/imported_node.h"

namespace etch {
namespace {

void require_count(const ImportedNode& node, const std::string& what, int found, int most) {
  if (most == Schema::kAny || found <= most) return;
  node.fail("it has " + std::to_string(found) + " " + what + ", " + node.op_type() + " has at most " + std::to_string(most) + " at opset " +
                std::to_string(node.opset()),
            "the file was edited wrongly, or is of another opset than it says; export the model again");
}

}  // namespace

bool Schema::has_attribute(std::string_view attribute) const {
  for (std::string_view rest = attributes; !rest.empty();) {
    const std::size_t end = rest.find(' ');
    if (rest.substr(0, end) == attribute) return true;
    rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
  }
  return false;
}

const std::vector<Schema>& schemas() {
  static const std::vector<Schema> rows = {
#define ONNX_SCHEMA(name, since, inputs, outputs, attributes) {#name, since, inputs, outputs, attributes},
#include "onnx/schemas.def"
#undef ONNX_SCHEMA
  };
  return rows;
}

const Schema* find_schema(std::string_view name, int opset) {
  const Schema* found = nullptr;
  for (const Schema& row : schemas()) {
    if (row.name == name && row.since <= opset) found = &row;  // sorted: the last one is the newest
  }
  return found;
}

void require_schema(const ImportedNode& node, const onnx::NodeProto& proto) {
  const Schema* schema = find_schema(node.op_type(), node.opset());
  check(schema != nullptr, "every operator has its definition in schemas.def");
  if (schema->removed()) {
    node.fail("the operator was removed from ONNX at opset " + std::to_string(schema->since) + ", the model uses opset " +
                  std::to_string(node.opset()),
              "export the model again; Resize has replaced Upsample, ScatterElements has replaced Scatter");
  }
  require_count(node, "inputs", node.input_count(), schema->inputs);
  require_count(node, "outputs", node.output_count(), schema->outputs);
  std::set<std::string> seen;
  for (const onnx::AttributeProto& attribute : proto.attribute()) {
    if (!schema->has_attribute(attribute.name())) node.fail_unsupported_attribute(attribute.name());
    if (!seen.insert(attribute.name()).second) node.fail("attribute " + attribute.name() + " is given twice");
  }
}

}  // namespace etch
