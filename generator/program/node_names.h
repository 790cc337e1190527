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
  /// A short name is the operator in lower case, if the node's name does not contain it, and the shortest end of the path that no other
  /// of `nodes` has. The last part of a path is left out if it only repeats an operator. Of a name that a converter joined from several
  /// ("a/Relu;a/Conv2D") only the last one is used.
  explicit NodeNames(const std::vector<NamedNode>& nodes);
  /// The short name, a C identifier of at most 40 characters; "kernel" for a node that was not in `nodes`.
  std::string of(const std::string& node) const;

 private:
  std::map<std::string, std::string> names_;
};

}  // namespace etch
