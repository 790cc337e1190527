// Writes ONNX models, one call for each node. The result is a ModelProto, whose bytes depend on the calls alone.
//
//   GraphBuilder g("tiny", 13);
//   auto x = g.input("x", DType::Float32, {"batch", 4});
//   auto w = g.seeded("fc.weight", {2, 4}, 4);
//   auto y = g.node("Relu", {g.node("Gemm", {x, w}, {{"transB", 1}})});
//   g.output(y, DType::Float32, {"batch", 2});
//   g.write("tiny.onnx");
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ir/array.h"

namespace onnx {
class ModelProto;
}

namespace etch {

/// A size, or the name of one that stays open (dim_param).
struct OnnxDim {
  OnnxDim(std::int64_t size) : value(size) {}
  OnnxDim(int size) : value(size) {}
  OnnxDim(const char* param) : name(param) {}
  OnnxDim(std::string param) : name(std::move(param)) {}
  std::int64_t value = 0;
  std::string name;  // empty: `value` counts
};

using OnnxAttribute = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>, Array>;
using OnnxAttributes = std::vector<std::pair<std::string, OnnxAttribute>>;

/// How a tensor is stored in the file.
enum class Storage : std::uint8_t { Raw, Typed };

class GraphBuilder {
 public:
  /// The name of a value, for use as a node's input; an empty name is an absent input.
  using Value = std::string;
  using Ints = std::vector<std::int64_t>;

  explicit GraphBuilder(const std::string& name, int opset = 13, int ir_version = 7);
  ~GraphBuilder();
  GraphBuilder(const GraphBuilder&) = delete;
  GraphBuilder& operator=(const GraphBuilder&) = delete;

  Value input(const std::string& name, DType dtype, const std::vector<OnnxDim>& shape);
  Value initializer(const std::string& name, const Array& array, Storage storage = Storage::Raw);
  /// A float32 weight made from its name: uniform, deviation sqrt(2 / fan_in), which keeps values in range through layers of
  /// ReLU. See seeded.h.
  Value seeded(const std::string& name, const Ints& shape, std::int64_t fan_in);
  /// offset + u * scale, u uniform in [-1, 1)
  Value seeded_around(const std::string& name, const Ints& shape, double offset, double scale);
  /// A small int64 vector as an initializer.
  Value ints(const std::string& name, const Ints& values);

  /// One node with one output. Node and output are both called `name` (empty: the operator and a number).
  Value node(const std::string& op, const std::vector<Value>& inputs, const OnnxAttributes& attributes = {}, const std::string& name = "");
  /// The same with several outputs; an empty name in `outputs` leaves one out.
  void node_with_outputs(const std::string& op, const std::vector<Value>& inputs, const std::vector<Value>& outputs,
                         const OnnxAttributes& attributes = {}, const std::string& name = "", const std::string& domain = "");
  void output(const Value& value, DType dtype, const std::vector<OnnxDim>& shape);

  // --- frequent layers, with their weights, which are named after `name`

  /// weight NAME.weight [outputs, channels / groups, kernel...], bias NAME.bias; pads: begins, then ends.
  Value conv(const Value& x, const std::string& name, std::int64_t channels, std::int64_t outputs, const Ints& kernel, const Ints& strides,
             const Ints& pads, std::int64_t groups = 1, bool bias = true);
  /// NAME.scale, .bias, .mean, .var
  Value batch_norm(const Value& x, const std::string& name, std::int64_t channels);
  /// Gemm with NAME.weight [outputs, inputs] transposed, NAME.bias.
  Value dense(const Value& x, const std::string& name, std::int64_t inputs, std::int64_t outputs);
  Value relu(const Value& x) { return node("Relu", {x}); }

  onnx::ModelProto& proto() { return *model_; }
  /// The file's bytes: the same for the same calls.
  std::string bytes() const;
  /// Writes the model. If `external` is not empty, tensors of 1024 bytes and more are stored in that file beside it.
  void write(const std::filesystem::path& path, const std::string& external = "") const;

 private:
  std::unique_ptr<onnx::ModelProto> model_;
  int nodes_ = 0;
};

}  // namespace etch
