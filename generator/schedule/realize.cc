#include "schedule/realize.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "lazy/ast.h"
#include "schedule/cost.h"
#include "schedule/region.h"

namespace etch {
namespace {

constexpr int kRecomputeLimit = 12;   // in units of cost_of: exp may be computed twice (softmax in three kernels), not more
constexpr int kCheapPositions = 8;    // operations on positions alone that are rather computed than loaded
constexpr std::size_t kRegion = 200;  // nodes between a reduction and the value that its kernel stores

struct Edge {
  const LazyBuffer* consumer;
  const LazyBuffer* view;  // what the consumer sees
};

bool is_computed(const LazyBuffer* b) { return b->kind == LazyKind::Compute || b->kind == LazyKind::Contiguous; }

bool shows_base(const LazyBuffer* b) { return b->st.contiguous() && b->st.size() == b->base->st.size(); }

/// Elements that are not padding.
std::int64_t seen_elements(const ShapeTracker& st) {
  const View& v = st.views().back();
  if (!v.mask) return st.size().max();
  Sint n = 1;
  for (const auto& [begin, end] : *v.mask) n = n * (end - begin);
  return n.max();
}

class Chooser {
 public:
  Chooser(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs, const ScheduleOptions& options)
      : graph_(graph), options_(options), order_(toposort_bases(outputs)) {
    for (std::size_t i = 0; i < order_.size(); i++) position_[order_[i]] = i;
    for (const LazyBuffer* b : order_)
      for (const LazyBuffer* s : b->src) consumers_[s->base].push_back({b, s});
    for (const LazyBuffer* o : outputs)
      if (is_computed(o->base)) forced_.insert(o->base);
  }

  BufferSet choose() {
    force_by_kind();
    force_expanded();
    force_dear();
    for (;;) {
      realized_ = forced_;
      extend_reductions();
      if (!split_large_kernels()) return realized_;
    }
  }

 private:
  void force_by_kind() {
    for (const LazyBuffer* b : order_)
      if (b->kind == LazyKind::Contiguous) forced_.insert(b);
  }

  /// Made of positions and constants alone, by few cheap operations.
  std::unordered_map<const LazyBuffer*, int> positions_cost() const {
    std::unordered_map<const LazyBuffer*, int> cost;
    for (const LazyBuffer* b : order_) {
      int c = kCheapPositions + 1;
      if (b->kind == LazyKind::Const || b->kind == LazyKind::Index) c = 0;
      if (b->kind == LazyKind::Compute && !b->is_reduction()) {
        c = cost_of(b->op);
        for (const LazyBuffer* s : b->src) c += cost.at(s->base);
      }
      cost[b] = std::min(c, kCheapPositions + 1);
    }
    return cost;
  }

  void force_expanded() {
    const auto cost = positions_cost();
    for (const LazyBuffer* b : order_) {
      if (!is_computed(b) || cost.at(b) <= kCheapPositions) continue;
      for (const Edge& e : consumers_[b])
        if (seen_elements(e.view->st) > b->st.size().max()) forced_.insert(b);
    }
  }

  /// The kernels that compute `b`, as far as is known: through operations without memory of their own. At most four.
  std::unordered_map<const LazyBuffer*, std::set<std::size_t>> find_sinks() {
    std::unordered_map<const LazyBuffer*, std::set<std::size_t>> sinks;
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      std::set<std::size_t>& own = sinks[*it];
      for (const Edge& e : consumers_[*it]) {
        if (forced_.contains(e.consumer) || e.consumer->is_reduction())
          own.insert(position_.at(e.consumer));
        else
          own.insert(sinks[e.consumer].begin(), sinks[e.consumer].end());
      }
      while (own.size() > 4) own.erase(std::prev(own.end()));
    }
    return sinks;
  }

  void force_dear() {
    auto sinks = find_sinks();
    std::unordered_map<const LazyBuffer*, int> cost;   // of computing one element again, from memory
    std::unordered_map<const LazyBuffer*, int> loads;  // of buffers as large as the value
    for (const LazyBuffer* b : order_) {
      const bool leaf = b->kind == LazyKind::Const || b->kind == LazyKind::Index;
      if (!is_computed(b) || b->is_reduction() || forced_.contains(b)) {
        loads[b] = leaf ? 0 : 1;
        continue;
      }
      int c = b->kind == LazyKind::Compute ? cost_of(b->op) : 0, l = 0;
      for (const LazyBuffer* s : b->src) {
        c += cost[s->base];
        if (2 * s->base->st.size().max() >= b->st.size().max()) l += loads[s->base];
      }
      cost[b] = std::min(c, 1000);
      loads[b] = std::min(l, 1000);
      std::size_t ways = 0;  // in which one kernel sees it
      std::vector<const LazyBuffer*> views;
      for (const Edge& e : consumers_[b])
        if (std::ranges::find(views, e.view) == views.end()) views.push_back(e.view);
      ways = std::max(views.size(), sinks[b].size());
      if (ways < 2) continue;
      const bool many_loads = sinks[b].size() >= 2 && loads[b] >= 2;
      if (many_loads || cost[b] * static_cast<int>(ways - 1) > kRecomputeLimit) {
        forced_.insert(b);
        cost[b] = 0;
        loads[b] = 1;
      }
    }
  }

