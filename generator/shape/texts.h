// Texts of expressions, as to_text() writes them. They are compared piece by piece and written in one pass, without building the
// texts of their parts, so the time for a deep expression is proportional to the length of its text.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "base/pointer_set.h"
#include "shape/symbolic.h"

namespace etch {

/// Caches the order of operands; the expressions must live longer than it.
class Texts {
 public:
  /// to_text(x)
  std::string text(Sint x);
  /// to_text(a) < to_text(b)
  bool less(Sint a, Sint b);

 private:
  class Reader;
  void learn(Sint x);
  bool known_less(Sint a, Sint b) const;

  PointerSet<Node> known_;
  std::unordered_map<const Node*, std::vector<Sint>> sorted_;  // operands of known sums and conjunctions; look-up only
};

}  // namespace etch
