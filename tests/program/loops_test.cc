// Loops: random ones, in each other and side by side, on every backend against a few lines that compute the same in the order in which
// they are written; and what the schedule makes of single ones.
#include "program/loops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "device/device.h"
#include "lazy/graph.h"
#include "lazy/tensor.h"
#include "memory/plan.h"
#include "program/lower.h"
#include "schedule/schedule.h"
#include "support/backends.h"
#include "support/rounds.h"

namespace etch {
namespace {

constexpr std::int64_t kWidth = 3, kMostTurns = 5;
using Row = std::vector<std::int32_t>;  // kWidth values; arithmetic wraps around, so that all backends are exact

std::int32_t wrapped(std::int64_t value) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(value)); }

enum class Kind { Outer, Slice, Counter, Carried, Add, Sub, Mul, Max, Sum, Flip, Loop };

struct Expr;
using Exprs = std::vector<Expr>;

/// A row of kWidth numbers, computed from the input and from the loops around.
struct Expr {
  Kind kind{};
  int loop = 0, slot = 0;  // Slice, Counter, Carried: the loop around it, outermost 0; which carried value
  Exprs src = {};          // operands; of a Loop: first values, next values, what is listed
  int carried = 0;         // Loop
  bool of_variable = false;
  int count = 0;   // Loop: turns, if not of_variable
  int result = 0;  // Loop: which carried value; `carried`: the sum of the list; `carried` + 1: its first element
};

class RandomExprs {
 public:
  explicit RandomExprs(unsigned seed) : random_(seed) {}

  Expr next(int depth) {
    loops_.clear();
    return loop(depth);
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  Expr loop(int depth) {
    Expr e{.kind = Kind::Loop};
    e.carried = below(3);
    e.of_variable = below(3) == 0;
    e.count = below(4) + 1;
    for (int k = 0; k < e.carried; k++) e.src.push_back(expr(depth - 1));
    loops_.push_back(e.carried);
    for (int k = 0; k < e.carried; k++) e.src.push_back(expr(depth - 1));
    e.src.push_back(expr(depth - 1));
    loops_.pop_back();
    const bool has_first = !e.of_variable;  // else the list may be empty
    e.result = below(e.carried + (has_first ? 2 : 1));
    return e;
  }

  Expr leaf() {
    const int loops = static_cast<int>(loops_.size());
    const int kind = loops == 0 ? 0 : below(6);
    if (kind == 0) return {.kind = Kind::Outer};
    Expr e{.kind = kind == 1 ? Kind::Counter : kind <= 3 ? Kind::Slice : Kind::Carried, .loop = below(loops)};
    if (e.kind != Kind::Carried) return e;
    const int carried = loops_[static_cast<std::size_t>(e.loop)];
    if (carried == 0) return {.kind = Kind::Slice, .loop = e.loop};
    e.slot = below(carried);
    return e;
  }

  Expr expr(int depth) {
    const int kind = below(10);
    if (depth <= 0 || kind < 2) return leaf();
    if (kind == 9 || kind == 6) return loop(depth);
    if (kind == 7) return {.kind = Kind::Sum, .src = {expr(depth - 1)}};
    if (kind == 8) return {.kind = Kind::Flip, .src = {expr(depth - 1)}};
    constexpr Kind kBinary[] = {Kind::Add, Kind::Sub, Kind::Mul, Kind::Max};
    return {.kind = kBinary[kind - 2], .src = {expr(depth - 1), expr(depth - 1)}};
  }

  std::mt19937 random_;
  std::vector<int> loops_;  // around: how much each carries
};

/// The same by loops over numbers.
struct ByNumbers {
  std::vector<Row> x;
  Row outer;
  int variable = 0;
  std::vector<std::pair<int, std::vector<Row>>> loops = {};  // counter and carried values

