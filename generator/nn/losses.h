// Losses: each a scalar to call backward() on. Labels and targets need no gradient. And the accuracy, which people read beside them.
#pragma once

#include <cstdint>
#include <optional>

#include "lazy/tensor.h"

namespace etch::nn {

/// Mean over all positions [N, d..] of the negative logarithm of what softmax over axis 1 of `logits` [N, C, d..] gives the label there
/// (integers of [0, C)). Positions with the label `ignored` do not count.
Tensor sparse_categorical_crossentropy(const Tensor& logits, const Tensor& labels, std::optional<std::int64_t> ignored = std::nullopt);
/// The same for probabilities of the classes, [N, C, d..] as the logits.
Tensor categorical_crossentropy(const Tensor& logits, const Tensor& probabilities);
/// Mean of -(y log p + (1 - y) log(1 - p)) for probabilities p of (0, 1).
Tensor binary_crossentropy(const Tensor& probabilities, const Tensor& targets);
/// The same for p = sigmoid(logits), without overflow.
Tensor binary_crossentropy_logits(const Tensor& logits, const Tensor& targets);
Tensor mean_square(const Tensor& values, const Tensor& targets);
Tensor mean_absolute(const Tensor& values, const Tensor& targets);

/// No loss, as it has no gradient: the part of all positions, float32 of [0, 1], where the largest of `logits` [N, C, d..] along axis 1
/// (the first of equals) is at the label. Positions with the label `ignored` do not count; NaN if none counts.
Tensor accuracy(const Tensor& logits, const Tensor& labels, std::optional<std::int64_t> ignored = std::nullopt);

}  // namespace etch::nn
