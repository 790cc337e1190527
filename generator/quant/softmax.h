// Internal to quant/: a quantised softmax of quantised values, in integers.
#pragma once

#include <optional>

#include "lazy/tensor.h"
#include "quant/form.h"
#include "quant/quantisation.h"

namespace etch {

/// Where `q` quantises exp(x) / sum(exp(x)), x = v * s: with d = max(v) - v along the axes that are summed over,
///   T[d] = rint(2^30 * exp(-s * d))           a table; of values of 16 bits the product of two, of the halves of d
///   R    = (2^k / scale) / sum(T[d])          in int64, rounded, once for each sum
///   q    = saturate((T[d] * R + (zero << k) + 2^(k-1)) >> k)
/// The sum is exact in any order. Before it is rounded, the result is within 2^-31 / scale + n * 2^-31 * (q - zero) of the exact one, n
/// elements being added; of words, within three times that. nullopt: `q` quantises something else, or its parameters are not single
/// numbers, too fine or too coarse for that.
std::optional<Tensor> quantised_softmax(LazyGraph& graph, FormFinder& forms, const Quantisation& q, const Tensor& zero);

}  // namespace etch
