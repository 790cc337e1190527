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
/// k is 60 + floor(log2(scale)), or what keeps each step below 2^63 if that is less: 53 for results of a byte, 45 for words. The sum is
/// exact in any order. Before it is rounded, the result is within 2^(29-k) + (1 / scale + n * (q - zero)) * 2^-31 of the exact one, n
/// elements being added: by the rounding of R and of T; of values of 16 bits T has three times that part. nullopt: `q` quantises something
/// else, or its parameters are not single numbers, too fine or too coarse for that.
std::optional<Tensor> quantised_softmax(LazyGraph& graph, FormFinder& forms, const Quantisation& q, const Tensor& zero);

}  // namespace etch
