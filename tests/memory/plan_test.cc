#include "memory/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>

#include "base/error.h"
#include "memory/parts.h"
#include "support/expect_error.h"
#include "support/rounds.h"

namespace etch {
namespace {

int add_buffer(Program& p, BufferKind kind, std::int64_t elements, DType dtype = DType::Float32) {
  ProgramBuffer b;
  b.name = "b" + std::to_string(p.buffers.size());
  b.kind = kind;
  b.dtype = dtype;
  b.shape = {Sint(elements)};
  b.max_elements = elements;
  p.buffers.push_back(b);
  return static_cast<int>(p.buffers.size()) - 1;
}

void add_call(Program& p, std::vector<int> buffers, std::vector<bool> may_alias = {}) {
  ProgramCall call;
  may_alias.resize(buffers.size(), false);
  for (std::size_t i = 0; i < buffers.size(); i++)
    call.arguments.push_back({buffers[i], i == 0 ? Access::Write : Access::Read, may_alias[i]});
  p.calls.push_back(call);
}

// A call that copies what it reads, one behind the other.
void add_copies(Program& p, int out, const std::vector<int>& buffers) {
  ProgramCall call;
  call.arguments.push_back({out, Access::Write});
  for (const int b : buffers) {
    call.arguments.push_back({b, Access::Read, 0, p.buffers[static_cast<std::size_t>(out)].max_elements});
    p.buffers[static_cast<std::size_t>(out)].max_elements += p.buffers[static_cast<std::size_t>(b)].max_elements;
  }
  p.buffers[static_cast<std::size_t>(out)].shape = {Sint(p.buffers[static_cast<std::size_t>(out)].max_elements)};
  p.calls.push_back(call);
}

// A check that is independent of the planner: replays the calls and records for each byte of the arena which value was written there
// last. Each call must find the values of its inputs intact, except an input that it may replace, or copies to where it lies. `all`: the
// program before the calls that copy nothing were left out, whose outputs are what they would have copied.
void expect_replay(const Program& p, const MemoryPlan& plan, const Program& all) {
  std::vector<int> arena(static_cast<std::size_t>(plan.arena_bytes), -1);
  const std::function<bool(int, std::int64_t)> holds_at = [&](int b, std::int64_t offset) {
    const auto begin = arena.begin() + offset, end = begin + p.buffers[static_cast<std::size_t>(b)].max_bytes();
    if (std::all_of(begin, end, [&](int value) { return value == b; })) return true;
    const auto made = std::ranges::find_if(all.calls, [&](const ProgramCall& c) { return c.arguments[0].buffer == b; });
    if (made == all.calls.end() || made->arguments.size() < 2) return false;
    return std::all_of(made->arguments.begin() + 1, made->arguments.end(),
                       [&](const CallArgument& a) { return a.part >= 0 && holds_at(a.buffer, offset + 4 * a.part); });
  };
  const auto holds = [&](int b) { return holds_at(b, plan.placements[static_cast<std::size_t>(b)].offset); };
  for (std::size_t c = 0; c < p.calls.size(); c++) {
    const ProgramCall& call = p.calls[c];
    for (int b : call.reads()) {
      if (p.buffers[static_cast<std::size_t>(b)].kind != BufferKind::Intermediate) continue;
      EXPECT_TRUE(holds(b)) << "call " << c << " reads " << b;
    }
    const int out = call.writes().front();
    if (p.buffers[static_cast<std::size_t>(out)].kind != BufferKind::Intermediate) continue;
    const Placement& place = plan.placements[static_cast<std::size_t>(out)];
    for (std::int64_t k = 0; k < p.buffers[static_cast<std::size_t>(out)].max_bytes(); k++)
      arena[static_cast<std::size_t>(place.offset + k)] = out;
    for (const CallArgument& a : call.arguments) {
      const int b = a.buffer;
      const bool is_there = a.part >= 0 && plan.placements[static_cast<std::size_t>(b)].offset == place.offset + 4 * a.part;
      if (b == out || a.may_alias || is_there || p.buffers[static_cast<std::size_t>(b)].kind != BufferKind::Intermediate) continue;
      EXPECT_TRUE(holds(b)) << "call " << c << " writes over " << b << ", which it reads";
    }
  }
}

Program random_program(std::mt19937& random, int calls) {
  Program p;
  std::vector<int> values{add_buffer(p, BufferKind::Input, 64)};
  p.inputs = values;
  const std::int64_t sizes[] = {1, 3, 16, 64, 64, 64, 500};
  for (int c = 0; c < calls; c++) {
    const bool last = c + 1 == calls;
    const int out = add_buffer(p, last ? BufferKind::Output : BufferKind::Intermediate, sizes[random() % 7]);
    std::vector<int> buffers{out};
    std::vector<bool> alias{false};
    const int arguments = 1 + static_cast<int>(random() % 3);
    if (values.size() > 3 && random() % 4 == 0) {
      p.buffers[static_cast<std::size_t>(out)].max_elements = 0;
      add_copies(p, out, {values.end() - 1 - arguments, values.end()});
      values.push_back(out);
      continue;
    }
    for (int i = 0; i < arguments; i++) {
      const std::size_t back = std::min<std::size_t>(values.size(), 1 + random() % 5);
      const int in = values[values.size() - back];
      if (std::find(buffers.begin(), buffers.end(), in) != buffers.end()) continue;
      buffers.push_back(in);
      alias.push_back(random() % 2 == 0 &&
                      p.buffers[static_cast<std::size_t>(in)].max_elements == p.buffers[static_cast<std::size_t>(out)].max_elements);
    }
    add_call(p, buffers, alias);
    values.push_back(out);
  }
  p.outputs = {values.back()};
  return p;
}

TEST(Plan, RandomProgramsKeepTheirValues) {
  std::mt19937 random(3);
  std::ptrdiff_t parts = 0, left_out = 0;
  for (int round = 0; round < test::rounds(150); round++) {
    SCOPED_TRACE(round);
    const Program p = random_program(random, 1 + static_cast<int>(random() % 60));
    const MemoryPlan plan = plan_memory(p);
    expect_replay(p, plan, p);
    const Program better = reorder(p);
    MemoryPlan better_plan = plan_memory(better);
    expect_replay(better, better_plan, better);
    parts += std::ranges::count_if(plan.placements, [](const Placement& place) { return place.part_of >= 0; });
    EXPECT_LE(plan.arena_bytes, plan_memory(p, {.parts = false}).arena_bytes);
    Program fewer = better;
    fewer.kernels.resize(1);
    leave_out_copies(fewer, better_plan);
    left_out += std::ssize(better.calls) - std::ssize(fewer.calls);
    expect_replay(fewer, better_plan, better);
    EXPECT_LE(better_plan.lower_bound_bytes, plan.lower_bound_bytes);
    EXPECT_LE(static_cast<double>(plan.arena_bytes), 1.05 * static_cast<double>(plan.lower_bound_bytes) + 32);
  }
  EXPECT_GT(parts, test::rounds(24));
  EXPECT_GT(left_out, test::rounds(12));
}

TEST(Plan, ChainsOfElementwiseCallsShareOnePlace) {
  Program p;
  const int in = add_buffer(p, BufferKind::Input, 100);
  const int a = add_buffer(p, BufferKind::Intermediate, 100);
  const int b = add_buffer(p, BufferKind::Intermediate, 100);
  const int c = add_buffer(p, BufferKind::Intermediate, 100, DType::Int32);
  const int out = add_buffer(p, BufferKind::Output, 100);
  add_call(p, {a, in}, {false, true});
  add_call(p, {b, a}, {false, true});
  add_call(p, {c, b}, {false, true});
  add_call(p, {out, c}, {false, true});
  const MemoryPlan plan = plan_memory(p);
  EXPECT_EQ(plan.arena_bytes, 400);
  EXPECT_EQ(plan.lower_bound_bytes, 400);
  EXPECT_EQ(plan.placements[static_cast<std::size_t>(a)].in_place_of, -1);  // an input is the caller's
  EXPECT_EQ(plan.placements[static_cast<std::size_t>(b)].in_place_of, a);
  EXPECT_EQ(plan.placements[static_cast<std::size_t>(c)].in_place_of, b);
  EXPECT_EQ(plan.placements[static_cast<std::size_t>(out)].offset, -1);
  Program apart = p;
  for (ProgramCall& call : apart.calls)
    for (CallArgument& argument : call.arguments) argument.may_alias = false;
  EXPECT_EQ(plan_memory(apart).arena_bytes, 800);
  PlanOptions all;
  all.include_io = true;
  EXPECT_EQ(plan_memory(p, all).arena_bytes, 400);
}

TEST(Plan, NotInPlaceWhereAnotherArgumentForbidsOrTheInputIsNeededLater) {
  Program p;
  const int in = add_buffer(p, BufferKind::Input, 10);
  const int a = add_buffer(p, BufferKind::Intermediate, 10);
  const int b = add_buffer(p, BufferKind::Intermediate, 10);
  const int c = add_buffer(p, BufferKind::Intermediate, 10);
  const int out = add_buffer(p, BufferKind::Output, 10);
  add_call(p, {a, in});
  add_call(p, {b, a}, {false, true});            // a is read again below
  add_call(p, {c, a, a}, {false, true, false});  // the same buffer in two arguments, one of which reads elsewhere
  add_call(p, {out, b, c}, {false, true, true});
  const MemoryPlan plan = plan_memory(p);
  for (const Placement& place : plan.placements) EXPECT_EQ(place.in_place_of, -1);
  EXPECT_EQ(plan.lower_bound_bytes, 120);
  EXPECT_EQ(plan.peak_call, 2);
}

TEST(Plan, ReorderFinishesOneBranchBeforeTheNext) {
  // Two branches, each large inside and small at its end: written side by side they need both large buffers at once.
  Program p;
  const int in = add_buffer(p, BufferKind::Input, 1);
  const int big1 = add_buffer(p, BufferKind::Intermediate, 1000);
  const int big2 = add_buffer(p, BufferKind::Intermediate, 1000);
  const int small1 = add_buffer(p, BufferKind::Intermediate, 10);
  const int small2 = add_buffer(p, BufferKind::Intermediate, 10);
  const int out = add_buffer(p, BufferKind::Output, 10);
  add_call(p, {big1, in});
  add_call(p, {big2, in});
  add_call(p, {small1, big1});
  add_call(p, {small2, big2});
  add_call(p, {out, small1, small2});
  EXPECT_EQ(plan_memory(p).lower_bound_bytes, 8040);
  const Program better = reorder(p);
  EXPECT_EQ(plan_memory(better).lower_bound_bytes, 4080);
  expect_replay(better, plan_memory(better), better);
}

TEST(Plan, ReorderKeepsTheOrderOfWritesToOneBuffer) {
  Program p;
  const int in = add_buffer(p, BufferKind::Input, 8);
  const int a = add_buffer(p, BufferKind::Intermediate, 8);
  const int b = add_buffer(p, BufferKind::Intermediate, 800);
  const int out = add_buffer(p, BufferKind::Output, 8);
  add_call(p, {a, in});
  add_call(p, {b, a});
  add_call(p, {a, in});  // a again, after b has read the first one
  add_call(p, {out, a, b});
  const Program after = reorder(p);
  std::vector<int> outs;
  for (const ProgramCall& call : after.calls) outs.push_back(call.writes().front());
  EXPECT_EQ(outs, (std::vector<int>{a, b, a, out}));
}

TEST(Plan, AlignmentGrowsWithTheBuffer) {
  const struct {
    std::int64_t bytes, align, expected;
  } rows[] = {{1, 16, 1}, {4, 16, 4}, {40, 64, 32}, {64, 64, 64}, {1000, 16, 16}, {0, 16, 1}};
  for (const auto& row : rows) EXPECT_EQ(alignment_for(row.bytes, row.align), row.expected) << row.bytes;
}

TEST(Plan, EveryBufferIsAlignedWhereThatIsAskedFor) {
  Program p;
  const int in = add_buffer(p, BufferKind::Input, 8);
  const int a = add_buffer(p, BufferKind::Intermediate, 1);
  const int b = add_buffer(p, BufferKind::Intermediate, 3);
  const int out = add_buffer(p, BufferKind::Output, 8);
  add_call(p, {a, in});
  add_call(p, {b, in});
  add_call(p, {out, a, b});
  for (const bool all : {false, true}) {
    const MemoryPlan plan = plan_memory(p, {.align = 512, .align_all = all});
    const std::int64_t second =
        std::max(plan.placements[static_cast<std::size_t>(a)].offset, plan.placements[static_cast<std::size_t>(b)].offset);
    EXPECT_EQ(second == 512, all);
    EXPECT_EQ(second % 512 == 0, all);
  }
}

// A part lies as far from the begin as it is copied to: where every buffer is aligned that has to be a multiple.
TEST(Plan, PartsAreAlignedAsBuffersAre) {
  for (const std::int64_t elements : {4, 16}) {
    Program p;
    const int in = add_buffer(p, BufferKind::Input, 8);
    const int a = add_buffer(p, BufferKind::Intermediate, elements);
    const int b = add_buffer(p, BufferKind::Intermediate, elements);
    const int whole = add_buffer(p, BufferKind::Intermediate, 0);
    add_call(p, {a, in});
    add_call(p, {b, in});
    add_copies(p, whole, {a, b});
    add_call(p, {add_buffer(p, BufferKind::Output, 8), whole});
    for (const bool all : {false, true}) {
      const MemoryPlan plan = plan_memory(p, {.align = 64, .align_all = all});
      const Placement &first = plan.placements[static_cast<std::size_t>(a)], &second = plan.placements[static_cast<std::size_t>(b)];
      EXPECT_EQ(first.part_of == whole && second.part_of == whole, !all || elements == 16) << elements;
      if (all) {
        EXPECT_EQ(second.offset % 64, 0);
      }
    }
  }
}

TEST(Plan, VerifyFindsAPartThatLiesElsewhereOrIsNeededLater) {
  Program p;
  const int in = add_buffer(p, BufferKind::Input, 8), a = add_buffer(p, BufferKind::Intermediate, 16);
  const int b = add_buffer(p, BufferKind::Intermediate, 16), whole = add_buffer(p, BufferKind::Intermediate, 0);
  add_call(p, {a, in});
  add_call(p, {b, in});
  add_copies(p, whole, {a, b});
  add_call(p, {add_buffer(p, BufferKind::Output, 8), whole});
  const MemoryPlan plan = plan_memory(p);
  ASSERT_EQ(plan.placements[static_cast<std::size_t>(b)].part_of, whole);
  MemoryPlan elsewhere = plan, later = plan;
  elsewhere.placements[static_cast<std::size_t>(b)].part_offset = 0;
  EXPECT_THROW(verify(elsewhere, p), InternalError);
  later.placements[static_cast<std::size_t>(a)].last = 3;
  EXPECT_THROW(verify(later, p), InternalError);
}

// A kernel that several calls share takes sizes too.
TEST(Plan, CopiesOfSharedKernelsAreLeftOut) {
  Program p;
  const int in = add_buffer(p, BufferKind::Input, 8), a = add_buffer(p, BufferKind::Intermediate, 16);
  const int whole = add_buffer(p, BufferKind::Intermediate, 0), sizes = add_buffer(p, BufferKind::Constant, 2, DType::Int32);
  add_call(p, {a, in});
  add_copies(p, whole, {a, add_buffer(p, BufferKind::Intermediate, 16)});
  const int b = p.calls[1].arguments[2].buffer;
  p.calls.insert(p.calls.begin() + 1, p.calls[0]);
  p.calls[1].arguments[0].buffer = b;
  p.calls[2].arguments.push_back({sizes, Access::Read});
  add_call(p, {add_buffer(p, BufferKind::Output, 8), whole});
  p.kernels.resize(1);
  MemoryPlan plan = plan_memory(p);
  leave_out_copies(p, plan);
  EXPECT_EQ(p.calls.size(), 3u);
}

TEST(Plan, VerifyFindsAPlantedOverlap) {
  Program p;
  const int in = add_buffer(p, BufferKind::Input, 10);
  const int a = add_buffer(p, BufferKind::Intermediate, 10);
  const int b = add_buffer(p, BufferKind::Intermediate, 10);
  const int out = add_buffer(p, BufferKind::Output, 10);
  add_call(p, {a, in});
  add_call(p, {b, a});
  add_call(p, {out, b});
  MemoryPlan plan = plan_memory(p);
  EXPECT_NO_THROW(verify(plan, p));
  plan.placements[static_cast<std::size_t>(b)].offset = plan.placements[static_cast<std::size_t>(a)].offset;
  test::expect_error<InternalError>([&] { verify(plan, p); }, "live buffers do not overlap");
}

// A chain of layers that run forwards and backwards in turn: outputs lie 8 bytes below their inputs, or 4 above them.
Program chain_of_layers(int layers) {
  Program p;
  const int in = add_buffer(p, BufferKind::Input, 100, DType::Int8);
  int last = in;
  p.inputs = {in};
  p.kernels.resize(3);
  for (int k = 0; k < 3; k++) p.kernels[static_cast<std::size_t>(k)].name = "k" + std::to_string(k);
  p.kernels[1].distances = {{0, 1, 8, 100}};
  p.kernels[2].distances = {{0, 1, 100, 4}};
  for (int i = 0; i <= layers; i++) {
    const int out = add_buffer(p, i == layers ? BufferKind::Output : BufferKind::Intermediate, 100, DType::Int8);
    add_call(p, {out, last});
    p.calls.back().kernel = i == 0 ? 0 : 1 + i % 2;
    last = out;
  }
  p.outputs = {last};
  return p;
}

TEST(Plan, OutputsLieAsCloseToInputsAsKernelsAllow) {
  const Program p = chain_of_layers(6);
  const MemoryPlan plan = plan_memory(p, {.align = 1});
  EXPECT_EQ(plan.arena_bytes, 108);
  EXPECT_EQ(plan.lower_bound_bytes, 108);
  EXPECT_TRUE(plan.is_smallest);
  EXPECT_EQ(plan_memory(p, {.align = 1, .overlap = false}).arena_bytes, 200);
  Program with_io = p;
  with_io.io_in_arena = true;
  const MemoryPlan whole = plan_memory(with_io, {.align = 1});
  EXPECT_GE(whole.placements[static_cast<std::size_t>(p.inputs[0])].offset, 0);
  EXPECT_EQ(whole.arena_bytes, 200);  // the first kernel allows nothing
}

// A result that is written in place of one input is no longer one that begins at this call: the other input may not lie over the first.
TEST(Plan, AnOutputInPlaceOfOneInputLiesApartFromTheOther) {
  Program p;
  const int a = add_buffer(p, BufferKind::Input, 100, DType::Int8), b = add_buffer(p, BufferKind::Input, 100, DType::Int8);
  const int out = add_buffer(p, BufferKind::Output, 100, DType::Int8);
  p.inputs = {a, b};
  p.outputs = {out};
  p.io_in_arena = true;
  p.kernels.resize(1);
  p.kernels[0].distances = {{0, 1, 0, 100}, {0, 2, 0, 100}};
  add_call(p, {out, a, b}, {false, true, false});
  const MemoryPlan plan = plan_memory(p, {.align = 1});
  EXPECT_EQ(plan.placements[static_cast<std::size_t>(out)].in_place_of, a);
  EXPECT_EQ(plan.arena_bytes, 200);
  p.calls[0].arguments[1].may_alias = 0;
  EXPECT_EQ(plan_memory(p, {.align = 1}).arena_bytes, 200);  // over one of them
}

TEST(Plan, VerifyFindsAnOutputThatIsTooClose) {
  const Program p = chain_of_layers(3);
  MemoryPlan plan = plan_memory(p, {.align = 1});
  EXPECT_NO_THROW(verify(plan, p));
  const auto out = static_cast<std::size_t>(p.calls[1].writes().front()), in = static_cast<std::size_t>(p.calls[1].reads().front());
  const std::int64_t apart = plan.placements[in].offset - plan.placements[out].offset;
  for (const std::int64_t closer : {apart > 0 ? apart - 7 : -3, std::int64_t{0}, std::int64_t{3}}) {
    MemoryPlan wrong = plan;
    wrong.placements[out].offset = std::max<std::int64_t>(plan.placements[in].offset - closer, 0);
    test::expect_error<InternalError>([&] { verify(wrong, p); }, "live buffers do not overlap");
  }
}

TEST(Plan, WhatIsNeededLaterOrIsReadTwiceIsNotOverwritten) {
  Program p = chain_of_layers(3);
  p.calls[2].arguments.push_back({p.calls[1].reads().front(), Access::Read});  // the input of the call before is needed once more
  const MemoryPlan kept = plan_memory(p, {.align = 1});
  verify(kept, p);
  const auto offset = [&](const MemoryPlan& plan, int b) { return plan.placements[static_cast<std::size_t>(b)].offset; };
  const int in = p.calls[1].reads().front(), out = p.calls[1].writes().front();
  EXPECT_GE(std::abs(offset(kept, in) - offset(kept, out)), 100);
  Program twice = chain_of_layers(3);
  twice.calls[1].arguments.push_back({twice.calls[1].reads().front(), Access::Read});  // by an argument that allows nothing
  const MemoryPlan plan = plan_memory(twice, {.align = 1});
  EXPECT_GE(std::abs(offset(plan, in) - offset(plan, out)), 100);
}

TEST(Plan, TextNamesEveryBufferWithItsLifetime) {
  Program p;
  const int in = add_buffer(p, BufferKind::Input, 10);
  const int a = add_buffer(p, BufferKind::Intermediate, 10);
  const int out = add_buffer(p, BufferKind::Output, 10);
  add_call(p, {a, in});
  add_call(p, {out, a});
  EXPECT_EQ(to_text(plan_memory(p), p),
            "arena 40 bytes, align 16, lower bound 40 (call 0)\n"
            "        0 ..        39  b1                       float32 [10]  calls 0-1\n");
}

}  // namespace
}  // namespace etch
