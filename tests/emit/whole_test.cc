// From Tensors to a program that runs: schedule, lowering, memory plan and emitted C together, compared with INTERP.
#include <gtest/gtest.h>

#include <cmath>

#include "base/tempdir.h"
#include "build.h"
#include "cuda_build.h"
#include "device_project.h"
#include "interp/interp.h"
#include "lazy/graph.h"
#include "lazy/tensor.h"
#include "memory/parts.h"
#include "memory/plan.h"
#include "opencl_build.h"
#include "program/interpret.h"
#include "program/loops.h"
#include "program/lower.h"
#include "schedule/schedule.h"

namespace etch::whole_test {
namespace {

namespace fs = std::filesystem;
using test::c_files;
using test::put;
using test::run_in;

constexpr const char* kStrict =
    "gcc -std=c99 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -o "
    "test";

class Whole : public testing::Test {
 protected:
  Tensor input(const std::string& name, DType dtype, Shape shape) {
    inputs.push_back(Tensor::input(*graph, name, dtype, std::move(shape)).buffer());
    return {graph.get(), inputs.back()};
  }
  Tensor weights(const std::string& name, std::vector<std::int64_t> shape, std::uint32_t seed) {
    return Tensor::constant(*graph, lcg_input(DType::Float32, shape, seed, 0), name);
  }
  Program lowered(const std::vector<OutputSpec>& outputs, const Language& language = kC) {
    const Schedule schedule = create_schedule(*graph, outputs);
    LowerOptions options;
    options.inputs = inputs;
    options.language = nullptr;  // with the constants as the ASTs read them
    interpreted = reorder(lower(graph, schedule, options));
    options.language = &language;
    options.codegen.has_local = language.local_memory;
    return reorder(lower(graph, schedule, options));
  }

  std::vector<EmittedFile> emitted(const Program& p, const VarValues& vars = {}) const;

