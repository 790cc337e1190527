#include "schedule/credits.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace etch {
namespace {

using Names = std::set<std::string>;

/// Whether `b` is an operation on run-time values; everything else (views, copies, constants that are computed where they are read)
/// is called light here.
bool is_operation(const LazyBuffer* b) { return is_computed(b) && b->kind != LazyKind::Contiguous && !b->constant; }

/// Whether `b` is a number or a view of one. These belong to every kernel that needs them and count for none.
bool is_number(const LazyBuffer* b) { return b->base->kind == LazyKind::Const; }

/// For each buffer its origins, except those in `without`. The sets are cached: thousands of nodes may share a buffer that occurs in
/// thousands of kernels.
class Askers {
 public:
  explicit Askers(Names without = {}) : without_(std::move(without)) {}

  const Names& of(const LazyBuffer* b) {
    const auto [found, is_new] = known_.try_emplace(b);
    if (!is_new) return found->second;
    for (const auto* origins : {&b->origins, &b->shared_by})
      for (const std::string& o : *origins)
        if (!without_.contains(o)) found->second.insert(o);
    return found->second;
  }

 private:
  const Names without_;
  std::unordered_map<const LazyBuffer*, Names> known_;  // look-up only
};

bool have_common(const Names& a, const Names& b) {
  const Names &few = a.size() < b.size() ? a : b, &many = a.size() < b.size() ? b : a;
  return std::ranges::any_of(few, [&](const std::string& name) { return many.contains(name); });
}

/// Adds the `counted` nodes of `buffers`: first of buffers with a single origin, then of shared buffers none of whose nodes has been
/// added yet.
void add_nodes(const std::vector<const LazyBuffer*>& buffers, Askers& all, Askers& counted, Names& names) {
  const auto add = [&](const LazyBuffer* b, Names& to) { to.insert(counted.of(b).begin(), counted.of(b).end()); };
  for (const LazyBuffer* b : buffers)
    if (b->shared_by.empty()) add(b, names);
  Names shared;
  for (const LazyBuffer* b : buffers)
    if (!b->shared_by.empty() && !have_common(names, all.of(b))) add(b, shared);
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
  Names busy;  // nodes with operations in some kernel
  Askers all;
  for (std::size_t k = 0; k < kernels.size(); k++) {
    std::vector<const LazyBuffer*> operations;
    std::ranges::copy_if(kernels[k].inside, std::back_inserter(operations), is_operation);
    add_nodes(operations, all, all, names[k]);
    busy.insert(names[k].begin(), names[k].end());
  }
  Askers idle(std::move(busy));
  std::vector<Credit> credits;
  for (std::size_t k = 0; k < kernels.size(); k++) {
    std::vector<const LazyBuffer*> light;
    for (const auto* buffers : {&kernels[k].inside, &kernels[k].views})
      std::ranges::copy_if(*buffers, std::back_inserter(light), [](const LazyBuffer* b) { return !is_operation(b) && !is_number(b); });
    add_nodes(light, all, idle, names[k]);
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
