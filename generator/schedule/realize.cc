#include "schedule/realize.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "lazy/ast.h"
#include "schedule/loops.h"
#include "schedule/region.h"
#include "schedule/widening.h"

namespace etch {
namespace {

constexpr int kRecomputeLimit = 12;     // cost in additions up to which a value is recomputed: exp twice (softmax in three kernels)
constexpr int kNarrowLimit = 64;        // the same for all uses of an element that is computed from a narrow one
constexpr int kCheapPositions = 8;      // operations on positions alone up to which a value is computed instead of loaded
constexpr std::size_t kRegion = 200;    // nodes between a reduction and the value that its kernel stores
constexpr int kMostReductions = 4;      // in a kernel of several stages
constexpr std::int64_t kShortRow = 64;  // elements of a row that are no work to speak of
constexpr int kGiant = 8;               // a region this many times larger than a kernel may be is cut in one pass (cut_up)

struct Edge {
  const LazyBuffer* consumer;
  const LazyBuffer* view;  // what the consumer sees
};

/// Elements that are not padding.
std::int64_t seen_elements(const ShapeTracker& st) {
  const View& v = st.views().back();
  if (v.is_empty()) return 0;
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
    force_at_loops();
    find_staged();
    force_expanded();
    force_expensive();
    for (;;) {
      realized_ = forced_;
      extend_reductions();
      if (!split_large_kernels()) return realized_;
    }
  }

 private:
  void force_by_kind() {
    for (const LazyBuffer* b : order_) {
      if (b->kind == LazyKind::Contiguous) forced_.insert(b);
      if (b->kind == LazyKind::Gather && is_computed(b->src[0]->base)) forced_.insert(b->src[0]->base);
      if (b->kind != LazyKind::External) continue;
      forced_.insert(b);
      for (const LazyBuffer* s : b->src)
        if (is_computed(s)) forced_.insert(s);
    }
  }

  /// Nothing fuses across the edge of a loop: what it reads from outside is in memory, as is what it carries and leaves behind.
  void force_at_loops() {
    const LoopNests nests(order_);
    if (nests.empty()) return;
    const auto cost = positions_cost();
    for (const LazyBuffer* b : order_)
      for (const LazyBuffer* s : b->src) {
        const bool leaves = b->kind == LazyKind::LoopResult;
        const bool crosses = nests.of(b) != nests.of(s->base) && cost.at(s->base) > kCheapPositions;
        if (is_computed(s->base) && (leaves || crosses)) forced_.insert(s->base);
      }
  }

  /// The cost of each base that is computed from positions and constants alone, by few cheap operations.
  std::unordered_map<const LazyBuffer*, int> positions_cost() const {
    std::unordered_map<const LazyBuffer*, int> cost;
    for (const LazyBuffer* b : order_) {
      int c = kCheapPositions + 1;
      if (b->kind == LazyKind::Const || b->kind == LazyKind::Index) c = 0;
      if (b->kind == LazyKind::Compute && !b->is_reduction()) {
        c = info(b->op).cost;
        for (const LazyBuffer* s : b->src) c += cost.at(s->base);
      }
      cost[b] = std::min(c, kCheapPositions + 1);
    }
    return cost;
  }

  /// Whether `b` takes elements of one buffer at positions that stand in another: two loads, as often as it is needed.
  static bool is_lookup(const LazyBuffer* b) {
    if (b->kind != LazyKind::Gather) return false;
    const LazyBuffer* index = b->src[1]->base;
    while (is_op(index, Op::Cast)) index = index->src[0]->base;
    return !is_computed(index);
  }