  /// The last base through which all uses of `reduction` pass, element by element, with no other reduction on the way.
  const LazyBuffer* last_behind(const LazyBuffer* reduction, std::vector<const LazyBuffer*>& inside) const {
    std::map<std::size_t, const LazyBuffer*> open{{position_.at(reduction), reduction}};  // by order, sources first
    const LazyBuffer* last = reduction;
    std::vector<const LazyBuffer*> seen;
    for (std::size_t steps = 0; steps < kRegion; steps++) {
      const LazyBuffer* b = open.begin()->second;
      if (open.size() == 1) {
        last = b;
        inside = seen;
      }
      if (realized_.contains(b)) break;
      open.erase(open.begin());
      seen.push_back(b);
      const auto uses = consumers_.find(b);
      if (uses == consumers_.end()) break;
      bool fits = true;
      for (const Edge& e : uses->second) {
        fits = fits && !e.consumer->is_reduction() && shows_base(e.view) && !owner_.contains(e.consumer);
        open.emplace(position_.at(e.consumer), e.consumer);
      }
      if (!fits) break;
    }
    return last;
  }

  void extend_reductions() {
    owner_.clear();
    for (const LazyBuffer* b : order_) {
      if (!b->is_reduction()) continue;
      std::vector<const LazyBuffer*> inside;
      const LazyBuffer* last = last_behind(b, inside);
      for (const LazyBuffer* i : inside) owner_.emplace(i, b);
      owner_.emplace(last, b);
      realized_.insert(last);
    }
  }

  /// True if a kernel was too large and something in it now gets memory.
  bool split_large_kernels() {
    bool split = false;
    const auto in_memory = [&](const LazyBuffer* b) { return realized_.contains(b); };
    for (const LazyBuffer* b : order_) {
      if (!realized_.contains(b)) continue;
      const Region region = region_of(b, in_memory);
      if (static_cast<int>(region.inputs.size()) <= options_.max_inputs && static_cast<int>(region.inside.size()) * 3 <= options_.max_nodes)
        continue;
      const Ast ast = build_ast(graph_, b, in_memory);
      const int nodes = static_cast<int>(toposort(ast.store).size());
      if (static_cast<int>(ast.inputs.size()) <= options_.max_inputs && nodes <= options_.max_nodes) continue;
      if (const LazyBuffer* part = best_part(b, region, in_memory)) {
        forced_.insert(part);
        split = true;
      }
    }
    return split;
  }

  /// Of what is computed inside the kernel of `out` and fits on its own: what saves most reads for its size where there are
  /// too many buffers, else the longest part. Nothing that takes more memory than the kernel's own output and inputs.
  const LazyBuffer* best_part(const LazyBuffer* out, const Region& region, const std::function<bool(const LazyBuffer*)>& in_memory) const {
    const bool too_wide = static_cast<int>(region.inputs.size()) > options_.max_inputs;
    std::int64_t room = out->st.size().max();
    for (const LazyBuffer* input : region.inputs) room = std::max(room, input->st.size().max());
    const LazyBuffer* best = nullptr;
    double best_score = 0;
    for (const LazyBuffer* b : region.inside) {
      if (b == out || !is_computed(b) || b->st.size().max() > room || forced_.contains(b)) continue;
      const Region part = region_of(b, in_memory);
      const bool fits =
          static_cast<int>(part.inputs.size()) <= options_.max_inputs && static_cast<int>(part.inside.size()) * 3 <= 2 * options_.max_nodes;
      if (!fits || part.inside.size() < 2) continue;
      const double score = too_wide ? (static_cast<double>(part.inputs.size()) - 1) / static_cast<double>(b->st.size().max())
                                    : static_cast<double>(part.inside.size());
      if (score > best_score) {
        best = b;
        best_score = score;
      }
    }
    return best;
  }

  LazyGraph& graph_;
  const ScheduleOptions& options_;
  const std::vector<const LazyBuffer*> order_;
  std::unordered_map<const LazyBuffer*, std::size_t> position_;
  std::unordered_map<const LazyBuffer*, std::vector<Edge>> consumers_;
  BufferSet forced_, realized_;
  std::unordered_map<const LazyBuffer*, const LazyBuffer*> owner_;  // the reduction in whose kernel a base is computed
};

}  // namespace

BufferSet choose_realized(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs, const ScheduleOptions& options) {
  return Chooser(graph, outputs, options).choose();
}

}  // namespace etch
