// The sizes of a model's inputs: what the file declares, what the caller binds (a named dimension, an axis of an input, a whole
// shape), and what stays open. Axes with the same dimension name have the same size. An axis that the file writes as "?", -1 or
// nothing is a dimension of its own, named after its place: "x[2]".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "onnx/import.h"

namespace onnx {
class GraphProto;
}

namespace etch {

/// One axis of a graph input.
struct InputAxis {
  std::string input;
  int axis = 0;
  std::string dim;                    // its dimension: "batch", or "x[2]" where the file gives it no name
  std::string declared;               // the size as the file writes it: "batch", "?", "-1", "0", "224", ""
  std::optional<std::int64_t> fixed;  // the file's size, 0 or more

  /// A plausible size for the help of an error: 1 for the first axis, 224 for those of images. `choice` 1 gives another one.
  std::int64_t example(int rank, int choice = 0) const;
};

class InputSizes {
 public:
  /// Reads the sizes of all inputs that are not initializers. Throws UserError for a binding that names nothing in the model, does not
  /// fit an input's rank, or contradicts the model or another binding.
  InputSizes(const ImportOptions& options, const onnx::GraphProto& graph, const std::set<std::string>& initializers,
             const std::string& place);

  /// The axes of `input`; nullptr if neither the file nor a binding gives it a shape.
  const std::vector<InputAxis>* axes(const std::string& input) const;
  /// The binding of the dimension of `axis`, under that dimension's name; nullopt if nothing was bound to it.
  std::optional<DimBinding> binding(const InputAxis& axis) const;

 private:
  struct Bound {
    SizeRange range;
    std::string by;  // "--dim batch=2"
  };

  void bind_dim(const DimBinding& binding);
  void bind_shape(const ShapeBinding& binding);
  void bind_axis(const InputAxis& axis, const SizeRange& range, const std::string& by);
  std::vector<const InputAxis*> axes_called(const std::string& name, const std::string& by) const;
  [[noreturn]] void fail_unknown(const std::string& name) const;

  std::string place_;
  std::vector<std::string> inputs_;                     // in the model's order
  std::map<std::string, std::vector<InputAxis>> axes_;  // by input, for the inputs that have a shape
  std::map<std::string, Bound> bound_;                  // by dimension
};

/// The command line option that sets a dimension: "--dim 'x[2]=224'", quoted if a shell needs it.
std::string dim_option(const std::string& dim, const std::string& value);
/// "4", "1..16"
std::string range_text(const SizeRange& range);

}  // namespace etch
