#include "schedule/credits.h"

#include <algorithm>
#include <map>
#include <set>

namespace etch {
namespace {

using Names = std::set<std::string>;

/// Operations of the run; all else (views, copies, constants that are computed where they are read) is light.
bool is_operation(const LazyBuffer* b) { return b->kind == LazyKind::Compute && !b->constant; }

/// Numbers, and how they are spread, belong to all who need them.
bool is_number(const LazyBuffer* b) { return b->base->kind == LazyKind::Const; }

bool any_of(const LazyBuffer* b, const Names& names) {
  const auto is_named = [&](const std::string& o) { return names.contains(o); };
  return std::ranges::any_of(b->origins, is_named) || std::ranges::any_of(b->shared_by, is_named);
}

/// Adds the nodes of `buffers` for which `counts` holds: first of those that one node asked for, then of those that several
/// did and none of which is there yet.
template <class Counts>
void add_nodes(const std::vector<const LazyBuffer*>& buffers, const Counts& counts, Names& names) {
  const auto add = [&](const std::vector<std::string>& origins, Names& to) {
    std::ranges::copy_if(origins, std::inserter(to, to.end()), counts);
  };
  for (const LazyBuffer* b : buffers)
    if (b->shared_by.empty()) add(b->origins, names);
  Names shared;
  for (const LazyBuffer* b : buffers) {
    if (b->shared_by.empty() || any_of(b, names)) continue;
    add(b->origins, shared);
    add(b->shared_by, shared);
  }
  names.merge(shared);
}

std::string main_of(const Region& kernel, const std::vector<std::string>& nodes) {
  for (const LazyBuffer* b : kernel.inside) {
    if (!b->is_reduction() || b->constant) continue;
    for (const auto* origins : {&b->origins, &b->shared_by})
      for (const std::string& o : *origins)
        if (std::ranges::find(nodes, o) != nodes.end()) return o;
  }
  return nodes.empty() ? "" : nodes.back();
}

}  // namespace

std::vector<Credit> credit_nodes(const LazyGraph& graph, const std::vector<Region>& kernels) {
  std::vector<Names> names(kernels.size());
  Names busy;  // nodes that some kernel does operations of
  for (std::size_t k = 0; k < kernels.size(); k++) {
    std::vector<const LazyBuffer*> operations;
    std::ranges::copy_if(kernels[k].inside, std::back_inserter(operations), is_operation);
    add_nodes(operations, [](const std::string&) { return true; }, names[k]);
    busy.insert(names[k].begin(), names[k].end());
  }
  std::vector<Credit> credits;
  for (std::size_t k = 0; k < kernels.size(); k++) {
    std::vector<const LazyBuffer*> light;
    for (const auto* buffers : {&kernels[k].inside, &kernels[k].views})
      std::ranges::copy_if(*buffers, std::back_inserter(light), [](const LazyBuffer* b) { return !is_operation(b) && !is_number(b); });
    add_nodes(light, [&](const std::string& o) { return !busy.contains(o); }, names[k]);
    // A copy of what another kernel computed.
    const std::vector<std::string>& written = kernels[k].inside.back()->origins;
    if (names[k].empty() && !written.empty()) names[k].insert(written.back());
    std::map<int, std::string> by_rank;
    for (const std::string& o : names[k]) by_rank.emplace(graph.origin_rank(o), o);
    Credit credit;
    for (const auto& [rank, node] : by_rank) credit.nodes.push_back(node);
    credit.main = main_of(kernels[k], credit.nodes);
    credits.push_back(std::move(credit));
  }
  return credits;
}

}  // namespace etch