  /// From the outputs down: stores bases whose elements a view repeats. If such a base is cheap to compute from a narrow one, as
  /// often as it is seen, that is stored instead.
  void force_expanded() {
    const auto cost = positions_cost();
    BufferSet expanded;
    for (auto it = order_.rbegin(); it != order_.rend(); it++) {
      const LazyBuffer* b = *it;
      if (!is_computed(b) || cost.at(b) <= kCheapPositions || is_lookup(b) || staged_.contains(b)) continue;
      bool more = expanded.contains(b);
      const std::int64_t size = std::max<std::int64_t>(b->st.size().max(), 1);
      std::int64_t times = 0;  // that an element is seen
      for (const Edge& e : consumers_[b]) {
        const std::int64_t seen = seen_elements(e.view->st);
        more = more || seen > size;
        times = std::max(times, seen / size);
      }
      if (!more) continue;
      const Narrow narrow = narrow_source(b);
      const bool is_cheap = narrow.source != nullptr && (narrow.cost == 0 || times <= kNarrowLimit / narrow.cost);
      if (is_cheap && !forced_.contains(b))
        expanded.insert(narrow.source);
      else
        forced_.insert(b);
    }
  }

  /// Cost of recomputing one element, and the full-size buffers that this reads.
  struct Again {
    int cost = 0, loads = 0;
  };
  std::unordered_map<const LazyBuffer*, Again> costs_again() const {
    std::unordered_map<const LazyBuffer*, Again> again;
    for (const LazyBuffer* b : order_) {
      const bool leaf = b->kind == LazyKind::Const || b->kind == LazyKind::Index;
      if (!is_computed(b) || b->is_reduction() || forced_.contains(b)) {
        again[b] = {0, leaf ? 0 : 1};
        continue;
      }
      Again a{b->kind == LazyKind::Compute ? info(b->op).cost : 0, 0};
      for (const LazyBuffer* s : b->src) {
        a.cost += again[s->base].cost;
        if (2 * s->base->st.size().max() >= b->st.size().max()) a.loads += again[s->base].loads;
      }
      again[b] = {std::min(a.cost, 1000), std::min(a.loads, 1000)};
    }
    return again;
  }

  /// From the outputs down, so that of a chain that several kernels need the last value is stored, not the first.
  void force_expensive() {
    const auto again = costs_again();
    std::unordered_map<const LazyBuffer*, std::set<std::size_t>> sinks;  // kernels that compute it, at most four are recorded
    for (auto it = order_.rbegin(); it != order_.rend(); it++) {
      const LazyBuffer* b = *it;
      std::set<std::size_t>& own = sinks[b];
      std::vector<const LazyBuffer*> views;  // in which its consumers see it
      for (const Edge& e : consumers_[b]) {
        if (std::ranges::find(views, e.view) == views.end()) views.push_back(e.view);
        if (forced_.contains(e.consumer) || e.consumer->is_reduction())
          own.insert(position_.at(e.consumer));
        else
          own.insert(sinks[e.consumer].begin(), sinks[e.consumer].end());
      }
      while (own.size() > 4) own.erase(std::prev(own.end()));
      if (!is_computed(b) || b->is_reduction() || forced_.contains(b) || staged_.contains(b)) continue;
      const int ways = static_cast<int>(std::max(views.size(), own.size()));
      // What is stored is then the narrow value.
      if (const Narrow narrow = narrow_source(b); narrow.source != nullptr && narrow.cost * (ways - 1) <= kRecomputeLimit) continue;
      const Again& a = again.at(b);
      if ((own.size() >= 2 && a.loads >= 2) || a.cost * (ways - 1) > kRecomputeLimit) forced_.insert(b);
    }
  }

