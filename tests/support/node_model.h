// For tests: a model of one ONNX node, imported and interpreted.
#pragma once

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "onnx/tensor_proto.h"
#include "onnx/types.h"
#include "support/evaluate.h"

namespace etch::test {

using Attribute =
    std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>, Array>;
using Attributes = std::vector<std::pair<std::string, Attribute>>;

inline Array floats(std::vector<std::int64_t> shape, std::vector<double> values, DType dtype = DType::Float32) {
  return Array::of_doubles(dtype, std::move(shape), values);
}
inline Array ints(std::vector<std::int64_t> shape, std::vector<std::int64_t> values, DType dtype = DType::Int64) {
  return Array::of_ints(dtype, std::move(shape), values);
}

inline void set_attribute(onnx::NodeProto& node, const std::string& name, const Attribute& value) {
  onnx::AttributeProto& a = *node.add_attribute();
  a.set_name(name);
  if (const auto* i = std::get_if<std::int64_t>(&value)) {
    a.set_type(onnx::AttributeProto::INT);
    a.set_i(*i);
  } else if (const auto* f = std::get_if<double>(&value)) {
    a.set_type(onnx::AttributeProto::FLOAT);
    a.set_f(static_cast<float>(*f));
  } else if (const auto* s = std::get_if<std::string>(&value)) {
    a.set_type(onnx::AttributeProto::STRING);
    a.set_s(*s);
  } else if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
    a.set_type(onnx::AttributeProto::INTS);
    for (std::int64_t v : *list) a.add_ints(v);
  } else if (const auto* numbers = std::get_if<std::vector<double>>(&value)) {
    a.set_type(onnx::AttributeProto::FLOATS);
    for (double v : *numbers) a.add_floats(static_cast<float>(v));
  } else if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) {
    a.set_type(onnx::AttributeProto::STRINGS);
    for (const std::string& v : *texts) a.add_strings(v);
  } else {
    a.set_type(onnx::AttributeProto::TENSOR);
    array_to_proto(std::get<Array>(value), "", *a.mutable_t());
  }
}

struct NodeModel {
  std::string op;
  int opset = 21;
  std::vector<Array> inputs;  // an Array of size 0 and rank 0 stands for a missing one
  Attributes attributes = {};
  int outputs = 1;
  std::size_t constants_from = 1;  // inputs from this one on are initializers
  std::string domain = {};         // its version 1, unless it is ai.onnx
};

inline bool is_missing(const Array& a) { return a.size() == 0 && a.shape().empty(); }

/// The model's bytes.
inline std::string bytes_of(const NodeModel& m) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  auto& opset = *model.add_opset_import();
  opset.set_version(m.opset);
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.set_name("g");
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type(m.op);
  if (!m.domain.empty()) {
    node.set_domain(m.domain);
    auto& import = *model.add_opset_import();
    import.set_domain(m.domain);
    import.set_version(1);
  }
  node.set_name("n");
  for (std::size_t i = 0; i < m.inputs.size(); i++) {
    const std::string name = "x" + std::to_string(i);
    node.add_input(is_missing(m.inputs[i]) ? "" : name);
    if (is_missing(m.inputs[i])) continue;
    if (i >= m.constants_from) {
      array_to_proto(m.inputs[i], name, *graph.add_initializer());
      continue;
    }
    onnx::ValueInfoProto& input = *graph.add_input();
    input.set_name(name);
    auto& type = *input.mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnx_type_of(m.inputs[i].dtype()));
    type.mutable_shape();
    for (std::int64_t d : m.inputs[i].shape()) type.mutable_shape()->add_dim()->set_dim_value(d);
  }
  for (const auto& [name, value] : m.attributes) set_attribute(node, name, value);
  for (int i = 0; i < m.outputs; i++) {
    node.add_output("y" + std::to_string(i));
    onnx::ValueInfoProto& output = *graph.add_output();
    output.set_name("y" + std::to_string(i));
  }
  return model.SerializeAsString();
}

inline std::vector<Array> run_node(const NodeModel& m) {
  const ImportedModel model = import_onnx({.path = {}, .bytes = bytes_of(m), .dims = {}, .name = "n"});
  std::map<std::string, Array> values;
  for (std::size_t i = 0; i < m.inputs.size(); i++) values["x" + std::to_string(i)] = m.inputs[i];
  return evaluate_model(model, values);
}

/// Runs the node with its inputs as they are and with all of them constant; both must give `wanted`.
inline void expect_node(NodeModel m, const std::vector<Array>& wanted, double rtol = 1e-5, double atol = 1e-6) {
  m.outputs = static_cast<int>(wanted.size());
  for (std::size_t from : {m.constants_from, std::size_t{0}}) {
    m.constants_from = from;
    try {
      const std::vector<Array> got = run_node(m);
      for (std::size_t i = 0; i < wanted.size(); i++) {
        EXPECT_EQ(difference(got.at(i), wanted[i], rtol, atol), "")
            << m.op << " opset " << m.opset << " output " << i << ", constants from " << from;
      }
    } catch (const std::exception& error) {
      ADD_FAILURE() << m.op << " opset " << m.opset << ": " << error.what();
    }
  }
}

/// The import must end in a UserError whose problem or help holds `text`.
inline void expect_refused(const NodeModel& m, const std::string& text) {
  try {
    run_node(m);
    ADD_FAILURE() << m.op << " is accepted, though: " << text;
  } catch (const UserError& error) {
    EXPECT_NE((error.problem() + "; " + error.help()).find(text), std::string::npos) << error.what();
  }
}

}  // namespace etch::test
