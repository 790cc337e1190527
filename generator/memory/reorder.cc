#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/hash.h"
#include "base/subscript.h"
#include "memory/plan.h"

namespace etch {
namespace {

// The calls that must come before each call: the writers of the buffers that it reads, the readers and writers of those that it writes.
std::vector<std::vector<int>> dependencies(const Program& program) {
  std::vector<std::vector<int>> result(program.calls.size());
  std::vector<int> writer(program.buffers.size(), -1);
  std::vector<std::vector<int>> readers(program.buffers.size());
  for (std::size_t c = 0; c < program.calls.size(); c++) {
    for (int in : program.calls[c].reads()) {
      if (writer[at(in)] >= 0) result[c].push_back(writer[at(in)]);
      readers[at(in)].push_back(static_cast<int>(c));
    }
    for (int out : program.calls[c].writes()) {
      if (writer[at(out)] >= 0) result[c].push_back(writer[at(out)]);
      for (int reader : readers[at(out)])
        if (reader != static_cast<int>(c)) result[c].push_back(reader);
      writer[at(out)] = static_cast<int>(c);
      readers[at(out)].clear();
    }
    std::sort(result[c].begin(), result[c].end());
    result[c].erase(std::unique(result[c].begin(), result[c].end()), result[c].end());
  }
  return result;
}

// A set of calls, one bit each.
class CallSet {
 public:
  explicit CallSet(std::size_t calls) : words_((calls + 63) / 64) {}
  bool has(int c) const { return (words_[at(c) / 64] >> (at(c) % 64) & 1) != 0; }
  void add(int c) { words_[at(c) / 64] |= std::uint64_t{1} << (at(c) % 64); }

  /// The first call that is in only one of the sets "this with c" and "other with d"; nullopt if they are equal.
  std::optional<int> first_difference(int c, const CallSet& other, int d) const {
    for (std::size_t w = 0; w < words_.size(); w++) {
      const std::uint64_t apart = with(w, c) ^ other.with(w, d);
      if (apart != 0) return static_cast<int>(w * 64) + std::countr_zero(apart);
    }
    return std::nullopt;
  }

 private:
  std::uint64_t with(std::size_t word, int c) const {
    return at(c) / 64 == word ? words_[word] | std::uint64_t{1} << (at(c) % 64) : words_[word];
  }

  std::vector<std::uint64_t> words_;
};

// The beginning of an order: the calls that are done and their cost. Which buffers are alive follows from the calls that are done.
struct State {
  CallSet done;
  std::vector<int> ready = {};  // calls that may come next, ascending
  int last = -1;                // the newest step of this order
  std::uint64_t hash = 0;       // of `done`
  std::int64_t bytes = 0, peak = 0;
};

// A state, a call that may come next, and the cost of the longer order. It becomes a state if it is kept.
struct Step {
  std::size_t from = 0;
  int call = 0;
  std::uint64_t hash = 0;
  std::int64_t peak = 0, bytes = 0;
};

// The part of a call that matters for the order: its intermediate buffers.
struct Move {
  struct Made {
    int buffer = 0;
    std::vector<int> replaceable;  // inputs over which it may be written
  };
  std::vector<Made> made;    // each buffer that is written, once
  std::vector<int> touched;  // read or written, each once

  bool makes(int b) const { return std::ranges::find(made, b, &Made::buffer) != made.end(); }
};

class OrderSearch {
 public:
  explicit OrderSearch(const Program& program)
      : before_(dependencies(program)),
        after_(program.calls.size()),
        users_(program.buffers.size()),
        writers_(program.buffers.size()),
        bytes_(program.buffers.size()) {
    for (std::size_t b = 0; b < bytes_.size(); b++) bytes_[b] = program.buffers[b].max_bytes();
    for (const ProgramCall& call : program.calls) moves_.push_back(move_of(program, call));
    for (int c = 0; c < count(); c++) {
      for (int b : before_[at(c)]) after_[at(b)].push_back(c);
      for (int b : moves_[at(c)].touched) users_[at(b)].push_back(c);
      for (const Move::Made& made : moves_[at(c)].made) writers_[at(made.buffer)].push_back(c);
    }
  }

  /// Peak of live bytes when the calls run in the order of the program.
  std::int64_t peak_as_is() const {
    State s = start();
    for (int c = 0; c < count(); c++) {
      const Step step = step_of(s, 0, c);
      s.done.add(c);
      s.bytes = step.bytes;
      s.peak = step.peak;
    }
    return s.peak;
  }

