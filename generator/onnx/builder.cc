#include "onnx/builder.h"

#include <onnx/onnx_pb.h>

#include <cmath>

#include "base/error.h"
#include "onnx/protobuf_file.h"
#include "onnx/seeded.h"
#include "onnx/tensor_proto.h"
#include "onnx/types.h"

namespace etch {
namespace {

void set_type(onnx::ValueInfoProto& info, const std::string& name, DType dtype, const std::vector<OnnxDim>& shape) {
  info.set_name(name);
  auto& type = *info.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx_type_of(dtype));
  type.mutable_shape();  // also where there are no axes: a scalar, not an unknown shape
  for (const OnnxDim& dim : shape) {
    auto& proto = *type.mutable_shape()->add_dim();
    if (dim.name.empty())
      proto.set_dim_value(dim.value);
    else
      proto.set_dim_param(dim.name);
  }
}

struct AttributeSetter {
  onnx::AttributeProto& proto;
  void operator()(std::int64_t v) const {
    proto.set_type(onnx::AttributeProto::INT);
    proto.set_i(v);
  }
  void operator()(double v) const {
    proto.set_type(onnx::AttributeProto::FLOAT);
    proto.set_f(static_cast<float>(v));
  }
  void operator()(const std::string& v) const {
    proto.set_type(onnx::AttributeProto::STRING);
    proto.set_s(v);
  }
  void operator()(const std::vector<std::int64_t>& v) const {
    proto.set_type(onnx::AttributeProto::INTS);
    for (std::int64_t i : v) proto.add_ints(i);
  }
  void operator()(const std::vector<double>& v) const {
    proto.set_type(onnx::AttributeProto::FLOATS);
    for (double f : v) proto.add_floats(static_cast<float>(f));
  }
  void operator()(const Array& v) const {
    proto.set_type(onnx::AttributeProto::TENSOR);
    array_to_proto(v, "", *proto.mutable_t());
  }
};

/// The tensor's elements in the field that its type has, instead of raw bytes.
void use_typed_field(const Array& array, onnx::TensorProto& proto) {
  proto.clear_raw_data();
  for (std::int64_t i = 0; i < array.size(); i++) {
    switch (array.dtype()) {
      case DType::Bool:
      case DType::Int8:
      case DType::UInt8:
      case DType::Int16:
      case DType::UInt16:
      case DType::Int32:
        proto.add_int32_data(static_cast<std::int32_t>(array.int_at(i)));
        break;
      case DType::Float16:
      case DType::BFloat16:
        proto.add_int32_data(array.data<std::uint16_t>()[i]);
        break;
      case DType::Int64:
        proto.add_int64_data(array.int_at(i));
        break;
      case DType::UInt32:
      case DType::UInt64:
        proto.add_uint64_data(static_cast<std::uint64_t>(array.int_at(i)));
        break;
      case DType::Float32:
        proto.add_float_data(static_cast<float>(array.double_at(i)));
        break;
      case DType::Float64:
        proto.add_double_data(array.double_at(i));
        break;
    }
  }
}

}  // namespace

GraphBuilder::GraphBuilder(const std::string& name, int opset, int ir_version) : model_(std::make_unique<onnx::ModelProto>()) {
  model_->set_ir_version(ir_version);
  model_->set_producer_name("etch");
  auto& import = *model_->add_opset_import();
  import.set_domain("");
  import.set_version(opset);
  model_->mutable_graph()->set_name(name);
}

GraphBuilder::~GraphBuilder() = default;

GraphBuilder::Value GraphBuilder::input(const std::string& name, DType dtype, const std::vector<OnnxDim>& shape) {
  set_type(*model_->mutable_graph()->add_input(), name, dtype, shape);
  return name;
}

void GraphBuilder::output(const Value& value, DType dtype, const std::vector<OnnxDim>& shape) {
  set_type(*model_->mutable_graph()->add_output(), value, dtype, shape);
}

GraphBuilder::Value GraphBuilder::initializer(const std::string& name, const Array& array, Storage storage) {
  auto& proto = *model_->mutable_graph()->add_initializer();
  array_to_proto(array, name, proto);
  if (storage == Storage::Typed) use_typed_field(array, proto);
  return name;
}

GraphBuilder::Value GraphBuilder::seeded(const std::string& name, const Ints& shape, std::int64_t fan_in) {
  return initializer(name, seeded_array(name, shape, static_cast<float>(std::sqrt(6.0 / static_cast<double>(fan_in)))));
}

