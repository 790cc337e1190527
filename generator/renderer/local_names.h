// Names of a kernel's local values, by the letters of its formula:
//   in_at, w_at      bases: in[in_at + 5] is an element of `in`
//   in_cy            part of such a base, known in the loops over c and y
//   w_c1, acc_c0_x2  one of several copies: the one at c + 1, the one at c, x + 2
//   y_above_0, yi_inside   conditions
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "codegen/argument.h"
#include "ir/uop.h"

namespace etch {

/// Whether it was made under a name of its own.
inline bool is_named(const UOp* u) {
  return !u->name.empty() && (u->uop == UOpKind::Alu || u->uop == UOpKind::Cast || u->uop == UOpKind::Bitcast);
}

class LocalNames {
 public:
  LocalNames(const UOpList& uops, const KernelSignature& signature);
  /// The preferred name of `u`; several values may have the same one.
  std::string of(const UOp* u) const;

 private:
  /// What a value depends on and what it is used for.
  struct Facts {
    std::vector<std::string> letters;  // of the loops that it depends on, outermost first
    bool is_index = false;             // made of loop variables and numbers alone
    std::set<std::string> subscripts;  // buffers for which it is a subscript, except for an added number
    std::set<std::string> part_of;     // buffers for which it is a part of a subscript
  };
  std::string buffer_name(const UOp* buffer) const;
  std::string index_name(const UOp* u) const;
  std::string mask_name(const UOp* u) const;
  void find_letters(const UOpList& uops);
  void find_subscripts(const UOpList& uops);

  const KernelSignature& signature_;
  std::unordered_map<const UOp*, Facts> facts_;
};

}  // namespace etch
