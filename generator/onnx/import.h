// From an ONNX model to a LazyGraph: each node becomes the Tensor expressions that its operator function writes. Only what depends
// on constants and shapes alone is computed; whatever is not supported is a UserError that names the node.
//
//   ImportedModel model = import_onnx({.path = "kws.onnx", .dims = {{"batch", 1, 16}}});
//   model.outputs[0].tensor.shape();   // [batch, 12]
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lazy/tensor.h"
#include "onnx/custom.h"
#include "onnx/node.h"
#include "shape/open_sizes.h"

namespace etch {

/// One size (min == max), or a range in which it stays variable.
struct SizeRange {
  std::int64_t min = 1, max = 1;
};

/// The size of one dimension: dim_param of the model, or "x[0]" for an axis of input x.
struct DimBinding {
  std::string name;
  std::int64_t min = 1, max = 1;
};

/// The sizes of all axes of one input.
struct ShapeBinding {
  std::string input;
  std::vector<SizeRange> sizes;
};

/// An input and an output of the graph, both of one shape, which are no longer the caller's: memory that outlives a run.
struct StateBinding {
  std::string input, output;
};

/// Initializers that become memory of the caller, to be trained.
struct TrainingImport {
  std::vector<std::string> parameters = {};  // by name; empty: the weights, biases and scales of layers
  int last_layers = 0;                       // of those, only of the last so many layers; 0: of all
  std::string output = {};                   // of those, only what this output is computed from; empty: any
};

struct ImportOptions {
  std::filesystem::path path = {};
  /// The model's bytes, where it does not come from a file (external data is then looked for beside `path`, if given).
  std::string bytes = {};
  std::vector<DimBinding> dims = {};
  std::vector<ShapeBinding> shapes = {};
  /// "NAME=FILE": graph inputs that become constants (.npy, TensorProto .pb or raw elements).
  std::vector<std::string> freeze = {};
  /// Inputs that are kept from run to run: each becomes, at the end of a run, what the output that is bound to it is.
  std::vector<StateBinding> states = {};
  /// Set: these initializers are states, which stay as they are from run to run and require gradients.
  std::optional<TrainingImport> training = {};
  /// Shapes of the inputs in test data, [set][number of the file][axis]. A size that neither the model nor `dims` fixes is taken from
  /// here; if sets differ it becomes a range.
  std::vector<std::vector<std::vector<std::int64_t>>> examples = {};
  /// Operators that functions in C compute.
  std::vector<CustomOperator> customs = {};
  TargetTraits target = {};
  /// The prefix of the emitted names; empty: the file's name, or its folder's name if the file is model.onnx.
  std::string name = {};
};

struct ImportedTensor {
  std::string name;    // as the model calls it
  std::string c_name;  // C identifier; no two inputs, outputs and dims have the same
  DType dtype{};
  Shape shape;
  Tensor tensor;
  std::int64_t below = 0;              // of an input of integers: each is one of [0, below); 0: any may be
  std::optional<double> typical = {};  // of an input: what a test gives it, if not any number
  bool by_value = false;               // of an input of one element: emitted C takes it by value, not by address
  /// Of an output [N, classes] that a Softmax or LogSoftmax gives, or of one that a Sigmoid gives: what that is given; else empty.
  Tensor before_softmax = {}, before_sigmoid = {};
};

/// An input of the file that is a constant now.
struct FrozenTensor {
  std::string name;
  std::filesystem::path file;  // where its value is from
  Array value;
  std::size_t position = 0;  // among all inputs of the file
};

/// What is kept from run to run: an input, at first 0, or an initializer that is trained.
struct ImportedState {
  ImportedTensor state;
  Tensor next;  // what it becomes
};

/// A dimension that stays variable.
struct ImportedDim {
  std::string name;
  std::string c_name;  // the Variable's name
  std::int64_t min = 1, max = 1;
  Sint size;
};

/// A reason why a model can't be compiled. The texts are those of the UserError if it is the only one.
struct ImportProblem {
  /// OpenSize: the size of an input is not given; Unsupported: as UnsupportedError; Wrong: the file contradicts itself.
  enum class Kind : std::uint8_t { OpenSize, Unsupported, Wrong };
  Kind kind = Kind::Wrong;
  std::string where, problem, help;
  std::string subject;  // Unsupported: what is not supported, without the place
  std::string dim;      // OpenSize: "batch", "x[2]"
  std::string option;   // OpenSize: "--dim batch=1"
};

struct ImportedModel {
  std::string name;                 // C identifier
  bool named_after_folder = false;  // the file is called model.onnx, as exporters call every model
  std::shared_ptr<LazyGraph> graph;
  std::vector<ImportedTensor> inputs, outputs;  // in the model's order; without the inputs that are initializers or frozen
  std::vector<FrozenTensor> frozen;             // in the model's order
  std::vector<ImportedState> states;            // in the order of ImportOptions::states
  std::vector<ImportedState> parameters;        // that are trained, in the order of the initializers; `next` is the state itself
  std::vector<ImportedDim> dims;
  int opset = 0;
  std::int64_t ir_version = 0;
  std::string producer;  // "pytorch 2.1.0"; may be empty
  std::int64_t node_count = 0;
  std::int64_t parameter_count = 0;     // elements of all weights
  std::vector<std::string> node_names;  // in execution order; unique
  std::vector<std::string> operators;   // of all nodes: "Conv"
  std::vector<std::string> warnings;    // oddities of the file that do not change the result
  std::vector<ImportProblem> problems;  // not empty: the model can't be used, only shown
  std::vector<std::string> declared;    // "input   x float32 [batch,?]": inputs and outputs as the file has them
};

/// The names that the user gave to the variables.
SizeNames names_of(const std::vector<ImportedDim>& dims);

/// Throws one UserError that lists everything that is wrong with the file or not supported.
ImportedModel import_onnx(const ImportOptions& options);

/// The same for a model that is only shown: what makes it unusable is in `problems`. Throws only if the file can't be read as a model
/// at all, and for bindings that do not fit it.
ImportedModel inspect_onnx(const ImportOptions& options);

/// "2 sizes of inputs are open, 3 things are not supported"
std::string summary(const std::vector<ImportProblem>& problems);

}  // namespace etch
