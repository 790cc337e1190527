// Internal to emit/: the sizes of a program whose kernels run on a device; some are expressions of its variables.
#pragma once

#include <string>
#include <vector>

#include "emit/project.h"

namespace etch {

/// Collects the sizes that a table needs; equal sizes share one entry.
class SizeTable {
 public:
  /// "128", or "SIZE(2)" where the size depends on variables.
  std::string add(Sint size);
  bool empty() const { return sizes_.empty(); }
  /// C text of the macro SIZE and of the function size_of, which computes each size; empty if no size depends on variables.
  std::string text(const Project& project) const;

 private:
  std::vector<Sint> sizes_;
};

}  // namespace etch
