// Short names of ONNX nodes, for kernels and intermediate values: "conv1" of "/net/conv1/Conv", "conv_op2" of "op2/conv".
#pragma once

#include <map>
#include <string>
#include <vector>

namespace etch {

struct NamedNode {
  std::string name;  // as the model calls it; exporters write paths
  std::string kind;  // its operator, "Conv"; may be empty
};

class NodeNames {
 public:
  /// The operator in small letters, where the name does not say it, and the shortest end of the path that no other of `nodes`
  /// has. The last part of a path is left out where it only repeats an operator; of a name that a converter joined from several
  /// ("a/Relu;a/Conv2D") the last counts.
  explicit NodeNames(const std::vector<NamedNode>& nodes);
  /// A C identifier of at most 40 characters; "kernel" of a node that was not among them.
  std::string of(const std::string& node) const;

 private:
  std::map<std::string, std::string> names_;
};

}  // namespace etch
