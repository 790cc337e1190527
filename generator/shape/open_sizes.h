// Errors about open sizes (variables): a rule does not hold for all values of the ranges that the user gave.
#pragma once

#include <map>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "shape/symbolic.h"

namespace etch {

/// The user's name of a variable if it differs from the Variable's: "x_2" -> "x[2]".
using SizeNames = std::map<std::string, std::string>;

/// A rule can't be proved for every value of the open sizes. The cause is the model together with the ranges that the user gave, so
/// importer and lowering turn it into an error that names the node.
class NotProved : public InternalError {
 public:
  NotProved(std::string_view rule, std::vector<Sint> sizes, const std::source_location& at = std::source_location::current())
      : InternalError(rule, at), rule_(rule), sizes_(std::move(sizes)) {}
  const std::string& rule() const { return rule_; }
  /// Expressions of the open sizes; valid as long as their graph lives.
  const std::vector<Sint>& sizes() const { return sizes_; }

 private:
  std::string rule_;
  std::vector<Sint> sizes_;
};

/// Like check(), but throws NotProved if a size in `of` is open.
void check_for_sizes(bool holds, std::string_view rule, const std::vector<Sint>& of,
                     const std::source_location& at = std::source_location::current());
/// "W is 8..64, N is 1..4": the open sizes in the expressions and their ranges, without index variables.
std::string ranges_text(const std::vector<Sint>& xs, const SizeNames& names = {});
/// "fix the size by --dim W=VALUE, or narrow its range (W is 8..64)"; empty if no size is open.
std::string size_help(const std::vector<Sint>& xs, const SizeNames& names);
/// The smallest value of the only open size in `expr` from which on expr >= 0; nullopt if there are several sizes or no such value.
std::optional<std::int64_t> least_value(Sint expr);

}  // namespace etch
