// Operators that a user computes by a function in C. Its prototype is compared with each node that it stands for:
//
//   void leaky(float *y, const float *x, float alpha, int32_t x_count);
//
// First come pointers, to the outputs, then, to const, to the inputs, both in the node's order. Then, in any order, numbers that are told
// apart by their names: one for each attribute of the node (a float or an integer), and the sizes that the function wants, x_count for the
// number of elements behind x, x_dim0 for the size of its first axis. A size that stays open has to be among them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "audit/prototype.h"
#include "ir/external.h"
#include "lazy/tensor.h"

namespace onnx {
class GraphProto;
class NodeProto;
}  // namespace onnx

namespace etch {

class ImportedNode;

/// An operator of a model and the function that computes it.
struct CustomOperator {
  std::string domain;  // empty: ONNX's own
  std::string op;
  Prototype prototype;
  std::shared_ptr<const std::vector<ExternalFile>> files;

  /// "com.example.Leaky"
  std::string name() const { return domain.empty() ? op : domain + "." + op; }
};

/// The one of `customs` that computes `node`; nullptr if there is none.
const CustomOperator* find_custom(const std::vector<CustomOperator>& customs, const onnx::NodeProto& node);
/// The names of those that compute no node of `graph`.
std::vector<std::string> unused_customs(const std::vector<CustomOperator>& customs, const onnx::GraphProto& graph);

/// The node's outputs, whose types and shapes `graph` declares; `dims`: the model's named sizes. UserError that shows the prototype that
/// the node needs and the one that was found, if they do not fit.
std::vector<Tensor> call_custom(const CustomOperator& custom, const ImportedNode& node, const onnx::NodeProto& proto,
                                const onnx::GraphProto& graph, const std::map<std::string, Sint>& dims);

}  // namespace etch
