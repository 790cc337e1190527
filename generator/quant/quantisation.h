// Internal to quant/: where a graph quantises.
#pragma once

#include <optional>

#include "lazy/graph.h"

namespace etch {

/// saturate(rint(x) + zero), as an importer writes it: clamped in float, zero point included, all of it by one node. A Round of a graph
/// that is followed by a Clip and a Cast is not one: there, nobody allows another rounding of what is rounded.
struct Quantisation {
  DType dtype{};
  const LazyBuffer* x = nullptr;     // before rint
  const LazyBuffer* zero = nullptr;  // in float32; nullptr: 0
};
/// `b` is the Cast at its end; nullopt: it is none.
std::optional<Quantisation> quantisation_of(const LazyBuffer* b);

}  // namespace etch
