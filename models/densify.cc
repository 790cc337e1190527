#include "models/densify.h"

#include <onnx/onnx_pb.h>

#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "base/error.h"
#include "onnx/protobuf_file.h"
#include "onnx/seeded.h"
#include "onnx/tensor_proto.h"

namespace etch {
namespace {

struct Factors {
  const char* name;
  double head;  // on the weights of the last Conv or Gemm, so that the logits spread over a few units
  double gain;
};
constexpr Factors kFactors[] = {{"light_squeezenet", 0.5, 1.45},     {"light_shufflenet", 0x1p-18, 1.45}, {"light_inception_v1", 6.0, 1.45},
                                {"light_inception_v2", 0.125, 1.45}, {"light_densenet121", 4.0, 1.45},    {"light_resnet50", 0x1p-14, 1.45},
                                {"light_bvlc_alexnet", 0.5, 1.45},   {"light_zfnet512", 1.0, 1.45},       {"light_vgg19", 0.25, 1.45}};

struct Use {
  const onnx::NodeProto* node;
  int input;
};

class Densifier {
 public:
  Densifier(onnx::GraphProto& graph, const std::string& name) : graph_(graph) {
    for (const Factors& f : kFactors) {
      if (name == f.name) factors_ = f;
    }
    for (const auto& tensor : graph.initializer()) initializers_[tensor.name()] = &tensor;
    for (const auto& node : graph.node()) {
      for (int i = 0; i < node.input_size(); i++) uses_[node.input(i)].push_back({&node, i});
      if (node.op_type() == "Conv" || node.op_type() == "Gemm") last_ = &node;
    }
  }

  void run() {
    std::vector<onnx::NodeProto> kept;
    std::vector<NamedArray> weights;
    std::set<std::string> shapes;
    for (const auto& node : graph_.node()) {
      if (node.op_type() != "ConstantOfShape") {
        kept.push_back(node);
        continue;
      }
      const auto shape = initializers_.find(node.input(0));
      if (shape == initializers_.end()) throw UserError("node '" + node.output(0) + "' (ConstantOfShape)", "its shape is no initializer");
      weights.push_back({node.output(0), weight(node.output(0), array_of_proto(*shape->second, node.input(0), "").ints())});
      shapes.insert(node.input(0));
    }
    replace(kept, weights, shapes);
  }

 private:
  /// The one node that computes with the value, through Unsqueeze and Reshape.
  Use use_of(std::string name) const {
    while (true) {
      const auto uses = uses_.find(name);
      if (uses == uses_.end() || uses->second.size() != 1) throw UserError("weight '" + name + "'", "it has not exactly one use");
      const Use use = uses->second[0];
      if (use.node->op_type() != "Unsqueeze" && use.node->op_type() != "Reshape") return use;
      name = use.node->output(0);
    }
  }

  Array weight(const std::string& name, const std::vector<std::int64_t>& shape) const {
    const auto [node, input] = use_of(name);
    const std::string& op = node->op_type();
    const bool product = op == "Conv" || op == "Gemm", normalisation = op == "BatchNormalization";
    if (product && input == 1) {
      bool transposed = op == "Conv";
      for (const auto& attribute : node->attribute()) transposed = transposed || (attribute.name() == "transB" && attribute.i() != 0);
      std::int64_t fan_in = transposed ? 1 : shape.at(0);
      for (std::size_t i = 1; transposed && i < shape.size(); i++) fan_in *= shape[i];
      const double scale = std::sqrt(3.0 / static_cast<double>(fan_in)) * factors_.gain * (node == last_ ? factors_.head : 1.0);
      return seeded_array(name, shape, static_cast<float>(scale));
    }
    if ((product && input == 2) || (normalisation && (input == 2 || input == 3)) || op == "Add") return seeded_array(name, shape, 0.03125f);
    if ((normalisation && (input == 1 || input == 4)) || op == "Mul") return seeded_array(name, shape, 0.25f, 1.0f);
    throw UserError("weight '" + name + "'", "it is input " + std::to_string(input) + " of " + op + ", which has no rule");
  }

  void replace(const std::vector<onnx::NodeProto>& kept, const std::vector<NamedArray>& weights, const std::set<std::string>& shapes) {
    std::set<std::string> used;
    for (const auto& node : kept) used.insert(node.input().begin(), node.input().end());
    const auto stays = [&](const std::string& name) { return used.contains(name) || !shapes.contains(name); };
    onnx::GraphProto old;
    old.Swap(&graph_);
    graph_ = old;
    graph_.clear_node();
    graph_.clear_initializer();
    graph_.clear_input();
    for (const auto& node : kept) *graph_.add_node() = node;
    for (const auto& tensor : old.initializer()) {
      if (stays(tensor.name())) *graph_.add_initializer() = tensor;
    }
    std::set<std::string> inputs;
    for (const auto& input : old.input()) {
      if (!stays(input.name())) continue;
      *graph_.add_input() = input;
      inputs.insert(input.name());
    }
    for (const NamedArray& w : weights) {
      array_to_proto(w.array, w.name, *graph_.add_initializer());
      if (inputs.contains(w.name)) continue;  // IR version 3 wants initializers among the inputs
      auto& input = *graph_.add_input();
      input.set_name(w.name);
      auto& type = *input.mutable_type()->mutable_tensor_type();
      type.set_elem_type(onnx::TensorProto::FLOAT);
      type.mutable_shape();
      for (std::int64_t d : w.array.shape()) type.mutable_shape()->add_dim()->set_dim_value(d);
    }
  }

  onnx::GraphProto& graph_;
  Factors factors_{"", 1.0, 1.0};
  std::map<std::string, const onnx::TensorProto*> initializers_;
  std::map<std::string, std::vector<Use>> uses_;
  const onnx::NodeProto* last_ = nullptr;
};

}  // namespace

std::string densify(const std::string& bytes, const std::string& name) {
  onnx::ModelProto model;
  parse_message(bytes, name, "an ONNX model", model);
  Densifier(*model.mutable_graph(), name).run();
  return serialize_message(model);
}

}  // namespace etch