  Row of(const Expr& e) {
    const auto& around = [&]() -> const std::pair<int, std::vector<Row>>& { return loops[static_cast<std::size_t>(e.loop)]; };
    switch (e.kind) {
      case Kind::Outer:
        return outer;
      case Kind::Slice:
        return x[static_cast<std::size_t>(around().first)];
      case Kind::Counter:
        return Row(kWidth, around().first);
      case Kind::Carried:
        return around().second[static_cast<std::size_t>(e.slot)];
      case Kind::Loop:
        return loop(e);
      default:
        break;
    }
    const Row a = of(e.src[0]), b = e.src.size() > 1 ? of(e.src[1]) : a;
    Row r(kWidth);
    for (std::size_t i = 0; i < kWidth; i++) {
      const std::int64_t p = a[i], q = b[i];
      r[i] = e.kind == Kind::Add   ? wrapped(p + q)
             : e.kind == Kind::Sub ? wrapped(p - q)
             : e.kind == Kind::Mul ? wrapped(p * q)
             : e.kind == Kind::Max ? std::max(a[i], b[i])
             : e.kind == Kind::Sum ? wrapped(std::int64_t{a[0]} + a[1] + a[2])
                                   : a[kWidth - 1 - i];
    }
    return r;
  }

  Row loop(const Expr& e) {
    const auto carried = static_cast<std::size_t>(e.carried);
    std::vector<Row> now;
    for (std::size_t k = 0; k < carried; k++) now.push_back(of(e.src[k]));
    Row sum(kWidth, 0), first;
    for (int turn = 0; turn < (e.of_variable ? variable : e.count); turn++) {
      loops.emplace_back(turn, now);
      for (std::size_t k = 0; k < carried; k++) now[k] = of(e.src[carried + k]);
      const Row listed = of(e.src.back());
      loops.pop_back();
      for (std::size_t i = 0; i < kWidth; i++) sum[i] = wrapped(std::int64_t{sum[i]} + listed[i]);
      if (turn == 0) first = listed;
    }
    return e.result < e.carried ? now[static_cast<std::size_t>(e.result)] : e.result == e.carried ? sum : first;
  }
};

/// The same by Tensors.
struct ByTensors {
  LazyGraph& graph;
  Tensor x, outer;
  Sint variable;
  std::vector<std::pair<Sint, std::vector<Tensor>>> loops = {};

  Tensor of(const Expr& e) {
    const auto& around = [&]() -> const std::pair<Sint, std::vector<Tensor>>& { return loops[static_cast<std::size_t>(e.loop)]; };
    switch (e.kind) {
      case Kind::Outer:
        return outer;
      case Kind::Slice:
        return x.at(0, around().first);
      case Kind::Counter:
        return Tensor::arange(graph, kMostTurns, DType::Int32).at(0, around().first).reshape({1}).expand({kWidth});
      case Kind::Carried:
        return around().second[static_cast<std::size_t>(e.slot)];
      case Kind::Add:
        return of(e.src[0]) + of(e.src[1]);
      case Kind::Sub:
        return of(e.src[0]) - of(e.src[1]);
      case Kind::Mul:
        return of(e.src[0]) * of(e.src[1]);
      case Kind::Max:
        return of(e.src[0]).maximum(of(e.src[1]));
      case Kind::Sum:
        return of(e.src[0]).sum({0}, true).expand({kWidth});
      case Kind::Flip:
        return of(e.src[0]).flip({0});
      case Kind::Loop:
        break;
    }
    const auto carried = static_cast<std::size_t>(e.carried);
    std::vector<Tensor> first;
    for (std::size_t k = 0; k < carried; k++) first.push_back(of(e.src[k]));
    const LoopResults results =
        Tensor::loop(graph, e.of_variable ? variable : Sint(e.count), first, [&](Sint turn, const std::vector<Tensor>& now) {
          loops.emplace_back(turn, now);
          LoopTurn made;
          for (std::size_t k = 0; k < carried; k++) made.carried.push_back(of(e.src[carried + k]));
          made.listed.push_back(of(e.src.back()));
          loops.pop_back();
          return made;
        });
    if (e.result < e.carried) return results.carried[static_cast<std::size_t>(e.result)];
    return e.result == e.carried ? results.listed[0].sum({0}, false) : results.listed[0].at(0, 0);
  }
};

struct Case {
  std::shared_ptr<LazyGraph> graph = LazyGraph::create();
  Expr expr;
  ByNumbers numbers;
  Tensor output;

