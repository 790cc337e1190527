// Conformance data: cases recorded from tinygrad 0.8 together with the true result, found by brute force. A case agrees, is wrong (a
// value, a bound or an index differs from the true one), or misses a simplification that is known to be possible.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace etch {

/// Levels that a file and the expressions in it may nest: they are read recursively.
inline constexpr int kMostConformanceDepth = 500;

struct ConformanceRow {
  std::string group;  // a group of the file's cases, or one of its sections
  std::int64_t agree = 0, wrong = 0, missed = 0;
};

struct ConformanceReport {
  std::vector<ConformanceRow> rows;   // in the order of the file
  std::vector<std::string> messages;  // one line per case that does not agree: id, then what was found and expected

  bool any_wrong() const;
  /// Counts one case. An empty `wrong` and `missed` mean that it agrees.
  void add(const std::string& group, const std::string& id, const std::string& wrong, const std::string& missed);
};

/// A table of the rows with their sum, then the messages.
std::string to_text(const ConformanceReport& report);

/// Cases of the symbolic algebra: sections cases, equality, substitute, errors.
ConformanceReport check_symbolic(const nlohmann::json& file);
/// Cases of the shape trackers: sections cases, direct_views, view_reshape, invert, add, contraction, symbolic.
ConformanceReport check_shapetracker(const nlohmann::json& file);

}  // namespace etch