  struct Found {
    std::vector<int> order;
    std::int64_t peak = 0;
  };

  /// Beam search: keeps the best few partial orders of each length. nullopt if it would take too long.
  std::optional<Found> best_order() {
    std::vector<State> beam{start()};
    for (int length = 0; length < count(); length++) {
      const std::vector<Step> steps = best_steps(beam);
      check(!steps.empty(), "calls do not wait for each other in a circle");
      if (work_ > kMaxWork) return std::nullopt;
      beam = taken(beam, steps);
    }
    Found found{{}, beam.front().peak};
    for (int h = beam.front().last; h >= 0; h = history_[at(h)].second) found.order.push_back(history_[at(h)].first);
    std::reverse(found.order.begin(), found.order.end());
    return found;
  }

 private:
  static constexpr std::size_t kBeam = 12, kMaxWork = 10'000'000;  // steps that are looked at: a few seconds

  int count() const { return static_cast<int>(moves_.size()); }
  static std::uint64_t hash_of(int c) { return hash_mix(1, static_cast<std::uint64_t>(c) + 1); }

  static Move move_of(const Program& program, const ProgramCall& call) {
    const auto counts = [&](int b) { return program.buffers[at(b)].kind == BufferKind::Intermediate; };
    const auto bytes = [&](int b) { return program.buffers[at(b)].max_bytes(); };
    Move move;
    int number = -1;
    for (int out : call.writes()) {
      number++;
      if (!counts(out) || move.makes(out)) continue;
      Move::Made made{out, {}};
      for (const CallArgument& a : call.arguments)
        if ((a.may_alias >> number & 1) != 0 && counts(a.buffer) && bytes(a.buffer) == bytes(out)) made.replaceable.push_back(a.buffer);
      move.made.push_back(std::move(made));
    }
    std::ranges::copy_if(call.buffers(), std::back_inserter(move.touched), counts);
    std::ranges::sort(move.touched);
    move.touched.erase(std::unique(move.touched.begin(), move.touched.end()), move.touched.end());
    return move;
  }

  State start() const {
    State s{.done = CallSet(at(count()))};
    for (int c = 0; c < count(); c++)
      if (before_[at(c)].empty()) s.ready.push_back(c);
    return s;
  }

  // For a buffer that a later call uses: whether it has been written.
  bool is_live(const State& s, int b) const {
    return std::ranges::any_of(writers_[at(b)], [&](int c) { return s.done.has(c); });
  }
  bool is_last_use(const State& s, int b, int c) const {
    const std::vector<int>& users = users_[at(b)];
    return std::none_of(users.rbegin(), users.rend(), [&](int u) { return u != c && !s.done.has(u); });
  }

  Step step_of(const State& s, std::size_t from, int c) const {
    const Move& move = moves_[at(c)];
    const auto dies = [&](int b) { return is_live(s, b) && is_last_use(s, b, c); };
    std::int64_t during = s.bytes;
    Step step{from, c, s.hash ^ hash_of(c), 0, s.bytes};
    for (const Move::Made& made : move.made) {
      if (is_live(s, made.buffer)) continue;
      step.bytes += bytes_[at(made.buffer)];
      if (std::ranges::none_of(made.replaceable, dies)) during += bytes_[at(made.buffer)];
    }
    step.peak = std::max(s.peak, during);
    for (int b : move.touched)
      if (move.makes(b) ? is_last_use(s, b, c) : dies(b)) step.bytes -= bytes_[at(b)];
    return step;
  }

  // The best few of all extensions of the states by one call; of several orders of the same set of calls only the best one.
  std::vector<Step> best_steps(const std::vector<State>& beam) {
    std::vector<Step> steps, best;
    for (std::size_t s = 0; s < beam.size(); s++)
      for (int c : beam[s].ready) steps.push_back(step_of(beam[s], s, c));
    work_ += steps.size();
    const auto is_worse = [&](const Step& a, const Step& b) { return is_better(beam, b, a); };
    std::ranges::make_heap(steps, is_worse);
    for (; !steps.empty() && best.size() < kBeam; steps.pop_back()) {
      std::ranges::pop_heap(steps, is_worse);
      const bool is_known =
          std::ranges::any_of(best, [&](const Step& b) { return b.hash == steps.back().hash && !first_difference(beam, b, steps.back()); });
      if (!is_known) best.push_back(steps.back());
    }
    return best;
  }

