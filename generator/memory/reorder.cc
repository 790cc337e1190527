#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "memory/plan.h"

namespace etch {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// The calls that have to come before each call: writers of what it reads, readers and writers of what it writes.
std::vector<std::vector<int>> dependencies(const Program& program) {
  std::vector<std::vector<int>> result(program.calls.size());
  std::vector<int> writer(program.buffers.size(), -1);
  std::vector<std::vector<int>> readers(program.buffers.size());
  for (std::size_t c = 0; c < program.calls.size(); c++) {
    const std::vector<int>& buffers = program.calls[c].buffers;
    for (std::size_t i = 1; i < buffers.size(); i++) {
      if (writer[at(buffers[i])] >= 0) result[c].push_back(writer[at(buffers[i])]);
      readers[at(buffers[i])].push_back(static_cast<int>(c));
    }
    const int out = buffers.front();
    if (writer[at(out)] >= 0) result[c].push_back(writer[at(out)]);
    for (int reader : readers[at(out)])
      if (reader != static_cast<int>(c)) result[c].push_back(reader);
    writer[at(out)] = static_cast<int>(c);
    readers[at(out)].clear();
    std::sort(result[c].begin(), result[c].end());
    result[c].erase(std::unique(result[c].begin(), result[c].end()), result[c].end());
  }
  return result;
}

// A part of an order: which calls are done, and what that costs.
struct State {
  std::vector<bool> done;
  std::vector<int> order;
  std::vector<int> uses_left;  // by buffer: calls that still touch it
  std::vector<bool> live;      // by buffer
  std::int64_t bytes = 0, peak = 0;

  bool better_than(const State& other) const { return std::pair(peak, bytes) < std::pair(other.peak, other.bytes); }
};

class Search {
 public:
  explicit Search(const Program& program) : program_(program), before_(dependencies(program)) {}

  State start() const {
    State s;
    s.done.assign(program_.calls.size(), false);
    s.uses_left.assign(program_.buffers.size(), 0);
    s.live.assign(program_.buffers.size(), false);
    for (const ProgramCall& call : program_.calls)
      for (int b : distinct(call.buffers)) s.uses_left[at(b)]++;
    return s;
  }

  bool ready(const State& s, int c) const {
    return !s.done[at(c)] && std::all_of(before_[at(c)].begin(), before_[at(c)].end(), [&](int d) { return s.done[at(d)]; });
  }

  void run(State& s, int c) const {
    const ProgramCall& call = program_.calls[at(c)];
    const int out = call.buffers.front();
    const bool is_new = counts(out) && !s.live[at(out)];
    std::int64_t during = s.bytes + (is_new ? bytes(out) : 0);
    if (is_new && replaces_an_input(s, call)) during -= bytes(out);
    s.peak = std::max(s.peak, during);
    if (is_new) {
      s.live[at(out)] = true;
      s.bytes += bytes(out);
    }
    for (int b : distinct(call.buffers)) {
      if (--s.uses_left[at(b)] > 0 || !s.live[at(b)]) continue;
      s.live[at(b)] = false;
      s.bytes -= bytes(b);
    }
    s.done[at(c)] = true;
    s.order.push_back(c);
  }

  /// Keeps the best few partial orders at each length.
  State best_order() const {
    std::vector<State> beam{start()};
    for (std::size_t length = 0; length < program_.calls.size(); length++) {
      std::map<std::vector<bool>, State> next;  // of equal sets of calls only the best order
      for (const State& s : beam) {
        for (int c = 0; c < static_cast<int>(program_.calls.size()); c++) {
          if (!ready(s, c)) continue;
          State t = s;
          run(t, c);
          auto [it, added] = next.try_emplace(t.done, t);
          if (!added && t.better_than(it->second)) it->second = std::move(t);
        }
      }
      check(!next.empty(), "calls do not wait for each other in a circle");
      beam.clear();
      for (auto& [done, s] : next) beam.push_back(std::move(s));
      std::stable_sort(beam.begin(), beam.end(), [](const State& a, const State& b) { return a.better_than(b); });
      if (beam.size() > kBeam) beam.resize(kBeam);
    }
    return beam.front();
  }

 private:
  static constexpr std::size_t kBeam = 12;

  static std::vector<int> distinct(std::vector<int> buffers) {
    std::sort(buffers.begin(), buffers.end());
    buffers.erase(std::unique(buffers.begin(), buffers.end()), buffers.end());
    return buffers;
  }
  bool counts(int b) const { return program_.buffers[at(b)].kind == BufferKind::Intermediate; }
  std::int64_t bytes(int b) const { return program_.buffers[at(b)].max_bytes(); }

  bool replaces_an_input(const State& s, const ProgramCall& call) const {
    for (std::size_t i = 1; i < call.buffers.size(); i++) {
      const int in = call.buffers[i];
      if (call.may_alias[i] && s.live[at(in)] && s.uses_left[at(in)] == 1 && bytes(in) == bytes(call.buffers.front())) return true;
    }
    return false;
  }

  const Program& program_;
  std::vector<std::vector<int>> before_;
};

}  // namespace

Program reorder(Program program) {
  const Search search(program);
  State as_is = search.start();
  for (int c = 0; c < static_cast<int>(program.calls.size()); c++) search.run(as_is, c);
  const State best = search.best_order();
  if (best.peak >= as_is.peak) return program;
  std::vector<ProgramCall> calls;
  for (int c : best.order) calls.push_back(program.calls[at(c)]);
  program.calls = std::move(calls);
  return program;
}

}  // namespace etch
