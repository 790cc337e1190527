// Internal to emit/: sizes of an OpenCL program, of which some are expressions of its variables.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "emit/project.h"

namespace etch {

/// The expression in C, in parentheses unless it is a number or a name. `names`: what to call the variables.
std::string c_expression(Sint size, const std::map<std::string, std::string>& names);

/// Collects the sizes that a table needs; equal ones are one.
class SizeTable {
 public:
  /// "128", or "SIZE(2)" where the size depends on variables.
  std::string add(Sint size);
  bool empty() const { return sizes_.empty(); }
  /// The macro SIZE and the function size_of, which computes each; nothing where there are none.
  std::string text(const Project& project) const;

 private:
  std::vector<Sint> sizes_;
};

}  // namespace etch