  // The first call that only one of the two sets of calls has.
  static std::optional<int> first_difference(const std::vector<State>& beam, const Step& a, const Step& b) {
    if (a.from == b.from) return a.call == b.call ? std::nullopt : std::optional(std::min(a.call, b.call));
    return beam[a.from].done.first_difference(a.call, beam[b.from].done, b.call);
  }

  // If costs are equal, the one that does the first call on which they differ later is better.
  static bool is_better(const std::vector<State>& beam, const Step& a, const Step& b) {
    if (std::tie(a.peak, a.bytes) != std::tie(b.peak, b.bytes)) return std::tie(a.peak, a.bytes) < std::tie(b.peak, b.bytes);
    const std::optional<int> first = first_difference(beam, a, b);
    return first ? !(beam[a.from].done.has(*first) || a.call == *first) : a.from < b.from;
  }

  // Applies the steps. A state with one step is moved, a state with several steps is copied.
  std::vector<State> taken(std::vector<State>& beam, const std::vector<Step>& steps) {
    std::vector<int> uses(beam.size(), 0);
    for (const Step& step : steps) uses[step.from]++;
    std::vector<State> next;
    for (const Step& step : steps) {
      State s = --uses[step.from] == 0 ? std::move(beam[step.from]) : beam[step.from];
      s.done.add(step.call);
      s.hash = step.hash;
      s.bytes = step.bytes;
      s.peak = step.peak;
      history_.emplace_back(step.call, s.last);
      s.last = static_cast<int>(history_.size()) - 1;
      s.ready.erase(std::ranges::lower_bound(s.ready, step.call));
      for (int c : after_[at(step.call)])
        if (std::ranges::all_of(before_[at(c)], [&](int b) { return s.done.has(b); }))
          s.ready.insert(std::ranges::lower_bound(s.ready, c), c);
      next.push_back(std::move(s));
    }
    return next;
  }

  std::vector<Move> moves_;                        // by call
  std::vector<std::vector<int>> before_, after_;   // by call
  std::vector<std::vector<int>> users_, writers_;  // by intermediate buffer: calls
  std::vector<std::int64_t> bytes_;                // by buffer
  std::vector<std::pair<int, int>> history_;       // a call and the step before it
  std::size_t work_ = 0;
};

// Places whose order is chosen: a call, or all calls of a loop.
struct Stretch {
  int first = 0, end = 0;
};

std::vector<Stretch> blocks_of(const Program& program) {
  std::vector<Stretch> blocks;
  for (int c = 0; c < static_cast<int>(program.calls.size());) {
    int end = c + 1;
    for (const ProgramLoop& loop : program.loops)
      if (loop.first == c) end = std::max(end, loop.end);
    blocks.push_back({c, end});
    c = end;
  }
  return blocks;
}

// The program with one call for each block: it writes what any call in it writes, and reads the rest.
Program with_blocks(const Program& program, const std::vector<Stretch>& blocks) {
  Program outline;
  outline.buffers = program.buffers;
  for (const Stretch& block : blocks) {
    if (block.end == block.first + 1) {
      outline.calls.push_back(program.calls[at(block.first)]);
      continue;
    }
    std::map<int, Access> used;
    for (int c = block.first; c < block.end; c++)
      for (const CallArgument& a : program.calls[at(c)].arguments)
        if (used.try_emplace(a.buffer, a.access).second || a.access == Access::Write) used[a.buffer] = a.access;
    ProgramCall call;
    for (const auto& [buffer, access] : used) call.arguments.push_back({buffer, access});
    outline.calls.push_back(std::move(call));
  }
  return outline;
}

}  // namespace

Program reorder(Program program) {
  const std::vector<Stretch> blocks = blocks_of(program);
  OrderSearch search(with_blocks(program, blocks));
  const std::optional<OrderSearch::Found> best = search.best_order();
  if (!best || best->peak >= search.peak_as_is()) return program;
  std::vector<ProgramCall> calls;
  std::vector<ProgramLoop> loops;
  for (int b : best->order) {
    const Stretch& block = blocks[at(b)];
    const int moved = static_cast<int>(calls.size()) - block.first;
    for (ProgramLoop loop : program.loops) {
      if (loop.first < block.first || loop.end > block.end) continue;
      loop.first += moved;
      loop.end += moved;
      loops.push_back(std::move(loop));
    }
    for (int c = block.first; c < block.end; c++) calls.push_back(std::move(program.calls[at(c)]));
  }
  program.calls = std::move(calls);
  program.loops = std::move(loops);
  return program;
}

}  // namespace etch
