// The functions of codegen/math.h as the targets' compilers and processors compute them, in the emulator: one number after the other and,
// where a target has vectors, as those. For this machine see codegen/math_slow_test.cc. And comparisons, which compilers get wrong too.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "base/files.h"
#include "base/tempdir.h"
#include "codegen/math_functions.h"
#include "emit/emit.h"
#include "emit/write.h"
#include "emulator/cross_build.h"
#include "emulator/emulator.h"
#include "memory/plan.h"
#include "program/lower.h"
#include "support/boards.h"
#include "support/math_places.h"

namespace etch::math_targets_slow_test {
namespace {

constexpr std::size_t kNumbers = 4096, kPairs = 8192;

using Exact = std::function<double(double x, double y)>;

/// What is made of x and y in place of one operation: numbers of the operands' shape by `number`.
struct Nodes {
  LazyOps& ops;
  const LazyOp *x, *y;
  ShapeTracker st;

  const LazyOp* number(double value) const {
    return ops.constant(Scalar::of_double(DType::Float32, value), ShapeTracker::from_shape({1}).expand(st.shape()));
  }
  const LazyOp* choice(Op op, const LazyOp* a, const LazyOp* b) const {
    return ops.elementwise(Op::Where, {ops.elementwise(op, {a, b}), number(2), number(3)});
  }
};
using Build = const LazyOp* (*)(const Nodes& n);

/// A kernel of one of the functions.
struct Case {
  std::string function;
  bool in_vectors;
  double limit;  // ulp
  double most;   // of larger arguments the value is open
  Exact exact;
  bool is_of_pairs = false;
  Op op = Op::Where;
  Build build = nullptr;  // instead of `op`