  Case(unsigned seed, int depth) : expr(RandomExprs(seed).next(depth)) {
    std::mt19937 random(seed + 1);
    const auto row = [&] {
      Row r(kWidth);
      for (std::int32_t& v : r) v = static_cast<std::int32_t>(random() % 19) - 9;
      return r;
    };
    for (std::int64_t t = 0; t < kMostTurns; t++) numbers.x.push_back(row());
    numbers.outer = row();
    const Sint variable = graph->symbols().variable("n", 1, kMostTurns);
    ByTensors tensors{*graph, Tensor::input(*graph, "x", DType::Int32, {kMostTurns, kWidth}),
                      Tensor::input(*graph, "outer", DType::Int32, {kWidth}), variable};
    output = tensors.of(expr);
  }

  std::vector<Array> inputs(const Program& program) const {
    std::vector<Array> arrays;
    for (int b : program.inputs) {
      const bool is_x = program.buffers[static_cast<std::size_t>(b)].name == "x";
      std::vector<std::int64_t> values;
      if (is_x)
        for (const Row& r : numbers.x) values.insert(values.end(), r.begin(), r.end());
      else
        values.assign(numbers.outer.begin(), numbers.outer.end());
      arrays.push_back(
          Array::of_ints(DType::Int32, is_x ? std::vector<std::int64_t>{kMostTurns, kWidth} : std::vector<std::int64_t>{kWidth}, values));
    }
    return arrays;
  }
};

Program program_of(const Case& c, const Language* language) {
  const Schedule schedule = create_schedule(*c.graph, {{"y", c.output}});
  LowerOptions options;
  options.language = language;
  if (language != nullptr) options.codegen = test::options_for(*language);
  return reorder(lower(c.graph, schedule, options));
}

/// The most that loops are nested in a program.
std::size_t depth_of(const Program& program) {
  std::size_t most = 0;
  for (int c = 0; c < static_cast<int>(program.calls.size()); c++)
    most = std::max<std::size_t>(most, static_cast<std::size_t>(std::ranges::count_if(
                                           program.loops, [&](const ProgramLoop& l) { return l.first <= c && c < l.end; })));
  return most;
}

void expect_agreement(const std::string& name, int all) {
  const auto device = test::backend(name, true);
  if (!device) GTEST_SKIP() << device.why;
  const int cases = test::rounds(all);
  int loops = 0, nested = 0;
  for (int n = 0; n < cases; n++) {
    Case c(static_cast<unsigned>(1000 + n), 3 + n % 2);
    const Program program = program_of(c, device->language());
    loops += static_cast<int>(program.loops.size());
    nested += depth_of(program) > 1 ? 1 : 0;
    const auto loaded = device->load(program);
    for (int variable : {1, 2, static_cast<int>(kMostTurns)}) {
      VarValues vars;
      if (!program.variables.empty()) vars["n"] = variable;
      c.numbers.variable = variable;
      const Row want = c.numbers.of(c.expr);
      const std::vector<Array> got = loaded->run(c.inputs(program), vars);
      ASSERT_EQ(got.at(0).ints(), std::vector<std::int64_t>(want.begin(), want.end())) << "case " << n << ", n " << variable << "\n"
                                                                                       << to_text(program);
      if (program.variables.empty()) break;
    }
  }
  EXPECT_GT(loops, cases / 2);
  EXPECT_GT(nested, cases / 12);
}

TEST(Loops, InterpAgreesWithNumbers) { expect_agreement("interp", 400); }
TEST(Loops, CAgreesWithNumbers) { expect_agreement("c", 25); }
TEST(Loops, LlvmAgreesWithNumbers) { expect_agreement("llvm", 50); }
TEST(Loops, OpenClAgreesWithNumbers) { expect_agreement("opencl", 12); }
TEST(Loops, CudaAgreesWithNumbers) { expect_agreement("cuda", 10); }

// --- single loops

struct Net {
  std::shared_ptr<LazyGraph> graph = LazyGraph::create();
  Tensor x = Tensor::input(*graph, "x", DType::Float32, {6, 4});
  Tensor zero = Tensor::full(*graph, {4}, Scalar::of_double(DType::Float32, 0));