  std::shared_ptr<LazyGraph> graph = LazyGraph::create();
  Program interpreted;  // the program that was lowered last, for INTERP
  std::vector<const LazyBuffer*> inputs;
};

TEST(WholeProject, AModelOfStateAloneBuilds) {
  const TempDir temp;
  put(temp.path(), test::project_with_state("c99", false).files);
  const ProcessResult built = run_in(temp.path(), kStrict, c_files(temp.path()));
  ASSERT_TRUE(built.ok()) << built.err;
  EXPECT_EQ(run_in(temp.path(), "./test").out, "RAN, no result to compare with\n");
}

std::vector<std::int64_t> shape_of(const ProgramBuffer& buffer, const VarValues& vars) {
  std::vector<std::int64_t> shape;
  for (Sint d : buffer.shape) shape.push_back(evaluate(d, vars));
  return shape;
}

SelfTest reference(const Program& p, const VarValues& vars) {
  SelfTest t;
  for (std::size_t i = 0; i < p.inputs.size(); i++) {
    const ProgramBuffer& buffer = p.buffers[static_cast<std::size_t>(p.inputs[i])];
    t.inputs.push_back(lcg_input(buffer.dtype, shape_of(buffer, vars), 1, static_cast<int>(i)));
  }
  Interpreter interpreter(p);
  for (std::size_t i = 0; i < p.inputs.size(); i++) interpreter.set(p.inputs[i], t.inputs[i]);
  for_each_call(p, vars, [&](int call, const VarValues& now) {
    const std::vector<Array> written = interpreter.evaluate(call, now);
    for (std::size_t k = 0; k < written.size(); k++) interpreter.set_written(call, static_cast<int>(k), written[k], now);
  });
  for (int b : p.outputs) t.expected.push_back(interpreter.get(b).reshaped(shape_of(p.buffers[static_cast<std::size_t>(b)], vars)));
  t.variables = vars;
  return t;
}

std::vector<EmittedFile> Whole::emitted(const Program& p, const VarValues& vars) const {
  EmitOptions o;
  o.name = "net";
  o.selftest = reference(interpreted, vars);
  const bool grid = p.language->grid;
  return emit(p, plan_memory(p, {.align = grid ? 512 : 16, .align_all = grid}), o);
}

void expect_pass(const std::vector<EmittedFile>& files) {
  const TempDir temp;
  put(temp.path(), files);
  std::vector<std::string> args = c_files(temp.path());
  args.push_back("-lm");
  const ProcessResult built = run_in(temp.path(), kStrict, args);
  ASSERT_TRUE(built.ok()) << built.err;
  const ProcessResult ran = run_in(temp.path(), "./test");
  EXPECT_EQ(ran.out, "PASS\n") << ran.err;
}

TEST_F(Whole, ConvolutionalNetwork) {
  Tensor x = input("image", DType::Float32, {1, 3, 12, 10});
  x = x.conv(weights("conv1", {8, 3, 3, 3}, 2), weights("bias1", {8}, 3),
             {.kernel = {3, 3}, .stride = {2, 1}, .dilation = {}, .pads = {{1, 1}, {0, 2}}})
          .relu();
  const Tensor skip = x;
  x = x.conv(weights("depthwise", {8, 1, 3, 3}, 4), weights("bias2", {8}, 5),
             {.kernel = {3, 3}, .stride = {}, .dilation = {}, .pads = {{1, 1}, {1, 1}}}, 8);
  x = (x + skip).relu();
  x = x.max_pool({.kernel = {2, 2}, .stride = {2, 2}, .dilation = {}, .pads = {}});
  x = x.flatten(1);
  x = x.linear(weights("fc", {x.dim(1).as_int(), 7}, 6), weights("fc_bias", {7}, 7)).softmax(1);
  const Program p = lowered({{"probability", x}});
  const MemoryPlan plan = plan_memory(p);
  EXPECT_LE(static_cast<double>(plan.arena_bytes), 1.05 * static_cast<double>(plan.lower_bound_bytes));
  expect_pass(emitted(p));
}

TEST_F(Whole, SeveralInputsAndOutputsOfManyTypes) {
  const Tensor a = input("a", DType::Int8, {5, 7});
  const Tensor b = input("b", DType::UInt8, {5, 7});
  const Tensor h = input("h", DType::Float16, {70});
  const Tensor m = input("m", DType::Bool, {5, 7});
  const Tensor l = input("l", DType::Int64, {70});
  const Tensor d = input("d", DType::Float64, {70});
  const std::vector<OutputSpec> outputs{{"sum", a + b},
                                        {"half", h * 2 + 1},
                                        {"chosen", m.where(a.cast(DType::Int32), b.cast(DType::Int32))},
                                        {"less", a < b.cast(DType::Int8)},
                                        {"total", l.sum()},
                                        {"brain", d.cast(DType::BFloat16)},
                                        {"whole", (h * 50).cast(DType::Int16)},
                                        {"root", (d * d).sqrt()}};
  expect_pass(emitted(lowered(outputs)));
  test::cuda::expect_pass(emitted(lowered(outputs, kCuda)));
  if (const std::string why = test::missing_opencl(); !why.empty()) GTEST_SKIP() << "not on OpenCL: " << why;
  const std::vector<EmittedFile> files = emitted(lowered(outputs, kOpenCl));
  const auto kernels = std::ranges::find(files, "net.cl", &EmittedFile::name);
  ASSERT_NE(kernels, files.end());
  EXPECT_NE(kernels->text.find("etch_f32_to_i16(float x)"), std::string::npos) << "helpers stand before the kernels";
  const TempDir temp;
  put(temp.path(), files);
  const ProcessResult built = test::build(temp.path());
  ASSERT_TRUE(built.ok()) << built.err;
  EXPECT_EQ(test::run_opencl(temp.path(), "./test").out, "PASS\n");
}

TEST_F(Whole, ResidualChainsRunInPlace) {
  Tensor x = input("x", DType::Float32, {32});
  for (int i = 0; i < 4; i++) {
    const Tensor y = x.exp().contiguous();
    x = (y * 0.5 + x.flip({0})).contiguous();
    x = (x.tanh()).contiguous();
  }
  const Program p = lowered({{"y", x}});
  const MemoryPlan plan = plan_memory(p);
  bool in_place = false;
  for (const Placement& place : plan.placements) in_place |= place.in_place_of >= 0;
  EXPECT_TRUE(in_place);
  expect_pass(emitted(p));
}

// Concatenations along the outermost axis, of others too, with an input that is needed later and one along an inner axis, which both are
// copied: the calls that are left out, and the values.
TEST_F(Whole, WhatIsConcatenatedLiesInTheResult) {
  const Tensor x = input("x", DType::Float32, {16, 24});
  std::uint32_t seed = 1;
  const auto layer = [&](const Tensor& in, std::int64_t rows) {
    return weights("w", {rows, in.dim(0).as_int()}, ++seed).matmul(in).relu().contiguous();
  };
  const Tensor a = layer(x, 8), b = layer(x, 32), c = layer(b, 16);
  const Tensor inner = Tensor::cat({a, c}, 0).contiguous();                    // 24 rows, b is the other branch
  const Tensor outer = Tensor::cat({inner, layer(inner, 8)}, 0).contiguous();  // inner is read before, its last reader is this one
  const Tensor d = layer(outer, 16), kept = Tensor::cat({d, layer(outer, 16)}, 0).contiguous();
  const Tensor inside = Tensor::cat({layer(kept, 4), layer(kept, 4)}, 1).contiguous();
  Program p = lowered({{"y", layer(kept, 8) + layer(d, 8)}, {"z", layer(inside, 4)}});
  MemoryPlan plan = plan_memory(p);
  const auto parts = std::ranges::count_if(plan.placements, [](const Placement& place) { return place.part_of >= 0; });
  EXPECT_EQ(parts, 4) << "a, c, inner and what follows it\n" << to_text(plan, p);
  const MemoryPlan apart = plan_memory(p, {.parts = false});
  EXPECT_LE(plan.arena_bytes, apart.arena_bytes);
  const std::size_t calls = p.calls.size(), kernels = p.kernels.size();
  leave_out_copies(p, plan);
  EXPECT_EQ(p.calls.size(), calls - 2);
  EXPECT_EQ(p.kernels.size(), kernels - 2);
  verify(plan, p);
  EmitOptions o;
  o.name = "net";
  o.selftest = reference(interpreted, {});
  expect_pass(emit(p, plan, o));
}

// A loop of a variable number of turns around one of a fixed number: the table of the emitted program, in C, CUDA and on OpenCL.
TEST_F(Whole, LoopsInEachOther) {
  const Sint turns = graph->symbols().variable("turns", 1, 6);
  const Tensor x = input("x", DType::Float32, {turns, 8});
  const Tensor zero = Tensor::full(*graph, {8}, Scalar::of_double(DType::Float32, 0));
  const LoopResults results = Tensor::loop(*graph, turns, {zero}, [&](Sint t, const std::vector<Tensor>& now) -> LoopTurn {
    const LoopResults inner = Tensor::loop(*graph, 3, {now[0]}, [&](Sint, const std::vector<Tensor>& value) -> LoopTurn {
      return {{(value[0] * 0.5 + value[0].flip({0}) * 0.25 + x.at(0, t)).tanh()}, {}};
    });
    return {{inner.carried[0]}, {inner.carried[0] + now[0]}};
  });
  const std::vector<OutputSpec> outputs{{"last", results.carried[0]}, {"all", results.listed[0]}};
  const Program p = lowered(outputs);
  EXPECT_EQ(p.loops.size(), 2u);
  for (std::int64_t n : {1, 2, 6}) expect_pass(emitted(p, {{"turns", n}}));
  test::cuda::expect_pass(emitted(lowered(outputs, kCuda), {{"turns", 6}}));
  if (const std::string why = test::missing_opencl(); !why.empty()) GTEST_SKIP() << "not on OpenCL: " << why;
  const TempDir temp;
  put(temp.path(), emitted(lowered(outputs, kOpenCl), {{"turns", 6}}));
  const ProcessResult built = test::build(temp.path());
  ASSERT_TRUE(built.ok()) << built.err;
  EXPECT_EQ(test::run_opencl(temp.path(), "./test").out, "PASS\n");
}

// A moving average and a counter: each run of the emitted program goes on where the one before ended, in C, CUDA and on OpenCL.
TEST_F(Whole, StatesOutliveARun) {
  const Tensor x = input("x", DType::Float32, {3});
  const Tensor window = Tensor::state(*graph, "window", DType::Float32, {2, 3},
                                      Array::of_doubles(DType::Float32, {2, 3}, std::vector<double>{3, 6, 9, 3, 6, 9}));
  const Tensor count = Tensor::state(*graph, "count", DType::Int16, {1});
  const Tensor moved = Tensor::cat({window.slice(0, 1, 2), x.reshape({1, 3})}, 0);
  const std::vector<OutputSpec> outputs{{"mean", (window.sum({0}) + x) * (1.0 / 3)}, {"runs", count + 1.0}};
  const std::vector<StateSpec> states{{window, moved}, {count, count + 1.0}};
  const auto project = [&](const Language& language, WeightsForm weights) {
    LowerOptions options;
    options.inputs = inputs;
    options.language = &language;
    options.codegen.has_local = language.local_memory;
    const Program p = reorder(lower(graph, create_schedule(*graph, outputs, {}, states), options));
    EmitOptions o;
    o.name = "net";
    o.weights = weights;
    o.selftest = SelfTest{};
    o.selftest->inputs = {Array::of_doubles(DType::Float32, {3}, std::vector<double>{0, 3, 30})};
    o.selftest->runs = 3;  // by hand: the window holds the input twice when the third run begins
    o.selftest->expected = {Array::of_doubles(DType::Float32, {3}, std::vector<double>{0, 3, 30}),
                            Array::of_ints(DType::Int16, {1}, std::vector<std::int64_t>{3})};
    return emit(p, plan_memory(p, {.align = language.grid ? 512 : 16, .align_all = language.grid}), o);
  };
  for (const WeightsForm weights : {WeightsForm::C, WeightsForm::Blob}) {
    const std::vector<EmittedFile> files = project(kC, weights);
    const auto header = std::ranges::find(files, "net.h", &EmittedFile::name);
    EXPECT_NE(header->text.find("#define NET_STATE_BYTES 26u\n"), std::string::npos) << header->text;
    expect_pass(files);
  }
  test::cuda::expect_pass(project(kCuda, WeightsForm::C));
  test::cuda::expect_pass(project(kCuda, WeightsForm::Blob), {"net_weights.bin"});
  if (const std::string why = test::missing_opencl(); !why.empty()) GTEST_SKIP() << "not on OpenCL: " << why;
  const TempDir temp;
  put(temp.path(), project(kOpenCl, WeightsForm::C));
  const ProcessResult built = test::build(temp.path());
  ASSERT_TRUE(built.ok()) << built.err;
  EXPECT_EQ(test::run_opencl(temp.path(), "./test").out, "PASS\n");
}

// One emitted function, every value of its range: the program takes the batch from its command line.
TEST_F(Whole, OneFunctionForEveryBatch) {
  const Sint batch = graph->symbols().variable("batch", 1, 16);
  Tensor x = input("x", DType::Float32, {batch, 10});
  x = x.linear(weights("w1", {10, 12}, 2), weights("b1", {12}, 3)).relu();
  x = x.linear(weights("w2", {12, 5}, 4), weights("b2", {5}, 5)).softmax(1);
  const Program p = lowered({{"y", x}});
  std::vector<EmittedFile> files = emitted(p, {{"batch", 16}});
  for (EmittedFile& f : files) {
    if (f.name != "selftest.c") continue;
    f.text = R"c(
#include <stdio.h>
#include <stdlib.h>
#include "net.h"
int main(int argc, char **argv) {
  ETCH_ALIGNED(NET_ARENA_ALIGN) static unsigned char arena[NET_ARENA_BYTES];
  const int batch = argc > 1 ? atoi(argv[1]) : 0;
  const size_t rows = batch < 1 ? 1 : (size_t)batch;
  float *const x = (float *)malloc(rows * 10 * sizeof(float)); /* just as many as that batch has: the sanitizer sees one too much */
  float *const y = (float *)malloc(rows * 5 * sizeof(float));
  size_t i;
  for (i = 0; i < rows * 10; i++) x[i] = (float)(i * 7 % 19) / 8.0f - 1.0f;
  if (net_run(arena, sizeof arena, batch, x, y) != ETCH_OK) return 3;
  for (i = 0; i < rows * 5; i++) printf("%.9g\n", (double)y[i]);
  free(x);
  free(y);
  return 0;
}
)c";
  }
  const TempDir temp;
  put(temp.path(), files);
  std::vector<std::string> args = c_files(temp.path());
  args.push_back("-lm");
  const ProcessResult built = run_in(temp.path(), kStrict, args);
  ASSERT_TRUE(built.ok()) << built.err;
  for (const char* outside : {"0", "17", "-1"}) EXPECT_EQ(run_in(temp.path(), "./test", {outside}).exit_code, 3);

