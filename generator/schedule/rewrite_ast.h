// Internal to schedule/: an AST with some of its nodes replaced.
#pragma once

#include <unordered_map>
#include <vector>

#include "ir/lazyop.h"

namespace etch {

/// `op` on other sources of the types that it takes.
const LazyOp* with_sources(LazyOps& ops, const LazyOp* op, const std::vector<const LazyOp*>& src);

/// `root` with other nodes below it: `replace(op, src)` gets each node, sources first, with its sources replaced already, and returns the
/// node to use instead, or null for the same operation on those sources.
template <class Replace>
const LazyOp* rewrite_ast(LazyOps& ops, const LazyOp* root, Replace replace) {
  std::unordered_map<const LazyOp*, const LazyOp*> done;  // look-up only
  for (const LazyOp* op : toposort(root)) {
    std::vector<const LazyOp*> src;
    for (const LazyOp* s : op->src) src.push_back(done.at(s));
    const LazyOp* made = replace(op, src);
    if (made == nullptr) made = src == op->src ? op : with_sources(ops, op, src);
    done[op] = made;
  }
  return done.at(root);
}

}  // namespace etch