  Program lowered(const std::vector<Tensor>& outputs) const {
    std::vector<OutputSpec> specs;
    for (const Tensor& t : outputs) specs.push_back({"y" + std::to_string(specs.size()), t});
    return lower(graph, create_schedule(*graph, specs), {});
  }
};

TEST(Loops, AValueThatNobodyReadsLaterIsComputedInItsPlace) {
  Net net;
  const auto sums = Tensor::loop(*net.graph, 6, {net.zero},
                                 [&](Sint t, const std::vector<Tensor>& now) -> LoopTurn { return {{now[0] + net.x.at(0, t)}, {}}; });
  const Program program = net.lowered({sums.carried[0]});
  ASSERT_EQ(program.loops.size(), 1u);
  EXPECT_EQ(program.loops[0].end - program.loops[0].first, 1) << to_text(program);
  EXPECT_EQ(program.calls.size(), 3u) << "zeros, the sum, the output\n" << to_text(program);
}

TEST(Loops, AValueThatIsReadLaterIsCopied) {
  Net net;
  const auto results = Tensor::loop(*net.graph, 6, {net.zero, net.zero}, [&](Sint t, const std::vector<Tensor>& now) -> LoopTurn {
    return {{now[1] + net.x.at(0, t), now[0] * 2.0}, {}};  // each needs what the other was before
  });
  const Program program = net.lowered({results.carried[0], results.carried[1]});
  ASSERT_EQ(program.loops.size(), 1u);
  EXPECT_EQ(program.loops[0].end - program.loops[0].first, 3) << "two values, one of them copied\n" << to_text(program);
}

TEST(Loops, WhatDoesNotDependOnTheTurnIsComputedOnce) {
  Net net;
  const Tensor mean = net.x.mean({0}, false);
  const auto sums = Tensor::loop(*net.graph, 6, {net.zero}, [&](Sint t, const std::vector<Tensor>& now) -> LoopTurn {
    return {{now[0] + (net.x.at(0, t) - mean).exp()}, {}};
  });
  const Program program = net.lowered({sums.carried[0]});
  ASSERT_EQ(program.loops.size(), 1u);
  for (int c = program.loops[0].first; c < program.loops[0].end; c++)
    for (const LazyOp* op : toposort(program.kernels[static_cast<std::size_t>(program.calls[static_cast<std::size_t>(c)].kernel)].ast))
      EXPECT_FALSE(is_reduce(op->op)) << "the mean is in the loop\n" << to_text(program);
}

TEST(Loops, AListThatNobodyReadsIsNotComputed) {
  Net net;
  const auto results = Tensor::loop(*net.graph, 6, {net.zero}, [&](Sint t, const std::vector<Tensor>& now) -> LoopTurn {
    const Tensor next = now[0] + net.x.at(0, t);
    return {{next}, {next.exp(), next}};
  });
  const Program program = net.lowered({results.listed[1]});
  for (const ProgramKernel& kernel : program.kernels)
    for (const LazyOp* op : toposort(kernel.ast)) EXPECT_NE(op->op, Op::Exp) << to_text(program);
}

TEST(Loops, OneTurnIsNoLoop) {
  Net net;
  const auto results = Tensor::loop(
      *net.graph, 1, {net.zero}, [&](Sint t, const std::vector<Tensor>& now) -> LoopTurn { return {{now[0] + net.x.at(0, t)}, {now[0]}}; });
  EXPECT_TRUE(net.lowered({results.carried[0]}).loops.empty());
}

TEST(Loops, KernelsAndCallsDoNotGrowWithTheTurns) {
  const auto made = [](std::int64_t turns) {
    auto graph = LazyGraph::create();
    const Tensor x = Tensor::input(*graph, "x", DType::Float32, {turns, 4});
    const auto results = Tensor::loop(*graph, turns, {Tensor::full(*graph, {4}, Scalar::of_double(DType::Float32, 0))},
                                      [&](Sint t, const std::vector<Tensor>& now) -> LoopTurn {
                                        const Tensor next = (now[0] * 0.5 + x.at(0, t)).tanh();
                                        return {{next}, {next}};
                                      });
    return lower(graph, create_schedule(*graph, {{"y", results.listed[0]}}), {});
  };
  const Program few = made(10), many = made(4096);
  EXPECT_EQ(few.kernels.size(), many.kernels.size());
  EXPECT_EQ(few.calls.size(), many.calls.size());
  EXPECT_EQ(plan_memory(few).arena_bytes, plan_memory(many).arena_bytes);
}

/// Two loops in each other: what the inner one carries is the outer one's, and what it lists is listed by the outer one.
struct Nested {
  bool is_read = false;       // by the outer loop, what comes into a turn
  bool is_changed = false;    // by the outer loop, before the inner one
  bool is_corrected = false;  // after it
  bool list_is_read = false;  // by the outer loop, too
  bool is_flipped = false;    // the list, before it is listed
  bool is_double = false;     // a second inner loop carries a third value

