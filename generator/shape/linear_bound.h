// Internal to shape/: lower bounds of a linear form under linear constraints.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace etch {

struct LinearProgram {
  struct Entry {
    std::size_t var;
    std::int64_t coef;
  };
  struct Row {  // sum of coef * var <= limit
    std::vector<Entry> entries;
    std::int64_t limit;
  };
  std::vector<std::int64_t> low, high;  // range of each variable (an integer)
  std::vector<Row> rows;
};

/// Narrows low and high by the rows, one row at a time. False if a range gets empty: the rows contradict each other.
bool propagate(LinearProgram* p);

/// A sound lower bound of the sum of `objective` wherever all rows hold, the best one for rational values; nullopt if a range in the
/// objective is unlimited or the numbers get too large. The multipliers that prove it (the dual solution) are found in floating
/// point; the bound is computed from them in exact arithmetic, so it is sound for any multipliers.
std::optional<std::int64_t> lower_bound(const LinearProgram& p, const std::vector<LinearProgram::Entry>& objective);

/// True if the sum of `objective` is proved to be at least `target` wherever all rows hold. If the best rational values are not
/// integers, the range of a variable is cut in two, at most `max_cuts` times.
bool proves_at_least(const LinearProgram& p, const std::vector<LinearProgram::Entry>& objective, std::int64_t target, int max_cuts);

}  // namespace etch