  /// The last value that all that is computed from `reduction` passes through, as far as `visit` takes in values and `fits` their uses, and
  /// at which `may_end` holds; `otherwise` if there is none. `inside`: what is computed up to it.
  template <class Visit, class Fits, class MayEnd>
  const LazyBuffer* post_dominator(const LazyBuffer* reduction, const LazyBuffer* otherwise, std::vector<const LazyBuffer*>& inside,
                                   Visit visit, Fits fits, MayEnd may_end) const {
    std::map<std::size_t, const LazyBuffer*> open{{position_.at(reduction), reduction}};  // by order, sources first
    const LazyBuffer* last = otherwise;
    std::vector<const LazyBuffer*> seen;
    for (std::size_t steps = 0; steps < kRegion; steps++) {
      const LazyBuffer* b = open.begin()->second;
      if (open.size() == 1 && may_end()) {
        last = b;
        inside = seen;
      }
      const auto uses = consumers_.find(b);
      if (realized_.contains(b) || uses == consumers_.end() || !visit(b)) break;
      open.erase(open.begin());
      seen.push_back(b);
      bool all_fit = true;
      for (const Edge& e : uses->second) {
        all_fit = all_fit && fits(b, e) && !owner_.contains(e.consumer);
        open.emplace(position_.at(e.consumer), e.consumer);
      }
      if (!all_fit) break;
    }
    return last;
  }

  /// The elementwise post-dominator of `reduction`, with no other reduction on the way.
  const LazyBuffer* last_behind(const LazyBuffer* reduction, std::vector<const LazyBuffer*>& inside) const {
    const auto fits = [](const LazyBuffer*, const Edge& e) { return !e.consumer->is_reduction() && shows_base(e.view); };
    return post_dominator(reduction, reduction, inside, [](const LazyBuffer*) { return true; }, fits, [] { return true; });
  }

  /// Whether `e` stays in the rows of a kernel of several stages: elementwise or a reduction over the same axes as `reduction`, of a value
  /// of the shape before or after it that is seen whole or expanded over these axes. One value a row may also be seen in another shape.
  static bool stays_in_rows(const LazyBuffer* b, const Edge& e, const LazyBuffer* reduction) {
    const std::vector<Sint>&whole = reduction->src[0]->shape(), &reduced = reduction->shape();
    const bool is_row = shows_base(e.view) && e.view->st.size() == reduction->st.size();
    const bool is_expanded = e.view != b && !is_row;
    if (is_expanded && (b->shape() != reduced || e.view->shape() != whole || !(e.view->st == b->st.expand(whole)))) return false;
    if (e.consumer->is_reduction()) return e.view->shape() == whole && e.consumer->axes == reduction->axes && !is_scan(e.consumer);
    if (e.consumer->kind == LazyKind::Gather && e.view != e.consumer->src[1]) return false;  // a table is in memory, an index need not be
    return is_computed(e.consumer) && e.consumer->shape() == e.view->shape() && (e.view->shape() == whole || is_row);
  }

  /// Whether a kernel of several stages may start with `reduction`: on a grid each row is the work of one item, or of a group.
  bool has_enough_rows(const LazyBuffer* reduction) const {
    if (reduction->st.size().min() >= options_.min_rows) return true;
    if (reduction->src[0]->st.size().max() <= reduction->st.size().max() * kShortRow) return true;
    const Sint innermost = reduction->src[0]->shape()[static_cast<std::size_t>(reduction->axes.back())];
    return options_.shares_row != nullptr && innermost.is_int() && options_.shares_row(innermost.as_int());
  }

  /// The post-dominator of `reduction` among the values that stay in its rows; nullptr if its result is not expanded on the way. A value
  /// of the math library that two stages need can be kept in the output, but only one.
  const LazyBuffer* last_stage(const LazyBuffer* reduction, std::vector<const LazyBuffer*>& inside) const {
    if (is_scan(reduction) || !has_enough_rows(reduction)) return nullptr;
    int reductions = 0, calls = 0;
    bool expands = false;
    const auto visit = [&](const LazyBuffer* b) {
      const bool is_call = b->kind == LazyKind::Compute && is_library_call(b->op) && b->shape() != reduction->shape();
      return (reductions += b->is_reduction() ? 1 : 0) <= kMostReductions && (calls += is_call ? 1 : 0) <= 1;
    };
    const auto fits = [&](const LazyBuffer* b, const Edge& e) {
      expands = expands || !shows_base(e.view);
      return stays_in_rows(b, e, reduction);
    };
    return post_dominator(reduction, nullptr, inside, visit, fits, [&] { return expands; });
  }

