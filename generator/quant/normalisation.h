// Internal to quant/: normalisations in integers.
#pragma once

#include <optional>

#include "lazy/tensor.h"
#include "quant/form.h"
#include "quant/quantisation.h"

namespace etch {

/// `q` of z * scale + bias, where z = (x - mean) / sqrt(variance + epsilon) over some axes (or x / sqrt(mean of squares + epsilon)) and
/// x = v * s: what layer, group, instance and RMS normalisation are. In integers, n elements being summed:
///   d = n * v - sum(v),  V = n * sum(v^2) - sum(v)^2,  z = d / sqrt(V + E),  E = n^2 * epsilon / s^2
/// d and V are exact, E is rounded to the p binary places that V + E leaves free in 62 bits. Before it is rounded, a result is off by at
/// most 2^-26 of the largest that scale and bias allow, (sqrt(n) * scale + bias) / divisor, and by 2^-(p + 2) / (n - 1) of itself. Where
/// all elements are the same it is what float32 gives, ties included. nullopt: it is no such value, its numbers are out of the range of
/// these integers, or scale and bias would take more memory together than they do apart; it stays in float.
std::optional<Tensor> quantised_normalisation(LazyGraph& graph, FormFinder& forms, const Quantisation& q, const Tensor& zero);

}  // namespace etch
