#include "models/quantise.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/error.h"
#include "onnx/import.h"
#include "onnx/protobuf_file.h"
#include "onnx/seeded.h"
#include "onnx/tensor_proto.h"

namespace etch {
namespace {

using onnx::NodeProto;

bool has_weights(const NodeProto& node) { return node.op_type() == "Conv" || node.op_type() == "Gemm"; }

struct Range {
  double low = 0, high = 0;  // 0 is between them
  float scale() const { return static_cast<float>(std::max(high - low, 1e-6) / 255); }
  std::int64_t zero() const { return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::nearbyint(-128 - low / scale())), -128, 127); }
};

class Quantiser {
 public:
  explicit Quantiser(const std::string& bytes) {
    if (!model_.ParseFromString(bytes)) throw UserError("quantised model", "the bytes are no ONNX model");
    for (const auto& tensor : model_.graph().initializer()) weights_.emplace(tensor.name(), array_of_proto(tensor, tensor.name(), ""));
    if (model_.graph().input_size() != 1 || model_.graph().output_size() != 1)
      throw UserError("quantised model", "it has not one input and one output");
  }

  std::string run() {
    fold_batch_norms();
    calibrate();
    for (const NodeProto& node : model_.graph().node())
      if (node.op_type() == "Relu" && uses_of(node.input(0)) == 1) relu_inputs_.insert(node.input(0));
    std::vector<NodeProto> nodes(model_.graph().node().begin(), model_.graph().node().end());
    model_.mutable_graph()->clear_node();
    model_.mutable_graph()->clear_initializer();
    onnx::ValueInfoProto& input = *model_.mutable_graph()->mutable_input(0);
    onnx::ValueInfoProto& output = *model_.mutable_graph()->mutable_output(0);
    for (onnx::ValueInfoProto* value : {&input, &output})
      value->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::INT8);
    real_[input.name()] = dequantised(input.name(), ranges_.at(input.name()), input.name() + ".real");
    std::string last;
    for (NodeProto& node : nodes) last = add(node);
    NodeProto& end = *model_.mutable_graph()->add_node();
    end.set_op_type("Identity");
    end.set_name(output.name());
    end.add_input(last);
    end.add_output(output.name());
    return model_.SerializeAsString();
  }

 private:
  int uses_of(const std::string& value) const {
    int uses = 0;
    for (const NodeProto& node : model_.graph().node()) uses += static_cast<int>(std::ranges::count(node.input(), value));
    return uses;
  }

  const Array& weight(const std::string& name) const {
    const auto found = weights_.find(name);
    if (found == weights_.end()) throw UserError("value '" + name + "'", "is no constant, where weights are quantised");
    return found->second;
  }

  // y = (x - mean) / sqrt(var + epsilon) * scale + bias becomes weights and bias of the node before it.
  void fold_batch_norms() {
    std::vector<NodeProto> kept;
    for (NodeProto& node : *model_.mutable_graph()->mutable_node()) {
      const bool follows = !kept.empty() && has_weights(kept.back()) && kept.back().output(0) == node.input(0);
      if (node.op_type() != "BatchNormalization" || !follows || uses_of(node.input(0)) != 1) {
        kept.push_back(node);
        continue;
      }
      double epsilon = 1e-5;
      for (const auto& attribute : node.attribute())
        if (attribute.name() == "epsilon") epsilon = static_cast<double>(attribute.f());
      NodeProto& before = kept.back();
      const Array w = weight(before.input(1));
      std::vector<double> values = w.doubles(), bias(static_cast<std::size_t>(w.shape()[0]));
      if (before.input_size() > 2) bias = weight(before.input(2)).doubles();
      const std::vector<double> scale = weight(node.input(1)).doubles(), shift = weight(node.input(2)).doubles(),
                                mean = weight(node.input(3)).doubles(), var = weight(node.input(4)).doubles();
      const std::size_t each = values.size() / bias.size();
      for (std::size_t c = 0; c < bias.size(); c++) {
        const double factor = scale[c] / std::sqrt(var[c] + epsilon);
        for (std::size_t i = 0; i < each; i++) values[c * each + i] *= factor;
        bias[c] = (bias[c] - mean[c]) * factor + shift[c];
      }
      set_weights(before, Array::of_doubles(DType::Float32, w.shape(), values),
                  Array::of_doubles(DType::Float32, {static_cast<std::int64_t>(bias.size())}, bias));
      before.set_output(0, node.output(0));
    }
    model_.mutable_graph()->mutable_node()->Assign(kept.begin(), kept.end());
  }

  void set_weights(NodeProto& node, const Array& w, const Array& bias) {
    const std::string name = node.output(0);
    while (node.input_size() < 3) node.add_input("");
    node.set_input(1, name + ".folded_weight");
    node.set_input(2, name + ".folded_bias");
    for (const auto& [input, array] : {std::pair(1, &w), std::pair(2, &bias)}) {
      weights_.insert_or_assign(node.input(input), *array);
      array_to_proto(*array, node.input(input), *model_.mutable_graph()->add_initializer());
    }
  }

  // Least and largest value of all that is computed from some inputs in [-1, 1).
  void calibrate() {
    constexpr int kRuns = 8;
    for (int k = 0; k < kRuns; k++) calibrate(model_.graph().name() + ".calibration" + std::to_string(k));
  }

  void calibrate(const std::string& seed) {
    onnx::ModelProto run = model_;
    onnx::GraphProto& graph = *run.mutable_graph();
    const std::string input = graph.input(0).name();
    std::vector<std::int64_t> shape;
    for (const auto& d : graph.input(0).type().tensor_type().shape().dim()) shape.push_back(d.dim_value());
    const Array numbers = seeded_array(seed, shape, 1);
    array_to_proto(numbers, input, *graph.add_initializer());
    graph.clear_input();
    graph.clear_output();
    for (const NodeProto& node : graph.node()) graph.add_output()->set_name(node.output(0));
    for (auto& value : *graph.mutable_output()) value.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
    widen(input, numbers);
    ImportOptions options;
    options.bytes = run.SerializeAsString();
    options.path = "calibration.onnx";
    for (const ImportedTensor& value : import_onnx(options).outputs) {
      const std::optional<Array> array = value.tensor.evaluate();
      check(array.has_value(), "what is computed from constants is one");
      widen(value.name, *array);
    }
  }

  void widen(const std::string& name, const Array& array) {
    Range& range = ranges_[name];
    for (double v : array.doubles()) {
      range.low = std::min(range.low, v);
      range.high = std::max(range.high, v);
    }
  }

  std::string constant(const std::string& name, const Array& array) {
    array_to_proto(array, name, *model_.mutable_graph()->add_initializer());
    return name;
  }

  std::string node_of(const char* op, const std::vector<std::string>& inputs, const std::string& output, int axis = -1) {
    NodeProto& node = *model_.mutable_graph()->add_node();
    node.set_op_type(op);
    node.set_name(output);
    for (const std::string& input : inputs) node.add_input(input);
    node.add_output(output);
    if (axis >= 0) {
      onnx::AttributeProto& attribute = *node.add_attribute();
      attribute.set_name("axis");
      attribute.set_type(onnx::AttributeProto::INT);
      attribute.set_i(axis);
    }
    return output;
  }

  std::vector<std::string> parameters(const std::string& name, const Range& range) {
    return {constant(name + ".scale", Array::of_doubles(DType::Float32, {}, std::vector<double>{static_cast<double>(range.scale())})),
            constant(name + ".zero", Array::of_ints(DType::Int8, {}, std::vector<std::int64_t>{range.zero()}))};
  }

  std::string dequantised(const std::string& bytes, const Range& range, const std::string& name) {
    const std::vector<std::string> p = parameters(name, range);
    return node_of("DequantizeLinear", {bytes, p[0], p[1]}, name);
  }

  // Adds the node, on real values, and what quantises its result; returns the bytes of the result.
  std::string add(NodeProto node) {
    const std::string name = node.output(0);
    const std::string x = node.input(0);
    for (int i = 0; i < node.input_size(); i++)
      if (const auto real = real_.find(node.input(i)); real != real_.end()) node.set_input(i, real->second);
    if (node.op_type() == "Identity") {
      ranges_[name] = ranges_.at(x);
      real_[name] = node.input(0);
      return bytes_[name] = bytes_.at(x);
    }
    if (has_weights(node)) quantise_weights(node, ranges_.at(x).scale());
    node.set_output(0, name + ".float");
    *model_.mutable_graph()->add_node() = node;
    if (node.op_type() == "Flatten") ranges_[name] = ranges_.at(x);
    if (relu_inputs_.contains(name)) {
      real_[name] = name + ".float";
      return "";
    }
    const std::vector<std::string> p = parameters(name, ranges_.at(name));
    const std::string bytes = node_of("QuantizeLinear", {name + ".float", p[0], p[1]}, name + ".bytes");
    real_[name] = node_of("DequantizeLinear", {bytes, p[0], p[1]}, name + ".real");
    return bytes_[name] = bytes;
  }

  // Weights are [outputs, ...], a scale for each output; the bias has the scales of the sum.
  void quantise_weights(NodeProto& node, float scale_of_x) {
    const std::string name = node.output(0);
    const Array w = weight(node.input(1));
    const auto outputs = static_cast<std::size_t>(w.shape()[0]);
    const std::vector<double> values = w.doubles();
    const std::size_t each = values.size() / outputs;
    std::vector<double> scales(outputs), sums(outputs);
    std::vector<std::int64_t> bytes(values.size()), bias(outputs);
    const std::vector<double> real_bias = node.input_size() > 2 ? weight(node.input(2)).doubles() : std::vector<double>(outputs);
    for (std::size_t c = 0; c < outputs; c++) {
      double most = 1e-6;
      for (std::size_t i = 0; i < each; i++) most = std::max(most, std::abs(values[c * each + i]));
      const float scale = static_cast<float>(most / 127);
      scales[c] = static_cast<double>(scale);
      sums[c] = static_cast<double>(scale * scale_of_x);
      for (std::size_t i = 0; i < each; i++)
        bytes[c * each + i] = static_cast<std::int64_t>(std::nearbyint(values[c * each + i] / scales[c]));
      bias[c] = static_cast<std::int64_t>(std::nearbyint(real_bias[c] / sums[c]));
    }
    const std::vector<std::int64_t> shape{static_cast<std::int64_t>(outputs)};
    const auto parts = [&](const std::string& part, const Array& array, const std::vector<double>& scale) {
      return node_of(
          "DequantizeLinear",
          {constant(name + part + ".bytes", array), constant(name + part + ".scale", Array::of_doubles(DType::Float32, shape, scale))},
          name + part, 0);
    };
    node.set_input(1, parts(".weight", Array::of_ints(DType::Int8, w.shape(), bytes), scales));
    while (node.input_size() < 3) node.add_input("");
    node.set_input(2, parts(".bias", Array::of_ints(DType::Int32, shape, bias), sums));
  }

  onnx::ModelProto model_;
  std::map<std::string, Array> weights_;
  std::map<std::string, Range> ranges_;
  std::map<std::string, std::string> real_,
      bytes_;                          // of each value of the float model: what it is between two quantisations, and quantised
  std::set<std::string> relu_inputs_;  // used by one Relu alone
};

}  // namespace

std::string quantised(const std::string& bytes) { return Quantiser(bytes).run(); }

}  // namespace etch
