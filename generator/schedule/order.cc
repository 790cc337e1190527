#include "schedule/order.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"

namespace etch {
namespace {

std::int64_t bytes_of_buffer(const LazyBuffer* b) { return b->st.size().max() * bytes_of(b->dtype); }

/// What is put in order: an item, or all items of a loop, which stay together.
struct Unit {
  std::vector<std::size_t> items;  // their numbers
  const LazyLoop* loop = nullptr;
  std::vector<const LazyBuffer*> outs, inputs;
  std::int64_t bytes = 0;  // of what it leaves behind
};

/// For each unit the units whose results it reads (each once), by position.
struct Links {
  std::vector<std::vector<std::size_t>> sources, users;

  explicit Links(const std::vector<Unit>& units) : sources(units.size()), users(units.size()) {
    std::unordered_map<const LazyBuffer*, std::size_t> writer;
    for (std::size_t i = 0; i < units.size(); i++)
      for (const LazyBuffer* out : units[i].outs)
        if (out->kind != LazyKind::State) writer[out] = i;  // who reads a state reads what it was
    for (std::size_t i = 0; i < units.size(); i++)
      for (const LazyBuffer* b : units[i].inputs) {
        const auto it = writer.find(b);
        if (it == writer.end() || it->second == i || std::ranges::find(sources[i], it->second) != sources[i].end()) continue;
        sources[i].push_back(it->second);
        users[it->second].push_back(i);
      }
  }
};

using Kept = std::unordered_set<const LazyBuffer*>;

bool is_kept(const Unit& unit, const Kept& kept) {
  return std::ranges::any_of(unit.outs, [&](const LazyBuffer* out) { return kept.contains(out); });
}

/// For each unit its sources, first the one that leaves the most memory behind free again when it is done: the best order where every
/// result is read once (Sethi and Ullman). In `base` sources come first.
std::vector<std::vector<std::size_t>> by_need(const std::vector<Unit>& units, const Links& links, const std::vector<std::size_t>& base) {
  std::vector<std::vector<std::size_t>> sorted = links.sources;
  std::vector<std::int64_t> need(units.size());  // the most that is alive while a unit and all below it are computed
  for (std::size_t u : base) {
    std::ranges::stable_sort(sorted[u], std::greater(), [&](std::size_t s) { return need[s] - units[s].bytes; });
    std::int64_t held = 0;
    for (std::size_t s : sorted[u]) {
      need[u] = std::max(need[u], held + need[s]);
      held += units[s].bytes;
    }
    need[u] = std::max(need[u], held + units[u].bytes);
  }
  return sorted;
}

/// Depth first from the outputs.
std::vector<std::size_t> depth_first(const std::vector<Unit>& units, const std::vector<std::vector<std::size_t>>& sources,
                                     const std::vector<const LazyBuffer*>& outputs) {
  std::vector<std::size_t> roots, order;
  for (const LazyBuffer* o : outputs)
    for (std::size_t i = 0; i < units.size(); i++)
      if (std::ranges::find(units[i].outs, o) != units[i].outs.end()) roots.push_back(i);
  for (std::size_t i = 0; i < units.size(); i++) roots.push_back(i);
  std::vector<bool> seen(units.size());
  for (std::size_t root : roots) {
    std::vector<std::pair<std::size_t, std::size_t>> stack;
    if (!seen[root]) stack.emplace_back(root, 0);
    seen[root] = true;
    while (!stack.empty()) {
      auto& [unit, done] = stack.back();
      if (done == sources[unit].size()) {
        order.push_back(unit);
        stack.pop_back();
        continue;
      }
      const std::size_t next = sources[unit][done++];
      if (!seen[next]) stack.emplace_back(next, 0);
      seen[next] = true;
    }
  }
  return order;
}

/// Always takes the unit after which the least memory is alive; if several are equal, the one whose sources were written last, then
/// the first one in `base`.
std::vector<std::size_t> greedy(const std::vector<Unit>& units, const Links& links, const std::vector<std::size_t>& base,
                                const Kept& kept) {
  std::vector<std::size_t> rank(units.size()), waiting(units.size()), left(units.size());
  std::vector<std::int64_t> written(units.size(), -1);
  for (std::size_t i = 0; i < base.size(); i++) rank[base[i]] = i;
  std::set<std::size_t> ready;  // ranks
  for (std::size_t i = 0; i < units.size(); i++) {
    waiting[i] = links.sources[i].size();
    left[i] = links.users[i].size();
    if (waiting[i] == 0) ready.insert(rank[i]);
  }
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    std::size_t best = 0;
    std::pair<std::int64_t, std::int64_t> best_score{std::numeric_limits<std::int64_t>::max(), 0};
    for (std::size_t r : ready) {
      const std::size_t i = base[r];
      std::int64_t growth = units[i].bytes, latest = -1;
      for (std::size_t s : links.sources[i]) {
        if (left[s] == 1 && !is_kept(units[s], kept)) growth -= units[s].bytes;
        latest = std::max(latest, written[s]);
      }
      const std::pair<std::int64_t, std::int64_t> score{growth, -latest};
      if (score < best_score) {
        best = i;
        best_score = score;
      }
    }
    ready.erase(rank[best]);
    written[best] = static_cast<std::int64_t>(order.size());
    order.push_back(best);
    for (std::size_t s : links.sources[best]) left[s]--;
    for (std::size_t u : links.users[best])
      if (--waiting[u] == 0) ready.insert(rank[u]);
  }
  check(order.size() == units.size(), "kernels do not wait for each other");
  return order;
}

std::int64_t peak_of(const std::vector<Unit>& units, const Links& links, const std::vector<std::size_t>& order, const Kept& kept) {
  std::vector<std::size_t> left;
  for (const auto& users : links.users) left.push_back(users.size());
  std::int64_t alive = 0, peak = 0;
  for (std::size_t i : order) {
    alive += units[i].bytes;
    peak = std::max(peak, alive);
    for (std::size_t s : links.sources[i])
      if (--left[s] == 0 && !is_kept(units[s], kept)) alive -= units[s].bytes;
  }
  return peak;
}

bool is_counted(const LazyBuffer* out, const LazyLoop* loop) {
  return out->kind != LazyKind::State && (loop == nullptr || out->kind == LazyKind::LoopResult);
}

/// The units among `numbers`, which are items inside `depth` loops: those that lie in one more loop are one.
std::vector<Unit> units_of(const std::vector<ScheduleItem>& items, const std::vector<std::size_t>& numbers, std::size_t depth) {
  std::vector<Unit> units;
  for (std::size_t n : numbers) {
    const ScheduleItem& item = items[n];
    const LazyLoop* loop = item.loops.size() > depth ? item.loops[depth] : nullptr;
    auto unit = loop == nullptr ? units.end() : std::ranges::find(units, loop, &Unit::loop);
    if (unit == units.end()) unit = units.insert(unit, Unit{{}, loop, {}, {}});
    unit->items.push_back(n);
    const std::vector<const LazyBuffer*> outs = item.outs();
    unit->outs.insert(unit->outs.end(), outs.begin(), outs.end());
    unit->inputs.insert(unit->inputs.end(), item.inputs.begin(), item.inputs.end());
    for (const LazyBuffer* out : outs)
      if (is_counted(out, loop)) unit->bytes += bytes_of_buffer(out);
  }
  return units;
}

/// Whether all that the AST reads of an input is read where `store` writes, element by element.
bool is_read_in_place(const ScheduleItem& item, const LazyBuffer* input, const LazyOp* store) {
  std::int64_t loads = 0, in_place = 0;
  for (const LazyOp* op : toposort(item.ast)) {
    if (op->op != Op::Load || item.input_of(op) != input) continue;
    loads++;
    in_place += reads_in_place(op, store) ? 1 : 0;
  }
  return loads > 0 && loads == in_place;
}

/// The bytes of outputs that lie where what is read for the last time did.
std::int64_t bytes_in_place(const ScheduleItem& item, std::vector<const LazyBuffer*> free) {
  if (item.ast == nullptr) return 0;
  std::int64_t bytes = 0;
  const std::vector<const LazyBuffer*> outs = item.outs();
  for (std::size_t k = 0; k < outs.size(); k++) {
    if (!is_counted(outs[k], nullptr)) continue;
    const std::int64_t own = bytes_of_buffer(outs[k]);
    const auto replaced = std::ranges::find_if(free, [&](const LazyBuffer* b) {
      return b->kind != LazyKind::LoopResult && bytes_of_buffer(b) == own && is_read_in_place(item, b, stores_of(item.ast)[k]);
    });
    if (replaced == free.end()) continue;
    free.erase(replaced);
    bytes += own;
  }
  return bytes;
}

/// Of what `unit` writes, the bytes that lie over what it is the last to read.
std::int64_t bytes_reused(const std::vector<ScheduleItem>& items, const Unit& unit, const std::vector<const LazyBuffer*>& free,
                          Reuse reuse) {
  if (reuse == Reuse::None || unit.loop != nullptr) return 0;
  const ScheduleItem& item = items[unit.items.front()];
  const std::int64_t in_place = bytes_in_place(item, free);
  if (reuse == Reuse::InPlace || item.ast == nullptr) return in_place;
  std::int64_t largest = 0;
  for (const LazyBuffer* b : free) largest = std::max(largest, bytes_of_buffer(b));
  return std::max(in_place, std::min(largest, unit.bytes));
}

class Order {
 public:
  Order(const std::vector<ScheduleItem>& items, const std::vector<const LazyBuffer*>& outputs)
      : items_(items), outputs_(outputs), kept_(outputs.begin(), outputs.end()) {
    // A loop writes more than its items do: the values that it carried.
    for (const ScheduleItem& item : items) {
      for (const LazyBuffer* b : item.inputs)
        if (b->kind == LazyKind::LoopResult) read_results_[b->loop].push_back(b);
      if (item.out->kind == LazyKind::Carried) starts_[item.out->loop].push_back(item.out);
    }
  }

