// The view that an operator function has of its ONNX node: inputs as Tensors, attributes, the opset. An operator is one row of
// operators.def and one function Outputs f(NodeContext&).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lazy/tensor.h"

namespace etch {

using Outputs = std::vector<Tensor>;

/// A product of one row and weights, and beside it one of several rows and other weights: the lengths of their sums, and the outputs of a
/// row.
struct TwoProducts {
  std::int64_t length = 0, outputs = 0;                 // of the one row
  std::int64_t rows = 0, other_length = 0, others = 0;  // of the several
};

/// Which sums of products of floats with constant weights are added up in blocks, as the second cache does not hold the weights that
/// kernels read again for other rows.
struct LongSums {
  std::int64_t longest = 0;  // elements of a sum that is left whole; 0: all are
  std::int64_t block = 1;    // elements of a block at most
  std::int64_t lanes = 1;    // of a vector of float32
};

/// What operators know of the target; the driver fills it in.
struct TargetTraits {
  bool has_grid = false;  // kernels are started one by one on a device that does much at once: few of them are better than little work
  bool may_take_memory =
      true;  // more RAM than an operator needs, where that makes it faster; the driver takes it away where none is to spare
  std::function<bool(const TwoProducts&)> fit_together = {};  // one kernel of a loop does both, faster than two; empty: there are none such
  LongSums long_sums = {};
};

/// One node while it is imported. It remembers which attributes the operator function asked for: if the node has another one, that is
/// an error after the call, so that no attribute is ignored silently.
class NodeContext {
 public:
  virtual ~NodeContext() = default;

  virtual const std::string& name() const = 0;     // the node's name, or its first output's
  virtual const std::string& op_type() const = 0;  // "Conv"
  virtual int opset() const = 0;                   // of the node's domain, as the model imports it
  virtual LazyGraph& graph() const = 0;
  virtual const TargetTraits& target() const = 0;

  virtual int input_count() const = 0;
  virtual int output_count() const = 0;      // as the node lists them (trailing empty names not counted)
  virtual bool has_output(int i) const = 0;  // listed and not an empty name
  virtual bool has_input(int i) const = 0;   // false also for an empty name
  /// Input `i`; a UserError names the node if it is absent.
  virtual Tensor input(int i) const = 0;
  /// The value of input `i` if it depends on constants alone.
  virtual std::optional<Array> constant(int i) const = 0;
  /// The same, but a UserError if it does not. `what` names the input in the error: "shape", "axes".
  virtual Array require_constant(int i, const std::string& what) const = 0;
  /// The help of an error about input `i`: how the user can make it a constant.
  virtual std::string constant_help(int i) const = 0;
  /// The integers of an input whose value is known, except that they may hold Variables (from Shape of a tensor with open sizes).
  virtual std::vector<Sint> require_dims(int i, const std::string& what) const = 0;

  virtual bool has_attribute(const std::string& name) = 0;
  virtual std::int64_t attribute_int(const std::string& name, std::optional<std::int64_t> fallback = std::nullopt) = 0;
  virtual double attribute_float(const std::string& name, std::optional<double> fallback = std::nullopt) = 0;
  virtual std::string attribute_string(const std::string& name, std::optional<std::string> fallback = std::nullopt) = 0;
  virtual std::vector<std::int64_t> attribute_ints(const std::string& name,
                                                   std::optional<std::vector<std::int64_t>> fallback = std::nullopt) = 0;
  virtual std::vector<double> attribute_floats(const std::string& name, std::optional<std::vector<double>> fallback = std::nullopt) = 0;
  virtual std::vector<std::string> attribute_strings(const std::string& name,
                                                     std::optional<std::vector<std::string>> fallback = std::nullopt) = 0;
  virtual Array attribute_tensor(const std::string& name) = 0;

  /// The graph's value `name`, computed once more with `instead` in place of the values of these names. A value that depends on none of
  /// them stays as it is. UserError unless all of them are values of the graph, none is computed from another one, and `name` from each.
  virtual Tensor recomputed(const std::string& name, const std::vector<std::pair<std::string, Tensor>>& instead) const = 0;

  /// Marks an attribute as known to the operator but without influence here (the call's comment gives the reason).
  virtual void acknowledge(const std::string& name) = 0;

  /// The help of an error about open sizes: "fix it by --dim T=VALUE, or narrow its range (now 1..32)". Names every open dimension in
  /// `sizes`.
  virtual std::string size_help(const std::vector<Sint>& sizes) const = 0;
  /// Throws a UserError at this node ("model.onnx: node 'conv2' (Conv)").
  [[noreturn]] virtual void fail(const std::string& what, const std::string& help = "") const = 0;
};

/// One row of the operator table. If several rows have one name, the one with the largest `since` <= the model's opset counts.
struct OperatorRow {
  const char* name;
  int since;          // first opset for which `function` implements the operator's definition
  const char* types;  // of the first input (or of the output where there is none): f float, i integer, b bool
  Outputs (*function)(NodeContext&);
  const char* domain = "";  // empty: ai.onnx; `since` counts the versions of the operator's domain
};

}  // namespace etch
