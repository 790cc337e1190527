// Internal to schedule/: which values are computed in which loop, and how the loops' results are brought into the form that kernels write.
#pragma once

#include <unordered_map>
#include <vector>

#include "lazy/graph.h"
#include "schedule/schedule.h"

namespace etch {

using LoopNest = std::vector<const LazyLoop*>;  // outermost first; empty: no loop

/// For each base the loops that it is computed in: those on whose counters or carried values it depends. The sources of a loop's results
/// are computed in the loop, or around it if the loop starts with them.
class LoopNests {
 public:
  /// `order`: bases, sources first; loops as prepare_loops leaves them.
  explicit LoopNests(const std::vector<const LazyBuffer*>& order);

  const LoopNest& of(const LazyBuffer* base) const;
  bool empty() const { return nests_.empty(); }

 private:
  std::unordered_map<const LazyBuffer*, LoopNest> homes_;  // only those that are in a loop; look-up only, like the next
  std::unordered_map<const LazyLoop*, LoopNest> nests_;
};

/// Equal outputs whose loops have sources that are kernels of their own: what a carried value starts with and each list are copies; so is
/// what a carried value becomes, unless it is computed in the loop as a whole. Lists that nobody reads are dropped: their source is a
/// number.
std::vector<const LazyBuffer*> prepare_loops(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs);

/// The items that compute the sources of loops write, instead of these, the memory of carried values and elements of lists.
void write_for_loops(LazyGraph& graph, std::vector<ScheduleItem>& items, const std::vector<const LazyBuffer*>& order);

/// The loops that the items are in.
std::vector<ScheduledLoop> find_loops(const std::vector<ScheduleItem>& items);

/// Finds the loops of a schedule whose items are in order, and adds the end of each: carried values become what the turn has computed for
/// the next one, by a copy where that is not computed in its place.
void close_loops(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs, Schedule& schedule);

/// Leaves out copies between loops that lie in each other: of what a turn of the outer one only gives to the inner one and gets back, and
/// of lists that become elements of lists.
void share_between_loops(LazyGraph& graph, Schedule& schedule);

/// Ends a run: each of `states` becomes what was computed for it in the buffer at its position in `next`, by a copy where that is not
/// computed in its place. What can wait for the last that reads a state does, unless that takes more memory. `outputs`: of the run.
void close_states(LazyGraph& graph, const std::vector<const LazyBuffer*>& states, const std::vector<const LazyBuffer*>& next,
                  const std::vector<const LazyBuffer*>& outputs, Schedule& schedule);

/// Whether `base` is a list that a loop writes turn by turn.
inline bool is_list(const LazyBuffer* base) { return base->kind == LazyKind::LoopResult && base->slot >= base->loop->carried; }

}  // namespace etch