  std::size_t count() const { return is_of_pairs ? kPairs : kNumbers; }
  std::string name() const { return fmt::format("{}_{}", function, in_vectors ? "vectors" : "numbers"); }
};

/// Comparisons with numbers and of two values. NaN is the result where a Max or Min has it as an operand; else no comparison with it holds.
struct Comparison {
  const char* name;
  Build build;
  Exact exact;
  bool is_of_pairs = false;
};
const Comparison kComparisons[] = {
    {"relu", [](const Nodes& n) { return n.ops.elementwise(Op::Max, {n.x, n.number(0)}); }, [](double x, double) { return x < 0 ? 0 : x; }},
    {"below", [](const Nodes& n) { return n.choice(Op::CmpLt, n.x, n.number(1)); }, [](double x, double) { return x < 1 ? 2 : 3; }},
    {"above", [](const Nodes& n) { return n.choice(Op::CmpLt, n.number(1), n.x); }, [](double x, double) { return 1 < x ? 2 : 3; }},
    {"negative", [](const Nodes& n) { return n.choice(Op::CmpLt, n.x, n.number(0)); }, [](double x, double) { return x < 0 ? 2 : 3; }},
    {"is_nan", [](const Nodes& n) { return n.choice(Op::CmpNe, n.x, n.x); }, [](double x, double) { return std::isnan(x) ? 2 : 3; }},
    {"is_number", [](const Nodes& n) { return n.choice(Op::CmpEq, n.x, n.x); }, [](double x, double) { return std::isnan(x) ? 3 : 2; }},
    {"less", [](const Nodes& n) { return n.choice(Op::CmpLt, n.x, n.y); }, [](double x, double y) { return x < y ? 2 : 3; }, true},
    {"larger", [](const Nodes& n) { return n.ops.elementwise(Op::Max, {n.x, n.y}); },
     [](double x, double y) { return x < y || std::isnan(y) ? y : x; }, true},
    {"smaller", [](const Nodes& n) { return n.ops.elementwise(Op::Min, {n.x, n.y}); },
     [](double x, double y) { return y < x || std::isnan(y) ? y : x; }, true},
};

std::vector<Case> cases_of(const Target& target) {
  std::vector<Case> cases;
  for (const bool in_vectors : {false, true}) {
    if (in_vectors && !target.vector.extensions) continue;
    for (const test::ExactFunction& f : test::exact_functions())
      cases.push_back(
          {std::string(name_of(f.op)), in_vectors, f.limit, f.most, [&f](double x, double) { return f.value(x); }, false, f.op});
    for (const test::ExactPairFunction& f : test::exact_pair_functions())
      cases.push_back({std::string(name_of(f.op)), in_vectors, f.limit, INFINITY, f.value, true, f.op});
    for (const Comparison& c : kComparisons) cases.push_back({c.name, in_vectors, 0, INFINITY, c.exact, c.is_of_pairs, Op::Where, c.build});
  }
  return cases;
}

/// Those of functions of one number, and of two.
struct Arguments {
  std::vector<float> x;
  test::Pairs pairs;
};

/// Special ones, and any patterns of bits.
Arguments arguments() {
  Arguments made{test::around_math_places(24), {}};
  made.x.push_back(NAN);
  for (std::uint64_t k = 1; made.x.size() < kNumbers; k++) made.x.push_back(test::float_of_bits(k * 0x9e3779b97f4a7c15 >> 32));
  const std::vector<float> operands = test::operands_of_powers();
  made.pairs = test::random_pairs(0, kPairs - operands.size() * operands.size());
  for (const float x : operands)
    for (const float y : operands) {
      made.pairs.x.push_back(x);
      made.pairs.y.push_back(y);
    }
  return made;
}

/// All functions are computed by their steps, also those that the target leaves to its C library.
ProgramKernel kernel_of(LazyOps& ops, const Case& c, const Target& target) {
  const auto count = static_cast<std::int64_t>(c.count());
  const ShapeTracker st = ShapeTracker::from_shape({count});
  std::vector<const LazyOp*> operands{ops.load(1, DType::Float32, st)};
  KernelSignature signature{c.name(), {{DType::Float32, count, "out", Access::Write}, {DType::Float32, count, "x", Access::Read}}, {}};
  if (c.is_of_pairs) {
    operands.push_back(ops.load(2, DType::Float32, st));
    signature.arguments.push_back({DType::Float32, count, "y", Access::Read});
  }
  CodegenOptions options = codegen_options(target, kC);
  options.library_math = {};
  if (!c.in_vectors) options.vector_bits = 0;
  const LazyOp* value =
      c.build != nullptr ? c.build({ops, operands.front(), operands.back(), st}) : ops.elementwise(c.op, std::move(operands));
  ProgramKernel kernel = generate_kernel(ops.store(0, value, st), std::move(signature), kC, options);
  EXPECT_EQ(kernel.text.uses_vectors, c.in_vectors) << c.name();
  return kernel;
}

/// A call and an output for each case. The inputs are all numbers, and the first and second ones of all pairs.
Program program_of(LazyOps& ops, const std::vector<Case>& cases, const Target& target) {
  Program program;
  program.language = &kC;
  const auto add_buffer = [&](const std::string& name, BufferKind kind, std::size_t size) {
    const auto count = static_cast<std::int64_t>(size);
    program.buffers.push_back({name, kind, DType::Float32, {count}, count, {}});
    return static_cast<int>(program.buffers.size()) - 1;
  };
  const int x = add_buffer("x", BufferKind::Input, kNumbers), first = add_buffer("first", BufferKind::Input, kPairs),
            second = add_buffer("second", BufferKind::Input, kPairs);
  program.inputs = {x, first, second};
  for (const Case& c : cases) {
    const int out = add_buffer("of_" + c.name(), BufferKind::Output, c.count());
    program.outputs.push_back(out);
    ProgramCall call;
    call.kernel = static_cast<int>(program.kernels.size());
    call.arguments = {{out, Access::Write}, {c.is_of_pairs ? first : x, Access::Read}};
    if (c.is_of_pairs) call.arguments.push_back({second, Access::Read});
    program.kernels.push_back(kernel_of(ops, c, target));
    program.calls.push_back(std::move(call));
  }
  return program;
}

/// Reads the inputs from a file and writes the outputs to one, which is the quickest way into and out of an emulated board.
std::string main_text(const std::vector<Case>& cases) {
  std::string outputs;
  std::size_t count = 0;
  for (const Case& c : cases) {
    outputs += fmt::format(", out + {}", count);
    count += c.count();
  }
  return fmt::format(R"(#include <stdio.h>
#include "functions.h"
ETCH_ALIGNED(FUNCTIONS_ARENA_ALIGN) static unsigned char arena[FUNCTIONS_ARENA_BYTES + 1u];
ETCH_ALIGNED(FUNCTIONS_ARENA_ALIGN) static float in[{0} + 2 * {1}], out[{2}];
int main(void) {{
  FILE *file = fopen("arguments", "rb");
  if (file == NULL || fread(in, 1, sizeof in, file) != sizeof in) return 1;
  if (functions_run(arena, FUNCTIONS_ARENA_BYTES, in, in + {0}, in + {0} + {1}{3}) != ETCH_OK) return 2;
  file = fopen("results", "wb");
  return file != NULL && fwrite(out, 1, sizeof out, file) == sizeof out && fclose(file) == 0 ? 0 : 3;
}}
)",
                     kNumbers, kPairs, count, outputs);
}

/// What the program for the target computes, one case after the other; empty if it fails.
std::vector<float> results_on(const Target& target, const std::vector<Case>& cases, const Arguments& arguments) {
  LazyOps ops;
  const Program program = program_of(ops, cases, target);
  EmitOptions emitting;
  emitting.name = "functions";
  emitting.target_name = target.name;
  emitting.build = emit_build(target);
  const TempDir work("etch-functions");
  write_into(work.path() / "project", emit(program, plan_memory(program, {.align = target.arena_align}), emitting));
  write_file(work.path() / "project" / "main.c", main_text(cases));
  std::string bytes;
  for (const std::vector<float>* input : {&arguments.x, &arguments.pairs.x, &arguments.pairs.y})
    bytes.append(reinterpret_cast<const char*>(input->data()), input->size() * sizeof(float));
  write_file(work.path() / "arguments", bytes);
  const CrossBuild build = build_project(work.path() / "project", target, work.path() / "build");
  const EmulatorResult run = run_emulated(target, build.elf, {.functions = {}, .cwd = work.path(), .timeout_s = 120});
  EXPECT_TRUE(run.ok()) << run.console << "exit status " << run.exit_code;
  if (!run.ok()) return {};
  const std::string made = read_file(work.path() / "results");
  std::vector<float> results(made.size() / sizeof(float));
  std::memcpy(results.data(), made.data(), results.size() * sizeof(float));
  return results;
}

/// Whether the processor takes subnormal numbers for 0 in the kernel, as operands and as results: NEON of Armv7 and Helium always do.
/// Of loops that compare numbers clang makes vectors for NEON.
bool takes_subnormals_for_0(const Target& target, const Case& c) {
  return (target.name == "cortex-m55" && c.in_vectors) || (target.name == "cortex-a7" && (c.in_vectors || c.build != nullptr));
}

double flushed(double x) { return std::fabs(x) < 0x1p-126 ? std::copysign(0.0, x) : x; }

/// What may be computed instead of the exact value where subnormal numbers are taken for 0: the value of such operands, 0 for such a value,
/// and where one comes up on the way: in expm1 half of the value, in gelu x / 2.34375, without which x itself stays, or -0. A comparison
/// gives one of its operands as it is.
std::vector<double> flushed_values(const Case& c, double x, double y) {
  std::vector<double> values{c.exact(flushed(x), flushed(y))};
  values.push_back(flushed(values[0]));
  values.push_back(flushed(c.exact(x, y)));
  if (c.op == Op::Expm1 && std::fabs(x) < 0x1p-125) values.push_back(std::copysign(0.0, x));
  if (c.op == Op::Gelu && std::fabs(x) < 2.34375 * 0x1p-126) values.push_back(x > 0 ? x : -0.0);
  if (c.build != nullptr)
    for (const double operand : {x, y})
      if (std::fabs(operand) < 0x1p-126) values.push_back(operand);
  return values;
}

/// How far `got` is from what it may be, in ulp.
double distance(const Case& c, double x, double y, float got, bool flushes) {
  if (x > c.most) return 0;
  double least = test::ulps(got, c.exact(x, y));
  if (flushes && least > c.limit)
    for (const double value : flushed_values(c, x, y)) least = std::min(least, test::ulps(got, value));
  return least;
}

class MathOnTarget : public testing::TestWithParam<test::BoardRow> {};

TEST_P(MathOnTarget, IsWithinItsLimits) {
  const Target target = test::board_target(GetParam().target);
  if (const std::string why = test::missing_tools(target); !why.empty()) GTEST_SKIP() << why;
  const std::vector<Case> cases = cases_of(target);
  const Arguments all = arguments();
  const std::vector<float> results = results_on(target, cases, all);
  std::size_t at = 0;
  for (const Case& c : cases) {
    const bool flushes = takes_subnormals_for_0(target, c);
    const std::vector<float>&first = c.is_of_pairs ? all.pairs.x : all.x, &second = c.is_of_pairs ? all.pairs.y : all.x;
    int wrong = 0;
    double worst = 0;
    std::string where;
    for (std::size_t i = 0; i < c.count(); i++, at++) {
      ASSERT_LT(at, results.size());
      const double x = static_cast<double>(first[i]), y = static_cast<double>(second[i]), apart = distance(c, x, y, results[at], flushes);
      if (apart > c.limit) wrong++;
      if (apart <= worst) continue;
      worst = apart;
      where = fmt::format("of {:a}{} is {:a}", x, c.is_of_pairs ? fmt::format(" and {:a}", y) : "", results[at]);
    }
    EXPECT_EQ(wrong, 0) << c.name() << " " << where << ", " << worst << " ulp from what it has to be";
  }
  EXPECT_EQ(at, results.size());
}

INSTANTIATE_TEST_SUITE_P(Emulated, MathOnTarget, testing::ValuesIn(test::large_boards()), test::BoardName());

}  // namespace
}  // namespace etch::math_targets_slow_test
