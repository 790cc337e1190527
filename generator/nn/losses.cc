#include "nn/losses.h"

#include "nn/described.h"

namespace etch::nn {
namespace {

void require_alike(const char* loss, const Tensor& values, const Tensor& targets) {
  if (values.shape() != targets.shape())
    throw ShapeError(std::string(loss) + ": of " + described(values) + ", the targets are " + described(targets));
}

void require_classes(const char* loss, const Tensor& logits) {
  if (logits.rank() < 2) throw ShapeError(std::string(loss) + ": of " + described(logits) + ", accepted are logits [N, C, ..]");
}

/// ShapeError unless the labels are integers of the logits' shape without the classes.
void require_labels(const char* loss, const Tensor& logits, const Tensor& labels) {
  require_classes(loss, logits);
  Shape positions = logits.shape();
  positions.erase(positions.begin() + 1);
  if (labels.shape() != positions || !is_int(labels.dtype()))
    throw ShapeError(std::string(loss) + ": of " + described(logits) + ", the labels are " + described(labels) +
                     ", accepted are integers " + shape_text(positions));
}

/// Where the label is not `ignored`.
Tensor counted(const Tensor& labels, std::int64_t ignored) {
  return labels.equal(labels.full_like(static_cast<double>(ignored))).logical_not();
}

}  // namespace

Tensor sparse_categorical_crossentropy(const Tensor& logits, const Tensor& labels, std::optional<std::int64_t> ignored) {
  require_labels("sparse_categorical_crossentropy", logits, labels);
  // The classes last, as rows to choose from.
  std::vector<int> order{0};
  for (int i = 2; i < logits.rank(); i++) order.push_back(i);
  order.push_back(1);
  const Tensor rows = logits.log_softmax(1).permute(order);
  const Tensor is_label = labels.one_hot(logits.dim(1));
  const Tensor each = is_label.where(rows, rows.full_like(0)).sum({-1}).neg();
  if (!ignored) return each.mean();
  const Tensor counts = counted(labels, *ignored);
  return counts.where(each, each.full_like(0)).sum() / counts.cast(each.dtype()).sum();
}

Tensor categorical_crossentropy(const Tensor& logits, const Tensor& probabilities) {
  require_classes("categorical_crossentropy", logits);
  require_alike("categorical_crossentropy", logits, probabilities);
  return (logits.log_softmax(1) * probabilities).sum({1}).neg().mean();
}

Tensor binary_crossentropy(const Tensor& probabilities, const Tensor& targets) {
  require_alike("binary_crossentropy", probabilities, targets);
  const Tensor one = probabilities.full_like(1), y = targets.cast(probabilities.dtype());
  return (y * probabilities.log() + (one - y) * (one - probabilities).log()).neg().mean();
}

Tensor binary_crossentropy_logits(const Tensor& logits, const Tensor& targets) {
  require_alike("binary_crossentropy_logits", logits, targets);
  return (logits.softplus() - logits * targets.cast(logits.dtype())).mean();
}

Tensor mean_square(const Tensor& values, const Tensor& targets) {
  require_alike("mean_square", values, targets);
  return (values - targets).square().mean();
}

Tensor mean_absolute(const Tensor& values, const Tensor& targets) {
  require_alike("mean_absolute", values, targets);
  return (values - targets).abs().mean();
}

Tensor accuracy(const Tensor& logits, const Tensor& labels, std::optional<std::int64_t> ignored) {
  require_labels("accuracy", logits, labels);
  const Tensor right = logits.detach().argmax(1, false).equal(labels.cast(DType::Int64));
  if (!ignored) return right.cast(DType::Float32).mean();
  const Tensor counts = counted(labels, *ignored), both = Tensor::binary(Op::And, right, counts);
  return both.cast(DType::Float32).sum() / counts.cast(DType::Float32).sum();
}

}  // namespace etch::nn