GraphBuilder::Value GraphBuilder::seeded_around(const std::string& name, const Ints& shape, double offset, double scale) {
  return initializer(name, seeded_array(name, shape, static_cast<float>(scale), static_cast<float>(offset)));
}

GraphBuilder::Value GraphBuilder::ints(const std::string& name, const Ints& values) {
  return initializer(name, Array::of_ints(DType::Int64, {static_cast<std::int64_t>(values.size())}, values));
}

GraphBuilder::Value GraphBuilder::node(const std::string& op, const std::vector<Value>& inputs, const OnnxAttributes& attributes,
                                       const std::string& name) {
  const std::string own = name.empty() ? op + "_" + std::to_string(nodes_) : name;
  const Value output = own + ".out";
  node_with_outputs(op, inputs, {output}, attributes, own);
  return output;
}

void GraphBuilder::node_with_outputs(const std::string& op, const std::vector<Value>& inputs, const std::vector<Value>& outputs,
                                     const OnnxAttributes& attributes, const std::string& name, const std::string& domain) {
  auto& proto = *model_->mutable_graph()->add_node();
  nodes_++;
  proto.set_op_type(op);
  proto.set_name(name);
  if (!domain.empty()) proto.set_domain(domain);
  for (const Value& input : inputs) proto.add_input(input);
  for (const Value& output : outputs) proto.add_output(output);
  for (const auto& [key, value] : attributes) {
    auto& attribute = *proto.add_attribute();
    attribute.set_name(key);
    std::visit(AttributeSetter{attribute}, value);
  }
}

GraphBuilder::Value GraphBuilder::conv(const Value& x, const std::string& name, std::int64_t channels, std::int64_t outputs,
                                       const Ints& kernel, const Ints& strides, const Ints& pads, std::int64_t groups, bool bias) {
  Ints shape = {outputs, channels / groups};
  std::int64_t fan_in = channels / groups;
  for (std::int64_t k : kernel) {
    shape.push_back(k);
    fan_in *= k;
  }
  std::vector<Value> inputs = {x, seeded(name + ".weight", shape, fan_in)};
  if (bias) inputs.push_back(seeded_around(name + ".bias", {outputs}, 0, 0.125));
  OnnxAttributes attributes = {{"kernel_shape", kernel}, {"strides", strides}, {"pads", pads}};
  if (groups != 1) attributes.emplace_back("group", groups);
  return node("Conv", inputs, attributes, name);
}

GraphBuilder::Value GraphBuilder::batch_norm(const Value& x, const std::string& name, std::int64_t channels) {
  return node("BatchNormalization",
              {x, seeded_around(name + ".scale", {channels}, 1, 0.25), seeded_around(name + ".bias", {channels}, 0, 0.125),
               seeded_around(name + ".mean", {channels}, 0, 0.125), seeded_around(name + ".var", {channels}, 1, 0.25)},
              {{"epsilon", 1e-3}}, name);
}

GraphBuilder::Value GraphBuilder::dense(const Value& x, const std::string& name, std::int64_t inputs, std::int64_t outputs) {
  return node("Gemm", {x, seeded(name + ".weight", {outputs, inputs}, inputs), seeded_around(name + ".bias", {outputs}, 0, 0.125)},
              {{"transB", 1}}, name);
}

std::string GraphBuilder::bytes() const { return serialize_message(*model_); }

void GraphBuilder::write(const std::filesystem::path& path, const std::string& external) const {
  if (external.empty()) {
    write_file(path, bytes());
    return;
  }
  onnx::ModelProto model = *model_;
  std::string data;
  for (auto& tensor : *model.mutable_graph()->mutable_initializer()) {
    if (tensor.raw_data().size() < 1024) continue;
    data.resize((data.size() + 63) / 64 * 64);  // each tensor aligned, as exporters do
    const std::pair<std::string, std::string> entries[] = {
        {"location", external}, {"offset", std::to_string(data.size())}, {"length", std::to_string(tensor.raw_data().size())}};
    for (const auto& [key, value] : entries) {
      auto& entry = *tensor.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    }
    data += tensor.raw_data();
    tensor.clear_raw_data();
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  }
  write_file(path.parent_path() / external, data);
  write_file(path, serialize_message(model));
}

}  // namespace etch
