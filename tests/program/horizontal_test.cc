// Two products of a loop as one kernel: random loops against the same in a few lines, and which products become one.
#include "schedule/horizontal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "lazy/tensor.h"
#include "memory/plan.h"
#include "program/lower.h"
#include "program/program.h"
#include "schedule/schedule.h"
#include "support/backends.h"
#include "support/rounds.h"

namespace etch::horizontal_test {
namespace {

using Doubles = std::vector<double>;

/// In each turn: z = state * recurrent + start[turn], and the products of the rows of the next turn and of weights of this one.
struct Sizes {
  std::int64_t turns = 3, units = 64, outputs = 192;  // of the state and z
  std::int64_t rows = 4, length = 32, others = 48;    // of the other products
  bool has_bias = false;
};

struct Numbers {
  Doubles state, start, recurrent, rows, weights, bias;
};

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Whole numbers, so that sums are exact in any order.
Numbers numbers_of(const Sizes& s, std::mt19937& rng) {
  const auto some = [&](std::int64_t n) {
    Doubles values;
    for (std::int64_t i = 0; i < n; i++) values.push_back(std::uniform_int_distribution<int>(-3, 3)(rng));
    return values;
  };
  return {some(s.units),
          some(s.turns * s.outputs),
          some(s.units * s.outputs),
          some(s.turns * s.rows * s.length),
          some(s.turns * s.length * s.others),
          some(s.others)};
}

struct Results {
  Doubles z, products;
};

Results by_loops(const Sizes& s, const Numbers& n) {
  Results r;
  Doubles state = n.state;
  for (std::int64_t t = 0; t < s.turns; t++) {
    Doubles z;
    for (std::int64_t o = 0; o < s.outputs; o++) {
      double sum = n.start[at(t * s.outputs + o)];
      for (std::int64_t k = 0; k < s.units; k++) sum += state[at(k)] * n.recurrent[at(k * s.outputs + o)];
      z.push_back(sum);
    }
    for (std::int64_t k = 0; k < s.units; k++) state[at(k)] = std::clamp(z[at(k)], -2.0, 2.0);
    r.z.insert(r.z.end(), z.begin(), z.end());
    const std::int64_t next = (t + 1) % s.turns;
    for (std::int64_t m = 0; m < s.rows; m++)
      for (std::int64_t o = 0; o < s.others; o++) {
        double sum = s.has_bias ? n.bias[at(o)] : 0;
        for (std::int64_t k = 0; k < s.length; k++)
          sum += n.rows[at((next * s.rows + m) * s.length + k)] * n.weights[at((t * s.length + k) * s.others + o)];
        r.products.push_back(sum);
      }
  }
  return r;
}

/// The same as a graph.
struct Net {
  std::shared_ptr<LazyGraph> graph = LazyGraph::create();
  Tensor z, products;

  Net(const Sizes& s, const Numbers& n) {
    const auto constant = [&](Shape shape, const Doubles& values, const char* name) {
      std::vector<std::int64_t> sizes;
      for (const Sint& d : shape) sizes.push_back(d.as_int());
      return Tensor::constant(*graph, Array::of_doubles(DType::Float32, sizes, values), name);
    };
    const Tensor first = Tensor::input(*graph, "state", DType::Float32, {1, s.units});
    const Tensor start = Tensor::input(*graph, "start", DType::Float32, {s.turns, 1, s.outputs});
    const Tensor rows = Tensor::input(*graph, "rows", DType::Float32, {s.turns, s.rows, s.length});
    const Tensor recurrent = constant({s.units, s.outputs}, n.recurrent, "recurrent");
    const Tensor weights = constant({s.turns, s.length, s.others}, n.weights, "weights"), bias = constant({s.others}, n.bias, "bias");
    const auto turn = [&](const Sint& t, const std::vector<Tensor>& now) -> LoopTurn {
      const Tensor sum = now[0].matmul(recurrent) + start.at(0, t);
      const Tensor product = rows.at(0, floormod(t + 1, s.turns)).matmul(weights.at(0, t));
      return {{sum.slice(1, 0, s.units).clip(-2, 2)}, {sum, s.has_bias ? product + bias : product}};
    };
    const LoopResults results = Tensor::loop(*graph, s.turns, {first}, turn);
    z = results.listed[0], products = results.listed[1];
  }