  // By hand: softmax(relu(x w1 + b1) w2 + b2)
  const Array w1 = lcg_input(DType::Float32, {10, 12}, 2, 0), b1 = lcg_input(DType::Float32, {12}, 3, 0);
  const Array w2 = lcg_input(DType::Float32, {12, 5}, 4, 0), b2 = lcg_input(DType::Float32, {5}, 5, 0);
  for (std::int64_t n = 1; n <= 16; n++) {
    const ProcessResult ran = run_in(temp.path(), "./test", {std::to_string(n)});
    ASSERT_TRUE(ran.ok()) << ran.err;
    std::istringstream out(ran.out);
    for (std::int64_t r = 0; r < n; r++) {
      std::vector<double> h(12), e(5);
      for (std::int64_t j = 0; j < 12; j++) {
        double acc = b1.double_at(j);
        for (std::int64_t k = 0; k < 10; k++) acc += (static_cast<double>((r * 10 + k) * 7 % 19) / 8 - 1) * w1.double_at(k * 12 + j);
        h[static_cast<std::size_t>(j)] = std::max(acc, 0.0);
      }
      double sum = 0;
      for (std::int64_t j = 0; j < 5; j++) {
        double acc = b2.double_at(j);
        for (std::int64_t k = 0; k < 12; k++) acc += h[static_cast<std::size_t>(k)] * w2.double_at(k * 5 + j);
        sum += e[static_cast<std::size_t>(j)] = std::exp(acc);
      }
      for (double expected : e) {
        double got = -1;
        out >> got;
        EXPECT_NEAR(got, expected / sum, 1e-5) << "batch " << n << ", row " << r;
      }
    }
  }
}

}  // namespace
}  // namespace etch::whole_test