  /// What is computed inside of kernels of several stages: none of it is stored because a later stage reads it expanded.
  void find_staged() {
    realized_ = forced_;
    for (const LazyBuffer* b : order_) {
      std::vector<const LazyBuffer*> inside;
      if (b->is_reduction() && last_stage(b, inside) != nullptr) staged_.insert(inside.begin(), inside.end());
    }
  }

  /// Whether `sum`, of integers that are no products, is added to what a sum of products over the same elements gives: loops over these
  /// are there already.
  bool is_beside_products(const LazyBuffer* sum) const {
    constexpr int kMostSteps = 3;
    if (sum->op != Op::ReduceSum || !is_int(sum->dtype) || is_scan(sum) || is_op(sum->src[0], Op::Mul)) return false;
    const LazyBuffer* b = sum;
    for (int i = 0; i < kMostSteps; i++) {
      const auto uses = consumers_.find(b);
      if (realized_.contains(b) || uses == consumers_.end() || uses->second.size() != 1 || !shows_base(uses->second[0].view)) return false;
      b = uses->second[0].consumer;
      if (!is_computed(b) || b->is_reduction()) return false;
      const auto owner = owner_.find(b);
      if (owner == owner_.end()) continue;
      const LazyBuffer* products = owner->second;
      return is_int(products->dtype) && is_op(products->src[0], Op::Mul) && products->axes == sum->axes &&
             products->src[0]->shape() == sum->src[0]->shape();
    }
    return false;
  }

  void extend_reductions() {
    owner_.clear();
    std::vector<const LazyBuffer*> added_up;
    for (const LazyBuffer* b : order_) {
      if (!b->is_reduction() || owner_.contains(b) || is_beside_products(b)) continue;
      std::vector<const LazyBuffer*> inside;
      const LazyBuffer* last = last_stage(b, inside);
      const bool is_staged = last != nullptr;
      if (!is_staged) last = last_behind(b, inside);
      if (!is_staged && reductions_beside(b, last, inside) > 1)
        added_up.push_back(b);
      else
        own(b, last, inside);
    }
    // Of what is added to several others the last one takes the last of them in: each is then added to what there is, in its place.
    for (auto it = added_up.rbegin(); it != added_up.rend(); it++) {
      std::vector<const LazyBuffer*> inside;
      const LazyBuffer* last = last_behind(*it, inside);
      own(*it, last, inside);
    }
  }

  /// The kernel of `reduction` goes up to `last`, by way of `inside`.
  void own(const LazyBuffer* reduction, const LazyBuffer* last, std::vector<const LazyBuffer*>& inside) {
    last = narrowed(last, inside);
    for (const LazyBuffer* i : inside) owner_.emplace(i, reduction);
    owner_.emplace(last, reduction);
    realized_.insert(last);
  }

  /// How many other reductions, of as many elements, the kernel of `reduction` would read if it went up to `last`.
  std::size_t reductions_beside(const LazyBuffer* reduction, const LazyBuffer* last, std::vector<const LazyBuffer*> inside) const {
    std::set<std::size_t> others;
    inside.push_back(last);
    std::erase(inside, reduction);
    for (const LazyBuffer* b : inside)
      for (const LazyBuffer* s : b->src)
        if (s->base != reduction && s->base->is_reduction() && s->base->st.size() == reduction->st.size())
          others.insert(position_.at(s->base));
    return others.size();
  }

  /// The narrow value among `inside` that `last` is cheap to compute from, else `last`; what is behind it leaves `inside`.
  const LazyBuffer* narrowed(const LazyBuffer* last, std::vector<const LazyBuffer*>& inside) const {
    const LazyBuffer* narrow = realized_.contains(last) ? nullptr : narrow_source(last).source;
    const auto at = std::ranges::find(inside, narrow);
    if (narrow == nullptr || at == inside.end()) return last;
    inside.erase(at, inside.end());
    return narrow;
  }

