#include "onnx/schema.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <map>
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

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    result.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

constexpr struct {
  char letter;
  DType dtype;
} kLetters[] = {{'?', DType::Bool},    {'b', DType::Int8},    {'B', DType::UInt8},   {'h', DType::Int16},  {'H', DType::UInt16},
                {'i', DType::Int32},   {'I', DType::UInt32},  {'q', DType::Int64},   {'Q', DType::UInt64}, {'e', DType::Float16},
                {'f', DType::Float32}, {'d', DType::Float64}, {'E', DType::BFloat16}};

std::string names_of(const std::vector<DType>& types) {
  std::string text;
  for (DType dtype : types) text += (text.empty() ? "" : ", ") + std::string(name_of(dtype));
  return text.empty() ? "no type that etch has" : text;
}

/// The first opset after the node's in which its input `i` may be `dtype`; 0 if there is none.
int opset_that_accepts(const ImportedNode& node, int i, DType dtype) {
  for (const Schema& row : schemas()) {
    if (row.name != node.op_type() || row.since <= node.opset() || row.removed()) continue;
    const std::vector<DType> types = row.types_of(i);
    if (std::ranges::find(types, dtype) != types.end()) return row.since;
  }
  return 0;
}

void require_type(const ImportedNode& node, const Schema& schema, int i, DType dtype) {
  const std::vector<DType> types = schema.types_of(i);
  if (std::ranges::find(types, dtype) != types.end()) return;
  const int later = opset_that_accepts(node, i, dtype);
  node.fail("its input " + std::to_string(i) + " is " + std::string(name_of(dtype)) + ", " + node.op_type() + " takes " + names_of(types) +
                " at opset " + std::to_string(node.opset()),
            later > 0 ? "from opset " + std::to_string(later) + " on it takes " + std::string(name_of(dtype)) +
                            ": convert the model with onnx.version_converter, or insert a Cast"
                      : "insert a Cast before the node");
}

}  // namespace

bool Schema::has_attribute(std::string_view attribute) const {
  const std::vector<std::string_view> names = words(attributes);
  return std::ranges::find(names, attribute) != names.end();
}

std::string_view Schema::type_of(int i) const {
  const std::vector<std::string_view> names = words(types.substr(0, types.find(',')));
  return names.empty() ? "" : names[std::min(static_cast<std::size_t>(i), names.size() - 1)];
}

bool Schema::has_own_type(int i) const { return type_of(i).ends_with('+'); }

std::vector<DType> Schema::types_of(int i) const {
  const std::string_view of_input = type_of(i);
  std::string_view letters = of_input;  // letters of types, unless it is a type name such as "T"
  if (const std::size_t comma = types.find(','); comma != std::string_view::npos) {
    for (std::string_view definition : words(types.substr(comma + 2))) {
      if (definition.substr(0, definition.find('=')) == of_input) letters = definition.substr(definition.find('=') + 1);
    }
  }
  std::vector<DType> result;
  for (const auto& row : kLetters) {
    if (letters.find(row.letter) != std::string_view::npos) result.push_back(row.dtype);
  }
  return result;
}

const std::vector<Schema>& schemas() {
  static const std::vector<Schema> rows = {
#define ONNX_SCHEMA(name, since, inputs, outputs, attributes, types) {#name, since, inputs, outputs, attributes, types},
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

void require_types(const ImportedNode& node) {
  const Schema* schema = find_schema(node.op_type(), node.opset());
  check(schema != nullptr, "every operator has its definition in schemas.def");
  std::map<std::string_view, int> first;  // input of each type's name
  for (int i = 0; i < node.input_count(); i++) {
    if (!node.has_input(i)) continue;
    const DType dtype = node.input_type(i);
    require_type(node, *schema, i, dtype);
    if (schema->has_own_type(i)) continue;
    const int other = first.emplace(schema->type_of(i), i).first->second;
    if (node.input_type(other) == dtype) continue;
    node.fail("input " + std::to_string(other) + " is " + std::string(name_of(node.input_type(other))) + " and input " + std::to_string(i) +
                  " is " + std::string(name_of(dtype)) + ", ONNX wants one type for both",
              "insert a Cast before the node");
  }
}

}  // namespace etch
