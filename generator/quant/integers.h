// Quantised graphs in integer arithmetic. An importer gives what ONNX says: (q - zero) * scale in float, operations on floats, and
// saturate(rint(x / scale) + zero). Here values that are integers times constant scales are found again, and whatever ends in a
// quantisation is computed from the integers:
//
//   sum(dequantise(x) * dequantise(w)) + dequantise(bias)   ->  v = sum((x - zx) * (w - zw)) + bias, exact in int32
//   quantise(that)                                           ->  saturate(rint(float(v) * M) + zy), M = (sx * sw) / sy in float32
//
// Both roundings (of v to float32, of the product) are part of the definition: it is that of QLinearConv and QLinearMatMul.
#pragma once

#include <optional>
#include <vector>

#include "lazy/graph.h"
#include "quant/dead_channels.h"

namespace etch {

/// What the target's dot products want.
struct ByteOptions {
  std::int64_t tile = kChannelTile;  // channels at a time
  std::optional<DType> stored = {};  // of bytes between operators: int8 or uint8; nullopt: as the model says
};

/// What replaces `outputs`:
///   - quantised sums, products and averages, as above; one value that is moved, or the largest of several, is rescaled by its scale and
///     divisor in turn
///   - bounds by constants (Relu, Clip) before a quantisation, by bounds of the integers after it
///   - a quantisation of what has the same scale and zero point already, by nothing
///   - functions of one quantised byte that take many operations, by a table of their 256 results; of 16 bits, by polynomials of integers
///   - linear functions of two, by a sum of integers that is tried for all 65 536 pairs
///   - a quantised Concat, Pad or Where, by one of quantised parts
///   - a softmax, by a table, a sum and a division of integers, see softmax.h
///   - a normalisation, by sums and a root of integers, see normalisation.h
///   - sums without what is the same for every input, see dead_channels.h; `removed` gets what that was
/// In what is left in float before a quantisation, sums of such integers, and of their squares less their mean, are still sums of integers,
/// and each product is rounded before it is added, but for those of matrix products: no compiler contracts it. What is none of it stays as
/// it is. Scales have to be positive and finite, and sums to fit int32: else it stays, too.
std::vector<const LazyBuffer*> to_integers(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs,
                                           std::vector<DeadChannels>* removed = nullptr, const ByteOptions& options = {});

}  // namespace etch
