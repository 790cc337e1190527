#include "codegen/overlap.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "base/subscript.h"

namespace etch {
namespace {

/// A position in bytes: the sum of `factors` times variables, and a rest in [low, high].
struct Position {
  std::map<std::string, std::int64_t> factors;  // by variable
  std::int64_t low = 0, high = 0;
};

struct Range {
  std::int64_t min = 0, max = 0;
};

/// An access with its position, and the loops that it stands in.
struct Step {
  Position from;
  std::int64_t bytes = 0;
  std::size_t number = 0;  // in the order of the UOps
  const std::vector<int>* loops = nullptr;
};

class Distances {
 public:
  explicit Distances(const Linearized& linear) : linear_(linear) {}

  void add(const MemoryAccess& access, std::size_t number, std::int64_t width) {
    if (access.is_early) return;  // the later one counts
    Step step{position(access.idx, width), width * access.lanes, number, &access.loops};
    const int argument = access.buf->op->mem().index;
    (access.is_store ? stores_ : loads_)[argument].push_back(std::move(step));
  }

  /// Over all stores of `write` that come before a load of `read`: the largest distance from the begin of the load to the end of the store
  /// (below), and from the begin of the store to the end of the load (above); 0 at least.
  ArgumentDistance between(int write, int read) const {
    ArgumentDistance d{write, read, 0, 0};
    for (const Step& store : of(stores_, write))
      for (const Step& load : of(loads_, read)) widen(store, load, d);
    return d;
  }

 private:
  static const std::vector<Step>& of(const std::map<int, std::vector<Step>>& steps, int argument) {
    static const std::vector<Step> none;
    const auto found = steps.find(argument);
    return found == steps.end() ? none : found->second;
  }

  // Products and sums of variables are followed; any other expression is a rest of its own range.
  Position position(Sint idx, std::int64_t width) {
    Position p;
    std::vector<std::pair<Sint, std::int64_t>> open{{idx, width}};
    while (!open.empty()) {
      const auto [x, factor] = open.back();
      open.pop_back();
      const Node* node = x.node();
      if (node != nullptr && node->kind == NodeKind::Sum) {
        for (const Sint& term : node->src) open.emplace_back(term, factor);
      } else if (node != nullptr && node->kind == NodeKind::Mul && node->src[1].is_int()) {
        open.emplace_back(node->src[0], factor * node->src[1].as_int());
      } else if (node != nullptr && node->kind == NodeKind::Variable) {
        p.factors[node->name] += factor;
        const auto [known, is_new] = ranges_.try_emplace(node->name, Range{node->min, node->max});
        if (!is_new) known->second = {std::min(known->second.min, node->min), std::max(known->second.max, node->max)};
      } else {
        p.low += std::min(factor * x.min(), factor * x.max());
        p.high += std::max(factor * x.min(), factor * x.max());
      }
    }
    return p;
  }

  void widen(const Step& store, const Step& load, ArgumentDistance& d) const {
    const auto see = [&](std::size_t equal, bool later) {
      d.below = std::max(d.below, largest(store.from, load.from, *store.loops, equal, later, false) + store.bytes);
      d.above = std::max(d.above, largest(store.from, load.from, *store.loops, equal, later, true) + load.bytes);
    };
    std::size_t common = 0;
    while (common < store.loops->size() && common < load.loops->size() && (*store.loops)[common] == (*load.loops)[common]) common++;
    for (std::size_t level = 0; level < common; level++)
      if (const Range r = range((*store.loops)[level]); r.min < r.max) see(level, true);
    if (store.number < load.number) see(common, false);
  }

  Range range(int loop) const {
    const auto found = ranges_.find(linear_.loops[at(loop)].name);
    // A variable that no index has takes part in none: its turns still follow each other.
    return found == ranges_.end() ? Range{0, 1} : found->second;
  }

  /// The largest value of store - load (`swapped`: of load - store) where the first `equal` loops are in the same turn, the next one, if
  /// `later`, is in a later turn for the load than for the store, and the others are free.
  std::int64_t largest(const Position& store, const Position& load, const std::vector<int>& loops, std::size_t equal, bool later,
                       bool swapped) const {
    const std::int64_t sign = swapped ? -1 : 1;
    std::int64_t sum = swapped ? load.high - store.low : store.high - load.low;
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> factors;  // of the store's value and of the load's
    for (const auto& [name, factor] : store.factors) factors[name].first = sign * factor;
    for (const auto& [name, factor] : load.factors) factors[name].second = -sign * factor;
    for (const auto& [name, pair] : factors) {
      const auto [s, l] = pair;
      const Range r = ranges_.at(name);
      const auto most = [&](std::int64_t factor) { return std::max(factor * r.min, factor * r.max); };
      const auto found = std::ranges::find_if(loops, [&](int loop) { return linear_.loops[at(loop)].name == name; });
      const auto level = static_cast<std::size_t>(found - loops.begin());
      if (level < equal)
        sum += most(s + l);
      else if (level == equal && later)
        sum += in_turns(s, l, r, linear_.loops[at(*found)].falls);
      else
        sum += most(s) + most(l);
    }
    return sum;
  }

  /// The largest s * a + l * b, where the turn of a is before that of b: a linear function is largest at a corner of that triangle.
  static std::int64_t in_turns(std::int64_t s, std::int64_t l, Range r, bool falls) {
    std::int64_t best = std::numeric_limits<std::int64_t>::min();
    for (const auto& [first, second] : {std::pair(r.min, r.min + 1), std::pair(r.min, r.max), std::pair(r.max - 1, r.max)})
      best = std::max(best, falls ? s * second + l * first : s * first + l * second);
    return best;
  }

  const Linearized& linear_;
  std::map<std::string, Range> ranges_;              // of variables
  std::map<int, std::vector<Step>> stores_, loads_;  // by argument
};

bool may_share(DType a, DType b) { return a == b || a == DType::Int8 || a == DType::UInt8 || b == DType::Int8 || b == DType::UInt8; }

}  // namespace

std::vector<ArgumentDistance> argument_distances(const Linearized& linear, const std::vector<KernelArgument>& arguments) {
  if (!std::ranges::all_of(arguments, [](const KernelArgument& a) { return a.elements.is_int(); })) return {};
  Distances distances(linear);
  for (std::size_t i = 0; i < linear.accesses.size(); i++)
    distances.add(linear.accesses[i], i, bytes_of(arguments[at(linear.accesses[i].buf->op->mem().index)].dtype));
  std::vector<ArgumentDistance> result;
  const int n = static_cast<int>(arguments.size());
  for (int write = 0; write < n; write++)
    for (int read = 0; read < n; read++) {
      const KernelArgument &w = arguments[at(write)], &r = arguments[at(read)];
      if (w.access != Access::Write || r.access != Access::Read || r.is_constant || !may_share(w.dtype, r.dtype)) continue;
      const std::int64_t written = w.elements.as_int() * bytes_of(w.dtype), held = r.elements.as_int() * bytes_of(r.dtype);
      ArgumentDistance d = distances.between(write, read);
      d.below = std::min(d.below, written);
      d.above = std::min(d.above, held);
      if (d.below < written || d.above < held) result.push_back(d);
    }
  return result;
}

}  // namespace etch