  Program lowered(const Language* language, const CodegenOptions& codegen, bool fuses = true) const {
    ScheduleOptions how;
    how.fuses_horizontally = fuses;
    LowerOptions options;
    options.language = language;
    options.codegen = codegen;
    return reorder(lower(graph, create_schedule(*graph, {{"z", z}, {"products", products}}, how), options));
  }
};

int fused_in(const Program& program) {
  return static_cast<int>(
      std::ranges::count_if(program.kernels, [](const ProgramKernel& k) { return k.ast != nullptr && second_tree(k.ast) != nullptr; }));
}

CodegenOptions options_of(const Language& language, int lanes) {
  CodegenOptions options = test::options_for(language);
  options.vector_bits = 32 * lanes;
  options.float_registers = 32;
  options.cache_bytes = 1 << 20;
  return options;
}

void expect_right(const Device& device, const Program& program, const Sizes& s, const Numbers& n) {
  const std::map<std::string, Array> inputs{{"state", Array::of_doubles(DType::Float32, {1, s.units}, n.state)},
                                            {"start", Array::of_doubles(DType::Float32, {s.turns, 1, s.outputs}, n.start)},
                                            {"rows", Array::of_doubles(DType::Float32, {s.turns, s.rows, s.length}, n.rows)}};
  std::vector<Array> given;
  for (const int b : program.inputs) given.push_back(inputs.at(program.buffers[at(b)].name));
  RunOptions run;
  run.tap = [&](int call, int output, const Array& written) {
    const ProgramKernel& k = program.kernels[at(program.calls[at(call)].kernel)];
    ASSERT_EQ(Sint(written.size()), product(stores_of(k.ast).at(at(output))->shape)) << call << "\n" << to_text(program);
  };
  const std::vector<Array> got = device.load(program)->run(given, {}, run);
  const Results wanted = by_loops(s, n);
  ASSERT_EQ(got.at(0).doubles(), wanted.z) << to_text(program);
  ASSERT_EQ(got.at(1).doubles(), wanted.products) << to_text(program);
}

void compare(const std::string& name, const Language* language, int lanes, unsigned seed, int all) {
  const auto device = test::backend(name, true);
  if (!device) GTEST_SKIP() << device.why;
  std::mt19937 rng(seed);
  const auto pick = [&](std::vector<std::int64_t> from) {
    return from[std::uniform_int_distribution<std::size_t>(0, from.size() - 1)(rng)];
  };
  int fused = 0, zigzags = 0;
  for (int i = 0; i < test::rounds(all); i++) {
    const Sizes s{pick({2, 3, 5}),        pick({64, 72, 96}), pick({128, 144, 192}), pick({2, 3, 4}), pick({24, 32, 48, 64, 128}),
                  pick({16, 24, 48, 64}), pick({0, 1}) == 1};
    const Numbers numbers = numbers_of(s, rng);
    const Program program = Net(s, numbers).lowered(language, language == nullptr ? CodegenOptions() : options_of(*language, lanes));
    fused += fused_in(program);
    for (const ProgramKernel& k : program.kernels) zigzags += second_tree(k.ast) != nullptr && k.opts.find("ZIGZAG") != std::string::npos;
    expect_right(*device, program, s, numbers);
  }
  EXPECT_GT(fused, test::rounds(all) / 3);
  if (lanes > 1) EXPECT_GT(zigzags, test::rounds(all) / 8);
}

TEST(Horizontal, InterpAgreesWithLoops) { compare("interp", nullptr, 1, 1, 30); }
TEST(Horizontal, CAgreesWithLoops) { compare("c", &kC, 1, 2, 20); }
TEST(Horizontal, VectorsAgreeWithLoops) { compare("c", &kC, 8, 3, 30); }
TEST(Horizontal, LlvmVectorsAgreeWithLoops) { compare("llvm", &kLlvm, 4, 4, 40); }

// --- which products become one kernel

int fused_of(const std::function<void(Sizes&)>& change, bool fuses = true) {
  Sizes s{.turns = 4, .units = 128, .outputs = 256};
  change(s);
  std::mt19937 rng(5);
  return fused_in(Net(s, numbers_of(s, rng)).lowered(nullptr, {}, fuses));
}

TEST(Horizontal, AProductThatWaitsAndOneThatMultipliesBecomeOne) {
  EXPECT_EQ(fused_of([](Sizes&) {}), 1);
  EXPECT_EQ(fused_of([](Sizes&) {}, false), 0) << "kernels are not to have two";
  EXPECT_EQ(fused_of([](Sizes& s) { s.has_bias = true; }), 1);
  EXPECT_EQ(fused_of([](Sizes& s) { s.units = 16; }), 0) << "16 KB of weights are in the first cache";
  EXPECT_EQ(fused_of([](Sizes& s) { s.rows = 1; }), 0) << "one row multiplies each weight once: it waits, too";
}

Program lowered(const std::shared_ptr<LazyGraph>& graph, const std::vector<Tensor>& outputs) {
  ScheduleOptions how;
  how.fuses_horizontally = true;
  std::vector<OutputSpec> specs;
  for (const Tensor& t : outputs) specs.push_back({"y" + std::to_string(specs.size()), t});
  return lower(graph, create_schedule(*graph, specs, how), {});
}

struct Weights {
  std::shared_ptr<LazyGraph> graph = LazyGraph::create();
  Tensor state = Tensor::input(*graph, "state", DType::Float32, {1, 128}), rows = Tensor::input(*graph, "rows", DType::Float32, {4, 128});
  Tensor images = Tensor::input(*graph, "images", DType::Float32, {3, 4, 128});
  Tensor large = constant({128, 128}, "large"), small = constant({128, 32}, "small");