  static constexpr std::int64_t kOuter = 3, kInner = 4;

  // Three starts, as many calls in each turn, and outputs; what the outer loop reads or changes is computed, and copied where it must stay.
  std::size_t calls() const {
    std::size_t n = 9;
    if (is_read) n += list_is_read ? 1 : 3;
    if (is_changed || is_corrected) n += 2;
    if (list_is_read) n += 3;
    if (is_flipped && !list_is_read) n += 1;
    return n;
  }

  std::vector<Tensor> outputs(LazyGraph& graph, const Tensor& x) const {  // x [12, 4]
    const Tensor zero = Tensor::full(graph, {4}, Scalar::of_double(DType::Float32, 0));
    const LoopResults all =
        Tensor::loop(graph, kOuter, {zero, zero, zero}, [&](const Sint& turn, const std::vector<Tensor>& now) -> LoopTurn {
          const std::vector<Tensor> first{is_changed ? now[0] * 2.0 : now[0], now[1]};
          LoopResults inner = Tensor::loop(graph, kInner, first, [&](const Sint& t, const std::vector<Tensor>& state) -> LoopTurn {
            const Tensor a = state[0] * 0.5 + x.at(0, turn * kInner + t), b = state[1] + a.flip({0});
            return {{a, b}, {a + b}};
          });
          if (is_read) inner.carried[1] = inner.carried[1] + now[1].flip({0});
          if (is_corrected) inner.carried[0] = inner.carried[0] + 1.0;
          if (list_is_read) inner.carried[1] = inner.carried[1] + inner.listed[0].sum({0}, false);
          const auto third = [&](const Sint& t, const std::vector<Tensor>& state) -> LoopTurn {
            return {{state[0] * 0.5 + x.at(0, t)}, {}};
          };
          inner.carried.push_back(is_double ? Tensor::loop(graph, kInner, {now[2]}, third).carried[0] : now[2] + 1.0);
          return {inner.carried, {is_flipped ? inner.listed[0].flip({0}) : inner.listed[0]}};
        });
    return {all.listed[0], all.carried[0], all.carried[1], all.carried[2]};
  }

