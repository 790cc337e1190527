// Edge cases of every operator: sizes of 0, 1 and open ones, every attribute and constant at the ends of its range, inputs of other
// types and inputs left out. Each such model must compile or give a UserError; an internal error is a bug.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "driver/compile.h"
#include "onnx/operators.h"
#include "onnx/schema.h"
#include "support/operator_bases.h"
#include "support/rounds.h"

namespace etch {
namespace {

using test::Attribute;
using test::NodeModel;
using test::operator_bases;

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min(), kMax = std::numeric_limits<std::int64_t>::max();
const std::vector<std::int64_t> kInts{kMin, -(std::int64_t{1} << 31), -2, -1, 0, 1, 2, 3, std::int64_t{1} << 31, kMax};
const std::vector<double> kFloats{-INFINITY, -1e30, -1, -0.0, 0, 1e-30, 0.5, 1e30, INFINITY, NAN};

// The models take turns with the targets: scalars, vectors, work-groups.
constexpr const char* kTargets[] = {"c99", "x86-64-v4", "opencl"};

/// A model that differs from a base in one thing.
struct Edge {
  std::string text, bytes;
  std::vector<DimBinding> dims = {};
};

onnx::TensorShapeProto& shape_of(onnx::ModelProto& model, int input) {
  return *model.mutable_graph()->mutable_input(input)->mutable_type()->mutable_tensor_type()->mutable_shape();
}

onnx::ModelProto proto_of(const NodeModel& base) {
  onnx::ModelProto model;
  model.ParseFromString(test::bytes_of(base));
  return model;
}

void add_sizes(const NodeModel& base, std::vector<Edge>& edges) {
  const onnx::ModelProto model = proto_of(base);
  std::set<std::int64_t> sizes;
  for (int i = 0; i < model.graph().input_size(); i++) {
    const int rank = model.graph().input(i).type().tensor_type().shape().dim_size();
    for (int axis = 0; axis < rank; axis++) {
      const std::string name = "x" + std::to_string(i) + "[" + std::to_string(axis) + "]";
      sizes.insert(model.graph().input(i).type().tensor_type().shape().dim(axis).dim_value());
      for (std::int64_t size : {0, 1, 7}) {
        onnx::ModelProto changed = model;
        shape_of(changed, i).mutable_dim(axis)->set_dim_value(size);
        edges.push_back({name + " of size " + std::to_string(size), changed.SerializeAsString()});
      }
      onnx::ModelProto open = model;
      shape_of(open, i).mutable_dim(axis)->set_dim_param("d");
      edges.push_back({name + " open", open.SerializeAsString(), {{"d", 1, 8}}});
    }
    onnx::ModelProto flat = model, deep = model;
    shape_of(flat, i).clear_dim();
    shape_of(deep, i).add_dim()->set_dim_value(2);
    edges.push_back({"x" + std::to_string(i) + " a scalar", flat.SerializeAsString()});
    edges.push_back({"x" + std::to_string(i) + " of one axis more", deep.SerializeAsString()});
  }
  onnx::ModelProto all = model, empty = model;
  std::vector<DimBinding> dims;
  for (std::int64_t size : sizes) {
    onnx::ModelProto open = model;
    const std::string name = "d" + std::to_string(size);
    for (onnx::ModelProto* changed : {&open, &all})
      for (int i = 0; i < changed->graph().input_size(); i++)
        for (auto& dim : *shape_of(*changed, i).mutable_dim())
          if (dim.dim_value() == size) dim.set_dim_param(name);
    dims.push_back({name, 1, 2 * std::max<std::int64_t>(size, 1)});
    edges.push_back({"all sizes of " + std::to_string(size) + " open", open.SerializeAsString(), {dims.back()}});
  }
  for (int i = 0; i < empty.graph().input_size(); i++)
    for (auto& dim : *shape_of(empty, i).mutable_dim()) dim.set_dim_value(0);
  edges.push_back({"all sizes open", all.SerializeAsString(), dims});
  edges.push_back({"all sizes 0", empty.SerializeAsString()});
}

void add(std::vector<Edge>& edges, const NodeModel& model, const std::string& text) { edges.push_back({text, test::bytes_of(model)}); }

void add_inputs(const NodeModel& base, std::vector<Edge>& edges) {
  for (std::size_t i = 0; i < base.inputs.size(); i++) {
    if (test::is_missing(base.inputs[i])) continue;
    const std::string name = "input " + std::to_string(i);
    NodeModel changed = base;
    const auto with = [&](Array value, const std::string& text) {
      changed.inputs[i] = std::move(value);
      add(edges, changed, name + text);
    };
    with(Array(), " left out");
    const Array& value = base.inputs[i];
    for (DType dtype : {DType::Bool, DType::Int8, DType::UInt8, DType::Int32, DType::Int64, DType::UInt64, DType::Float16, DType::BFloat16,
                        DType::Float32, DType::Float64})
      with(Array::filled(dtype, value.shape(), Scalar::of_int(dtype, 1)), " as " + std::string(name_of(dtype)));
    if (i < base.constants_from) continue;
    if (is_float(value.dtype()))
      for (double v : kFloats)
        with(Array::filled(value.dtype(), value.shape(), Scalar::of_double(value.dtype(), v)), " is " + std::to_string(v));
    else
      for (std::int64_t v : kInts)
        with(Array::filled(value.dtype(), value.shape(), Scalar::of_int(value.dtype(), v)), " is " + std::to_string(v));
    for (const test::Sizes& shape : {test::Sizes{}, test::Sizes{0}, test::Sizes{1}, test::Sizes{5}, test::Sizes{2, 2}, test::Sizes{1, 0}})
      with(Array::filled(value.dtype(), shape, Scalar::of_int(value.dtype(), 1)), " of rank " + std::to_string(shape.size()));
  }
}

template <class T>
void add_lists(std::vector<Attribute>& values, const std::vector<T>& list, const std::vector<T>& numbers) {
  values.push_back(std::vector<T>{});
  std::vector<T> longer = list;
  longer.push_back(numbers.at(3));
  values.push_back(longer);
  for (std::size_t i = 0; i < list.size(); i++) {
    std::vector<T> changed = list;
    for (T v : numbers) {
      changed[i] = v;
      values.push_back(changed);
    }
  }
  if (!list.empty()) values.push_back(std::vector<T>(list.begin(), list.end() - 1));
}

/// Edge values of the type of `value`; of every type if the base does not have the attribute.
std::vector<Attribute> edge_values(const Attribute* value) {
  std::vector<Attribute> values;
  if (value == nullptr || std::holds_alternative<std::int64_t>(*value)) values.insert(values.end(), kInts.begin(), kInts.end());
  if (value == nullptr || std::holds_alternative<double>(*value)) values.insert(values.end(), kFloats.begin(), kFloats.end());
  if (value == nullptr || std::holds_alternative<std::string>(*value))
    values.insert(values.end(), {std::string(), std::string("no such word"), std::string("\0\xff", 2)});
  if (value == nullptr) {
    values.insert(values.end(), {test::Sizes{}, test::Sizes{1}, test::Sizes{1, 1}, test::Sizes{kMin, kMax}, std::vector<double>{},
                                 std::vector<double>{NAN}, std::vector<std::string>{}, std::vector<std::string>{"", "Tanh"}, Array()});
  } else if (const auto* sizes = std::get_if<test::Sizes>(value)) {
    add_lists(values, *sizes, kInts);
  } else if (const auto* numbers = std::get_if<std::vector<double>>(value)) {
    add_lists(values, *numbers, kFloats);
  } else if (const auto* words = std::get_if<std::vector<std::string>>(value)) {
    add_lists(values, *words, {"", "Affine", "Softplus", "no such word"});
  } else if (std::holds_alternative<Array>(*value)) {
    for (const test::Sizes& shape : {test::Sizes{}, test::Sizes{0}, test::Sizes{2}, test::Sizes{0, 3}})
      values.emplace_back(Array::filled(DType::Int64, shape, Scalar::of_int(DType::Int64, -1)));
  }
  return values;
}

void add_attributes(const NodeModel& base, std::vector<Edge>& edges) {
  std::istringstream names{std::string(find_schema(base.op, base.opset)->attributes)};
  for (std::string name; names >> name;) {
    NodeModel changed = base;
    auto& attributes = changed.attributes;
    const auto found = std::ranges::find(attributes, name, &std::pair<std::string, Attribute>::first);
    const bool given = found != attributes.end();
    const std::vector<Attribute> values = edge_values(given ? &found->second : nullptr);
    Attribute& attribute = given ? found->second : attributes.emplace_back(name, std::int64_t{0}).second;
    int number = 0;
    for (const Attribute& value : values) {
      attribute = value;
      add(edges, changed, "attribute " + name + ", value " + std::to_string(number++));
    }
    std::erase_if(attributes, [&](const auto& a) { return a.first == name; });
    if (given) add(edges, changed, "attribute " + name + " left out");
  }
}

std::vector<Edge> edges_of(const NodeModel& base) {
  std::vector<Edge> edges;
  add_sizes(base, edges);
  add_inputs(base, edges);
  add_attributes(base, edges);
  NodeModel silent = base;
  silent.outputs = 0;
  add(edges, silent, "no outputs");
  return edges;
}

/// Does everything that `etch compile` does except writing. Empty if the model compiles, else why it is refused.
std::string refusal(const Edge& edge, const char* target) {
  CompileOptions options;
  options.import = {.bytes = edge.bytes, .dims = edge.dims, .name = "n"};
  options.target = find_target(target, ETCH_SOURCE_DIR "/targets");
  try {
    compile_project(read_model(options), options);
    return "";
  } catch (const UserError& error) {
    return error.what();
  }
}

class OperatorEdges : public testing::TestWithParam<std::size_t> {};
constexpr std::size_t kParts = 8;

TEST_P(OperatorEdges, CompileOrAreRefused) {
  const std::vector<NodeModel> bases = operator_bases();
  int compiled = 0, refused = 0;
  std::size_t number = 0;
  for (std::size_t i = GetParam(); i < bases.size(); i += kParts) {
    const NodeModel& base = bases[i];
    for (const char* target : kTargets) EXPECT_EQ(refusal({"", test::bytes_of(base)}, target), "") << base.op << " opset " << base.opset;
    for (const Edge& edge : edges_of(base)) {
      if (number++ % 4 >= static_cast<std::size_t>(test::rounds(4))) continue;
      try {
        (refusal(edge, kTargets[number % std::size(kTargets)]).empty() ? compiled : refused)++;
      } catch (const std::exception& error) {
        ADD_FAILURE() << base.op << " opset " << base.opset << ", base " << i << ", " << edge.text << ": " << error.what();
      }
    }
  }
  EXPECT_GT(compiled, test::rounds(300));
  EXPECT_GT(refused, test::rounds(300));
}

INSTANTIATE_TEST_SUITE_P(Parts, OperatorEdges, testing::Range(std::size_t{0}, kParts));

TEST(OperatorBases, HaveEveryOperator) {
  std::set<std::string> there;
  for (const NodeModel& base : operator_bases()) there.insert(base.op);
  for (const OperatorRow& row : operator_rows()) EXPECT_TRUE(there.contains(row.name)) << row.name;
}

}  // namespace
}  // namespace etch