  Tensor constant(std::vector<std::int64_t> shape, const char* name) const {
    return Tensor::constant(*graph, Array::of_doubles(DType::Float32, shape, Doubles(at(shape[0] * shape[1]), 0.5)), name);
  }
};

TEST(Horizontal, ProductsThatNeedEachOtherStayApart) {
  const auto fused = [](bool needs_state) {
    const Weights w;
    const auto turn = [&](const Sint& t, const std::vector<Tensor>& now) -> LoopTurn {
      const Tensor next = now[0].matmul(w.large).clip(-1, 1), rows = w.images.at(0, t);
      return {{next}, {(needs_state ? (rows + next).contiguous() : rows).matmul(w.small)}};
    };
    const LoopResults results = Tensor::loop(*w.graph, 3, {w.state}, turn);
    return fused_in(lowered(w.graph, {results.carried[0], results.listed[0]}));
  };
  EXPECT_EQ(fused(true), 0);
  EXPECT_EQ(fused(false), 1);
}

// The first product may be computed before the loop between them, the second behind it.
TEST(Horizontal, ProductsAroundALoopStayApart) {
  const Weights w;
  const auto turn = [&](const Sint& t, const std::vector<Tensor>& now) -> LoopTurn {
    const Tensor next = now[0].matmul(w.large).clip(-1, 1);
    const auto inner = [&](const Sint& step, const std::vector<Tensor>& rows) -> LoopTurn {
      return {{rows[0] + Tensor::arange(*w.graph, 5, DType::Float32).at(0, step)}, {}};
    };
    const Tensor rows = Tensor::loop(*w.graph, 5, {w.images.at(0, t)}, inner).carried[0];
    return {{next}, {rows.matmul(w.small)}};
  };
  const LoopResults results = Tensor::loop(*w.graph, 3, {w.state}, turn);
  const Program program = lowered(w.graph, {results.listed[0], results.carried[0]});
  EXPECT_EQ(program.loops.size(), 2u) << to_text(program);
  EXPECT_EQ(fused_in(program), 0) << to_text(program);
}

TEST(Horizontal, ProductsOutsideOfLoopsStayApart) {
  const Weights w;
  const auto turn = [&](const Sint& t, const std::vector<Tensor>& now) -> LoopTurn { return {{now[0] + w.images.at(0, t)}, {}}; };
  const Tensor sum = Tensor::loop(*w.graph, 3, {w.rows}, turn).carried[0];
  const Program program = lowered(w.graph, {w.state.matmul(w.large), w.rows.matmul(w.small), sum});
  EXPECT_EQ(program.loops.size(), 1u);
  EXPECT_EQ(fused_in(program), 0);
}

// The loop reads what the product was in the turn before.
TEST(Horizontal, ProductsThatTheLoopReadsStayApart) {
  const Weights w;
  const Tensor zero = Tensor::full(*w.graph, {4, 32}, Scalar::of_double(DType::Float32, 0));
  const auto turn = [&](const Sint& t, const std::vector<Tensor>& now) -> LoopTurn {
    return {{now[0].matmul(w.large).clip(-1, 1), w.images.at(0, t).matmul(w.small)}, {now[1] * 2.0}};
  };
  const LoopResults results = Tensor::loop(*w.graph, 3, {w.state, zero}, turn);
  EXPECT_EQ(fused_in(lowered(w.graph, {results.carried[0], results.listed[0]})), 0);
}

}  // namespace
}  // namespace etch::horizontal_test