  /// Splits kernels that are too large by storing a value in them. True if there was one.
  bool split_large_kernels() {
    bool split = false;
    const auto in_memory = [&](const LazyBuffer* b) { return realized_.contains(b); };
    for (const LazyBuffer* b : order_) {
      if (!realized_.contains(b) || b->kind == LazyKind::External) continue;
      const Region region = region_of(b, in_memory);
      if (static_cast<int>(region.inputs.size()) <= options_.max_inputs && static_cast<int>(region.inside.size()) * 3 <= options_.max_nodes)
        continue;
      if (is_giant(region) && cut_up(b, region)) {
        split = true;
        continue;
      }
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

  bool is_giant(const Region& region) const {
    return static_cast<int>(region.inputs.size()) > kGiant * options_.max_inputs ||
           static_cast<int>(region.inside.size()) > kGiant * options_.max_nodes;
  }

  std::size_t most_inside() const { return static_cast<std::size_t>(2 * options_.max_nodes / 3); }

  static std::int64_t room_of(const LazyBuffer* out, const Region& region) {
    std::int64_t room = out->st.size().max();
    for (const LazyBuffer* input : region.inputs) room = std::max(room, input->st.size().max());
    return room;
  }

  /// From the sources up: if the part below a value gets too large, operands are stored, the larger one first. Takes linear time in
  /// the size of the region; repeated calls of best_part would take quadratic time. False if there is nothing to cut.
  bool cut_up(const LazyBuffer* out, const Region& region) {
    BufferSet cut;
    const std::function<bool(const LazyBuffer*)> in_memory = [&](const LazyBuffer* b) { return realized_.contains(b) || cut.contains(b); };
    const std::int64_t room = room_of(out, region);
    const auto is_part = [&](const LazyBuffer* b) { return is_computed(b) && b->st.size().max() <= room && !in_memory(b); };
    for (const LazyBuffer* b : region.inside) {
      for (;;) {
        const auto whole = region_size(b, in_memory, most_inside());
        if (whole && static_cast<int>(whole->inputs) <= options_.max_inputs) break;
        const LazyBuffer* best = nullptr;
        std::size_t best_inside = 1;
        for (const LazyBuffer* s : b->src) {
          if (!is_part(s->base)) continue;
          const auto part = region_size(s->base, in_memory, most_inside());
          if (!part || part->inside <= best_inside) continue;
          best = s->base;
          best_inside = part->inside;
        }
        if (best == nullptr) break;
        cut.insert(best);
      }
    }
    forced_.insert(cut.begin(), cut.end());
    return !cut.empty();
  }

  /// The value inside the kernel of `out` to store so that the kernel gets smaller. The part below it must fit into a kernel. If the
  /// kernel reads too many buffers, it is the value that saves the most reads for its size, else the one with the longest part; never
  /// one that takes more memory than the kernel's own output and inputs.
  const LazyBuffer* best_part(const LazyBuffer* out, const Region& region, const std::function<bool(const LazyBuffer*)>& in_memory) const {
    const bool too_wide = static_cast<int>(region.inputs.size()) > options_.max_inputs;
    const std::int64_t room = room_of(out, region);
    const LazyBuffer* best = nullptr;
    double best_score = 0;
    for (const LazyBuffer* b : region.inside) {
      if (b == out || !is_computed(b) || b->st.size().max() > room || forced_.contains(b)) continue;
      const auto part = region_size(b, in_memory, most_inside());
      if (!part || static_cast<int>(part->inputs) > options_.max_inputs || part->inside < 2) continue;
      const double score =
          too_wide ? (static_cast<double>(part->inputs) - 1) / static_cast<double>(b->st.size().max()) : static_cast<double>(part->inside);
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
  BufferSet staged_;  // computed inside of a kernel of several stages; behind a value that is forced later merely computed again
  std::unordered_map<const LazyBuffer*, const LazyBuffer*> owner_;  // the reduction in whose kernel a base is computed
};

}  // namespace

BufferSet choose_realized(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs, const ScheduleOptions& options) {
  return Chooser(graph, outputs, options).choose();
}

}  // namespace etch
