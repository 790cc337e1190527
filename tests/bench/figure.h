// A figure of the benchmarks: a ratio of two values that are measured in the same run; larger is better. `goal` is the promised value,
// if there is one.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

namespace etch::bench {

struct Figure {
  std::string name;  // "resnet50_c_fraction_of_fma_peak"
  double value = 0;
  std::string unit;  // "of FMA peak", "limit / measured"
  std::optional<double> goal;
  std::string note;  // the absolute numbers behind the ratio
};

using Figures = std::vector<Figure>;

/// The figure for a promised upper limit: `limit` / `measured`, with goal 1.
inline Figure under_limit(std::string name, double limit, double measured, std::string unit) {
  return {std::move(name), measured > 0 ? limit / measured : 0, "limit/measured", 1.0,
          fmt::format("{:.10g} {}, limit {:.10g}", measured, unit, limit)};
}

}  // namespace etch::bench
