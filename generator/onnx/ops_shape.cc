// Operators that move, cut, repeat and join elements; all of them are free or nearly so.
#include "onnx/operators.h"

namespace etch::operators {

Outputs identity(NodeContext& node) { return {node.input(0)}; }

Outputs transpose(NodeContext& node) {
  Tensor x = node.input(0);
  std::vector<std::int64_t> perm = node.attribute_ints("perm", std::vector<std::int64_t>{});
  std::vector<int> axes;
  if (perm.empty()) {
    for (int axis = x.rank() - 1; axis >= 0; --axis) axes.push_back(axis);
  }
  for (std::int64_t axis : perm) axes.push_back(static_cast<int>(axis));
  return {x.permute(axes)};
}

}  // namespace etch::operators