  /// Adds the numbers of the items, inside `depth` loops, to `order`.
  void arrange(const std::vector<std::size_t>& numbers, std::size_t depth, std::vector<std::size_t>& order) const {
    std::vector<Unit> units = units_of(items_, numbers, depth);
    for (Unit& unit : units)
      if (const auto found = read_results_.find(unit.loop); unit.loop != nullptr && found != read_results_.end())
        unit.outs.insert(unit.outs.end(), found->second.begin(), found->second.end());
    for (Unit& unit : units)  // also what a body never reads
      if (const auto found = starts_.find(unit.loop); unit.loop != nullptr && found != starts_.end())
        unit.inputs.insert(unit.inputs.end(), found->second.begin(), found->second.end());
    const Links links(units);
    std::vector<std::size_t> best = depth_first(units, links.sources, outputs_);
    const std::vector<std::size_t> others[] = {greedy(units, links, best, kept_),
                                               depth_first(units, by_need(units, links, best), outputs_)};
    for (const std::vector<std::size_t>& other : others)
      if (peak_of(units, links, other, kept_) < peak_of(units, links, best, kept_)) best = other;
    for (std::size_t u : best) {
      if (units[u].loop == nullptr)
        order.push_back(units[u].items.front());
      else
        arrange(units[u].items, depth + 1, order);
    }
  }

