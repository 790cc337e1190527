// Losses over classes.
#include "ir/lazyop.h"
#include "onnx/operators.h"
#include "onnx/ops_common.h"

namespace etch::operators {
namespace {

/// log_probabilities [N, C, d...], target [N, d...] of classes, weight [C] or none.
Tensor negative_log_likelihood(NodeContext& node, const Tensor& log_probabilities, int target_input, int weight_input) {
  require_type(node, target_input, {DType::Int32, DType::Int64});
  const Tensor x = log_probabilities, target = node.input(target_input);
  Shape places = x.shape();
  if (x.rank() >= 2) places.erase(places.begin() + 1);
  if (x.rank() < 2 || target.shape() != places) {
    node.fail("the scores have the shape " + shape_text(x.shape()) + ", the target " + shape_text(target.shape()),
              "they are [N, C, d...] and [N, d...]");
  }
  const std::string reduction = node.attribute_string("reduction", "mean");
  if (reduction != "none" && reduction != "sum" && reduction != "mean")
    node.fail("attribute reduction is '" + reduction + "'", "accepted are none, sum and mean");
  const bool ignores = node.has_attribute("ignore_index");
  const std::int64_t ignored = ignores ? node.attribute_int("ignore_index") : 0;

  Tensor kept;  // which losses count; absent: all
  Tensor index = target;
  if (ignores) {
    kept = target.equal(integer(target, ignored)).logical_not();
    index = kept.where(target, integer(target, 0));
  }
  Tensor loss = -x.gather_elements(1, index.unsqueeze(1)).squeeze({1});
  Tensor weight;  // of each loss; absent: 1
  if (node.has_input(weight_input)) {
    const Tensor table = node.input(weight_input);
    if (table.rank() != 1 || !(table.dim(0) == x.dim(1)) || table.dtype() != x.dtype())
      node.fail("the weights have the shape " + shape_text(table.shape()) + ", one for each class in the type of the scores is expected");
    weight = table.gather(0, index);
    loss = loss * weight;
  }
  if (kept) {
    loss = kept.where(loss, integer(loss, 0));
    weight = kept.where(weight ? weight : integer(loss, 1), integer(loss, 0));
  }
  if (reduction == "none") return loss;
  const Tensor wide = widened(loss);
  if (reduction == "sum") return wide.sum().cast(x.dtype());
  return (weight ? wide.sum() / widened(weight).sum() : wide.mean()).cast(x.dtype());
}

}  // namespace

Outputs nll_loss(NodeContext& node) {
  require_inputs(node, 2, 3);
  return {negative_log_likelihood(node, node.input(0), 1, 2)};
}

Outputs softmax_cross_entropy_loss(NodeContext& node) {
  require_inputs(node, 2, 3);
  if (node.input(0).rank() < 2) node.fail("the scores have the shape " + shape_text(node.input(0).shape()) + ", [N, C, d...] is expected");
  const Tensor log_probabilities = node.input(0).log_softmax(1);
  return {negative_log_likelihood(node, log_probabilities, 1, 2), log_probabilities};
}

}  // namespace etch::operators
