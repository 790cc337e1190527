// For passes that replace UOps one by one: rebuilds a list, giving each UOp, with its operands already replaced, to `replace`.
#pragma once

#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "codegen/builder.h"

namespace etch {

/// `replace(builder, uop, original)` returns the UOp to use instead of `original`: builder.add(uop) keeps it.
template <class Replace>
UOpList rebuild(const UOpList& uops, Replace replace) {
  UOpBuilder builder(uops);
  std::unordered_map<const UOp*, const UOp*> now;  // look-up only
  for (const UOp* u : uops.order) {
    if (u->uop == UOpKind::End) {
      builder.end(now.at(u->src[0]));
      continue;
    }
    UOp copy = *u;
    for (const UOp*& s : copy.src) s = now.at(s);
    now[u] = replace(builder, std::move(copy), u);
  }
  return builder.finish();
}

/// Adds `uop`, taking the original itself if nothing about it changed.
inline const UOp* add_again(UOpBuilder& builder, UOp uop, const UOp* original) {
  return uop.same(*original) ? builder.add(original) : builder.add(std::move(uop));
}

}  // namespace etch
