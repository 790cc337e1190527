// An ONNX model to a LazyGraph: each node becomes the Tensor expressions that its operator function writes. Nothing is
// computed but what depends on constants and shapes; whatever is not supported is a UserError that names the node.
//
//   ImportedModel model = import_onnx({.path = "kws.onnx", .dims = {{"batch", 1, 16}}});
//   model.outputs[0].tensor.shape();   // [batch, 12]
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "lazy/tensor.h"

namespace etch {

/// The value (min == max) or the range of one named dimension: dim_param of the model, or "x[0]" for a dimension of input x
/// that has neither a size nor a name.
struct DimBinding {
  std::string name;
  std::int64_t min = 1, max = 1;
};

struct ImportOptions {
  std::filesystem::path path = {};
  /// The model's bytes, where it does not come from a file (external data is then looked for beside `path`, if given).
  std::string bytes = {};
  std::vector<DimBinding> dims = {};
  /// "NAME=FILE": graph inputs that become constants (.npy, TensorProto .pb or raw elements).
  std::vector<std::string> freeze = {};
  /// Shapes of the inputs in test data, [set][number of the file][axis]: a size that the model leaves open and `dims` does not
  /// name is the one there, a range where sets differ.
  std::vector<std::vector<std::vector<std::int64_t>>> examples = {};
  /// What the emitted names begin with; empty: the file's name, or that of its folder where the file is model.onnx.
  std::string name = {};
};

struct ImportedTensor {
  std::string name;    // as the model calls it
  std::string c_name;  // C identifier; no two inputs, outputs and dims have the same
  DType dtype{};
  Shape shape;
  Tensor tensor;
};

/// An input of the file that is a constant now.
struct FrozenTensor {
  std::string name;
  std::filesystem::path file;  // where its value is from
  Array value;
  std::size_t position = 0;  // among all inputs of the file
};

/// A dimension that stays variable.
struct ImportedDim {
  std::string name;
  std::string c_name;  // the Variable's name
  std::int64_t min = 1, max = 1;
  Sint size;
};

struct ImportedModel {
  std::string name;               // C identifier
  bool named_after_folder = false;  // the file is called model.onnx, as exporters call every model
  std::shared_ptr<LazyGraph> graph;
  std::vector<ImportedTensor> inputs, outputs;  // in the order of the model's; inputs without initializers and frozen ones
  std::vector<FrozenTensor> frozen;             // in the order of the model's
  std::vector<ImportedDim> dims;
  int opset = 0;
  std::int64_t ir_version = 0;
  std::string producer;  // "pytorch 2.1.0"; may be empty
  std::int64_t node_count = 0;
  std::int64_t parameter_count = 0;     // elements of all weights
  std::vector<std::string> node_names;  // in execution order; unique
  std::vector<std::string> operators;   // of each: "Conv"
  std::vector<std::string> warnings;    // oddities of the file that do not change the result
};

/// Throws UserError for everything that is wrong with the file or not supported.
ImportedModel import_onnx(const ImportOptions& options);

}  // namespace etch
