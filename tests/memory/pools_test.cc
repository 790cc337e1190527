// Several arenas of limited size: small cases against all ways to place blocks, larger ones by replaying the calls.
#include "memory/pools.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/error.h"
#include "lazy/graph.h"
#include "lazy/tensor.h"
#include "memory/plan.h"
#include "memory/pool_texts.h"
#include "memory/traffic.h"
#include "program/lower.h"
#include "schedule/schedule.h"
#include "support/expect_error.h"
#include "support/rounds.h"

namespace etch::pools_test {
namespace {

using Limits = std::vector<std::int64_t>;

struct Case {
  std::vector<PoolBlock> blocks;
  std::vector<Closeness> close;
  Limits limits;
};

// Whether block `i` at `offset` lies as it may beside a block that is placed.
bool may_lie(const Case& c, std::size_t i, std::int64_t offset, std::size_t j, std::int64_t other) {
  const Block &a = c.blocks[i].block, &b = c.blocks[j].block;
  if (a.last < b.first || b.last < a.first) return true;
  std::int64_t up = a.bytes, down = b.bytes;  // the least distances at which the other one begins above and below
  for (const Closeness& close : c.close) {
    if (close.a == static_cast<int>(i) && close.b == static_cast<int>(j)) up = close.a_below_b, down = close.b_below_a;
    if (close.a == static_cast<int>(j) && close.b == static_cast<int>(i)) up = close.b_below_a, down = close.a_below_b;
  }
  return other - offset >= up || offset - other >= down;
}

// Whether the blocks of one pool have room in it: every offset is tried.
bool has_room(const Case& c, const std::vector<std::size_t>& blocks, std::int64_t limit, std::vector<std::int64_t> offsets = {}) {
  if (offsets.size() == blocks.size()) return true;
  const std::size_t i = blocks[offsets.size()];
  for (std::int64_t offset = 0; offset + c.blocks[i].block.bytes <= limit; offset += c.blocks[i].block.align) {
    bool fits = true;
    for (std::size_t k = 0; k < offsets.size() && fits; k++) fits = may_lie(c, i, offset, blocks[k], offsets[k]);
    if (!fits) continue;
    offsets.push_back(offset);
    if (has_room(c, blocks, limit, offsets)) return true;
    offsets.pop_back();
  }
  return false;
}

std::vector<std::int64_t> value_of(const Case& c, const std::vector<int>& pool) {
  std::vector<std::int64_t> value(c.limits.size());
  for (std::size_t i = 0; i < pool.size(); i++) value[static_cast<std::size_t>(pool[i])] += c.blocks[i].traffic;
  return value;
}

bool is_possible(const Case& c, const std::vector<int>& pool) {
  for (std::size_t p = 0; p < c.limits.size(); p++) {
    std::vector<std::size_t> there;
    for (std::size_t i = 0; i < pool.size(); i++)
      if (pool[i] == static_cast<int>(p)) there.push_back(i);
    for (std::size_t i : there)
      if (c.blocks[i].may[p] == 0) return false;
    if (!has_room(c, there, c.limits[p])) return false;
  }
  return true;
}

// The best value of all ways to place the blocks; empty if there is none.
std::vector<std::int64_t> best_of_all(const Case& c) {
  std::vector<std::int64_t> best;
  std::vector<int> pool(c.blocks.size(), 0);
  while (true) {
    if (const auto value = value_of(c, pool); (best.empty() || value > best) && is_possible(c, pool)) best = value;
    std::size_t k = 0;
    while (k < pool.size() && ++pool[k] == static_cast<int>(c.limits.size())) pool[k++] = 0;
    if (k == pool.size()) return best;
  }
}

Case random_case(std::mt19937& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  Case c;
  const int pools = 1 + below(3), blocks = 1 + below(6);
  for (int p = 0; p < pools; p++) c.limits.push_back(1 + below(9));
  for (int i = 0; i < blocks; i++) {
    const int first = below(5);
    PoolBlock b{{1 + below(4), first, first + below(3), 1 + below(2)}, below(50), std::vector<char>(c.limits.size(), 1)};
    for (char& may : b.may) may = below(8) == 0 ? 0 : 1;
    c.blocks.push_back(b);
  }
  for (int a = 0; a < blocks; a++)  // a begins where b ends
    for (int b = 0; b < blocks; b++) {
      const Block &x = c.blocks[static_cast<std::size_t>(a)].block, &y = c.blocks[static_cast<std::size_t>(b)].block;
      if (a == b || x.first != y.last || y.first > x.first || (x.first == x.last && y.first == y.last)) continue;
      if (std::max(x.first, y.first) != std::min(x.last, y.last) || below(3) != 0) continue;
      const bool known = std::ranges::any_of(c.close, [&](const Closeness& k) { return k.a == b && k.b == a; });
      if (!known) c.close.push_back({a, b, below(static_cast<int>(x.bytes) + 1), below(static_cast<int>(y.bytes) + 1)});
    }
  return c;
}

TEST(Pools, SmallCasesAreAsGoodAsAllWaysToPlaceThem) {
  std::mt19937 random(11);
  int possible = 0, impossible = 0;
  for (int round = 0; round < 1500; round++) {
    SCOPED_TRACE(round);
    const Case c = random_case(random);
    const std::vector<std::int64_t> want = best_of_all(c);
    bool proved = false;
    const std::optional<PoolChoice> found = choose_pools(c.blocks, c.close, c.limits, &proved);
    EXPECT_TRUE(proved);
    ASSERT_EQ(found.has_value(), !want.empty());
    (found ? possible : impossible)++;
    if (!found) continue;
    EXPECT_TRUE(found->is_best);
    EXPECT_TRUE(is_possible(c, found->pool));
    EXPECT_EQ(value_of(c, found->pool), want);
  }
  EXPECT_GT(possible, 500);
  EXPECT_GT(impossible, 200);
}

int add_buffer(Program& p, BufferKind kind, std::int64_t elements) {
  ProgramBuffer b;
  b.name = "b" + std::to_string(p.buffers.size());
  b.kind = kind;
  b.dtype = DType::UInt8;
  b.shape = {Sint(elements)};
  b.max_elements = elements;
  p.buffers.push_back(b);
  return static_cast<int>(p.buffers.size()) - 1;
}

// Calls of one output and up to three inputs, over some of which it may be written.
Program random_program(std::mt19937& random, int calls) {
  Program p;
  std::vector<int> values{add_buffer(p, BufferKind::Input, 64)};
  p.inputs = values;
  const std::int64_t sizes[] = {1, 3, 16, 64, 64, 500};
  for (int c = 0; c < calls; c++) {
    const bool last = c + 1 == calls;
    const int out = add_buffer(p, last ? BufferKind::Output : BufferKind::Intermediate, sizes[random() % 6]);
    ProgramCall call;
    call.nodes = {"n" + std::to_string(c)};
    call.arguments.push_back({out, Access::Write});
    for (std::size_t i = 0; i < 1 + random() % 3; i++) {
      const int in = values[values.size() - std::min<std::size_t>(values.size(), 1 + random() % 5)];
      if (std::ranges::find(call.arguments, in, &CallArgument::buffer) != call.arguments.end()) continue;
      const bool same = p.buffers[static_cast<std::size_t>(in)].max_elements == p.buffers[static_cast<std::size_t>(out)].max_elements;
      call.arguments.push_back({in, Access::Read, same && random() % 2 == 0 ? 1u : 0u});
    }
    p.calls.push_back(call);
    values.push_back(out);
  }
  p.outputs = {values.back()};
  return p;
}

// Replays the calls and records for each byte of each arena which value was written there last; each call must find its inputs.
void expect_replay(const Program& p, const MemoryPlan& plan) {
  std::vector<std::vector<int>> arenas;
  for (std::size_t n = 0; n < p.pools.size(); n++) {
    EXPECT_LE(plan.arenas[n].bytes, p.pools[n].size);
    arenas.emplace_back(static_cast<std::size_t>(plan.arenas[n].bytes), -1);
  }
  const auto bytes_of = [&](int b) {
    const Placement& place = plan.placements[static_cast<std::size_t>(b)];
    const std::int64_t bytes = p.buffers[static_cast<std::size_t>(b)].max_bytes();
    EXPECT_GE(place.offset, 0);
    EXPECT_LE(place.offset + bytes, plan.arenas[static_cast<std::size_t>(place.pool)].bytes);
    return std::span(arenas[static_cast<std::size_t>(place.pool)])
        .subspan(static_cast<std::size_t>(place.offset), static_cast<std::size_t>(bytes));
  };
  const auto is_placed = [&](int b) { return p.buffers[static_cast<std::size_t>(b)].kind == BufferKind::Intermediate; };
  for (const ProgramCall& call : p.calls) {
    for (int b : call.reads())
      if (is_placed(b)) {
        EXPECT_TRUE(std::ranges::all_of(bytes_of(b), [&](int owner) { return owner == b; })) << b;
      }
    for (int b : call.writes())
      if (is_placed(b)) std::ranges::fill(bytes_of(b), b);
    for (const CallArgument& a : call.arguments)
      if (a.access == Access::Read && a.may_alias == 0 && is_placed(a.buffer)) {
        EXPECT_TRUE(std::ranges::all_of(bytes_of(a.buffer), [&](int owner) { return owner == a.buffer; })) << a.buffer;
      }
  }
}

TEST(Pools, RandomProgramsKeepTheirValues) {
  std::mt19937 random(5);
  for (int round = 0; round < test::rounds(30); round++) {
    SCOPED_TRACE(round);
    Program p = random_program(random, 2 + static_cast<int>(random() % 80));
    const std::int64_t whole = plan_memory(p).arena_bytes;
    const std::int64_t first = 1 + static_cast<std::int64_t>(random() % 700);
    p.pools = {{"fast", "a", first}, {"small", "b", 40}, {"slow", "c", std::max<std::int64_t>(whole, 500)}};
    const MemoryPlan plan = plan_memory(p);
    expect_replay(p, plan);
    std::int64_t in_first = 0;
    for (std::size_t b = 0; b < p.buffers.size(); b++)
      if (plan.placements[b].offset >= 0 && plan.placements[b].pool == 0) in_first += plan.traffic[b];
    if (in_first == 0) {  // then no buffer has room there
      for (std::size_t b = 0; b < p.buffers.size(); b++) EXPECT_TRUE(plan.placements[b].offset < 0 || p.buffers[b].max_bytes() > first);
    }
  }
}

// So many buffers that not every way is looked at: 2000 calls, of which the lifetimes of many reach over hundreds.
TEST(Pools, LongProgramsKeepTheirValues) {
  std::mt19937 random(8);
  Program p = random_program(random, 2000);
  for (std::size_t c = 300; c < p.calls.size(); c += 7) {
    const int in = p.calls[c - random() % 300].writes().front();
    if (std::ranges::find(p.calls[c].arguments, in, &CallArgument::buffer) == p.calls[c].arguments.end())
      p.calls[c].arguments.push_back({in, Access::Read});
  }
  const std::int64_t whole = plan_memory(p).arena_bytes;
  p.pools = {{"fast", "a", whole / 4}, {"slow", "c", whole}};
  const MemoryPlan plan = plan_memory(p);
  expect_replay(p, plan);
  EXPECT_FALSE(plan.is_best);
  std::int64_t fast = 0, all = 0;
  for (std::size_t b = 0; b < p.buffers.size(); b++) {
    if (plan.placements[b].offset < 0) continue;
    all += plan.traffic[b];
    if (plan.placements[b].pool == 0) fast += plan.traffic[b];
  }
  EXPECT_GT(fast, all / 4);
}

TEST(Pools, OnePoolIsPackedAsOneArena) {
  std::mt19937 random(6);
  for (int round = 0; round < test::rounds(20); round++) {
    Program p = random_program(random, 2 + static_cast<int>(random() % 30));
    const MemoryPlan one = plan_memory(p);
    p.pools = {{"only", "ram", std::max<std::int64_t>(one.arena_bytes, 1)}};
    const MemoryPlan pool = plan_memory(p);
    EXPECT_EQ(pool.arena_bytes, one.arena_bytes);
    EXPECT_EQ(pool.lower_bound_bytes, one.lower_bound_bytes);
  }
}

// y = (x v) w: the intermediate is written once and read for each column of w.
TEST(Pools, TrafficIsWhatLoopsLoadAndStore) {
  const auto graph = LazyGraph::create();
  const Tensor x = Tensor::input(*graph, "x", DType::Float32, {4, 8}), v = Tensor::input(*graph, "v", DType::Float32, {8, 16}),
               w = Tensor::input(*graph, "w", DType::Float32, {16, 5});
  LowerOptions options;
  options.language = &kC;
  options.codegen.optimize = false;
  const Program p = lower(graph, create_schedule(*graph, {{"y", x.matmul(v).matmul(w)}}), options);
  const std::vector<std::int64_t> traffic = traffic_bytes(p);
  std::vector<std::int64_t> intermediate;
  for (std::size_t b = 0; b < p.buffers.size(); b++) {
    const auto is = [&](const char* name, std::int64_t bytes) { EXPECT_TRUE(p.buffers[b].name != name || traffic[b] == bytes) << name; };
    is("x", 4 * 4 * 16 * 8);
    is("w", 4 * 4 * 5 * 16);
    is("y", 4 * 4 * 5);
    if (p.buffers[b].kind == BufferKind::Intermediate) intermediate.push_back(traffic[b]);
  }
  EXPECT_EQ(intermediate, (std::vector<std::int64_t>{4 * (4 * 16 + 4 * 5 * 16)}));
}

Program chain(std::int64_t bytes, int calls) {
  Program p;
  int last = add_buffer(p, BufferKind::Input, bytes);
  p.inputs = {last};
  for (int c = 0; c < calls; c++) {
    const int next = add_buffer(p, c + 1 == calls ? BufferKind::Output : BufferKind::Intermediate, bytes);
    ProgramCall call;
    call.nodes = {"n" + std::to_string(c)};
    call.arguments = {{next, Access::Write}, {last, Access::Read}};
    p.calls.push_back(call);
    last = next;
  }
  p.outputs = {last};
  return p;
}

TEST(Pools, WhatIsTooSmallIsSaid) {
  const struct {
    std::vector<Pool> pools;
    bool io;
    std::vector<const char*> says;
  } rows[] = {
      {{{"a", "m", 50}, {"b", "m", 99}}, false, {"tensor 'b1'", "takes 100 bytes, the largest pool that may hold it, b, has 99", "larger"}},
      {{{"a", "m", 100}, {"b", "m", 99}}, false, {"a 100, b 99", "need at least 200 bytes together at call 1 (n1), the pools have 199"}},
      {{{"a", "m", 150}, {"b", "m", 99}}, false, {"there is no way to place the tensors", "at least 200 bytes of the 249"}},
      {{{"a", "m", 500, PoolContent::Io}}, false, {"tensor 'b1'", "no pool of the target may hold intermediates"}},
      {{{"a", "m", 500, PoolContent::Intermediates}}, true, {"tensor 'b0'", "may hold inputs and outputs, for which --io-in-arena asks"}},
  };
  for (const auto& row : rows) {
    Program p = chain(100, 4);
    p.pools = row.pools;
    p.io_in_arena = row.io;
    std::string text;
    try {
      plan_memory(p, {.align = 1});
    } catch (const UserError& error) {
      text = error.what();
    }
    for (const char* part : row.says) EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(Pools, ReasonsAreSaid) {
  Program p = chain(100, 4);
  p.pools = {{"tiny", "m", 99}, {"io", "m", 200, PoolContent::Io}, {"fast", "m", 150}, {"slow", "m", 1000}, {"rest", "m", 1000}};
  const MemoryPlan plan = plan_memory(p, {.align = 1});
  EXPECT_EQ(why_unused(plan, p, 0), "no tensor may use it: the smallest that it may hold has 100 bytes");
  EXPECT_NE(why_unused(plan, p, 1).find("no tensor may use it: it holds inputs and outputs alone"), std::string::npos);
  EXPECT_EQ(why_unused(plan, p, 2), "");
  EXPECT_EQ(why_unused(plan, p, 3), "");
  EXPECT_EQ(why_unused(plan, p, 4), "nothing is left for it: all lies in faster pools");
  EXPECT_EQ(why_there(plan, p, 2), "larger than tiny; io holds inputs and outputs alone; no room in fast beside b1, b3");
  EXPECT_EQ(why_there(plan, p, 1), "larger than tiny; io holds inputs and outputs alone");
}

void add_call(Program& p, int out, int in, std::uint32_t may_alias = 0) {
  ProgramCall call;
  call.arguments = {{out, Access::Write}, {in, Access::Read, may_alias}};
  p.calls.push_back(call);
}

// The fast pool has no room for a while e is there, the slow one none for b beside the output: b can't lie over a.
TEST(Pools, WhatMayLieInPlaceNeedNot) {
  Program p;
  const int x = add_buffer(p, BufferKind::Input, 4), e = add_buffer(p, BufferKind::Intermediate, 70),
            a = add_buffer(p, BufferKind::Intermediate, 60), b = add_buffer(p, BufferKind::Intermediate, 60),
            y = add_buffer(p, BufferKind::Output, 60);
  add_call(p, e, x);
  add_call(p, a, e);
  add_call(p, b, a, 1);
  add_call(p, y, b);
  p.inputs = {x};
  p.outputs = {y};
  p.io_in_arena = true;
  p.pools = {{"fast", "m", 70, PoolContent::Intermediates}, {"slow", "m", 60}};
  const MemoryPlan plan = plan_memory(p, {.align = 1});
  expect_replay(p, plan);
  EXPECT_EQ(plan.placements[static_cast<std::size_t>(a)].pool, 1);
  EXPECT_EQ(plan.placements[static_cast<std::size_t>(b)].pool, 0);
  p.pools[1].size = 120;
  EXPECT_EQ(plan_memory(p, {.align = 1}).placements[static_cast<std::size_t>(b)].in_place_of, a);
}

TEST(Pools, NothingNeedsNoRoom) {
  Program p = chain(100, 1);
  p.pools = {{"a", "m", 1}, {"b", "m", 2}};
  const MemoryPlan plan = plan_memory(p);
  EXPECT_EQ(plan.arena_bytes, 0);
  EXPECT_EQ(plan.arenas.size(), 2u);
  EXPECT_EQ(why_unused(plan, p, 0), "no tensor may use it: the model has none that kernels write and read");
}

// What lies over an input where there is one arena lies beside it where no pool holds both.
TEST(Pools, OnlyWhatAPoolMayHoldTogetherLiesInPlace) {
  Program p;
  const int x = add_buffer(p, BufferKind::Input, 60), a = add_buffer(p, BufferKind::Intermediate, 60),
            b = add_buffer(p, BufferKind::Intermediate, 60), y = add_buffer(p, BufferKind::Output, 4);
  add_call(p, a, x, 1);
  add_call(p, b, a, 1);
  add_call(p, y, b);
  p.inputs = {x};
  p.outputs = {y};
  p.io_in_arena = true;
  EXPECT_EQ(plan_memory(p, {.align = 1}).placements[static_cast<std::size_t>(a)].in_place_of, x);
  p.pools = {{"inner", "m", 60, PoolContent::Intermediates}, {"outer", "m", 64, PoolContent::Io}};
  const MemoryPlan plan = plan_memory(p, {.align = 1});
  expect_replay(p, plan);
  EXPECT_EQ(plan.placements[static_cast<std::size_t>(a)].in_place_of, -1);
  EXPECT_EQ(plan.placements[static_cast<std::size_t>(b)].in_place_of, a);
}

}  // namespace
}  // namespace etch::pools_test
