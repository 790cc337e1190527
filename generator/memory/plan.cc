#include "memory/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <span>
#include <tuple>

#include "base/error.h"
#include "base/subscript.h"
#include "memory/pack.h"
#include "memory/parts.h"
#include "memory/pool_texts.h"
#include "memory/pools.h"
#include "memory/traffic.h"
#include "program/loops.h"

namespace etch {
namespace {

bool in_arena(const ProgramBuffer& buffer, const PlanOptions& options) {
  switch (buffer.kind) {
    case BufferKind::Intermediate:
      return true;
    case BufferKind::Input:
    case BufferKind::Output:
      return options.include_io && !buffer.by_value;
    case BufferKind::Constant:
    case BufferKind::State:
      return false;
  }
  return false;
}

// A buffer lives from the first call that writes it (an input: from the first of all) to the last call that uses it (an output: to
// the last of all).
void find_lifetimes(const Program& program, std::vector<Placement>& placements) {
  const int calls = static_cast<int>(program.calls.size());
  for (int c = 0; c < calls; c++) {
    for (int b : program.calls[at(c)].buffers()) {
      Placement& p = placements[at(b)];
      if (p.first < 0) p.first = c;
      p.last = c;
    }
  }
  for (std::size_t b = 0; b < placements.size(); b++) {
    Placement& p = placements[b];
    if (p.first < 0) continue;
    if (program.buffers[b].kind == BufferKind::Input) p.first = 0;
    if (program.buffers[b].kind == BufferKind::Output) p.last = calls - 1;
    for (auto loop = program.loops.rbegin(); loop != program.loops.rend(); loop++) {  // inner ones first
      if (!flows_into(program, *loop, static_cast<int>(b))) continue;
      p.first = std::min(p.first, loop->first);
      p.last = std::max(p.last, loop->end - 1);
    }
  }
}

// Whether a turn of a loop around call `c` may leave the buffer's content to the next turn.
bool is_kept_by_loop(const Program& program, std::size_t c, int buffer) {
  return std::ranges::any_of(program.loops, [&](const ProgramLoop& loop) {
    return loop.first <= static_cast<int>(c) && static_cast<int>(c) < loop.end && flows_into(program, loop, buffer);
  });
}

// Whether output number `out` of the call may lie over `in`. A call may pass a buffer for several arguments; each of them has to allow it.
bool may_replace(const ProgramCall& call, int in, int out) {
  bool found = false;
  for (const CallArgument& a : call.arguments) {
    if (a.access != Access::Read || a.buffer != in) continue;
    if ((a.may_alias >> out & 1) == 0) return false;
    found = true;
  }
  return found;
}

bool have_a_pool(const Program& program, int a, int b) {
  return program.pools.empty() || std::ranges::any_of(program.pools, [&](const Pool& pool) {
           return may_hold(pool, program.buffers[at(a)]) && may_hold(pool, program.buffers[at(b)]);
         });
}

// An output takes the place of an input that no later call reads, if the kernel allows it; each input is replaced at most once.
void choose_in_place(const Program& program, const PlanOptions& options, std::vector<Placement>& placements) {
  for (std::size_t c = 0; c < program.calls.size(); c++) {
    const ProgramCall& call = program.calls[c];
    std::set<int> replaced;
    int number = -1;
    for (int out : call.writes()) {
      number++;
      Placement& output = placements[at(out)];
      if (is_kept_by_loop(program, c, out)) continue;
      if (output.first != static_cast<int>(c) || !in_arena(program.buffers[at(out)], options)) continue;
      for (int in : call.reads()) {
        const bool dies = placements[at(in)].last == static_cast<int>(c) && program.buffers[at(in)].kind != BufferKind::Output;
        if (in == out || is_kept_by_loop(program, c, in) || !may_replace(call, in, number) || !dies ||
            !in_arena(program.buffers[at(in)], options))
          continue;
        if (!have_a_pool(program, in, out)) continue;
        if (program.buffers[at(in)].max_bytes() != program.buffers[at(out)].max_bytes() || !replaced.insert(in).second) continue;
        output.in_place_of = in;
        break;
      }
    }
  }
}

// How close an output of a call may lie to an input that is not needed behind the call; nullopt: they lie apart. A call may pass a buffer
// for several arguments; each of them has to allow it.
std::optional<ArgumentDistance> distance_of(const Program& program, const ProgramCall& call, int out, int in) {
  std::optional<ArgumentDistance> result;
  const std::vector<ArgumentDistance>& known = program.kernels[at(call.kernel)].distances;
  for (std::size_t w = 0; w < call.arguments.size(); w++)
    for (std::size_t r = 0; r < call.arguments.size(); r++) {
      if (call.arguments[w].access != Access::Write || call.arguments[w].buffer != out) continue;
      if (call.arguments[r].access != Access::Read || call.arguments[r].buffer != in) continue;
      const auto found = std::ranges::find_if(
          known, [&](const ArgumentDistance& d) { return d.write == static_cast<int>(w) && d.read == static_cast<int>(r); });
      if (found == known.end()) return std::nullopt;
      if (!result) result = *found;
      result->below = std::max(result->below, found->below);
      result->above = std::max(result->above, found->above);
    }
  return result;
}

// One block for each chain of buffers that replace each other in place, and for what lies in one of them as a part.
struct Chains {
  std::vector<Block> blocks;
  std::vector<int> of_buffer;          // number of the block, -1: not in the arena
  std::vector<std::int64_t> in_block;  // by buffer: bytes from the begin of the block
  std::vector<char> has_parts;         // by block
};

// The chain of a part becomes a part of the other block, which lives as long as both.
void join_parts(const std::vector<Placement>& placements, Chains& chains) {
  const std::size_t count = chains.blocks.size();
  std::vector<int> inside(count, -1);
  std::vector<std::int64_t> offset(count, 0);
  for (std::size_t b = 0; b < placements.size(); b++)
    if (const Placement& p = placements[b]; p.part_of >= 0)
      std::tie(inside[at(chains.of_buffer[b])], offset[at(chains.of_buffer[b])]) =
          std::pair(chains.of_buffer[at(p.part_of)], p.part_offset);
  std::vector<int> number(count, -1);
  std::vector<Block> blocks;
  for (std::size_t k = 0; k < count; k++) {
    if (inside[k] >= 0) continue;
    number[k] = static_cast<int>(blocks.size());
    blocks.push_back(chains.blocks[k]);
  }
  chains.has_parts.assign(blocks.size(), 0);
  std::vector<std::pair<int, std::int64_t>> places(count);  // the block that is left, and where in it
  for (std::size_t k = 0; k < count; k++) {
    std::size_t outer = k;
    for (; inside[outer] >= 0; outer = at(inside[outer])) places[k].second += offset[outer];
    places[k].first = number[outer];
    Block& block = blocks[at(number[outer])];
    block.first = std::min(block.first, chains.blocks[k].first);
    block.last = std::max(block.last, chains.blocks[k].last);
    if (outer != k) chains.has_parts[at(number[outer])] = 1;
  }
  chains.blocks = std::move(blocks);
  chains.in_block.assign(placements.size(), 0);
  for (std::size_t b = 0; b < placements.size(); b++)
    if (chains.of_buffer[b] >= 0) std::tie(chains.of_buffer[b], chains.in_block[b]) = places[at(chains.of_buffer[b])];
}

Chains chain_blocks(const Program& program, const PlanOptions& options, const std::vector<Placement>& placements) {
  Chains chains{{}, std::vector<int>(placements.size(), -1), {}, {}};
  std::vector<int> by_first(placements.size());
  std::iota(by_first.begin(), by_first.end(), 0);
  // A buffer is written after the one that it replaces, so the chain of the latter exists already.
  std::stable_sort(by_first.begin(), by_first.end(), [&](int a, int b) { return placements[at(a)].first < placements[at(b)].first; });
  for (int b : by_first) {
    const Placement& p = placements[at(b)];
    if (p.first < 0 || !in_arena(program.buffers[at(b)], options)) continue;
    const std::int64_t bytes = program.buffers[at(b)].max_bytes();
    if (p.in_place_of >= 0 && chains.of_buffer[at(p.in_place_of)] >= 0) {
      const int chain = chains.of_buffer[at(p.in_place_of)];
      chains.of_buffer[at(b)] = chain;
      chains.blocks[at(chain)].last = std::max(chains.blocks[at(chain)].last, p.last);
      continue;
    }
    chains.of_buffer[at(b)] = static_cast<int>(chains.blocks.size());
    chains.blocks.push_back({bytes, p.first, p.last, options.align_all ? options.align : alignment_for(bytes, options.align)});
  }
  join_parts(placements, chains);
  return chains;
}

// The blocks that end and begin at one call, whose kernel lets them overlap.
std::vector<Closeness> find_close(const Program& program, const std::vector<Placement>& placements, const Chains& chains) {
  std::vector<Closeness> close;
  std::set<std::pair<int, int>> known;
  for (std::size_t c = 0; c < program.calls.size(); c++) {
    if (program.kernels.empty() || program.kernels[at(program.calls[c].kernel)].distances.empty()) continue;
    for (int out : program.calls[c].writes())
      for (int in : program.calls[c].reads()) {
        const int a = chains.of_buffer[at(out)], b = chains.of_buffer[at(in)];
        if (a < 0 || b < 0 || a == b || chains.has_parts[at(a)] != 0 || chains.has_parts[at(b)] != 0) continue;
        const bool is_replaced = std::ranges::find(placements, in, &Placement::in_place_of) != placements.end();
        const bool meet = !is_replaced && placements[at(out)].in_place_of < 0 && chains.blocks[at(b)].last == static_cast<int>(c) &&
                          chains.blocks[at(a)].first == static_cast<int>(c) && placements[at(out)].first == static_cast<int>(c);
        if (!meet || program.buffers[at(in)].kind == BufferKind::Output || is_kept_by_loop(program, c, in) ||
            is_kept_by_loop(program, c, out))
          continue;
        const std::optional<ArgumentDistance> d = distance_of(program, program.calls[c], out, in);
        if (d && known.insert({a, b}).second)
          close.push_back({a, b, std::min(d->below, chains.blocks[at(a)].bytes), std::min(d->above, chains.blocks[at(b)].bytes)});
      }
  }
  return close;
}

int first_step_with(const std::vector<Block>& blocks, const std::vector<Closeness>& close, std::int64_t bytes) {
  std::vector<std::int64_t> live = live_bytes(blocks);
  const std::vector<std::int64_t> shared = shared_bytes(blocks, close);
  for (std::size_t t = 0; t < live.size(); t++) live[t] -= shared[t];
  const auto found = std::ranges::find(live, bytes);
  return found == live.end() ? -1 : static_cast<int>(found - live.begin());
}

// One arena of any size.
void place_in_one(const Chains& chains, const std::vector<Closeness>& close, MemoryPlan& plan) {
  const Packing packing = pack(chains.blocks, close);
  for (std::size_t b = 0; b < plan.placements.size(); b++)
    if (chains.of_buffer[b] >= 0) plan.placements[b].offset = packing.offsets[at(chains.of_buffer[b])] + chains.in_block[b];
  const std::int64_t bound = lower_bound_bytes(chains.blocks, close);
  plan.arenas = {{packing.bytes, bound, packing.is_smallest, first_step_with(chains.blocks, close, bound)}};
}

// Lets what is copied lie where it is copied to, if the arena is no larger then: for all calls that copy, or else for those by one.
void place_parts(const Program& program, const PlanOptions& options, MemoryPlan& plan) {
  constexpr std::size_t kMostTries = 8;
  const std::vector<int> calls = calls_with_parts(program, plan.placements, options);
  const auto place = [&](std::span<const int> some) {
    MemoryPlan with = plan;
    for (const int c : some) take_parts(program, c, options, with.placements);
    const Chains chains = chain_blocks(program, options, with.placements);
    place_in_one(chains, options.overlap ? find_close(program, with.placements, chains) : std::vector<Closeness>(), with);
    if (with.arenas[0].bytes > plan.arenas[0].bytes) return false;
    plan = std::move(with);
    return true;
  };
  if (calls.empty() || place(calls)) return;
  for (std::size_t k = 0; k < std::min(calls.size(), kMostTries); k++) place(std::span(calls).subspan(k, 1));
}

// What the pools get: a chain has the traffic of all its buffers, and lies where each of them may.
std::vector<PoolBlock> pool_blocks(const Program& program, const MemoryPlan& plan, const Chains& chains) {
  std::vector<PoolBlock> blocks;
  for (const Block& block : chains.blocks) blocks.push_back({block, 0, std::vector<char>(program.pools.size(), 1)});
  for (std::size_t b = 0; b < plan.placements.size(); b++) {
    if (chains.of_buffer[b] < 0) continue;
    PoolBlock& block = blocks[at(chains.of_buffer[b])];
    block.traffic += plan.traffic[b];
    for (std::size_t p = 0; p < program.pools.size(); p++)
      if (!may_hold(program.pools[p], program.buffers[b])) block.may[p] = 0;
  }
  return blocks;
}

// The packing with which the choice was made.
Packing packing_of(const PoolChoice& choice, const PartOfBlocks& part, std::int64_t limit) {
  if (std::optional<Packing> found = pack_within(part.blocks, part.close, limit, true)) return *found;
  check(!choice.offsets.empty(), "blocks that were found to have room have it");
  Packing packing;
  for (std::size_t k = 0; k < part.numbers.size(); k++) {
    packing.offsets.push_back(choice.offsets[at(part.numbers[k])]);
    packing.bytes = std::max(packing.bytes, packing.offsets.back() + part.blocks[k].bytes);
  }
  return packing;
}

// Whether the pools have room for all. Each is packed as small as can be.
bool place_in_pools(const Program& program, const Chains& chains, const std::vector<Closeness>& close, MemoryPlan& plan, bool& proved) {
  std::vector<std::int64_t> limits;
  for (const Pool& pool : program.pools) limits.push_back(pool.size);
  const std::vector<PoolBlock> blocks = pool_blocks(program, plan, chains);
  const std::optional<PoolChoice> choice = choose_pools(blocks, close, limits, &proved);
  if (!choice) return false;
  plan.is_best = choice->is_best;
  plan.arenas.clear();
  std::vector<std::pair<int, std::int64_t>> places(blocks.size());  // pool and offset
  for (std::size_t p = 0; p < limits.size(); p++) {
    std::vector<char> chosen(blocks.size());
    for (std::size_t i = 0; i < blocks.size(); i++) chosen[i] = choice->pool[i] == static_cast<int>(p) ? 1 : 0;
    const PartOfBlocks part = part_of(blocks, close, chosen);
    Packing packing = pack(part.blocks, part.close);
    if (packing.bytes > limits[p]) packing = packing_of(*choice, part, limits[p]);
    const std::int64_t bound = lower_bound_bytes(part.blocks, part.close);
    plan.arenas.push_back({packing.bytes, bound, packing.is_smallest, first_step_with(part.blocks, part.close, bound)});
    for (std::size_t k = 0; k < part.numbers.size(); k++) places[at(part.numbers[k])] = {static_cast<int>(p), packing.offsets[k]};
  }
  for (std::size_t b = 0; b < plan.placements.size(); b++)
    if (chains.of_buffer[b] >= 0) std::tie(plan.placements[b].pool, plan.placements[b].offset) = places[at(chains.of_buffer[b])];
  return true;
}

// Sums over the arenas.
void add_up(MemoryPlan& plan) {
  plan.is_smallest = true;
  for (const ArenaPlan& arena : plan.arenas) {
    plan.arena_bytes += arena.bytes;
    plan.lower_bound_bytes += arena.lower_bound_bytes;
    plan.is_smallest = plan.is_smallest && arena.is_smallest;
  }
  if (plan.arenas.size() == 1) plan.peak_call = plan.arenas[0].peak_call;
}

bool overlap(std::int64_t a, std::int64_t a_bytes, std::int64_t b, std::int64_t b_bytes) { return a < b + b_bytes && b < a + a_bytes; }

// Whether the call that writes `out` first and reads `in` last lets them lie as they do.
bool keeps_distance(const MemoryPlan& plan, const Program& program, int out, int in) {
  const int call = plan.placements[at(out)].first;
  if (program.kernels.empty()) return false;
  const std::optional<ArgumentDistance> d = distance_of(program, program.calls[at(call)], out, in);
  const std::int64_t up = plan.placements[at(in)].offset - plan.placements[at(out)].offset;  // from the output to the input
  return d && (up >= d->below || -up >= d->above);
}

}  // namespace

std::int64_t alignment_for(std::int64_t bytes, std::int64_t align) {
  std::int64_t result = 1;
  while (result < align && result * 2 <= bytes) result *= 2;
  return result;
}

MemoryPlan plan_memory(const Program& program, const PlanOptions& given) {
  PlanOptions options = given;
  options.include_io = options.include_io || program.io_in_arena;
  check(options.align > 0 && (options.align & (options.align - 1)) == 0, "the alignment of an arena is a power of two");
  MemoryPlan plan;
  plan.align = options.align;
  plan.placements.resize(program.buffers.size());
  find_lifetimes(program, plan.placements);
  choose_in_place(program, options, plan.placements);
  Chains chains = chain_blocks(program, options, plan.placements);
  const auto closeness = [&] { return options.overlap ? find_close(program, plan.placements, chains) : std::vector<Closeness>(); };
  if (program.pools.empty()) {
    place_in_one(chains, closeness(), plan);
    if (options.parts) place_parts(program, options, plan);
  } else {
    plan.traffic = traffic_bytes(program);
    bool proved = false;
    bool placed = place_in_pools(program, chains, closeness(), plan, proved);
    if (!placed) {  // buffers that would be written over others may find room in another pool
      const std::int64_t bytes = lower_bound_bytes(chains.blocks, closeness());
      const NoRoom problem{bytes, first_step_with(chains.blocks, closeness(), bytes)};
      for (Placement& p : plan.placements) p.in_place_of = -1;
      chains = chain_blocks(program, options, plan.placements);
      placed = place_in_pools(program, chains, closeness(), plan, proved);
      if (!placed) throw no_room(program, options.include_io, problem, proved);
    }
  }
  add_up(plan);
  verify(plan, program);
  return plan;
}

void verify(const MemoryPlan& plan, const Program& program) {
  check(plan.placements.size() == program.buffers.size(), "one placement for each buffer");
  check(plan.lower_bound_bytes <= plan.arena_bytes, "no arena is smaller than the lower bound");
  check(plan.arenas.size() == std::max<std::size_t>(program.pools.size(), 1), "one arena for each pool");
  for (std::size_t p = 0; p < program.pools.size(); p++)
    check(plan.arenas[p].bytes <= program.pools[p].size, "no arena is larger than its pool");
  std::vector<int> placed, live;
  for (std::size_t i = 0; i < plan.placements.size(); i++) {
    const Placement& a = plan.placements[i];
    if (a.offset < 0) {
      check(program.buffers[i].kind != BufferKind::Intermediate || a.first < 0, "every intermediate has a place");
      continue;
    }
    check(a.offset % alignment_for(program.buffers[i].max_bytes(), plan.align) == 0, "every buffer is aligned");
    check(a.part_of < 0 || a.offset == plan.placements[at(a.part_of)].offset + a.part_offset, "a part lies where it is copied to");
    check(a.part_of < 0 || a.last <= plan.placements[at(a.part_of)].first, "nothing but the copy is written over a part");
    check(a.pool >= 0 && at(a.pool) < plan.arenas.size(), "every buffer lies in one of the arenas");
    check(a.offset + program.buffers[i].max_bytes() <= plan.arenas[at(a.pool)].bytes, "every buffer lies inside the arena");
    check(program.pools.empty() || may_hold(program.pools[at(a.pool)], program.buffers[i]), "every buffer lies where it may");
    check(a.first <= a.last, "a buffer with a place has a lifetime");
    placed.push_back(static_cast<int>(i));
  }
  std::ranges::stable_sort(placed, {}, [&](int b) { return plan.placements[at(b)].first; });
  for (int i : placed) {
    const Placement& a = plan.placements[at(i)];
    std::erase_if(live, [&](int j) { return plan.placements[at(j)].last < a.first; });
    for (int j : live) {
      const Placement& b = plan.placements[at(j)];
      const bool replaces = (a.in_place_of == j && b.last == a.first) || (b.in_place_of == i && a.last == b.first);
      const bool follows =
          a.first == b.last ? keeps_distance(plan, program, i, j) : a.last == b.first && keeps_distance(plan, program, j, i);
      const bool is_part = lies_in(plan.placements, i, j) || lies_in(plan.placements, j, i);
      check(replaces || follows || is_part || a.pool != b.pool ||
                !overlap(a.offset, program.buffers[at(i)].max_bytes(), b.offset, program.buffers[at(j)].max_bytes()),
            "live buffers do not overlap");
    }
    live.push_back(i);
  }
}

std::string to_text(const MemoryPlan& plan, const Program& program) {
  std::string text;
  for (std::size_t p = 0; p < program.pools.size(); p++)
    text += fmt::format("pool {} of {}: {} of {} bytes, lower bound {}\n", program.pools[p].name, program.pools[p].memory,
                        plan.arenas[p].bytes, program.pools[p].size, plan.arenas[p].lower_bound_bytes);
  text += fmt::format("arena {} bytes, align {}, lower bound {}", plan.arena_bytes, plan.align, plan.lower_bound_bytes);
  if (plan.peak_call >= 0) text += fmt::format(" (call {})", plan.peak_call);
  text += "\n";
  std::vector<int> order;
  for (std::size_t b = 0; b < plan.placements.size(); b++)
    if (plan.placements[b].offset >= 0) order.push_back(static_cast<int>(b));
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return plan.placements[at(a)].first < plan.placements[at(b)].first; });
  for (int b : order) {
    const Placement& p = plan.placements[at(b)];
    const ProgramBuffer& buffer = program.buffers[at(b)];
    const std::int64_t end = p.offset + std::max<std::int64_t>(buffer.max_bytes(), 1) - 1;
    if (!program.pools.empty()) text += fmt::format("{:<8} {:>9} bytes moved ", program.pools[at(p.pool)].name, plan.traffic[at(b)]);
    text += fmt::format("{:>9} .. {:>9}  {:<24} {} {}  calls {}-{}", p.offset, end, buffer.name, name_of(buffer.dtype),
                        shape_text(buffer.shape), p.first, p.last);
    if (p.in_place_of >= 0) text += fmt::format("  in place of {}", program.buffers[at(p.in_place_of)].name);
    if (p.part_of >= 0) text += fmt::format("  part of {}", program.buffers[at(p.part_of)].name);
    text += "\n";
  }
  return text;
}

}  // namespace etch
