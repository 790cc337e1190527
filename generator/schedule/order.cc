#include "schedule/order.h"

#include <algorithm>
#include <limits>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"

namespace etch {
namespace {

std::int64_t bytes_of_buffer(const LazyBuffer* b) { return b->st.size().max() * bytes_of(b->dtype); }

/// For each item the items whose results it reads (each once), by position.
struct Links {
  std::vector<std::vector<std::size_t>> sources, users;

  explicit Links(const std::vector<ScheduleItem>& items) : sources(items.size()), users(items.size()) {
    std::unordered_map<const LazyBuffer*, std::size_t> writer;
    for (std::size_t i = 0; i < items.size(); i++) writer[items[i].out] = i;
    for (std::size_t i = 0; i < items.size(); i++)
      for (const LazyBuffer* b : items[i].inputs) {
        const auto it = writer.find(b);
        if (it == writer.end() || std::ranges::find(sources[i], it->second) != sources[i].end()) continue;
        sources[i].push_back(it->second);
        users[it->second].push_back(i);
      }
  }
};

/// Depth first from the outputs.
std::vector<std::size_t> depth_first(const std::vector<ScheduleItem>& items, const Links& links,
                                     const std::vector<const LazyBuffer*>& outputs) {
  std::vector<std::size_t> roots, order;
  for (const LazyBuffer* o : outputs)
    for (std::size_t i = 0; i < items.size(); i++)
      if (items[i].out == o) roots.push_back(i);
  for (std::size_t i = 0; i < items.size(); i++) roots.push_back(i);
  std::vector<bool> seen(items.size());
  for (std::size_t root : roots) {
    std::vector<std::pair<std::size_t, std::size_t>> stack;
    if (!seen[root]) stack.emplace_back(root, 0);
    seen[root] = true;
    while (!stack.empty()) {
      auto& [item, done] = stack.back();
      if (done == links.sources[item].size()) {
        order.push_back(item);
        stack.pop_back();
        continue;
      }
      const std::size_t next = links.sources[item][done++];
      if (!seen[next]) stack.emplace_back(next, 0);
      seen[next] = true;
    }
  }
  return order;
}

/// Always takes the item after which the least memory is alive; if several are equal, the one whose sources were written last, then
/// the first one in `base`.
std::vector<std::size_t> greedy(const std::vector<ScheduleItem>& items, const Links& links, const std::vector<std::size_t>& base,
                                const std::unordered_set<const LazyBuffer*>& kept) {
  std::vector<std::size_t> rank(items.size()), waiting(items.size()), left(items.size());
  std::vector<std::int64_t> written(items.size(), -1);
  for (std::size_t i = 0; i < base.size(); i++) rank[base[i]] = i;
  std::set<std::size_t> ready;  // ranks
  for (std::size_t i = 0; i < items.size(); i++) {
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
      std::int64_t growth = bytes_of_buffer(items[i].out), latest = -1;
      for (std::size_t s : links.sources[i]) {
        if (left[s] == 1 && !kept.contains(items[s].out)) growth -= bytes_of_buffer(items[s].out);
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
  check(order.size() == items.size(), "kernels do not wait for each other");
  return order;
}

std::vector<ScheduleItem> in_order(const std::vector<ScheduleItem>& items, const std::vector<std::size_t>& order) {
  std::vector<ScheduleItem> result;
  for (std::size_t i : order) result.push_back(items[i]);
  return result;
}

}  // namespace

std::int64_t peak_bytes(const std::vector<ScheduleItem>& items, const std::vector<const LazyBuffer*>& outputs) {
  const Links links(items);
  const std::unordered_set<const LazyBuffer*> kept(outputs.begin(), outputs.end());
  std::vector<std::size_t> left;
  for (const auto& users : links.users) left.push_back(users.size());
  std::int64_t alive = 0, peak = 0;
  for (std::size_t i = 0; i < items.size(); i++) {
    alive += bytes_of_buffer(items[i].out);
    peak = std::max(peak, alive);
    for (std::size_t s : links.sources[i])
      if (--left[s] == 0 && !kept.contains(items[s].out)) alive -= bytes_of_buffer(items[s].out);
  }
  return peak;
}

std::vector<ScheduleItem> order_items(std::vector<ScheduleItem> items, const std::vector<const LazyBuffer*>& outputs) {
  const Links links(items);
  const std::unordered_set<const LazyBuffer*> kept(outputs.begin(), outputs.end());
  const std::vector<std::size_t> deep = depth_first(items, links, outputs);
  std::vector<ScheduleItem> by_depth = in_order(items, deep), by_greed = in_order(items, greedy(items, links, deep, kept));
  return peak_bytes(by_greed, outputs) < peak_bytes(by_depth, outputs) ? by_greed : by_depth;
}

}  // namespace etch