 private:
  const std::vector<ScheduleItem>& items_;
  const std::vector<const LazyBuffer*>& outputs_;
  Kept kept_;
  std::unordered_map<const LazyLoop*, std::vector<const LazyBuffer*>> read_results_;  // look-up only, like the next
  std::unordered_map<const LazyLoop*, std::vector<const LazyBuffer*>> starts_;        // the memory of its carried values
};

/// Moves what a loop starts with, if it is made of constants, to just before the loop: until then it takes no memory.
std::vector<ScheduleItem> with_late_starts(std::vector<ScheduleItem> items) {
  const auto is_start = [](const ScheduleItem& item) {
    const auto is_data = [](const LazyBuffer* b) { return b->kind == LazyKind::Data; };
    return item.out->kind == LazyKind::Carried && item.more.empty() && std::ranges::all_of(item.inputs, is_data);
  };
  std::vector<ScheduleItem> result, starts;
  for (ScheduleItem& item : items) (is_start(item) ? starts : result).push_back(std::move(item));
  for (ScheduleItem& start : starts) {
    const LazyLoop* loop = start.out->loop;
    const auto first =
        std::ranges::find_if(result, [&](const ScheduleItem& item) { return std::ranges::find(item.loops, loop) != item.loops.end(); });
    check(first != result.end(), "a loop has a body");
    result.insert(first, std::move(start));
  }
  return result;
}

}  // namespace

std::int64_t peak_bytes(const std::vector<ScheduleItem>& items, const std::vector<const LazyBuffer*>& outputs, Reuse reuse) {
  std::vector<std::size_t> all(items.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const std::vector<Unit> units = units_of(items, all, 0);
  const Kept kept(outputs.begin(), outputs.end());
  std::unordered_map<const LazyBuffer*, std::size_t> last;  // the unit that reads it last
  for (std::size_t i = 0; i < units.size(); i++)
    for (const LazyBuffer* b : units[i].inputs) last[b] = i;
  Kept living;
  std::int64_t alive = 0, peak = 0;
  for (std::size_t i = 0; i < units.size(); i++) {
    const Unit& unit = units[i];
    std::vector<const LazyBuffer*> free;  // what others wrote
    for (const LazyBuffer* b : unit.inputs)
      if (!kept.contains(b) && last.at(b) == i && living.erase(b) > 0) free.push_back(b);
    for (const LazyBuffer* out : unit.outs)
      if (is_counted(out, unit.loop) && living.insert(out).second) alive += bytes_of_buffer(out);
    peak = std::max(peak, alive - bytes_reused(items, unit, free, reuse));
    for (const LazyBuffer* out : unit.outs) {  // and what nobody reads behind it
      const auto reader = last.find(out);
      if (!kept.contains(out) && (reader == last.end() || reader->second <= i) && living.erase(out) > 0) free.push_back(out);
    }
    for (const LazyBuffer* b : free) alive -= bytes_of_buffer(b);
  }
  return peak;
}

std::vector<ScheduleItem> order_items(std::vector<ScheduleItem> items, const std::vector<const LazyBuffer*>& outputs) {
  std::vector<std::size_t> all(items.size()), order;
  std::iota(all.begin(), all.end(), std::size_t{0});
  Order(items, outputs).arrange(all, 0, order);
  std::vector<ScheduleItem> result;
  for (std::size_t i : order) result.push_back(items[i]);
  return with_late_starts(std::move(result));
}

}  // namespace etch