  std::vector<std::vector<double>> numbers(const std::vector<double>& x) const {
    std::vector<double> listed, a(4), b(4), c(4);
    for (std::size_t turn = 0; turn < kOuter; turn++) {
      const std::vector<double> before = b;
      std::vector<std::vector<double>> rows;
      for (double& v : a) v *= is_changed ? 2 : 1;
      for (std::size_t t = 0; t < kInner; t++) {
        for (std::size_t i = 0; i < 4; i++) a[i] = a[i] * 0.5 + x[(turn * kInner + t) * 4 + i];
        rows.emplace_back();
        for (std::size_t i = 0; i < 4; i++) rows.back().push_back(a[i] + (b[i] += a[3 - i]));
      }
      for (std::size_t i = 0; i < 4; i++) {
        if (is_read) b[i] += before[3 - i];
        if (is_corrected) a[i] += 1;
        for (const std::vector<double>& row : rows) b[i] += list_is_read ? row[i] : 0;
        for (std::size_t t = 0; t < kInner && is_double; t++) c[i] = c[i] * 0.5 + x[t * 4 + i];
        if (!is_double) c[i] += 1;
      }
      if (is_flipped) std::ranges::reverse(rows);
      for (const std::vector<double>& row : rows) listed.insert(listed.end(), row.begin(), row.end());
    }
    return {listed, a, b, c};
  }
};

// No copy where the inner loop takes over what the outer one carries and lists, and the same numbers where it can't.
TEST(Loops, InEachOtherShareTheirMemory) {
  std::vector<double> x;
  for (int i = 0; i < 48; i++) x.push_back(((i * 7) % 11) * 0.25 - 1);
  const Array given = Array::of_doubles(DType::Float32, {12, 4}, x);
  for (int which = 0; which < 64; which++) {
    const auto has = [&](int bit) { return (which >> bit & 1) != 0; };
    const Nested nested{has(0), has(1), has(2), has(3), has(4), has(5)};
    for (const char* name : {"interp", "c", "llvm"}) {
      const auto device = test::backend(name, true);
      if (!device || (std::string_view(name) == "c" && which % 5 != 0)) continue;  // compiling takes its time
      auto graph = LazyGraph::create();
      const std::vector<Tensor> made = nested.outputs(*graph, Tensor::input(*graph, "x", DType::Float32, {12, 4}));
      LowerOptions options;
      options.language = device->language();
      if (options.language != nullptr) options.codegen = test::options_for(*options.language);
      const Program program =
          reorder(lower(graph, create_schedule(*graph, {{"list", made[0]}, {"a", made[1]}, {"b", made[2]}, {"c", made[3]}}), options));
      ASSERT_EQ(program.loops.size(), nested.is_double ? 3u : 2u);
      EXPECT_EQ(program.calls.size(), nested.calls()) << which << "\n" << to_text(program);
      const std::vector<Array> got = device->load(program)->run({given}, {});
      const std::vector<std::vector<double>> wanted = nested.numbers(x);
      for (std::size_t o = 0; o < wanted.size(); o++) EXPECT_EQ(got.at(o).doubles(), wanted[o]) << name << " " << which << " output " << o;
    }
  }
}

// What a loop starts with takes no memory before the loop begins.
TEST(Loops, StartsAreMadeJustBeforeTheirLoop) {
  const auto arena = [](int loops) {
    auto graph = LazyGraph::create();
    Tensor x = Tensor::input(*graph, "x", DType::Float32, {6, 64});
    const Tensor zero = Tensor::full(*graph, {64}, Scalar::of_double(DType::Float32, 0));
    for (int k = 0; k < loops; k++)
      x = Tensor::loop(*graph, 6, {zero}, [&](Sint t, const std::vector<Tensor>& now) -> LoopTurn {
            const Tensor next = (now[0].flip({0}) * 0.5 + x.at(0, t)).tanh();
            return {{next}, {next}};
          }).listed[0];
    return plan_memory(reorder(lower(graph, create_schedule(*graph, {{"y", x}}), {}))).arena_bytes;
  };
  EXPECT_EQ(arena(9), arena(4));
}

TEST(Loops, MistakesAreShapeErrors) {
  Net net;
  const auto text = [&](const std::function<LoopTurn(Sint, const std::vector<Tensor>&)>& body) -> std::string {
    try {
      Tensor::loop(*net.graph, 6, {net.zero}, body);
    } catch (const ShapeError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(text([&](Sint, const auto&) -> LoopTurn { return {}; }), "loop: 0 values are carried on, 1 came in");
  EXPECT_EQ(text([&](Sint, const auto&) -> LoopTurn { return {{net.x}, {}}; }),
            "loop: carried value 0 becomes float32 [6,4], it was float32 [4]");
  EXPECT_EQ(text([&](Sint t, const auto& now) -> LoopTurn { return {{now[0] + net.x.at(0, t + 1)}, {}}; }),
            "at: position (1+step3) of axis 0 of [6,4]");
}

}  // namespace
}  // namespace etch
