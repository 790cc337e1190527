// Rebuilding a graph from its sources up.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "lazy/graph.h"

namespace etch {

/// How often each base is used by operations below `outputs`, through any view; an output counts as a use.
std::unordered_map<const LazyBuffer*, int> count_uses(const std::vector<const LazyBuffer*>& outputs);

/// Visits every buffer, sources first, and returns what replaces `outputs`. `rule(old, rebuilt)` returns what replaces `old`;
/// `rebuilt` is `old` with its new sources.
std::vector<const LazyBuffer*> rewrite(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs,
                                       const std::function<const LazyBuffer*(const LazyBuffer*, const LazyBuffer*)>& rule);

}  // namespace etch
