// What can be said of open sizes (variables) to the one who gave their ranges: where a rule does not hold for all of their values.
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

/// What the user calls a variable where that is not its name: "x_2" -> "x[2]".
using SizeNames = std::map<std::string, std::string>;

/// What can't be shown to hold for every value of the open sizes: the model's wish together with the ranges that the user gave. Importer
/// and lowering name the node instead.
class NotProved : public InternalError {
 public:
  NotProved(std::string_view rule, std::vector<Sint> sizes, const std::source_location& at = std::source_location::current())
      : InternalError(rule, at), rule_(rule), sizes_(std::move(sizes)) {}
  const std::string& rule() const { return rule_; }
  /// Expressions of the open sizes; they live as long as their graph.
  const std::vector<Sint>& sizes() const { return sizes_; }

 private:
  std::string rule_;
  std::vector<Sint> sizes_;
};

/// check() where no size among `of` is open; else NotProved unless it holds.
void check_for_sizes(bool holds, std::string_view rule, const std::vector<Sint>& of,
                     const std::source_location& at = std::source_location::current());
/// "W is 8..64, N is 1..4": the open sizes in the expressions and their ranges; indices below them are left out.
std::string ranges_text(const std::vector<Sint>& xs, const SizeNames& names = {});
/// "fix the size by --dim W=VALUE, or narrow its range (W is 8..64)"; empty if no size is open.
std::string size_help(const std::vector<Sint>& xs, const SizeNames& names);
/// The least value of the only open size in `expr` from which on expr >= 0; nothing if there are several sizes or no such value.
std::optional<std::int64_t> least_value(Sint expr);

}  // namespace etch
